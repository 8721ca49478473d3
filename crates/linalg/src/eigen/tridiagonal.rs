//! Householder tridiagonalisation `A = Q T Qᵀ`, one matrix per lane.
//!
//! The upper triangle is stored row-major in an `n × n` square of registers, so that the vector of each
//! reflector, the rest of row `k`, is contiguous. Step `k` with `x = A[k, k+1..]`:
//!
//! `α = −sign(x₀)‖x‖`, `v = x − α e₀`, `h = ‖x‖² + |x₀|‖x‖`, `H = I − v vᵀ/h`, and then
//! `A₂₂ ← H A₂₂ H = A₂₂ − v wᵀ − w vᵀ` with `p = A₂₂ v/h`, `w = p − (pᵀv/2h) v`.
//!
//! The first rows of `T` collect the large eigenvalues of a graded spectrum. QL is accurate for the small ones when
//! these come first, so `T` and the columns of `Q` are handed on in **reversed order**: `d[n−1−k] = T_kk`.
//!
//! Golub & Van Loan, *Matrix Computations*, §8.3.1.

use crate::simd::{Lanes, V};
use crate::{Scalar, tolerance};
use pulp::Simd;

/// Rows (or columns) handled at a time: their coefficients stay in registers.
const BLOCK: usize = 4;

/// Reduces the upper triangle `a`; on return row `k` of `a` right of the diagonal holds `v_k`, `h_inv[k]`
/// holds `1/h_k`, and `d`, `e` the diagonal and off-diagonal of `T`, reversed. `p` is scratch of `n`.
#[inline(always)]
pub(super) fn reduce<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    n: usize,
    a: &mut [V<S, T>],
    d: &mut [V<S, T>],
    e: &mut [V<S, T>],
    h_inv: &mut [V<S, T>],
    p: &mut [V<S, T>],
) {
    for k in 0..n.saturating_sub(2) {
        let (head, trailing) = a.split_at_mut((k + 1) * n);
        let v = &mut head[k * n + k + 1..];
        (e[n - 2 - k], h_inv[k]) = reflector(l, v);
        let p = &mut p[..v.len()];
        symmetric_times(l, n, trailing, v, p);
        companion(l, v, h_inv[k], p);
        rank_two_update(l, n, trailing, v, p);
    }
    for k in 0..n {
        d[n - 1 - k] = a[k * n + k];
    }
    if n >= 2 {
        e[0] = a[(n - 2) * n + n - 1];
    }
}

/// Turns `x` into `v` in place; gives `α` and `1/h`, both zero in lanes where `x` is negligible.
#[inline(always)]
fn reflector<S: Simd, T: Scalar>(l: Lanes<S, T>, x: &mut [V<S, T>]) -> (V<S, T>, V<S, T>) {
    let zero = l.splat(T::ZERO);
    let total = dot(l, x, x);
    let negligible = l.less(total, l.splat(tolerance::negligible_square::<T>()));
    let norm = l.sqrt(total);
    let x0 = x[0];
    let alpha = l.select(l.less(x0, zero), norm, l.neg(norm));
    let h = l.mul_add(l.abs(x0), norm, total);
    let inverse = l.div(l.splat(T::ONE), h);
    x[0] = l.sub(x0, alpha);
    (
        l.select(negligible, zero, alpha),
        l.select(negligible, zero, inverse),
    )
}

/// `Σ xᵢ yᵢ` with four running sums, so that additions overlap.
#[inline(always)]
fn dot<S: Simd, T: Scalar>(l: Lanes<S, T>, x: &[V<S, T>], y: &[V<S, T>]) -> V<S, T> {
    let mut sums = [l.splat(T::ZERO); BLOCK];
    let (xs, ys) = (x.chunks_exact(BLOCK), y.chunks_exact(BLOCK));
    for (a, b) in xs.remainder().iter().zip(ys.remainder()) {
        sums[0] = l.mul_add(*a, *b, sums[0]);
    }
    for (a, b) in xs.zip(ys) {
        for i in 0..BLOCK {
            sums[i] = l.mul_add(a[i], b[i], sums[i]);
        }
    }
    l.add(l.add(sums[0], sums[1]), l.add(sums[2], sums[3]))
}

/// The part of row `i` of the trailing matrix that starts at its column `from`; the trailing matrix is the
/// last `m` columns of rows of length `n`.
#[inline(always)]
fn row<X>(a: &[X], n: usize, m: usize, i: usize, from: usize) -> &[X] {
    &a[i * n + n - m + from..(i + 1) * n]
}

/// `p = A₂₂ v`, reading the upper triangle once.
#[inline(always)]
fn symmetric_times<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    n: usize,
    a: &[V<S, T>],
    v: &[V<S, T>],
    p: &mut [V<S, T>],
) {
    let m = v.len();
    p.fill(l.splat(T::ZERO));
    let mut i = 0;
    while i + BLOCK <= m {
        let end = i + BLOCK;
        let mut sums: [V<S, T>; BLOCK] = [p[i], p[i + 1], p[i + 2], p[i + 3]];
        let vi: [V<S, T>; BLOCK] = [v[i], v[i + 1], v[i + 2], v[i + 3]];
        for r in 0..BLOCK {
            let corner = row(a, n, m, i + r, i + r);
            sums[r] = l.mul_add(corner[0], vi[r], sums[r]);
            for c in r + 1..BLOCK {
                sums[r] = l.mul_add(corner[c - r], vi[c], sums[r]);
                sums[c] = l.mul_add(corner[c - r], vi[r], sums[c]);
            }
        }
        let rows = (row(a, n, m, i, end), row(a, n, m, i + 1, end));
        let more = (row(a, n, m, i + 2, end), row(a, n, m, i + 3, end));
        let columns = rows.0.iter().zip(rows.1).zip(more.0.iter().zip(more.1));
        for (((a01, a23), vj), pj) in columns.zip(&v[end..]).zip(&mut p[end..]) {
            let column: [V<S, T>; BLOCK] = [*a01.0, *a01.1, *a23.0, *a23.1];
            let mut sum = *pj;
            for r in 0..BLOCK {
                sums[r] = l.mul_add(column[r], *vj, sums[r]);
                sum = l.mul_add(column[r], vi[r], sum);
            }
            *pj = sum;
        }
        p[i..end].copy_from_slice(&sums);
        i = end;
    }
    for i in i..m {
        let entries = row(a, n, m, i, i);
        let (vi, mut sum) = (v[i], l.mul_add(entries[0], v[i], p[i]));
        for ((aij, vj), pj) in entries[1..].iter().zip(&v[i + 1..]).zip(&mut p[i + 1..]) {
            sum = l.mul_add(*aij, *vj, sum);
            *pj = l.mul_add(*aij, vi, *pj);
        }
        p[i] = sum;
    }
}

/// Turns `A₂₂ v` into `w` in place.
#[inline(always)]
fn companion<S: Simd, T: Scalar>(l: Lanes<S, T>, v: &[V<S, T>], h_inv: V<S, T>, p: &mut [V<S, T>]) {
    let half = l.mul(l.splat(T::from_f64(0.5)), h_inv);
    let share = l.mul(half, l.mul(h_inv, dot(l, p, v)));
    for (p, v) in p.iter_mut().zip(v) {
        *p = l.neg_mul_add(share, *v, l.mul(h_inv, *p));
    }
}

/// `A₂₂ ← A₂₂ − v wᵀ − w vᵀ`, upper triangle.
#[inline(always)]
fn rank_two_update<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    n: usize,
    a: &mut [V<S, T>],
    v: &[V<S, T>],
    w: &[V<S, T>],
) {
    let m = v.len();
    for i in 0..m {
        let (vi, wi) = (v[i], w[i]);
        let entries = &mut a[i * n + n - m + i..(i + 1) * n];
        for ((aij, vj), wj) in entries.iter_mut().zip(&v[i..]).zip(&w[i..]) {
            *aij = l.neg_mul_add(wi, *vj, l.neg_mul_add(vi, *wj, *aij));
        }
    }
}

/// `Q = H_0 H_1 … H_{n−3}` from what [`reduce`] left in `a` and `h_inv`, into `z`, row-major, its columns reversed.
#[inline(always)]
pub(super) fn accumulate<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    n: usize,
    a: &[V<S, T>],
    h_inv: &[V<S, T>],
    z: &mut [V<S, T>],
) {
    z.fill(l.splat(T::ZERO));
    for i in 0..n {
        z[i * n + n - 1 - i] = l.splat(T::ONE);
    }
    for k in (0..n.saturating_sub(2)).rev() {
        let v = &a[k * n + k + 1..(k + 1) * n];
        let block = &mut z[(k + 1) * n..];
        // Reflector k touches columns k+1.. of Q: here the first ones.
        let (mut column, end) = (0, n - 1 - k);
        while column + 2 * BLOCK <= end {
            reflect_columns::<S, T, { 2 * BLOCK }>(l, n, v, h_inv[k], block, column);
            column += 2 * BLOCK;
        }
        while column + BLOCK <= end {
            reflect_columns::<S, T, BLOCK>(l, n, v, h_inv[k], block, column);
            column += BLOCK;
        }
        while column < end {
            reflect_columns::<S, T, 1>(l, n, v, h_inv[k], block, column);
            column += 1;
        }
    }
}

/// `Z ← Z − v (vᵀZ)/h` on `C` columns of the rows in `block`.
#[inline(always)]
fn reflect_columns<S: Simd, T: Scalar, const C: usize>(
    l: Lanes<S, T>,
    n: usize,
    v: &[V<S, T>],
    h_inv: V<S, T>,
    block: &mut [V<S, T>],
    column: usize,
) {
    let mut u = [l.splat(T::ZERO); C];
    for (row, vi) in block.chunks_exact(n).zip(v) {
        let entries: &[V<S, T>] = &row[column..column + C];
        for c in 0..C {
            u[c] = l.mul_add(*vi, entries[c], u[c]);
        }
    }
    for entry in &mut u {
        *entry = l.mul(h_inv, *entry);
    }
    for (row, vi) in block.chunks_exact_mut(n).zip(v) {
        let entries: &mut [V<S, T>] = &mut row[column..column + C];
        for c in 0..C {
            entries[c] = l.neg_mul_add(*vi, u[c], entries[c]);
        }
    }
}
