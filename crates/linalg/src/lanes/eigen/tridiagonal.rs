//! Householder tridiagonalisation `A = Q T Qᵀ`, one matrix per lane.
//!
//! The upper triangle is stored row-major in an `n × n` square of registers, so that the vector of
//! each reflector, the rest of row `k`, is contiguous. Step `k` with `x = A[k, k+1..]`:
//!
//! `α = −sign(x₀)‖x‖`, `v = x − α e₀`, `h = ‖x‖² + |x₀|‖x‖`, `H = I − v vᵀ/h`, and then
//! `A₂₂ ← H A₂₂ H = A₂₂ − v wᵀ − w vᵀ` with `p = A₂₂ v/h`, `w = p − (pᵀv/2h) v`.
//!
//! The first rows of `T` collect the large eigenvalues of a graded spectrum. QL is accurate for the
//! small ones when these come first, so `T` and the columns of `Q` are handed on in **reversed
//! order**: `d[n−1−k] = T_kk`.
//!
//! Golub & Van Loan, *Matrix Computations*, §8.3.1.

use crate::simd::{Lanes, V, store};
use crate::{Scalar, tolerance};
use pulp::Simd;

/// Rows (or columns) handled at a time: their coefficients stay in registers.
const BLOCK: usize = 4;

/// Reduces the upper triangle `a`; on return row `k` of `a` right of the diagonal holds `v_k`,
/// `h_inv[k]` holds `1/h_k`, and `d`, `e` the diagonal and off-diagonal of `T`, reversed. `p` is
/// scratch of `2n`.
///
/// The update of a step waits for the next one: row `k + 1` is brought up to date first, its
/// reflector made, and then one pass over the rest updates every entry and multiplies it with the
/// new vector.
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
    let (mut w, mut p) = p[..2 * n].split_at_mut(n);
    for k in 0..n.saturating_sub(2) {
        let (head, trailing) = a.split_at_mut((k + 1) * n);
        let (above, row) = head.split_at_mut(k * n);
        if k > 0 {
            // The waiting v and w start at this row.
            let v = &above[(k - 1) * n + k..];
            update_row(l, &mut row[k..], v, &w[..n - k]);
        }
        let x = &mut row[k + 1..];
        (e[n - 2 - k], h_inv[k]) = reflector(l, x);
        let m = x.len();
        if k > 0 {
            let v = &above[(k - 1) * n + k + 1..];
            update_and_times(l, n, trailing, v, &w[1..=m], x, &mut p[..m]);
        } else {
            symmetric_times(l, n, trailing, x, &mut p[..m]);
        }
        companion(l, x, h_inv[k], &mut p[..m]);
        (w, p) = (p, w);
    }
    if n > 2 {
        let (head, trailing) = a.split_at_mut((n - 2) * n);
        let v = &head[(n - 3) * n + n - 2..];
        rank_two_update(l, n, trailing, v, &w[..2]);
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

/// The part of row `i` of the trailing matrix that starts at its column `from`; the trailing matrix
/// is the last `m` columns of rows of length `n`.
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
        store(&mut p[i..end], &sums);
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
        let entries = &mut a[i * n + n - m + i..(i + 1) * n];
        update_row(l, entries, &v[i..], &w[i..]);
    }
}

/// The first row of that: its entries from the diagonal on.
#[inline(always)]
fn update_row<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    row: &mut [V<S, T>],
    v: &[V<S, T>],
    w: &[V<S, T>],
) {
    let (v0, w0) = (v[0], w[0]);
    for ((a, &v), &w) in row.iter_mut().zip(v).zip(w) {
        *a = updated(l, *a, (v0, w0), (v, w));
    }
}

/// One entry of that.
#[inline(always)]
fn updated<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    a: V<S, T>,
    (vi, wi): (V<S, T>, V<S, T>),
    (vj, wj): (V<S, T>, V<S, T>),
) -> V<S, T> {
    l.neg_mul_add(wi, vj, l.neg_mul_add(vi, wj, a))
}

/// `A₂₂ ← A₂₂ − v wᵀ − w vᵀ` and `p = A₂₂ x` in one pass over the upper triangle.
#[inline(always)]
fn update_and_times<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    n: usize,
    a: &mut [V<S, T>],
    v: &[V<S, T>],
    w: &[V<S, T>],
    x: &[V<S, T>],
    p: &mut [V<S, T>],
) {
    let m = x.len();
    let (v, w, p) = (&v[..m], &w[..m], &mut p[..m]);
    p.fill(l.splat(T::ZERO));
    let mut i = 0;
    while i + BLOCK <= m {
        let end = i + BLOCK;
        let mut sums: [V<S, T>; BLOCK] = [p[i], p[i + 1], p[i + 2], p[i + 3]];
        let vi: [V<S, T>; BLOCK] = [v[i], v[i + 1], v[i + 2], v[i + 3]];
        let wi: [V<S, T>; BLOCK] = [w[i], w[i + 1], w[i + 2], w[i + 3]];
        let xi: [V<S, T>; BLOCK] = [x[i], x[i + 1], x[i + 2], x[i + 3]];
        for r in 0..BLOCK {
            let corner = &mut a[(i + r) * n + n - m + i..(i + r + 1) * n][..BLOCK];
            for c in r..BLOCK {
                let entry = updated(l, corner[c], (vi[r], wi[r]), (vi[c], wi[c]));
                corner[c] = entry;
                sums[r] = l.mul_add(entry, xi[c], sums[r]);
                if c > r {
                    sums[c] = l.mul_add(entry, xi[r], sums[c]);
                }
            }
        }
        let len = m - end;
        let (a0, rest) = a[i * n..].split_at_mut(n);
        let (a1, rest) = rest.split_at_mut(n);
        let (a2, rest) = rest.split_at_mut(n);
        let a3 = &mut rest[n - len..n][..len];
        let (a0, a1) = (&mut a0[n - len..][..len], &mut a1[n - len..][..len]);
        let a2 = &mut a2[n - len..][..len];
        let (vj, wj, xj) = (&v[end..][..len], &w[end..][..len], &x[end..][..len]);
        let pj = &mut p[end..][..len];
        for j in 0..len {
            let (vj, wj, xj) = (vj[j], wj[j], xj[j]);
            let column: [V<S, T>; BLOCK] = [
                updated(l, a0[j], (vi[0], wi[0]), (vj, wj)),
                updated(l, a1[j], (vi[1], wi[1]), (vj, wj)),
                updated(l, a2[j], (vi[2], wi[2]), (vj, wj)),
                updated(l, a3[j], (vi[3], wi[3]), (vj, wj)),
            ];
            (a0[j], a1[j], a2[j], a3[j]) = (column[0], column[1], column[2], column[3]);
            let mut sum = pj[j];
            for r in 0..BLOCK {
                sums[r] = l.mul_add(column[r], xj, sums[r]);
                sum = l.mul_add(column[r], xi[r], sum);
            }
            pj[j] = sum;
        }
        store(&mut p[i..end], &sums);
        i = end;
    }
    for i in i..m {
        let entries = &mut a[i * n + n - m + i..(i + 1) * n];
        let (vi, wi, xi) = (v[i], w[i], x[i]);
        entries[0] = updated(l, entries[0], (vi, wi), (vi, wi));
        let mut sum = l.mul_add(entries[0], xi, p[i]);
        for (j, entry) in (i + 1..m).zip(&mut entries[1..]) {
            *entry = updated(l, *entry, (vi, wi), (v[j], w[j]));
            sum = l.mul_add(*entry, x[j], sum);
            p[j] = l.mul_add(*entry, xi, p[j]);
        }
        p[i] = sum;
    }
}

/// `Q = H_0 H_1 … H_{n−3}` from what [`reduce`] left in `a` and `h_inv`, into `z`, row-major, its
/// columns reversed. Two reflectors go through `z` together.
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
    let mut left = n.saturating_sub(2);
    if left % 2 == 1 {
        // The last reflector alone, of two rows.
        left -= 1;
        let v = &a[left * n + left + 1..(left + 1) * n];
        for column in 0..2 {
            reflect_column(l, n, v, h_inv[left], &mut z[(left + 1) * n..], column);
        }
    }
    while left > 0 {
        let k = left - 1;
        let pair = Pair {
            first: (&a[k * n + k + 1..(k + 1) * n], h_inv[k]),
            second: (&a[(k - 1) * n + k..k * n], h_inv[k - 1]),
        };
        // Reflector k touches columns k+1.. of Q: here the first ones. The one before it touches
        // one column more.
        let (block, end) = (&mut z[k * n..], n - 1 - k);
        let mut column = 0;
        if Lanes::<S, T>::WIDE {
            while column + 2 * BLOCK <= end {
                reflect_twice::<S, T, { 2 * BLOCK }>(l, n, &pair, block, column);
                column += 2 * BLOCK;
            }
        }
        while column + BLOCK <= end {
            reflect_twice::<S, T, BLOCK>(l, n, &pair, block, column);
            column += BLOCK;
        }
        while column < end {
            reflect_twice::<S, T, 1>(l, n, &pair, block, column);
            column += 1;
        }
        reflect_column(l, n, pair.second.0, h_inv[k - 1], block, end);
        left -= 2;
    }
}

/// Two reflectors, `H₂ H₁`, each as its vector and `1/h`; the second vector is one entry longer, at
/// its front.
struct Pair<'a, X> {
    first: (&'a [X], X),
    second: (&'a [X], X),
}

/// `Z ← H₂ H₁ Z` on `C` columns of the rows in `block`, of which the first is zero there.
#[inline(always)]
fn reflect_twice<S: Simd, T: Scalar, const C: usize>(
    l: Lanes<S, T>,
    n: usize,
    pair: &Pair<'_, V<S, T>>,
    block: &mut [V<S, T>],
    column: usize,
) {
    let (first, h_first) = pair.first;
    let (second, h_second) = pair.second;
    let (head, second) = (second[0], &second[1..]);
    let (top, block) = block.split_at_mut(n);
    let zero = l.splat(T::ZERO);
    let (mut one, mut two, mut cross) = ([zero; C], [zero; C], zero);
    for ((row, &v), &w) in block.chunks_exact(n).zip(first).zip(second) {
        let entries: &[V<S, T>] = &row[column..column + C];
        for c in 0..C {
            one[c] = l.mul_add(v, entries[c], one[c]);
            two[c] = l.mul_add(w, entries[c], two[c]);
        }
        cross = l.mul_add(v, w, cross);
    }
    for c in 0..C {
        one[c] = l.mul(h_first, one[c]);
        two[c] = l.mul(h_second, l.neg_mul_add(cross, one[c], two[c]));
        top[column + c] = l.neg(l.mul(head, two[c]));
    }
    for ((row, &v), &w) in block.chunks_exact_mut(n).zip(first).zip(second) {
        let entries: &mut [V<S, T>] = &mut row[column..column + C];
        for c in 0..C {
            let once = l.neg_mul_add(v, one[c], entries[c]);
            entries[c] = l.neg_mul_add(w, two[c], once);
        }
    }
}

/// `Z ← Z − v (vᵀZ)/h` on a column of the rows in `block`.
#[inline(always)]
fn reflect_column<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    n: usize,
    v: &[V<S, T>],
    h_inv: V<S, T>,
    block: &mut [V<S, T>],
    column: usize,
) {
    let mut u = l.splat(T::ZERO);
    for (row, &v) in block.chunks_exact(n).zip(v) {
        u = l.mul_add(v, row[column], u);
    }
    let u = l.mul(h_inv, u);
    for (row, &v) in block.chunks_exact_mut(n).zip(v) {
        row[column] = l.neg_mul_add(v, u, row[column]);
    }
}
