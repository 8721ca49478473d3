//! `C_rc = Σ_t A_rt B_tc` where `A` and `B` both lie along `t`: lanes are neighbouring terms, which
//! are added up at the end.
//!
//! The last register overlaps the one before; lanes that have been counted are zeros there.

use super::One;
use crate::Scalar;
use crate::parts::Sums;
use crate::simd::{Lanes, V, store};
use crate::tolerance::{DOT_REGISTERS, DOT_TERMS_PER_ROW};
use pulp::Simd;

/// Rows of `A` whose sums stay in registers together.
const ROWS: usize = 4;
/// Columns of `B`, where there are 32 registers.
const MORE_COLUMNS: usize = 4;
/// Columns of `B`.
const COLUMNS: usize = 2;

/// Whether `k` is long: adding up lanes takes less time than a copy of `B` by rows, which `m` rows
/// of `A` share.
#[inline(always)]
pub(super) fn pays<S: Simd, T: Scalar>(m: usize, n: usize, k: usize) -> bool {
    // The fewer rows share a copy, the shorter the sums that do without it.
    let least = DOT_REGISTERS.min(m) * Lanes::<S, T>::width();
    n >= columns::<S, T>() && k >= least && k >= DOT_TERMS_PER_ROW * m
}

#[inline(always)]
const fn columns<S: Simd, T: Scalar>() -> usize {
    if Lanes::<S, T>::WIDE {
        MORE_COLUMNS
    } else {
        COLUMNS
    }
}

#[inline(always)]
pub(super) fn run<S: Simd, T: Scalar>(l: Lanes<S, T>, one: &mut One<'_, T>) {
    if const { columns::<S, T>() == MORE_COLUMNS } {
        rows::<S, T, MORE_COLUMNS>(l, one);
    } else {
        rows::<S, T, COLUMNS>(l, one);
    }
}

#[inline(always)]
fn rows<S: Simd, T: Scalar, const C: usize>(l: Lanes<S, T>, one: &mut One<'_, T>) {
    if one.shape.0 >= ROWS {
        blocks::<S, T, ROWS, C>(l, one);
    } else {
        blocks::<S, T, 1, C>(l, one);
    }
}

/// Blocks of `R` rows and `C` columns; the last ones overlap those before, and what they have in
/// common is stored once.
#[inline(always)]
fn blocks<S: Simd, T: Scalar, const R: usize, const C: usize>(
    l: Lanes<S, T>,
    one: &mut One<'_, T>,
) {
    let (m, n, k) = one.shape;
    let mut c = 0;
    while c < n {
        let left = c.min(n - C);
        // The first row that has an entry on the diagonal or below.
        let mut r = if one.sums == Sums::Lower { left } else { 0 };
        while r < m {
            let top = r.min(m - R);
            let a = (&one.a.data[top * one.a.row..], one.a.row);
            let b = (&one.b.data[left * one.b.col..], one.b.col);
            let sums = sums::<S, T, R, C>(l, k, a, b);
            let mut found = [[l.splat(T::ZERO); C]; R];
            for i in 0..R {
                store(&mut found[i], &sums[i]);
            }
            for (i, sums) in found.iter().enumerate().skip(r - top) {
                let row = top + i;
                for (j, &sum) in sums.iter().enumerate().skip(c - left) {
                    let col = left + j;
                    if one.sums == Sums::All || col <= row {
                        let x = &mut one.c[row * one.ldc + col];
                        let sum = one.alpha * l.sum_of_lanes(sum);
                        *x = if one.add { *x + sum } else { sum };
                    }
                }
            }
            r = top + R;
        }
        c = left + C;
    }
}

#[inline(always)]
fn sums<S: Simd, T: Scalar, const R: usize, const C: usize>(
    l: Lanes<S, T>,
    k: usize,
    (a, a_row): (&[T], usize),
    (b, b_row): (&[T], usize),
) -> [[V<S, T>; C]; R] {
    let width = Lanes::<S, T>::width();
    let zero = l.splat(T::ZERO);
    let mut sums = [[zero; C]; R];
    let whole = k / width;
    let (mut x, mut y) = ([&[][..]; R], [&[][..]; C]);
    for i in 0..R {
        x[i] = &T::view::<S>(&a[i * a_row..][..k])[..whole];
    }
    for j in 0..C {
        y[j] = &T::view::<S>(&b[j * b_row..][..k])[..whole];
    }
    for t in 0..whole {
        let mut right = [zero; C];
        for j in 0..C {
            right[j] = y[j][t];
        }
        for i in 0..R {
            let left = x[i][t];
            for j in 0..C {
                sums[i][j] = l.mul_add(left, right[j], sums[i][j]);
            }
        }
    }
    let counted = (whole + 1) * width - k;
    if counted == width {
        return sums;
    }
    let fresh = l.lanes_from(counted);
    let mut right = [zero; C];
    for j in 0..C {
        let last = T::view::<S>(&b[j * b_row + k - width..][..width])[0];
        right[j] = l.select(fresh, last, zero);
    }
    for i in 0..R {
        let last = T::view::<S>(&a[i * a_row + k - width..][..width])[0];
        let left = l.select(fresh, last, zero);
        for j in 0..C {
            sums[i][j] = l.mul_add(left, right[j], sums[i][j]);
        }
    }
    sums
}
