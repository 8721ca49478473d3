//! What moves entries across the diagonal, in tiles of 32 bytes a row (8 × 8 or 4 × 4 numbers) that
//! a compiler for wide registers turns into shuffles: rows are read and written as they lie.
//! Tiles of 8 × 8 numbers of double precision do not fit the registers, and take longer than entry
//! by entry.

use crate::{Scalar, kernel};
use pulp::Simd;

type Tile<T, const N: usize> = [[T; N]; N];

/// Whether numbers have single precision, and tiles 8 × 8 of them; else 4 × 4.
#[inline(always)]
const fn is_single<T>() -> bool {
    size_of::<T>() == 4
}

// One function each for all callers: inlined, it would be compiled again in each of them.
kernel! {
    struct Transpose<'a, S, T>(
        _simd: S,
        x: &'a [T],
        row: usize,
        shape: (usize, usize),
        out: &'a mut [T],
        out_row: usize,
    ) {
        if is_single::<T>() {
            transpose_in::<T, 8>(x, row, shape, out, out_row);
        } else {
            transpose_in::<T, 4>(x, row, shape, out, out_row);
        }
    }
}

kernel! {
    struct Mirror<'a, S, T>(_simd: S, n: usize, x: &'a [T], row: usize, out: &'a mut [T]) {
        if is_single::<T>() {
            mirror_in::<T, 8>(n, x, row, out);
        } else {
            mirror_in::<T, 4>(n, x, row, out);
        }
    }
}

kernel! {
    struct Symmetrise<'a, S, T>(_simd: S, n: usize, x: &'a mut [T], row: usize) {
        if is_single::<T>() {
            symmetrise_in::<T, 8>(n, x, row);
        } else {
            symmetrise_in::<T, 4>(n, x, row);
        }
    }
}

#[inline(always)]
fn load<T: Scalar, const N: usize>(x: &[T], row: usize, top: usize, left: usize) -> Tile<T, N> {
    let mut tile = [[T::ZERO; N]; N];
    for r in 0..N {
        tile[r].copy_from_slice(&x[(top + r) * row + left..][..N]);
    }
    tile
}

#[inline(always)]
fn store<T: Scalar, const N: usize>(
    tile: &Tile<T, N>,
    x: &mut [T],
    row: usize,
    top: usize,
    left: usize,
) {
    for r in 0..N {
        x[(top + r) * row + left..][..N].copy_from_slice(&tile[r]);
    }
}

#[inline(always)]
fn turned<T: Scalar, const N: usize>(tile: &Tile<T, N>) -> Tile<T, N> {
    let mut out = [[T::ZERO; N]; N];
    for r in 0..N {
        for c in 0..N {
            out[r][c] = tile[c][r];
        }
    }
    out
}

/// `out[c·out_row + r] = x[r·row + c]` for `r < rows`, `c < cols`.
#[inline(always)]
pub(crate) fn transpose<S: Simd, T: Scalar>(
    simd: S,
    x: &[T],
    row: usize,
    shape: (usize, usize),
    out: &mut [T],
    out_row: usize,
) {
    simd.vectorize(Transpose {
        x,
        row,
        shape,
        out,
        out_row,
    });
}

/// The transpose of an `n × n` matrix into rows of `out_row` numbers, zeros at their ends.
#[inline(always)]
pub(crate) fn transpose_padded<S: Simd, T: Scalar>(
    simd: S,
    n: usize,
    (x, row): (&[T], usize),
    (out, out_row): (&mut [T], usize),
) {
    transpose(simd, x, row, (n, n), out, out_row);
    for out in out.chunks_exact_mut(out_row) {
        out[n..].fill(T::ZERO);
    }
}

#[inline(always)]
fn transpose_in<T: Scalar, const N: usize>(
    x: &[T],
    row: usize,
    (rows, cols): (usize, usize),
    out: &mut [T],
    out_row: usize,
) {
    let (whole_rows, whole_cols) = (rows - rows % N, cols - cols % N);
    for top in (0..whole_rows).step_by(N) {
        for left in (0..whole_cols).step_by(N) {
            let tile = load::<T, N>(x, row, top, left);
            store(&turned(&tile), out, out_row, left, top);
        }
    }
    for r in 0..rows {
        let from = if r < whole_rows { whole_cols } else { 0 };
        for c in from..cols {
            out[c * out_row + r] = x[r * row + c];
        }
    }
}

/// The upper triangle of `n` rows, `row` numbers apart, on both sides of the diagonal of an `n × n`
/// matrix.
#[inline(always)]
pub(crate) fn mirror<S: Simd, T: Scalar>(simd: S, n: usize, x: &[T], row: usize, out: &mut [T]) {
    simd.vectorize(Mirror { n, x, row, out });
}

#[inline(always)]
fn mirror_in<T: Scalar, const N: usize>(n: usize, x: &[T], row: usize, out: &mut [T]) {
    let whole = n - n % N;
    for top in (0..whole).step_by(N) {
        let mut tile = load::<T, N>(x, row, top, top);
        for r in 0..N {
            for c in 0..r {
                tile[r][c] = tile[c][r];
            }
        }
        store(&tile, out, n, top, top);
        for left in (top + N..whole).step_by(N) {
            let tile = load::<T, N>(x, row, top, left);
            store(&tile, out, n, top, left);
            store(&turned(&tile), out, n, left, top);
        }
    }
    for r in 0..n {
        for c in whole.max(r)..n {
            out[r * n + c] = x[r * row + c];
            out[c * n + r] = x[r * row + c];
        }
    }
}

/// `x ← (x + xᵀ)/2` of `n` rows, `row` numbers apart.
#[inline(always)]
pub(crate) fn symmetrise<S: Simd, T: Scalar>(simd: S, n: usize, x: &mut [T], row: usize) {
    simd.vectorize(Symmetrise { n, x, row });
}

#[inline(always)]
fn symmetrise_in<T: Scalar, const N: usize>(n: usize, x: &mut [T], row: usize) {
    let half = T::from_f64(0.5);
    let whole = n - n % N;
    for top in (0..whole).step_by(N) {
        for left in (0..=top).step_by(N) {
            let (mut mean, above) = (
                load::<T, N>(x, row, top, left),
                load::<T, N>(x, row, left, top),
            );
            for r in 0..N {
                for c in 0..N {
                    mean[r][c] = half * (mean[r][c] + above[c][r]);
                }
            }
            store(&mean, x, row, top, left);
            store(&turned(&mean), x, row, left, top);
        }
    }
    for r in whole..n {
        for c in 0..r {
            let mean = half * (x[r * row + c] + x[c * row + r]);
            x[r * row + c] = mean;
            x[c * row + r] = mean;
        }
    }
}

/// Whether the `n × n` matrix is symmetric, to the bit.
#[inline(always)]
pub(crate) fn is_symmetric<T: Scalar>(n: usize, x: &[T]) -> bool {
    if is_single::<T>() {
        is_symmetric_in::<T, 8>(n, x)
    } else {
        is_symmetric_in::<T, 4>(n, x)
    }
}

#[inline(always)]
fn is_symmetric_in<T: Scalar, const N: usize>(n: usize, x: &[T]) -> bool {
    let whole = n - n % N;
    for top in (0..whole).step_by(N) {
        for left in (0..=top).step_by(N) {
            let (below, above) = (load::<T, N>(x, n, top, left), load::<T, N>(x, n, left, top));
            let mut equal = true;
            for r in 0..N {
                for c in 0..N {
                    equal &= below[r][c] == above[c][r];
                }
            }
            if !equal {
                return false;
            }
        }
    }
    (whole..n).all(|r| (0..r).all(|c| x[r * n + c] == x[c * n + r]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every entry is another number, in rows that are longer than the matrix is wide.
    fn numbers(rows: usize, row: usize) -> Vec<f64> {
        (0..rows * row).map(|i| i as f64).collect()
    }

    #[test]
    fn entries_go_where_they_belong() {
        for n in 0..27 {
            let row = n + 3;
            let x = numbers(n, row);
            for cols in [n, n / 2, 1.min(n)] {
                let mut out = vec![-1.0; cols * row];
                transpose(pulp::Scalar, &x, row, (n, cols), &mut out, row);
                for (r, c) in (0..n).flat_map(|r| (0..cols).map(move |c| (r, c))) {
                    assert_eq!(out[c * row + r], x[r * row + c], "{n} {cols} {r} {c}");
                }
                let untouched = out.chunks_exact(row.max(1)).flat_map(|row| &row[n..]);
                assert!(untouched.into_iter().all(|&x| x == -1.0));
            }
            let mut both = vec![-1.0; n * n];
            mirror(pulp::Scalar, n, &x, row, &mut both);
            let mut means = x.clone();
            symmetrise(pulp::Scalar, n, &mut means, row);
            for (r, c) in (0..n).flat_map(|r| (0..n).map(move |c| (r, c))) {
                assert_eq!(both[r * n + c], x[r.min(c) * row + r.max(c)]);
                let mean = 0.5 * (x[r * row + c] + x[c * row + r]);
                assert_eq!(means[r * row + c], mean, "{n} {r} {c}");
            }
            assert!(is_symmetric(n, &both));
            for at in 0..n * n {
                let mut other = both.clone();
                other[at] += 1.0;
                assert_eq!(is_symmetric(n, &other), at / n == at % n, "{n} {at}");
            }
        }
    }
}
