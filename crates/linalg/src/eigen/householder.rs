//! Householder reduction of one matrix along its rows, `T = Qᵀ X Q` with `Q = H_{n−1} ⋯ H_1`, `H =
//! I − τ v vᵀ`, and what is made of its reflectors.

use crate::simd::{Lanes, V, store};
use crate::{Scalar, tolerance};
use pulp::Simd;
use pulp::bytemuck::cast_slice;

/// Columns of registers whose sums stay in registers.
const BLOCKS: usize = 4;

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

/// Tridiagonal `d`, `e` (`e[i]` couples `i` and `i + 1`); row `m` of `a` becomes the vector `v` of
/// reflector `m`, `H = I − τ v vᵀ`.
///
/// The update `A ← A − v wᵀ − w vᵀ` of a step waits for the next one: row by row it is made where
/// the new vector is multiplied with the row. `p` has room for two rows, `w` of the last step and
/// `A v` of this one.
#[inline(always)]
pub(super) fn reduce<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    n: usize,
    stride: usize,
    a: &mut [T],
    d: &mut [T],
    e: &mut [T],
    p: &mut [T],
    tau: &mut [T],
) {
    let row = stride * Lanes::<S, T>::width();
    let (mut w, mut p) = p.split_at_mut(row);
    w.fill(T::ZERO);
    // The vector whose update waits; at first none does.
    let mut waiting = false;
    for m in (1..n).rev() {
        let (above, rest) = a.split_at_mut(m * row);
        let (x, last_v) = rest.split_at_mut(row);
        let last_v = if waiting { &last_v[..row] } else { &[] };
        if waiting {
            update_row(l, x, last_v, w, m);
        }
        d[m] = x[m];
        x[m..].fill(T::ZERO);
        let last = x[m - 1];
        x[m - 1] = T::ZERO;
        let square = dot(l, T::view::<S>(x), T::view::<S>(x));
        let reflects = square >= tolerance::negligible_square::<T>();
        if reflects {
            let norm = Scalar::sqrt(square + last * last);
            let signed = if last < T::ZERO { -norm } else { norm };
            e[m - 1] = -signed;
            x[m - 1] = last + signed;
            tau[m] = T::ONE / (norm * (norm + Scalar::abs(last)));
        } else {
            x.fill(T::ZERO);
            (e[m - 1], tau[m]) = (last, T::ZERO);
        }
        let blocks = m.div_ceil(Lanes::<S, T>::width());
        let rows = Rows {
            count: m,
            stride,
            x: &*x,
            v: last_v,
            w: &*w,
        };
        let (above, out) = (T::view_mut::<S>(above), T::view_mut::<S>(p));
        let mut at = 0;
        while at + BLOCKS <= blocks {
            rows.multiply::<S, BLOCKS>(l, above, at, out);
            at += BLOCKS;
        }
        match blocks - at {
            3 => rows.multiply::<S, 3>(l, above, at, out),
            2 => rows.multiply::<S, 2>(l, above, at, out),
            1 => rows.multiply::<S, 1>(l, above, at, out),
            _ => {}
        }
        waiting = reflects;
        if reflects {
            let t = tau[m];
            p[m..].fill(T::ZERO);
            let (x, next) = (T::view::<S>(x), T::view_mut::<S>(p));
            // In this order: t² alone may overflow where v is tiny.
            let half = T::from_f64(0.5) * t * (t * dot(l, x, next));
            let (t, half) = (l.splat(t), l.splat(half));
            for (p, &v) in next.iter_mut().zip(x) {
                *p = l.neg_mul_add(half, v, l.mul(t, *p));
            }
            std::mem::swap(&mut w, &mut p);
        }
    }
    d[0] = a[0];
}

/// `x ← x − v_m w − w_m v`: row `m` alone.
#[inline(always)]
fn update_row<S: Simd, T: Scalar>(l: Lanes<S, T>, x: &mut [T], v: &[T], w: &[T], m: usize) {
    let (v_m, w_m) = (l.splat(v[m]), l.splat(w[m]));
    let (v, w) = (T::view::<S>(v), T::view::<S>(w));
    for ((x, &v), &w) in T::view_mut::<S>(x).iter_mut().zip(v).zip(w) {
        *x = l.neg_mul_add(w_m, v, l.neg_mul_add(v_m, w, *x));
    }
}

/// The leading `count` rows, an update that waits (where `v` is not empty), and the vector to
/// multiply with.
struct Rows<'a, T> {
    count: usize,
    stride: usize,
    x: &'a [T],
    v: &'a [T],
    w: &'a [T],
}

impl<T: Scalar> Rows<'_, T> {
    /// `B` columns of registers: the update, and `p ← A x`.
    #[inline(always)]
    fn multiply<S: Simd, const B: usize>(
        &self,
        l: Lanes<S, T>,
        a: &mut [V<S, T>],
        at: usize,
        p: &mut [V<S, T>],
    ) {
        let zero = l.splat(T::ZERO);
        let mut sums = [zero; B];
        if self.v.is_empty() {
            for r in 0..self.count {
                let x = l.splat(self.x[r]);
                let a = &a[r * self.stride + at..][..B];
                for b in 0..B {
                    sums[b] = l.mul_add(x, a[b], sums[b]);
                }
            }
        } else {
            let v = &T::view::<S>(self.v)[at..][..B];
            let w = &T::view::<S>(self.w)[at..][..B];
            for r in 0..self.count {
                let x = l.splat(self.x[r]);
                let (v_r, w_r) = (l.splat(self.v[r]), l.splat(self.w[r]));
                let a = &mut a[r * self.stride + at..][..B];
                for b in 0..B {
                    a[b] = l.neg_mul_add(w_r, v[b], l.neg_mul_add(v_r, w[b], a[b]));
                    sums[b] = l.mul_add(x, a[b], sums[b]);
                }
            }
        }
        store(&mut p[at..], &sums);
    }
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

/// `Q = H_{n−1} ⋯ H_1` into `q`; the leading `m × m` grows with `m`.
#[inline(always)]
pub(super) fn accumulate<S: Simd, T: Scalar>(
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

/// `S ← H_{n−1} ⋯ H_1 S`, all columns of `s`, two reflectors in one pass:
///
/// ```text
/// H₂ H₁ S = S − τ₁ v₁ p₁ᵀ − τ₂ v₂ p₂ᵀ,    p₁ = Sᵀ v₁,    p₂ = Sᵀ v₂ − τ₁ (v₁·v₂) p₁
/// ```
///
/// Sums stay in registers.
#[inline(always)]
pub(super) fn reflect<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    n: usize,
    stride: usize,
    a: &[T],
    tau: &[T],
    s: &mut [T],
) {
    let s = T::view_mut::<S>(s);
    // Block by block of columns: a block stays in the second-level cache while all reflectors pass,
    // where `S` as a whole would not.
    let mut at = 0;
    while at + BLOCKS <= stride {
        reflect_columns::<S, T, BLOCKS>(l, n, stride, a, tau, s, at);
        at += BLOCKS;
    }
    match stride - at {
        3 => reflect_columns::<S, T, 3>(l, n, stride, a, tau, s, at),
        2 => reflect_columns::<S, T, 2>(l, n, stride, a, tau, s, at),
        1 => reflect_columns::<S, T, 1>(l, n, stride, a, tau, s, at),
        _ => {}
    }
}

/// All reflectors on `B` columns of registers.
#[inline(always)]
fn reflect_columns<S: Simd, T: Scalar, const B: usize>(
    l: Lanes<S, T>,
    n: usize,
    stride: usize,
    a: &[T],
    tau: &[T],
    s: &mut [V<S, T>],
    at: usize,
) {
    let row = stride * Lanes::<S, T>::width();
    let mut m = 1;
    while m < n {
        // Where the last one is alone, its partner does nothing.
        let paired = m + 1 < n;
        let (one, two) = (
            &a[m * row..][..row],
            &a[(m + usize::from(paired)) * row..][..row],
        );
        let second = if paired { tau[m + 1] } else { T::ZERO };
        let coupled = tau[m] * dot(l, T::view::<S>(one), T::view::<S>(two));
        let pair = Pair {
            rows: if paired { m + 1 } else { m },
            v: (one, two),
            tau: (tau[m], second),
            coupled,
        };
        reflect_block::<S, T, B>(l, stride, s, at, &pair);
        m += 2;
    }
}

/// Two reflectors, which touch the first `rows` rows.
struct Pair<'a, T> {
    rows: usize,
    v: (&'a [T], &'a [T]),
    tau: (T, T),
    /// `τ₁ (v₁·v₂)`.
    coupled: T,
}

#[inline(always)]
fn reflect_block<S: Simd, T: Scalar, const B: usize>(
    l: Lanes<S, T>,
    stride: usize,
    s: &mut [V<S, T>],
    at: usize,
    pair: &Pair<'_, T>,
) {
    let zero = l.splat(T::ZERO);
    let (one, two) = (&pair.v.0[..pair.rows], &pair.v.1[..pair.rows]);
    let (mut p, mut q) = ([zero; B], [zero; B]);
    for r in 0..pair.rows {
        let (x, y) = (l.splat(one[r]), l.splat(two[r]));
        let s = &s[r * stride + at..][..B];
        for b in 0..B {
            p[b] = l.mul_add(x, s[b], p[b]);
            q[b] = l.mul_add(y, s[b], q[b]);
        }
    }
    let (coupled, first) = (l.splat(pair.coupled), l.splat(pair.tau.0));
    let second = l.splat(pair.tau.1);
    for b in 0..B {
        q[b] = l.mul(second, l.neg_mul_add(coupled, p[b], q[b]));
        p[b] = l.mul(first, p[b]);
    }
    for r in 0..pair.rows {
        let (x, y) = (l.splat(one[r]), l.splat(two[r]));
        let s = &mut s[r * stride + at..][..B];
        for b in 0..B {
            s[b] = l.neg_mul_add(y, q[b], l.neg_mul_add(x, p[b], s[b]));
        }
    }
}
