//! Implicit QL with Wilkinson's shift on one tridiagonal matrix (EISPACK `tql2`); the rows that become eigenvectors are turned along.

use crate::simd::{Lanes, V, store};
use crate::{Scalar, tolerance};
use pulp::Simd;

/// Columns of registers that go through a sweep together, so that their latencies overlap.
const BLOCKS: usize = 4;

/// QL until the off-diagonals vanish, rows of `z` rotated along.
#[inline(always)]
pub(super) fn iterate<S: Simd, T: Scalar>(
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
            if !z.is_empty() {
                rotate(l, stride, z, first, last, rotations);
            }
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
            // 1/r as r/r²: the division need not wait for the root.
            let reciprocal = T::ONE / square;
            r = Scalar::sqrt(square);
            let inverse = r * reciprocal;
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
pub(super) fn rotate<S: Simd, T: Scalar>(
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
    for b in 0..B {
        carried[b] = z[last * stride + at + b];
    }
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
    store(&mut z[first * stride + at..], &carried);
}
