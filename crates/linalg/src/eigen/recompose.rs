//! `U f(λ) Uᵀ` while the eigenvectors are still in lanes: they are neither sorted nor written out.

use crate::Scalar;
use crate::simd::{Lanes, V};
use pulp::Simd;

/// Rows of the result computed together.
pub(super) const ROWS: usize = 2;
/// Columns of the result computed together: with [`ROWS`], eight sums that stay in registers.
const COLUMNS: usize = 4;

/// The lower triangle of `Z diag(f) Zᵀ` into `out`; what is above the diagonal means nothing. `scaled` is scratch of `ROWS · n`.
#[inline(always)]
pub(super) fn recompose<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    n: usize,
    z: &[V<S, T>],
    f: &[V<S, T>],
    scaled: &mut [V<S, T>],
    out: &mut [V<S, T>],
) {
    let mut r = 0;
    while r + ROWS <= n {
        rows::<S, T, ROWS>(l, n, z, f, scaled, out, r);
        r += ROWS;
    }
    while r < n {
        rows::<S, T, 1>(l, n, z, f, scaled, out, r);
        r += 1;
    }
}

#[inline(always)]
fn rows<S: Simd, T: Scalar, const R: usize>(
    l: Lanes<S, T>,
    n: usize,
    z: &[V<S, T>],
    f: &[V<S, T>],
    scaled: &mut [V<S, T>],
    out: &mut [V<S, T>],
    first: usize,
) {
    let source = z[first * n..(first + R) * n].chunks_exact(n);
    for (row, scaled) in source.zip(scaled.chunks_exact_mut(n)) {
        for ((x, z), f) in scaled.iter_mut().zip(row).zip(f) {
            *x = l.mul(*z, *f);
        }
    }
    let out = &mut out[first * n..(first + R) * n];
    let mut c = 0;
    while c < first + R {
        if c + COLUMNS <= n {
            block::<S, T, R, COLUMNS>(l, n, z, scaled, out, c);
            c += COLUMNS;
        } else {
            block::<S, T, R, 1>(l, n, z, scaled, out, c);
            c += 1;
        }
    }
}

/// `Σ_k scaled_rk z_ck` for `R` rows and `C` columns.
#[inline(always)]
fn block<S: Simd, T: Scalar, const R: usize, const C: usize>(
    l: Lanes<S, T>,
    n: usize,
    z: &[V<S, T>],
    scaled: &[V<S, T>],
    out: &mut [V<S, T>],
    column: usize,
) {
    let left: [&[V<S, T>]; R] = std::array::from_fn(|r| &scaled[r * n..(r + 1) * n]);
    let right: [&[V<S, T>]; C] =
        std::array::from_fn(|c| &z[(column + c) * n..(column + c + 1) * n]);
    let mut sums = [[l.splat(T::ZERO); C]; R];
    for k in 0..n {
        for r in 0..R {
            for c in 0..C {
                sums[r][c] = l.mul_add(left[r][k], right[c][k], sums[r][c]);
            }
        }
    }
    for r in 0..R {
        out[r * n + column..r * n + column + C].copy_from_slice(&sums[r]);
    }
}
