//! Implicit QL with Wilkinson's shift on one tridiagonal matrix (EISPACK `tql2`); the rows that
//! become eigenvectors are turned along.
//!
//! The operations are those of a lane of the [batched kernel](crate::lanes::eigen()), in their
//! order and fused where those are, so that the bits are the same.

use crate::lanes::eigen::rotate as turn;
use crate::simd::{Lanes, V, store};
use crate::{Scalar, tolerance};
use pulp::Simd;
use pulp::bytemuck::cast_slice;

/// Columns of registers that go through a sweep together, so that their latencies overlap.
const BLOCKS: usize = 4;

/// What all lanes hold.
#[inline(always)]
pub(super) fn first<X: pulp::bytemuck::Pod, T: Scalar>(register: X) -> T {
    cast_slice::<X, T>(&[register])[0]
}

/// Sweep by sweep over the first stretch of off-diagonals that are not negligible, until there is
/// none; rows of `z` are rotated along, where there are any. False where that takes too long.
#[inline(always)]
pub(super) fn iterate<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    (n, stride): (usize, usize),
    d: &mut [T],
    e: &mut [T],
    z: &mut [T],
    rotations: &mut [[T; 2]],
) -> bool {
    if n < 2 {
        return true;
    }
    let (eps, floor) = (T::EPSILON, tolerance::ql_floor::<T>());
    // What is negligible stays so: nothing before the window is looked at again.
    let mut from = 0;
    for _ in 0..tolerance::QL_SWEEPS_PER_EIGENVALUE * n {
        let (mut low, mut high, mut end) = (n, 0, n - 1);
        for i in (from..n - 1).rev() {
            let size = Scalar::abs(d[i]) + Scalar::abs(d[i + 1]);
            let bound = l.mul_add(l.splat(eps), l.splat(size), l.splat(floor));
            if Scalar::abs(e[i]) <= first(bound) {
                e[i] = T::ZERO;
                end = i;
            } else {
                (low, high) = (i, end);
            }
        }
        if low >= high {
            return true;
        }
        from = low;
        sweep(l, d, e, (low, high), rotations);
        if !z.is_empty() {
            rotate(l, stride, z, (low, high), rotations);
        }
    }
    false
}

/// One sweep over rows `low..=high`; rotation `i` is of rows `i` and `i + 1`, its sine and the
/// tangent of half its angle.
#[inline(always)]
fn sweep<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    d: &mut [T],
    e: &mut [T],
    (low, high): (usize, usize),
    rotations: &mut [[T; 2]],
) {
    let ratio = (d[low + 1] - d[low]) / (e[low] + e[low]);
    let square = l.mul_add(l.splat(ratio), l.splat(ratio), l.splat(T::ONE));
    let root = Scalar::sqrt(first::<_, T>(square));
    let root = if ratio < T::ZERO { -root } else { root };
    let mut g = (d[high] - d[low]) + e[low] / (ratio + root);
    let (mut c, mut s, mut p) = (T::ONE, T::ONE, T::ZERO);
    for i in (low..high).rev() {
        let (f, b) = (s * e[i], c * e[i]);
        let square = first::<_, T>(l.mul_add(l.splat(f), l.splat(f), l.splat(g * g)));
        let mut r = g;
        (s, c) = (T::ZERO, T::ONE);
        if square >= tolerance::negligible_square::<T>() {
            // 1/r as r/r²: the division need not wait for the root.
            let reciprocal = T::ONE / square;
            let root = Scalar::sqrt(square);
            let signed;
            (signed, r) = if g < T::ZERO { (-f, -root) } else { (f, root) };
            (s, c) = (
                signed * reciprocal * root,
                Scalar::abs(g) * reciprocal * root,
            );
        }
        let shifted = d[i + 1] - p;
        let twice = c * (b + b);
        let t = first::<_, T>(l.mul_add(l.splat(d[i] - shifted), l.splat(s), l.splat(twice)));
        p = s * t;
        g = first::<_, T>(l.mul_add(l.splat(c), l.splat(t), l.splat(-b)));
        if i + 1 < high {
            e[i + 1] = r;
        }
        d[i + 1] = shifted + p;
        rotations[i] = [s, s / (T::ONE + c)];
    }
    d[low] -= p;
    e[low] = g;
}

/// Applies a sweep to the rows of `z`, some columns of registers at a time.
#[inline(always)]
fn rotate<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    stride: usize,
    z: &mut [T],
    range: (usize, usize),
    rotations: &[[T; 2]],
) {
    let z = T::view_mut::<S>(z);
    let mut at = 0;
    while at + BLOCKS <= stride {
        rotate_block::<S, T, BLOCKS>(l, stride, z, at, range, rotations);
        at += BLOCKS;
    }
    match stride - at {
        3 => rotate_block::<S, T, 3>(l, stride, z, at, range, rotations),
        2 => rotate_block::<S, T, 2>(l, stride, z, at, range, rotations),
        1 => rotate_block::<S, T, 1>(l, stride, z, at, range, rotations),
        _ => {}
    }
}

#[inline(always)]
fn rotate_block<S: Simd, T: Scalar, const B: usize>(
    l: Lanes<S, T>,
    stride: usize,
    z: &mut [V<S, T>],
    at: usize,
    (low, high): (usize, usize),
    rotations: &[[T; 2]],
) {
    let mut carried = [l.splat(T::ZERO); B];
    for b in 0..B {
        carried[b] = z[high * stride + at + b];
    }
    for i in (low..high).rev() {
        let pair = [l.splat(rotations[i][0]), l.splat(rotations[i][1])];
        let rows = &mut z[i * stride + at..(i + 1) * stride + at + B];
        let (below, above) = rows.split_at_mut(stride);
        for b in 0..B {
            (carried[b], above[b]) = turn(l, pair, below[b], carried[b]);
        }
    }
    store(&mut z[low * stride + at..], &carried);
}
