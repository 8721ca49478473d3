//! Eigenvalues and eigenvectors of a diagonal matrix plus one of rank one: `diag(d) + ρ z zᵀ`, `d`
//! ascending and distinct, no `z_j` zero, `ρ > 0`.
//!
//! Eigenvalue `i` is the root between `d_i` and `d_{i+1}` (the last one above `d_{k−1}`) of the
//! secular function
//!
//! ```text
//! f(λ) = 1/ρ + ψ(λ) + φ(λ),   ψ = Σ_{j ≤ i} z_j²/(d_j − λ),   φ = Σ_{j > i} z_j²/(d_j − λ)
//! ```
//!
//! One root per lane. A root is kept as its distance `η` to the nearer of the two poles, so that
//! `d_j − λ = (d_j − d_o) − η` has all its digits; steps interpolate `ψ` and `φ` by one pole each
//! ("the middle way", R.-C. Li, LAPACK Working Note 89), and a bracket catches those that leave it.
//! Eigenvectors are those of the matrix that has the computed roots exactly (M. Gu and S. C.
//! Eisenstat, SIAM J. Matrix Anal. Appl. 16, 1995), with entries
//!
//! ```text
//! ẑ_j² = (λ_j − d_j) Π_{i ≠ j} (λ_i − d_j)/(d_i − d_j),   v_ji ∝ ẑ_j/(d_j − λ_i)
//! ```
//!
//! and therefore orthogonal to rounding however close the roots are.

use crate::Scalar;
use crate::simd::{Lanes, M, V};
use crate::tolerance::{SECULAR_RESIDUAL, SECULAR_SHORT, SECULAR_STEPS};
use pulp::Simd;
use pulp::bytemuck::{cast_slice, cast_slice_mut};

/// The matrix.
pub(super) struct RankOne<'a, T> {
    /// `d`, `k` of them.
    pub(super) poles: &'a [T],
    /// `z`.
    pub(super) z: &'a [T],
    /// `ρ`.
    pub(super) rho: T,
}

/// Lanes of a register at most.
const WIDEST: usize = 16;

/// A register with one number per lane.
#[inline(always)]
fn lanes_of<S: Simd, T: Scalar>(of: impl Fn(usize) -> T) -> V<S, T> {
    let mut buffer = [T::ZERO; WIDEST];
    let width = Lanes::<S, T>::width();
    for lane in 0..width {
        buffer[lane] = of(lane);
    }
    T::view::<S>(&buffer[..width])[0]
}

/// Parts of the secular function at a register of points, with their derivatives.
#[derive(Clone, Copy)]
struct Value<X> {
    psi: X,
    psi_slope: X,
    phi: X,
    phi_slope: X,
}

/// The roots of a register: root `first + lane`, or the last one.
struct Roots<'a, S: Simd, T: Scalar> {
    l: Lanes<S, T>,
    matrix: &'a RankOne<'a, T>,
    first: usize,
    /// The number of each lane's root.
    index: V<S, T>,
    /// The pole that each root is measured from.
    origin: V<S, T>,
}

impl<S: Simd, T: Scalar> Roots<'_, S, T> {
    /// `d_j − λ`.
    #[inline(always)]
    fn gap(&self, j: usize, eta: V<S, T>) -> V<S, T> {
        let l = self.l;
        l.sub(l.sub(l.splat(self.matrix.poles[j]), self.origin), eta)
    }

    #[inline(always)]
    fn value(&self, eta: V<S, T>) -> Value<V<S, T>> {
        let (l, k) = (self.l, self.matrix.poles.len());
        let zero = l.splat(T::ZERO);
        let mut value = Value {
            psi: zero,
            psi_slope: zero,
            phi: zero,
            phi_slope: zero,
        };
        let end = (self.first + Lanes::<S, T>::width()).min(k);
        for j in 0..=self.first {
            let (term, slope) = self.term(j, eta);
            value.psi = l.add(value.psi, term);
            value.psi_slope = l.add(value.psi_slope, slope);
        }
        for j in self.first + 1..end {
            let (term, slope) = self.term(j, eta);
            let left = l.less_equal(l.splat(T::from_f64(j as f64)), self.index);
            value.psi = l.add(value.psi, l.select(left, term, zero));
            value.psi_slope = l.add(value.psi_slope, l.select(left, slope, zero));
            value.phi = l.add(value.phi, l.select(left, zero, term));
            value.phi_slope = l.add(value.phi_slope, l.select(left, zero, slope));
        }
        for j in end..k {
            let (term, slope) = self.term(j, eta);
            value.phi = l.add(value.phi, term);
            value.phi_slope = l.add(value.phi_slope, slope);
        }
        value
    }

    /// `z_j²/(d_j − λ)` and its derivative.
    #[inline(always)]
    fn term(&self, j: usize, eta: V<S, T>) -> (V<S, T>, V<S, T>) {
        let l = self.l;
        let z = l.splat(self.matrix.z[j]);
        let quotient = l.div(z, self.gap(j, eta));
        (l.mul(z, quotient), l.mul(quotient, quotient))
    }
}

/// All roots into `values`, and `d_j − λ_i` into row `j` of `gaps`, whose rows have `stride`
/// registers. False where a root was not found.
#[inline(always)]
pub(super) fn roots<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    matrix: &RankOne<'_, T>,
    stride: usize,
    values: &mut [T],
    gaps: &mut [V<S, T>],
) -> bool {
    let (width, k) = (Lanes::<S, T>::width(), matrix.poles.len());
    let total: T = matrix.z.iter().map(|&z| z * z).sum();
    for group in 0..k.div_ceil(width) {
        let first = group * width;
        let root = |lane: usize| (first + lane).min(k - 1);
        let left = lanes_of::<S, T>(|lane| matrix.poles[root(lane)]);
        let distance = lanes_of::<S, T>(|lane| match matrix.poles.get(root(lane) + 1) {
            Some(&next) => next - matrix.poles[root(lane)],
            None => matrix.rho * total,
        });
        let mut roots = Roots {
            l,
            matrix,
            first,
            index: lanes_of::<S, T>(|lane| T::from_f64(root(lane) as f64)),
            origin: left,
        };
        let last = l.equal(roots.index, l.splat(T::from_f64((k - 1) as f64)));
        let Some(eta) = solve(&mut roots, distance, last) else {
            return false;
        };
        for j in 0..k {
            gaps[j * stride + group] = roots.gap(j, eta);
        }
        let found = l.add(roots.origin, eta);
        let count = width.min(k - first);
        values[first..first + count].copy_from_slice(&cast_slice(&[found])[..count]);
    }
    true
}

/// `η` of every lane; the origins become the nearer poles. `distance` is that of the two poles, for
/// `last` ones that of the bound above.
#[inline(always)]
fn solve<S: Simd, T: Scalar>(
    roots: &mut Roots<'_, S, T>,
    distance: V<S, T>,
    last: M<S, T>,
) -> Option<V<S, T>> {
    let (l, k) = (roots.l, roots.matrix.poles.len());
    let (zero, half) = (l.splat(T::ZERO), l.splat(T::from_f64(0.5)));
    let inverse = l.splat(T::ONE / roots.matrix.rho);
    let small = l.splat(T::EPSILON * T::from_f64(SECULAR_RESIDUAL));
    let enough = l.splat(T::EPSILON * T::from_f64(SECULAR_RESIDUAL * k as f64));
    let short = l.splat(Scalar::sqrt(T::EPSILON) * T::from_f64(SECULAR_SHORT));
    let middle = l.mul(half, distance);
    let mut eta = middle;
    let mut value = roots.value(eta);
    let sum = l.add(inverse, l.add(value.psi, value.phi));
    // From the right pole where the root lies in the right half.
    let right = l.less(sum, zero);
    let right = l.select(last, zero, l.select(right, l.splat(T::ONE), zero));
    let right = l.less(zero, right);
    let next = lanes_of::<S, T>(|lane| {
        let root = (roots.first + lane + 1).min(k - 1);
        roots.matrix.poles[root]
    });
    roots.origin = l.select(right, next, roots.origin);
    let to_left = l.select(right, l.neg(distance), zero);
    let to_right = l.select(right, zero, distance);
    eta = l.select(right, l.neg(middle), eta);
    let mut low = l.select(right, l.neg(middle), zero);
    let mut high = l.select(right, zero, distance);
    for step in 0..SECULAR_STEPS {
        if step > 0 {
            value = roots.value(eta);
        }
        let Value {
            psi,
            psi_slope,
            phi,
            phi_slope,
        } = value;
        let sum = l.add(inverse, l.add(psi, phi));
        let size = l.add(inverse, l.sub(phi, psi));
        let bound = if step < SECULAR_STEPS / 2 {
            small
        } else {
            enough
        };
        let done = l.less_equal(l.abs(sum), l.mul(bound, size));
        let below = l.less(sum, zero);
        low = l.select(below, eta, low);
        high = l.select(below, high, eta);
        let (a_left, a_right) = (l.sub(to_left, eta), l.sub(to_right, eta));
        let slope = l.add(psi_slope, phi_slope);
        // c x² − a x + b = 0.
        let both = l.mul(a_left, a_right);
        let c = l.neg_mul_add(a_right, phi_slope, l.neg_mul_add(a_left, psi_slope, sum));
        let a = l.neg_mul_add(both, slope, l.mul(l.add(a_left, a_right), sum));
        let b = l.mul(both, sum);
        let square = l.neg_mul_add(l.mul(l.splat(T::from_f64(4.0)), b), c, l.mul(a, a));
        let root = l.sqrt(l.abs(square));
        let two = l.splat(T::from_f64(2.0));
        let falling = l.less_equal(a, zero);
        let top = l.select(falling, l.sub(a, root), l.mul(two, b));
        let bottom = l.select(falling, l.mul(two, c), l.add(a, root));
        let top = l.select(last, l.mul(a_left, sum), top);
        let bottom = l.select(last, l.neg_mul_add(a_left, slope, sum), bottom);
        let next = l.add(eta, l.div(top, bottom));
        let inside = l.and(l.less(low, next), l.less(next, high));
        let next = l.select(inside, next, l.mul(half, l.add(low, high)));
        // Where nothing moves any more, the bracket is as narrow as numbers are. A short step
        // squares the error, which is then below rounding: the next step would only confirm it.
        let moved = l.abs(l.sub(next, eta));
        let short = l.and(inside, l.less_equal(moved, l.mul(short, l.abs(next))));
        let still = l.equal(next, eta);
        let active = l.select(short, zero, l.select(still, zero, l.splat(T::ONE)));
        let active = l.select(done, zero, active);
        eta = l.select(done, eta, next);
        if cast_slice::<_, T>(&[active]).iter().all(|&x| x == T::ZERO) {
            return Some(eta);
        }
    }
    None
}

/// Turns `gaps` into the eigenvectors, `v_ji` in row `j`: unit columns, as many as there are poles;
/// what lies beyond is of no use. `scratch` holds three rows of registers.
#[inline(always)]
pub(super) fn vectors<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    matrix: &RankOne<'_, T>,
    stride: usize,
    gaps: &mut [V<S, T>],
    scratch: &mut [V<S, T>],
) {
    let (width, k) = (Lanes::<S, T>::width(), matrix.poles.len());
    let groups = k.div_ceil(width);
    let one = l.splat(T::ONE);
    let (squares, rest) = scratch.split_at_mut(groups);
    let (poles, rest) = rest.split_at_mut(groups);
    let numbers = &mut rest[..groups];
    squares.fill(l.splat(T::ZERO));
    for (i, (pole, number)) in cast_slice_mut::<_, T>(poles)
        .iter_mut()
        .zip(cast_slice_mut::<_, T>(numbers))
        .enumerate()
    {
        *pole = matrix.poles[i.min(k - 1)];
        *number = T::from_f64(i as f64);
    }
    let end = l.splat(T::from_f64(k as f64));
    for j in 0..k {
        let row = &mut gaps[j * stride..][..groups];
        let (pole, number) = (l.splat(matrix.poles[j]), l.splat(T::from_f64(j as f64)));
        let mut product = one;
        for (group, &gap) in row.iter().enumerate() {
            let own = l.equal(numbers[group], number);
            let there = l.less(numbers[group], end);
            let bottom = l.select(own, l.neg(one), l.sub(pole, poles[group]));
            let bottom = l.select(there, bottom, one);
            let ratio = l.div(l.select(there, gap, one), bottom);
            product = l.mul(product, ratio);
        }
        let mut square = T::ONE;
        for &x in cast_slice::<_, T>(&[product]) {
            square *= x;
        }
        let size = Scalar::sqrt(Scalar::abs(square));
        let z = l.splat(if matrix.z[j] < T::ZERO { -size } else { size });
        for (entry, square) in row.iter_mut().zip(&mut *squares) {
            *entry = l.div(z, *entry);
            *square = l.mul_add(*entry, *entry, *square);
        }
    }
    for square in &mut *squares {
        *square = l.div(one, l.sqrt(*square));
    }
    for j in 0..k {
        let row = &mut gaps[j * stride..][..groups];
        for (entry, &scale) in row.iter_mut().zip(&*squares) {
            *entry = l.mul(*entry, scale);
        }
    }
}
