//! A group of matrices in lanes through the whole decomposition: scale, reduce, iterate.

mod ql;
mod rotations;
mod tridiagonal;

use super::width;
use crate::simd::{Lanes, V, chosen_arch};
use crate::tolerance::QL_SWEEPS_PER_EIGENVALUE;
use crate::{LinalgError, Result, Scalar, kernel};
use pulp::Simd;
use pulp::bytemuck::{cast_slice, cast_slice_mut};
pub(crate) use rotations::rotate;
use rotations::{MOST, Rotations};

/// How many sweeps are recorded before they are applied: about a first-level cache full of
/// rotations. They are read in a stream, over and over, for blocks of rows that stay there; the
/// fewer sweeps at a time, the more often those come and go.
fn recorded_sweeps<T>(n: usize, width: usize) -> usize {
    let bytes = 2 * n * width * size_of::<T>();
    (32 * 1024 / bytes.max(1)).clamp(2, MOST) & !1
}

/// From upper triangles `a` to eigenvalues `d` and, where `z` is not empty, eigenvectors: `R`
/// squares of registers. False where a lane does not converge; its off-diagonals are then in `e`.
#[inline(always)]
fn diagonalise<S: Simd, T: Scalar, const R: usize>(
    l: Lanes<S, T>,
    n: usize,
    a: &mut [V<S, T>],
    z: &mut [V<S, T>],
    d: &mut [V<S, T>],
    e: &mut [V<S, T>],
    h_inv: &mut [V<S, T>],
    p: &mut [V<S, T>],
    pairs: &mut [V<S, T>],
) -> bool {
    for r in 0..R {
        let a = &mut a[r * n * n..(r + 1) * n * n];
        let (d, e) = (&mut d[r * n..][..n], &mut e[r * n..][..n]);
        let h_inv = &mut h_inv[r * n..][..n];
        tridiagonal::reduce(l, n, a, d, e, h_inv, p);
        if !z.is_empty() {
            tridiagonal::accumulate(l, n, a, h_inv, &mut z[r * n * n..(r + 1) * n * n]);
        }
    }
    let mut rotations = Rotations::new(n, R, l.splat(T::ZERO), cast_slice_mut(pairs));
    ql::iterate::<S, T, R>(l, n, d, e, &mut rotations, z)
}

/// Registers that [`tridiagonal()`] needs as scratch.
pub(crate) fn room_for_rotations<T>(n: usize, width: usize) -> usize {
    2 * n * recorded_sweeps::<T>(n, width)
}

/// Eigenvalues of one register of tridiagonal matrices in the place of their diagonals `d`; `e[i]`
/// couples `i` and `i + 1`, and is spoilt. The columns of `z` are turned along, so that from
/// the identity they become the eigenvectors. False where a lane does not converge.
#[inline(always)]
pub(crate) fn tridiagonal<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    d: &mut [V<S, T>],
    e: &mut [V<S, T>],
    z: &mut [V<S, T>],
    scratch: &mut [V<S, T>],
) -> bool {
    let mut rotations = Rotations::new(d.len(), 1, l.splat(T::ZERO), cast_slice_mut(scratch));
    ql::iterate::<S, T, 1>(l, d.len(), d, e, &mut rotations, z)
}

/// Numbers that [`eigen()`] needs as scratch.
pub fn eigen_room<T: Scalar>(n: usize, groups: usize) -> Result<usize> {
    Ok(room_in_lanes::<T>(n, groups, width::<T>()?))
}

/// Eigenvalues and eigenvectors of one or two groups of symmetric `n × n` matrices, in no
/// particular order: `values` gets `n` registers per group, `u` a square per group with
/// eigenvectors as columns. Only lower triangles are read. Two groups at once take less time than
/// one after the other.
///
/// `scratch` holds [`eigen_room`] numbers. The bits of the values and, up to their order, of the
/// vectors are those of [`eigh`](crate::eigh) below 64 rows.
pub fn eigen<T: Scalar>(
    n: usize,
    groups: usize,
    x: &[T],
    values: &mut [T],
    u: &mut [T],
    scratch: &mut [T],
) -> Result<()> {
    let eigen = LaneEigen {
        n,
        groups,
        x,
        values,
        u,
        scratch,
    };
    let done = eigen.run(chosen_arch()?);
    let sweeps = QL_SWEEPS_PER_EIGENVALUE * n;
    done.map_err(|matrix| LinalgError::NoConvergence { matrix, sweeps })
}

kernel! {
    /// The inner error is the first lane that did not converge.
    pub(crate) struct LaneEigen<'a, S, T>(
        l: Lanes<S, T>,
        n: usize,
        groups: usize,
        x: &'a [T],
        values: &'a mut [T],
        u: &'a mut [T],
        scratch: &'a mut [T],
    ) -> std::result::Result<(), usize> {
        let (x, values, u) = (T::view::<S>(x), T::view_mut::<S>(values), T::view_mut::<S>(u));
        if groups == 2 {
            decompose_lanes::<S, T, 2>(l, n, x, values, u, scratch)
        } else {
            decompose_lanes::<S, T, 1>(l, n, x, values, u, scratch)
        }
    }
}

/// Numbers that [`decompose_lanes`] needs as scratch.
pub(crate) fn room_in_lanes<T>(n: usize, groups: usize, width: usize) -> usize {
    let sweeps = recorded_sweeps::<T>(n, width);
    (groups * n * n + groups * n * 2 + 2 * n + sweeps * groups * n * 2) * width
}

/// The decomposition of `R` groups that are in lanes already, lower triangles of `x`, and stay
/// there; an empty `u` asks for values alone. The error is the first group's lane that did not
/// converge.
#[inline(always)]
fn decompose_lanes<S: Simd, T: Scalar, const R: usize>(
    l: Lanes<S, T>,
    n: usize,
    x: &[V<S, T>],
    values: &mut [V<S, T>],
    u: &mut [V<S, T>],
    scratch: &mut [T],
) -> std::result::Result<(), usize> {
    let width = Lanes::<S, T>::width();
    let lanes = T::view_mut::<S>(&mut scratch[..room_in_lanes::<T>(n, R, width)]);
    let (a, rest) = lanes.split_at_mut(R * n * n);
    let (e, rest) = rest.split_at_mut(R * n);
    let (h_inv, rest) = rest.split_at_mut(R * n);
    let (p, pairs) = rest.split_at_mut(2 * n);
    let values = &mut values[..R * n];
    let u = if u.is_empty() { u } else { &mut u[..R * n * n] };
    let mut scales = [l.splat(T::ONE); R];
    for r in 0..R {
        let a = &mut a[r * n * n..(r + 1) * n * n];
        scales[r] = load(l, n, &x[r * n * n..(r + 1) * n * n], a);
    }
    if !diagonalise::<S, T, R>(l, n, a, u, values, e, h_inv, p, pairs) {
        let e: &[T] = cast_slice(e);
        let stuck = |i: &usize| {
            let group = &e[i / width * n * width..][..n * width];
            (0..n - 1).any(|k| group[k * width + i % width] != T::ZERO)
        };
        return Err((0..R * width).find(stuck).unwrap_or(0));
    }
    let zero = l.splat(T::ZERO);
    for r in 0..R {
        for value in &mut values[r * n..(r + 1) * n] {
            *value = l.mul_add(*value, scales[r], zero);
        }
    }
    Ok(())
}

/// A lower triangle into the upper one of `a`, scaled by a power of two so that the largest entry
/// of every lane is near one: squares neither overflow nor vanish. Gives the scales.
#[inline(always)]
fn load<S: Simd, T: Scalar>(l: Lanes<S, T>, n: usize, x: &[V<S, T>], a: &mut [V<S, T>]) -> V<S, T> {
    let mut largest = [l.splat(T::ZERO)];
    for r in 0..n {
        for &entry in &x[r * n..=r * n + r] {
            let size = l.abs(entry);
            largest[0] = l.select(l.less(largest[0], size), size, largest[0]);
        }
    }
    for scale in cast_slice_mut::<_, T>(&mut largest) {
        *scale = T::power_of_two_below(*scale);
    }
    let inverse = l.div(l.splat(T::ONE), largest[0]);
    for r in 0..n {
        for c in 0..=r {
            a[c * n + r] = l.mul(x[r * n + c], inverse);
        }
    }
    largest[0]
}
