//! Divided differences of `f = log max(·, ε)` for every pair of eigenvalues, in lanes.
//!
//! For `a ≥ b`, with `a′ = max(a, ε)`, `b′ = max(b, ε)`:
//!
//! ```text
//! f[a, b] = 1/a                                         a = b > ε
//!         = (ln a′ − ln b′)/(a − b)                     s > 0.17, that is a′ > √2 b′
//!         = P(s²)/½(a′ + b′) · (a′ − b′)/(a − b)        else;  s = (a′ − b′)/(a′ + b′)
//!         = 0                                           a ≤ ε
//! P(q)    = 1 + q/3 + q²/5 + …                          atanh(s)/s: ln(a′/b′) = 2 atanh(s)
//! ```
//!
//! No form cancels: logarithms enter as two numbers each, whose sum has the digits that the
//! difference needs. Every pair is exact to a few roundings, as in
//! `spd::SpectralFn::divided_difference`, without a logarithm per pair.
//!
//! [`curvatures`] are `(u/2)coth(u/2)` of the differences `u` of logarithms, `½u(λ_r + λ_c)/(λ_r −
//! λ_c)`: without an exponential per pair.

use crate::simd::{Lanes, V};
use crate::tolerance::{ATANH_SERIES, CLOSE_LOGARITHMS};
use crate::{Scalar, kernel};
use pulp::Simd;

/// `ln max(λ, ε)` of the eigenvalues of a group, each as the sum of two numbers.
#[derive(Debug, Clone, Copy)]
pub struct Logarithms<'a, T> {
    /// `ε`.
    pub epsilon: T,
    /// The leading part, `n` registers.
    pub high: &'a [T],
    /// What is missing, `n` registers.
    pub low: &'a [T],
}

impl<T: Scalar> Logarithms<'_, T> {
    /// `ln max(λ, ε)` of every eigenvalue, in `high + low`.
    pub fn split(epsilon: T, values: &[T], high: &mut [T], low: &mut [T]) {
        for ((&x, high), low) in values.iter().zip(high).zip(low) {
            (*high, *low) = Scalar::max(x, epsilon).ln_parts();
        }
    }
}

/// Terms of the series: at the end of its range the next one is below a tenth of the rounding.
fn terms<T>() -> usize {
    if size_of::<T>() == 4 { 6 } else { 11 }
}

kernel! {
    /// Divided differences of `log max(·, ε)` of every pair of eigenvalues of a group, lower triangles
    /// of squares.
    pub fn log_differences<'a, S, T>(
        l: Lanes<S, T>,
        n: usize,
        values: &'a [T],
        logarithms: &'a Logarithms<'a, T>,
        out: &'a mut [T],
    ) {
        let (values, out) = (T::view::<S>(values), T::view_mut::<S>(out));
        let (high, low) = (T::view::<S>(logarithms.high), T::view::<S>(logarithms.low));
        let epsilon = l.splat(logarithms.epsilon);
        for r in 0..n {
            let row = &mut out[r * n..=r * n + r];
            for (c, out) in row.iter_mut().enumerate() {
                let swap = l.less(values[r], values[c]);
                let a = l.select(swap, values[c], values[r]);
                let b = l.select(swap, values[r], values[c]);
                let high = l.sub(high[r], high[c]);
                let low = l.sub(low[r], low[c]);
                let logs = l.abs(l.add(high, low));
                *out = difference(l, a, b, logs, epsilon);
            }
        }
    }
}

kernel! {
    /// `w_i (u/2)coth(u/2)` of every pair of eigenvalues of a group, `u` the difference of their
    /// logarithms, lower triangles of squares: the second derivatives of squared distances. `values`
    /// are the eigenvalues up to a factor that those of a matrix have in common; `weights` is one
    /// register.
    pub fn curvatures<'a, S, T>(
        l: Lanes<S, T>,
        n: usize,
        logarithms: &'a [T],
        values: &'a [T],
        weights: &'a [T],
        out: &'a mut [T],
    ) {
        let (logarithms, values) = (T::view::<S>(logarithms), T::view::<S>(values));
        let (weights, out) = (T::view::<S>(weights)[0], T::view_mut::<S>(out));
        let (half, one) = (l.splat(T::from_f64(0.5)), l.splat(T::ONE));
        let (twelfth, close) = (T::from_f64(1.0 / 12.0), T::from_f64(CLOSE_LOGARITHMS));
        let (twelfth, close) = (l.splat(twelfth), l.splat(close));
        for r in 0..n {
            let row = &mut out[r * n..=r * n + r];
            for (c, out) in row.iter_mut().enumerate() {
                let u = l.sub(logarithms[r], logarithms[c]);
                let top = l.mul(l.mul(half, u), l.add(values[r], values[c]));
                let exact = l.div(top, l.sub(values[r], values[c]));
                let series = l.add(one, l.mul(l.mul(u, u), twelfth));
                let near = l.less(l.abs(u), close);
                *out = l.mul(weights, l.select(near, series, exact));
            }
        }
    }
}

/// `f[a, b]` for `a ≥ b`, given `ln a′ − ln b′`.
#[inline(always)]
fn difference<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    a: V<S, T>,
    b: V<S, T>,
    logs: V<S, T>,
    epsilon: V<S, T>,
) -> V<S, T> {
    let (one, half) = (l.splat(T::ONE), l.splat(T::from_f64(0.5)));
    let clamped = l.less_equal(b, epsilon);
    let lower = l.select(clamped, epsilon, b);
    let (gap, reach) = (l.sub(a, b), l.sub(a, lower));
    let centre = l.mul_add(half, a, l.mul(half, lower));
    let s = l.div(l.mul(half, reach), centre);
    let q = l.mul(s, s);
    let mut series = l.splat(T::from_f64(1.0 / (2 * terms::<T>() - 1) as f64));
    for term in (0..terms::<T>() - 1).rev() {
        series = l.mul_add(series, q, l.splat(T::from_f64(1.0 / (2 * term + 1) as f64)));
    }
    let near = l.less_equal(s, l.splat(T::from_f64(ATANH_SERIES)));
    // Where b is not clamped, reach and gap are one number.
    let (share, whole) = (l.select(clamped, reach, one), l.select(clamped, gap, one));
    let top = l.select(near, l.mul(series, share), logs);
    let bottom = l.select(near, l.mul(centre, whole), gap);
    let none = l.less_equal(a, epsilon);
    l.select(none, l.splat(T::ZERO), l.div(top, bottom))
}
