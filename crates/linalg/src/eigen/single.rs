//! One matrix alone, vectorised along its rows: `X = U diag(λ) Uᵀ` of one symmetric `n × n` matrix.
//!
//! Householder reduction `T = Qᵀ X Q` from the last row up, then implicit QL with Wilkinson's shift (EISPACK `tred2`, `tql2`). The lanes of
//! a register hold neighbouring columns; rows are padded with zeros to whole registers, so that no loop has a remainder. The
//! batched kernel wins where a register full of matrices is there; this one where there is one.
//!
//! `Qᵀ` is kept with eigenvectors as rows: a rotation then touches two contiguous rows, and a whole sweep runs through a few
//! registers of columns with one load and one store per rotation.

use crate::simd::{Lanes, V};
use crate::{Scalar, tolerance};
use pulp::bytemuck::cast_slice;
use pulp::{Simd, WithSimd};

/// Columns of registers that go through a sweep together, so that their latencies overlap.
const BLOCKS: usize = 4;

/// Buffers of [`eigh_single_into`](super::eigh_single_into), reused from call to call.
#[derive(Debug, Clone, Default)]
pub struct SingleScratch<T> {
    lanes: Vec<T>,
    rotations: Vec<[T; 2]>,
    order: Vec<usize>,
}

/// Decomposes one matrix; false where QL does not converge.
pub(super) struct DecomposeSingle<'a, T> {
    pub(super) n: usize,
    pub(super) input: &'a [T],
    pub(super) values: &'a mut [T],
    pub(super) vectors: &'a mut [T],
    pub(super) scratch: &'a mut SingleScratch<T>,
}

impl<T: Scalar> WithSimd for DecomposeSingle<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        let l = Lanes::<S, T>::new(simd);
        let (n, width) = (self.n, Lanes::<S, T>::width());
        let stride = n.div_ceil(width);
        let SingleScratch {
            lanes,
            rotations,
            order,
        } = self.scratch;
        lanes.resize((2 * n + 4) * stride * width, T::ZERO);
        rotations.resize(n, [T::ONE, T::ZERO]);
        let (a, rest) = lanes.split_at_mut(n * stride * width);
        let (z, rest) = rest.split_at_mut(n * stride * width);
        let (d, rest) = rest.split_at_mut(stride * width);
        let (e, rest) = rest.split_at_mut(stride * width);
        let (p, tau) = rest.split_at_mut(stride * width);
        let scale = load(n, self.input, a, stride * width);
        reduce(l, n, stride, a, d, e, p, tau);
        accumulate(l, n, stride, a, tau, z, p);
        // Columns of Q become rows.
        let row = stride * width;
        for r in 0..n {
            for c in 0..n {
                a[c * row + r] = z[r * row + c];
            }
            a[r * row + n..(r + 1) * row].fill(T::ZERO);
        }
        if !iterate(l, n, stride, &mut d[..n], e, a, rotations) {
            return false;
        }
        order.clear();
        order.extend(0..n);
        // Insertion sort: QL leaves the values nearly in order.
        for k in 1..n {
            let mut at = k;
            while at > 0 && d[order[at - 1]] > d[order[at]] {
                order.swap(at - 1, at);
                at -= 1;
            }
        }
        for (c, &k) in order.iter().enumerate() {
            self.values[c] = d[k] * scale;
            for (r, &x) in a[k * row..][..n].iter().enumerate() {
                self.vectors[r * n + c] = x;
            }
        }
        true
    }
}

/// Copies the lower triangle to both, scaled by a power of two so that the largest entry is near one; gives the scale.
fn load<T: Scalar>(n: usize, input: &[T], a: &mut [T], row: usize) -> T {
    let mut largest = T::ZERO;
    for r in 0..n {
        for &x in &input[r * n..=r * n + r] {
            largest = Scalar::max(largest, Scalar::abs(x));
        }
    }
    let scale = T::power_of_two_below(largest);
    let inverse = T::ONE / scale;
    for r in 0..n {
        for c in 0..=r {
            let x = input[r * n + c] * inverse;
            (a[r * row + c], a[c * row + r]) = (x, x);
        }
        a[r * row + n..(r + 1) * row].fill(T::ZERO);
    }
    scale
}

/// `Σ x·y` over registers.
#[inline(always)]
fn dot<S: Simd, T: Scalar>(l: Lanes<S, T>, x: &[V<S, T>], y: &[V<S, T>]) -> T {
    let mut sum = l.splat(T::ZERO);
    for (&x, &y) in x.iter().zip(y) {
        sum = l.mul_add(x, y, sum);
    }
    let mut total = T::ZERO;
    for &x in cast_slice::<_, T>(&[sum]) {
        total += x;
    }
    total
}

/// Tridiagonal `d`, `e` (`e[i]` couples `i` and `i + 1`); row `m` of `a` becomes the vector `v` of reflector `m`, `H = I − τ v vᵀ`.
#[inline(always)]
fn reduce<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    n: usize,
    stride: usize,
    a: &mut [T],
    d: &mut [T],
    e: &mut [T],
    p: &mut [T],
    tau: &mut [T],
) {
    let width = Lanes::<S, T>::width();
    let row = stride * width;
    for m in (1..n).rev() {
        let x = &mut a[m * row..][..row];
        d[m] = x[m];
        x[m..].fill(T::ZERO);
        let blocks = m.div_ceil(width);
        let last = x[m - 1];
        x[m - 1] = T::ZERO;
        let v = T::view::<S>(&x[..blocks * width]);
        let square = dot(l, v, v);
        if square < tolerance::negligible_square::<T>() {
            x.fill(T::ZERO);
            (e[m - 1], tau[m]) = (last, T::ZERO);
            continue;
        }
        let norm = Scalar::sqrt(square + last * last);
        let signed = if last < T::ZERO { -norm } else { norm };
        e[m - 1] = -signed;
        x[m - 1] = last + signed;
        let t = T::ONE / (norm * (norm + Scalar::abs(last)));
        tau[m] = t;
        let (above, v) = a.split_at_mut(m * row);
        let v = &v[..blocks * width];
        let p = &mut p[..blocks * width];
        times(l, m, stride, blocks, above, v, p);
        p[m..].fill(T::ZERO);
        // In this order: t² alone may overflow where v is tiny.
        let half = T::from_f64(0.5) * t * (t * dot(l, T::view::<S>(v), T::view::<S>(p)));
        let (t, half) = (l.splat(t), l.splat(half));
        for (p, &v) in T::view_mut::<S>(p).iter_mut().zip(T::view::<S>(v)) {
            *p = l.neg_mul_add(half, v, l.mul(t, *p));
        }
        rank_two(l, m, stride, blocks, above, v, p);
    }
    d[0] = a[0];
}

/// `p ← A v` of the leading `m × m`, as a sum of rows.
#[inline(always)]
fn times<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    m: usize,
    stride: usize,
    blocks: usize,
    a: &[T],
    v: &[T],
    p: &mut [T],
) {
    let (a, p) = (T::view::<S>(a), T::view_mut::<S>(p));
    p.fill(l.splat(T::ZERO));
    let mut r = 0;
    while r + 4 <= m {
        let s = [
            l.splat(v[r]),
            l.splat(v[r + 1]),
            l.splat(v[r + 2]),
            l.splat(v[r + 3]),
        ];
        let (a0, a1) = (&a[r * stride..][..blocks], &a[(r + 1) * stride..][..blocks]);
        let (a2, a3) = (
            &a[(r + 2) * stride..][..blocks],
            &a[(r + 3) * stride..][..blocks],
        );
        for b in 0..blocks {
            let one = l.mul_add(s[1], a1[b], l.mul(s[0], a0[b]));
            let two = l.mul_add(s[3], a3[b], l.mul(s[2], a2[b]));
            p[b] = l.add(p[b], l.add(one, two));
        }
        r += 4;
    }
    while r < m {
        let s = l.splat(v[r]);
        for (p, &a) in p.iter_mut().zip(&a[r * stride..][..blocks]) {
            *p = l.mul_add(s, a, *p);
        }
        r += 1;
    }
}

/// `A ← A − v wᵀ − w vᵀ` of the leading `m × m`.
#[inline(always)]
fn rank_two<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    m: usize,
    stride: usize,
    blocks: usize,
    a: &mut [T],
    v: &[T],
    w: &[T],
) {
    let a = T::view_mut::<S>(a);
    let (vs, ws) = (T::view::<S>(v), T::view::<S>(w));
    for r in 0..m {
        let (v_r, w_r) = (l.splat(v[r]), l.splat(w[r]));
        let a = &mut a[r * stride..][..blocks];
        for ((a, &v), &w) in a.iter_mut().zip(vs).zip(ws) {
            *a = l.neg_mul_add(w_r, v, l.neg_mul_add(v_r, w, *a));
        }
    }
}

/// `Q = H_{n−1} ⋯ H_1` into `q`; the leading `m × m` grows with `m`.
#[inline(always)]
fn accumulate<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    n: usize,
    stride: usize,
    a: &[T],
    tau: &[T],
    q: &mut [T],
    p: &mut [T],
) {
    let width = Lanes::<S, T>::width();
    let row = stride * width;
    q.fill(T::ZERO);
    for r in 0..n {
        q[r * row + r] = T::ONE;
    }
    for m in 1..n {
        if tau[m] == T::ZERO {
            continue;
        }
        let blocks = m.div_ceil(width);
        let v = &a[m * row..][..blocks * width];
        // Rows and columns from m on are still the identity's: v is zero there.
        let p = &mut p[..blocks * width];
        times(l, m, stride, blocks, q, v, p);
        let p = T::view::<S>(p);
        let q = T::view_mut::<S>(q);
        for r in 0..m {
            let s = l.splat(tau[m] * v[r]);
            for (q, &p) in q[r * stride..][..blocks].iter_mut().zip(p) {
                *q = l.neg_mul_add(s, p, *q);
            }
        }
    }
}

/// QL until the off-diagonals vanish, rows of `z` rotated along.
#[inline(always)]
fn iterate<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    n: usize,
    stride: usize,
    d: &mut [T],
    e: &mut [T],
    z: &mut [T],
    rotations: &mut [[T; 2]],
) -> bool {
    let floor = tolerance::ql_floor::<T>();
    let mut budget = tolerance::QL_SWEEPS_PER_EIGENVALUE * n;
    for first in 0..n.saturating_sub(1) {
        loop {
            let mut last = first;
            while last + 1 < n {
                let size = Scalar::abs(d[last]) + Scalar::abs(d[last + 1]);
                if Scalar::abs(e[last]) <= T::EPSILON * size + floor {
                    e[last] = T::ZERO;
                    break;
                }
                last += 1;
            }
            if last == first {
                break;
            }
            if budget == 0 {
                return false;
            }
            budget -= 1;
            sweep(d, e, first, last, rotations);
            rotate(l, stride, z, first, last, rotations);
        }
    }
    true
}

/// One implicit QL sweep over rows `first..=last`; rotation `i` is of rows `i` and `i + 1`.
#[inline(always)]
fn sweep<T: Scalar>(d: &mut [T], e: &mut [T], first: usize, last: usize, rotations: &mut [[T; 2]]) {
    let ratio = (d[first + 1] - d[first]) / (e[first] + e[first]);
    let root = Scalar::sqrt(ratio * ratio + T::ONE);
    let root = if ratio < T::ZERO { -root } else { root };
    let mut g = d[last] - d[first] + e[first] / (ratio + root);
    let (mut s, mut c, mut p) = (T::ONE, T::ONE, T::ZERO);
    for i in (first..last).rev() {
        let (f, b) = (s * e[i], c * e[i]);
        let square = f * f + g * g;
        let mut r = g;
        (s, c) = (T::ZERO, T::ONE);
        if square >= tolerance::negligible_square::<T>() {
            r = Scalar::sqrt(square);
            let inverse = T::ONE / r;
            (s, c) = (f * inverse, g * inverse);
        }
        if i + 1 < last {
            e[i + 1] = r;
        }
        let shifted = d[i + 1] - p;
        let t = (d[i] - shifted) * s + (c + c) * b;
        p = s * t;
        d[i + 1] = shifted + p;
        g = c * t - b;
        rotations[i] = [c, s];
    }
    d[first] -= p;
    e[first] = g;
}

/// Applies a sweep to the rows of `z`, some columns of registers at a time.
#[inline(always)]
fn rotate<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    stride: usize,
    z: &mut [T],
    first: usize,
    last: usize,
    rotations: &[[T; 2]],
) {
    let z = T::view_mut::<S>(z);
    let mut at = 0;
    while at + BLOCKS <= stride {
        rotate_block::<S, T, BLOCKS>(l, stride, z, at, first, last, rotations);
        at += BLOCKS;
    }
    match stride - at {
        3 => rotate_block::<S, T, 3>(l, stride, z, at, first, last, rotations),
        2 => rotate_block::<S, T, 2>(l, stride, z, at, first, last, rotations),
        1 => rotate_block::<S, T, 1>(l, stride, z, at, first, last, rotations),
        _ => {}
    }
}

#[inline(always)]
fn rotate_block<S: Simd, T: Scalar, const B: usize>(
    l: Lanes<S, T>,
    stride: usize,
    z: &mut [V<S, T>],
    at: usize,
    first: usize,
    last: usize,
    rotations: &[[T; 2]],
) {
    let mut carried = [l.splat(T::ZERO); B];
    carried.copy_from_slice(&z[last * stride + at..][..B]);
    for i in (first..last).rev() {
        let [c, s] = rotations[i];
        let (c, s) = (l.splat(c), l.splat(s));
        let rows = &mut z[i * stride + at..(i + 1) * stride + at + B];
        let (below, above) = rows.split_at_mut(stride);
        for b in 0..B {
            let low = below[b];
            above[b] = l.mul_add(s, low, l.mul(c, carried[b]));
            carried[b] = l.neg_mul_add(s, carried[b], l.mul(c, low));
        }
    }
    z[first * stride + at..][..B].copy_from_slice(&carried);
}
