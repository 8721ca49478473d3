//! `A = Q R` of one `m × k` matrix by reflections `H_j = I − τ_j v_j v_jᵀ`: `H_{k−1} ⋯ H_0 A = R`,
//! `Q = H_0 ⋯ H_{k−1} I`.
//!
//! Columns lie one after the other, padded with zeros to whole registers; lanes are neighbouring
//! rows. The matrix is scaled by a power of two, so that squares neither overflow nor vanish.

use crate::simd::{Lanes, V};
use crate::tiles::transpose;
use crate::{Aligned, Scalar, kernel, tolerance};
use pulp::Simd;

/// Columns reflected together.
const TOGETHER: usize = 4;

kernel! {
    /// `A = Q R`, `m ≥ k`; the diagonal of `R` is made positive, and entries below it are left alone.
    /// Without room for `Q`, `R` alone is found.
    pub(super) fn thin_qr<'a, S, T>(
        l: Lanes<S, T>,
        m: usize,
        k: usize,
        a: &'a [T],
        q: &'a mut [T],
        r: &'a mut [T],
        room: &'a mut Aligned<T>,
    ) {
        let width = Lanes::<S, T>::width();
        let stride = m.div_ceil(width);
        let column = stride * width;
        let (columns, rest) = room
            .room((2 * column + 1) * k)
            .split_at_mut(k * column);
        let (vectors, tau) = rest.split_at_mut(k * column);
        let mut largest = T::ZERO;
        for &x in a {
            largest = Scalar::max(largest, Scalar::abs(x));
        }
        let scale = T::power_of_two_below(largest);
        transpose(l.simd, a, k, (m, k), columns, column);
        for column in columns.chunks_exact_mut(column) {
            for x in &mut column[..m] {
                *x /= scale;
            }
            column[m..].fill(T::ZERO);
        }
        for j in 0..k {
            let (x, later) = columns[j * column..].split_at_mut(column);
            let v = &mut vectors[j * column..][..column];
            v[..j].fill(T::ZERO);
            v[j..].copy_from_slice(&x[j..]);
            (x[j], tau[j]) = reflector(l, v, j);
            apply(l, v, tau[j], j / width, later, column);
        }
        for c in 0..k {
            for row in 0..=c {
                let negative = columns[row * column + row] < T::ZERO;
                let x = scale * columns[c * column + row];
                r[row * k + c] = if negative { -x } else { x };
            }
        }
        if q.is_empty() {
            return;
        }
        // The columns of `Q` in the place of those of `A`, of which the signs are kept.
        let signs = &mut tau[..k];
        for j in (0..k).rev() {
            let negative = columns[j * column + j] < T::ZERO;
            let own = &mut columns[j * column..];
            own[..column].fill(T::ZERO);
            own[j] = if negative { -T::ONE } else { T::ONE };
            let v = &vectors[j * column..][..column];
            apply(l, v, signs[j], j / width, own, column);
        }
        transpose(l.simd, columns, column, (k, m), q, k);
    }
}

/// The vector of the reflection that takes `x = v[j..]` to a multiple of the first axis, in its
/// place; gives that multiple and `τ`.
#[inline(always)]
fn reflector<S: Simd, T: Scalar>(l: Lanes<S, T>, v: &mut [T], j: usize) -> (T, T) {
    let first = v[j];
    v[j] = T::ZERO;
    let mut square = l.splat(T::ZERO);
    for &x in T::view::<S>(v) {
        square = l.mul_add(x, x, square);
    }
    let square = l.sum_of_lanes(square);
    if square < tolerance::negligible_square::<T>() {
        v.fill(T::ZERO);
        return (first, T::ZERO);
    }
    let norm = Scalar::sqrt(square + first * first);
    let signed = if first < T::ZERO { -norm } else { norm };
    v[j] = first + signed;
    (-signed, T::ONE / (norm * (norm + Scalar::abs(first))))
}

/// `x ← x − τ (vᵀx) v` for all columns; the first registers of `v` are zero.
#[inline(always)]
fn apply<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    v: &[T],
    tau: T,
    first: usize,
    columns: &mut [T],
    column: usize,
) {
    if tau == T::ZERO {
        return;
    }
    let v = &T::view::<S>(v)[first..];
    let mut together = columns.chunks_exact_mut(TOGETHER * column);
    for columns in &mut together {
        reflect::<S, T, TOGETHER>(l, v, tau, first, T::view_mut::<S>(columns));
    }
    for column in together.into_remainder().chunks_exact_mut(column) {
        reflect::<S, T, 1>(l, v, tau, first, T::view_mut::<S>(column));
    }
}

#[inline(always)]
fn reflect<S: Simd, T: Scalar, const C: usize>(
    l: Lanes<S, T>,
    v: &[V<S, T>],
    tau: T,
    first: usize,
    columns: &mut [V<S, T>],
) {
    let stride = columns.len() / C;
    let len = v.len();
    let zero = l.splat(T::ZERO);
    let mut sums = [zero; C];
    let mut x = [&[][..]; C];
    for c in 0..C {
        x[c] = &columns[c * stride + first..][..len];
    }
    for i in 0..len {
        for c in 0..C {
            sums[c] = l.mul_add(v[i], x[c][i], sums[c]);
        }
    }
    for c in 0..C {
        let along = l.splat(tau * l.sum_of_lanes(sums[c]));
        for (x, &v) in columns[c * stride + first..][..len].iter_mut().zip(v) {
            *x = l.neg_mul_add(along, v, *x);
        }
    }
}
