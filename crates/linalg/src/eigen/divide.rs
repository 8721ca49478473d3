//! A tridiagonal matrix by divide and conquer: `T = S diag(λ) Sᵀ` (J. J. M. Cuppen, Numerische
//! Mathematik 36, 1981; LAPACK's `stedc`).
//!
//! Leaves of at most [`LEAF`] rows are cut off by corrections of rank one and go through QL; two
//! neighbours are joined by
//!
//! ```text
//! T = diag(T₁, T₂) + β u uᵀ = (S₁ ⊕ S₂) (D + ρ z zᵀ) (S₁ ⊕ S₂)ᵀ,    S = (S₁ ⊕ S₂) V
//! ```
//!
//! with `V` from [`secular`]. The recurrence of QL waits for a root and a division at every
//! rotation, which nothing can hurry; here it runs over short leaves, all of them at once, one in a
//! lane, and the rest is work for all lanes. Poles that coincide, or that `z` does not see, are
//! already eigenvalues ("deflation").
//!
//! A segment's `S` stands in its rows of `s`, from column 0 on.

use super::secular::{self, RankOne};
use crate::lanes::eigen::{room_for_rotations, tridiagonal};
use crate::simd::{Lanes, V};
use crate::tolerance::DEFLATION;
use crate::{Aligned, Scalar};
use pulp::Simd;
use std::ops::Range;

/// Rows of a leaf at most.
pub(super) const LEAF: usize = 8;

/// Buffers, reused from call to call.
#[derive(Debug, Clone, Default)]
pub(super) struct DivideScratch<T> {
    lanes: Aligned<T>,
    z: Vec<T>,
    poles: Vec<T>,
    weights: Vec<T>,
    values: Vec<T>,
    coefficients: Vec<T>,
    order: Vec<usize>,
    kept: Vec<usize>,
    deflated: Vec<usize>,
    turns: Vec<Turn<T>>,
}

/// A rotation of two columns of `S₁ ⊕ S₂` that takes one of two equal poles out of `z`.
#[derive(Debug, Clone, Copy)]
struct Turn<T> {
    columns: (usize, usize),
    c: T,
    s: T,
}

/// The rows of a join's `S` that somebody looks at.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rows {
    All,
    /// The first and the last: `z` of the next join is made of them.
    Ends,
    None,
}

/// The leaf `at` of `count` leaves of `n` rows.
fn segment(n: usize, count: usize, at: usize) -> Range<usize> {
    at * n / count..(at + 1) * n / count
}

/// Eigenvalues into `d`, in no order, and where it is `wanted` `S` into `s`, rows of `stride`
/// registers. `e[i]` couples `i` and `i + 1`. False where an iteration did not end. The values have
/// the same bits either way.
#[inline(always)]
pub(super) fn diagonalise<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    n: usize,
    stride: usize,
    d: &mut [T],
    e: &mut [T],
    (s, wanted): (&mut [T], bool),
    scratch: &mut DivideScratch<T>,
) -> bool {
    let row = stride * Lanes::<S, T>::width();
    let mut leaves = n.div_ceil(LEAF).next_power_of_two();
    for at in 1..leaves {
        let cut = segment(n, leaves, at).start;
        let size = Scalar::abs(e[cut - 1]);
        d[cut - 1] -= size;
        d[cut] -= size;
    }
    for first in (0..leaves).step_by(Lanes::<S, T>::width()) {
        let group = first..(first + Lanes::<S, T>::width()).min(leaves);
        if !solve_leaves(l, (n, leaves), group, row, d, e, s, scratch) {
            return false;
        }
    }
    while leaves > 1 {
        for at in (0..leaves).step_by(2) {
            let (first, second) = (segment(n, leaves, at), segment(n, leaves, at + 1));
            let beta = e[second.start - 1];
            let rows = first.start..second.end;
            let cut = second.start;
            let needed = match (wanted, leaves) {
                (true, _) => Rows::All,
                (false, 2) => Rows::None,
                (false, _) => Rows::Ends,
            };
            if !join(l, (rows, cut), stride, beta, d, (s, needed), scratch) {
                return false;
            }
        }
        leaves /= 2;
    }
    true
}

/// QL on a group of the leaves, one in a lane. The couplings to their neighbours are left out.
#[inline(always)]
fn solve_leaves<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    (n, leaves): (usize, usize),
    group: Range<usize>,
    row: usize,
    d: &mut [T],
    e: &[T],
    s: &mut [T],
    scratch: &mut DivideScratch<T>,
) -> bool {
    // Leaves differ by one row; the shorter ones end in a row that is coupled to nothing.
    let (m, width) = (n.div_ceil(leaves), Lanes::<S, T>::width());
    let room = m * (m + 2) + room_for_rotations::<T>(m, width);
    let lanes = scratch.lanes.room(room * width);
    let (values, rest) = lanes.split_at_mut(m * width);
    let (couplings, rest) = rest.split_at_mut(m * width);
    let (vectors, rest) = rest.split_at_mut(m * m * width);
    values.fill(T::ZERO);
    couplings.fill(T::ZERO);
    vectors.fill(T::ZERO);
    for r in 0..m {
        vectors[(r * m + r) * width..][..width].fill(T::ONE);
    }
    for (lane, leaf) in group.clone().enumerate() {
        let rows = segment(n, leaves, leaf);
        for (i, at) in rows.clone().enumerate() {
            values[i * width + lane] = d[at];
            if at + 1 < rows.end {
                couplings[i * width + lane] = e[at];
            }
        }
    }
    let (values_in_lanes, vectors_in_lanes) = (T::view_mut::<S>(values), T::view_mut::<S>(vectors));
    let couplings = T::view_mut::<S>(couplings);
    let rotations = T::view_mut::<S>(rest);
    let done = tridiagonal(l, values_in_lanes, couplings, vectors_in_lanes, rotations);
    for (lane, leaf) in group.enumerate() {
        let rows = segment(n, leaves, leaf);
        for (r, at) in rows.clone().enumerate() {
            d[at] = values[r * width + lane];
            let (out, rest) = s[at * row..][..row].split_at_mut(rows.len());
            for (c, out) in out.iter_mut().enumerate() {
                *out = vectors[(r * m + c) * width + lane];
            }
            rest.fill(T::ZERO);
        }
    }
    done
}

/// Joins the segments on either side of `cut`, coupled by `beta`.
#[inline(always)]
fn join<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    (rows, cut): (Range<usize>, usize),
    stride: usize,
    beta: T,
    d: &mut [T],
    (s, needed): (&mut [T], Rows),
    scratch: &mut DivideScratch<T>,
) -> bool {
    let width = Lanes::<S, T>::width();
    let (row, m, upper) = (stride * width, rows.len(), cut - rows.start);
    let d = &mut d[rows.clone()];
    let sign = if beta < T::ZERO { -T::ONE } else { T::ONE };
    let scale = T::from_f64(std::f64::consts::FRAC_1_SQRT_2);
    scratch.z.clear();
    let last = &s[(cut - 1) * row..][..upper];
    let first = &s[cut * row..][..m - upper];
    scratch.z.extend(last.iter().map(|&x| scale * x));
    scratch.z.extend(first.iter().map(|&x| sign * scale * x));
    let rho = Scalar::abs(beta) + Scalar::abs(beta);
    deflate(rho, d, scratch);
    let DivideScratch {
        lanes,
        z,
        poles,
        weights,
        values,
        coefficients,
        kept,
        deflated,
        turns,
        ..
    } = scratch;
    let k = kept.len();
    poles.clear();
    poles.extend(kept.iter().map(|&j| d[j]));
    weights.clear();
    weights.extend(kept.iter().map(|&j| z[j]));
    values.clear();
    values.resize(k, T::ZERO);
    let wide = m.div_ceil(width);
    let buffer: &mut [V<S, T>] = T::view_mut::<S>(lanes.room((2 * m + 3) * wide * width));
    let (gaps, rest) = buffer.split_at_mut(m * wide);
    let (v, squares) = rest.split_at_mut(m * wide);
    let matrix = RankOne {
        poles,
        z: weights,
        rho,
    };
    if k == 1 {
        values[0] = poles[0] + rho * weights[0] * weights[0];
        gaps[0] = l.splat(T::ONE);
    } else if k > 1 {
        if !secular::roots(l, &matrix, wide, values, gaps) {
            return false;
        }
        if needed != Rows::None {
            secular::vectors(l, &matrix, wide, gaps, squares);
        }
    }
    // V with the rows of D and, behind the new eigenvalues, a unit vector for each that was one
    // already.
    values.extend(deflated.iter().map(|&j| d[j]));
    d.copy_from_slice(values);
    if needed == Rows::None {
        return true;
    }
    v.fill(l.splat(T::ZERO));
    let v: &mut [T] = pulp::bytemuck::cast_slice_mut(v);
    let gaps: &[T] = pulp::bytemuck::cast_slice(gaps);
    for (j, &at) in kept.iter().enumerate() {
        v[at * wide * width..][..k].copy_from_slice(&gaps[j * wide * width..][..k]);
    }
    for (j, &at) in deflated.iter().enumerate() {
        v[at * wide * width + k + j] = T::ONE;
    }
    let v = T::view_mut::<S>(v);
    for turn in turns.iter().rev() {
        unturn(l, turn, wide, v);
    }
    coefficients.resize(ROWS * m, T::ZERO);
    let (above, below) = v.split_at(upper * wide);
    let part = |range: Range<usize>| (range.start * row, range.len());
    let (upper_rows, lower_rows) = match needed {
        Rows::Ends => (rows.start..rows.start + 1, rows.end - 1..rows.end),
        _ => (rows.start..cut, cut..rows.end),
    };
    let (start, count) = part(upper_rows);
    multiply(
        l,
        &mut s[start..],
        (count, upper, row),
        above,
        wide,
        coefficients,
    );
    let (start, count) = part(lower_rows);
    multiply(
        l,
        &mut s[start..],
        (count, m - upper, row),
        below,
        wide,
        coefficients,
    );
    true
}

/// Which poles the secular equation has (`kept`, ascending), and which are eigenvalues already; `d`
/// and `z` follow the rotations.
fn deflate<T: Scalar>(rho: T, d: &mut [T], scratch: &mut DivideScratch<T>) {
    let DivideScratch {
        z,
        order,
        kept,
        deflated,
        turns,
        ..
    } = scratch;
    order.clear();
    order.extend(0..d.len());
    order.sort_by(|&a, &b| d[a].partial_cmp(&d[b]).unwrap_or(std::cmp::Ordering::Equal));
    kept.clear();
    deflated.clear();
    turns.clear();
    let largest = |x: &[T]| (x.iter()).fold(T::ZERO, |m, &x| Scalar::max(m, Scalar::abs(x)));
    let bound = T::EPSILON * T::from_f64(DEFLATION) * Scalar::max(largest(d), largest(z));
    let mut before: Option<usize> = None;
    for &j in &*order {
        if rho * Scalar::abs(z[j]) <= bound {
            deflated.push(j);
            continue;
        }
        if let Some(p) = before {
            let size = Scalar::sqrt(z[p] * z[p] + z[j] * z[j]);
            let (c, s) = (z[j] / size, -z[p] / size);
            if Scalar::abs((d[j] - d[p]) * c * s) <= bound {
                (z[j], z[p]) = (size, T::ZERO);
                (d[p], d[j]) = (d[p] * c * c + d[j] * s * s, d[p] * s * s + d[j] * c * c);
                turns.push(Turn {
                    columns: (p, j),
                    c,
                    s,
                });
                deflated.push(p);
            } else {
                kept.push(p);
            }
        }
        before = Some(j);
    }
    kept.extend(before);
}

/// `(S G) V = S (G V)`: a rotation of columns of `S` as one of rows of `V`.
#[inline(always)]
fn unturn<S: Simd, T: Scalar>(l: Lanes<S, T>, turn: &Turn<T>, wide: usize, v: &mut [V<S, T>]) {
    let (p, j) = turn.columns;
    let (c, s) = (l.splat(turn.c), l.splat(turn.s));
    for b in 0..wide {
        let (x, y) = (v[p * wide + b], v[j * wide + b]);
        v[p * wide + b] = l.neg_mul_add(s, y, l.mul(c, x));
        v[j * wide + b] = l.mul_add(s, x, l.mul(c, y));
    }
}

/// Rows of `S` computed together.
const ROWS: usize = 4;
/// Registers of each row computed together.
const REGISTERS: usize = 4;

/// `S ← S V` in place: `count` rows of `k` numbers, `row` apart, become rows of `wide` registers.
/// `old` holds [`ROWS`] rows.
#[inline(always)]
fn multiply<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    s: &mut [T],
    (count, k, row): (usize, usize, usize),
    v: &[V<S, T>],
    wide: usize,
    old: &mut [T],
) {
    let width = Lanes::<S, T>::width();
    let mut r = 0;
    while r < count {
        let rows = ROWS.min(count - r);
        for i in 0..rows {
            old[i * k..][..k].copy_from_slice(&s[(r + i) * row..][..k]);
        }
        let out = &mut s[r * row..];
        let mut at = 0;
        while at < wide {
            let registers = REGISTERS.min(wide - at);
            let place = (at, wide, row / width);
            match (rows, registers) {
                (4, 4) => block::<S, T, 4, 4>(l, k, old, v, place, out),
                (4, 3) => block::<S, T, 4, 3>(l, k, old, v, place, out),
                (4, 2) => block::<S, T, 4, 2>(l, k, old, v, place, out),
                (4, _) => block::<S, T, 4, 1>(l, k, old, v, place, out),
                _ => {
                    for i in 0..rows {
                        for b in 0..registers {
                            let place = (at + b, wide, row / width);
                            block::<S, T, 1, 1>(l, k, &old[i * k..], v, place, &mut out[i * row..]);
                        }
                    }
                }
            }
            at += registers;
        }
        r += rows;
    }
}

/// `R` rows and `C` registers from register `at` on.
#[inline(always)]
fn block<S: Simd, T: Scalar, const R: usize, const C: usize>(
    l: Lanes<S, T>,
    k: usize,
    old: &[T],
    v: &[V<S, T>],
    (at, wide, stride): (usize, usize, usize),
    out: &mut [T],
) {
    let mut sums = [[l.splat(T::ZERO); C]; R];
    let left: [&[T]; R] = std::array::from_fn(|i| &old[i * k..][..k]);
    for j in 0..k {
        let right = &v[j * wide + at..][..C];
        for i in 0..R {
            let x = l.splat(left[i][j]);
            for b in 0..C {
                sums[i][b] = l.mul_add(x, right[b], sums[i][b]);
            }
        }
    }
    let out = T::view_mut::<S>(out);
    for i in 0..R {
        crate::simd::store(&mut out[i * stride + at..], &sums[i]);
    }
}
