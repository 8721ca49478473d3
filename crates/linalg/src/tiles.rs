//! What moves entries across the diagonal, in tiles of 32 bytes a row (8 × 8 or 4 × 4 numbers) that a compiler for wide registers turns into shuffles: rows are read and written as they lie.
//! Tiles of 8 × 8 numbers of double precision do not fit the registers, and take longer than entry by entry.

use crate::Scalar;
use pulp::{Simd, WithSimd};

type Tile<T, const N: usize> = [[T; N]; N];

/// What is done; matrices come with the distance of their rows.
enum Task<'a, T> {
    Transpose {
        x: (&'a [T], usize),
        shape: (usize, usize),
        out: (&'a mut [T], usize),
    },
    Mirror {
        n: usize,
        x: (&'a [T], usize),
        out: &'a mut [T],
    },
    Symmetrise {
        n: usize,
        x: (&'a mut [T], usize),
    },
}

/// One function for all who ask, or it would be compiled again in each of them.
impl<T: Scalar> WithSimd for Task<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        if size_of::<T>() == 4 {
            self.run::<8>();
        } else {
            self.run::<4>();
        }
    }
}

impl<T: Scalar> Task<'_, T> {
    #[inline(always)]
    fn run<const N: usize>(self) {
        match self {
            Self::Transpose { x, shape, out } => {
                transpose_in::<T, N>(x.0, x.1, shape, out.0, out.1);
            }
            Self::Mirror { n, x, out } => mirror_in::<T, N>(n, x.0, x.1, out),
            Self::Symmetrise { n, x } => symmetrise_in::<T, N>(n, x.0, x.1),
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
    (rows, cols): (usize, usize),
    out: &mut [T],
    out_row: usize,
) {
    simd.vectorize(Task::Transpose {
        x: (x, row),
        shape: (rows, cols),
        out: (out, out_row),
    });
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

/// The upper triangle of `n` rows, `row` numbers apart, on both sides of the diagonal of an `n × n` matrix.
#[inline(always)]
pub(crate) fn mirror<S: Simd, T: Scalar>(simd: S, n: usize, x: &[T], row: usize, out: &mut [T]) {
    simd.vectorize(Task::Mirror {
        n,
        x: (x, row),
        out,
    });
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
    simd.vectorize(Task::Symmetrise { n, x: (x, row) });
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
    if size_of::<T>() == 4 {
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
