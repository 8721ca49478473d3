//! Cholesky and triangular inverse, one matrix per lane.
//!
//! Row by row: `L_rc = (X_rc − Σ_{k<c} L_rk L_ck)/L_cc`, and the inverse `M = L⁻¹` by
//! `M_rc = −(Σ_{c≤k<r} L_rk M_kc)/L_rr`, `M_rr = 1/L_rr`. Rows are contiguous registers; four
//! columns (eight for the inverse, where there are registers) at a time share the loads of row `r`,
//! and their sums do not wait for each other.

use crate::gather::{Form, IntoLanes};
use crate::simd::{Lanes, V, store};
use crate::{Aligned, Scalar, kernel};
use pulp::Simd;
use pulp::bytemuck::{cast_slice, cast_slice_mut};

/// What is wanted of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lower {
    /// `L` of `X = L Lᵀ`.
    Factor,
    /// `L⁻¹` of `X = L Lᵀ`.
    InverseOfFactor,
    /// `L⁻¹` of the given `L`.
    Inverse,
    /// `X⁻¹ = L⁻ᵀL⁻¹`.
    InverseOfMatrix,
}

/// Buffers of one group, reused from group to group and from call to call.
#[derive(Debug, Clone, Default)]
pub struct CholeskyScratch<T> {
    lanes: Aligned<T>,
}

/// A pivot that is not positive.
#[derive(Debug)]
pub(crate) struct BadPivot<T> {
    pub(crate) matrix: usize,
    pub(crate) pivot: usize,
    pub(crate) value: T,
}

kernel! {
    /// Factors or inverts every matrix, group by group.
    pub(super) fn factor_all<'a, S, T>(
        l: Lanes<S, T>,
        n: usize,
        input: &'a [T],
        task: Lower,
        output: &'a mut [T],
        scratch: &'a mut CholeskyScratch<T>,
    ) -> Result<(), BadPivot<T>> {
        let width = Lanes::<S, T>::width();
        let square = n * n;
        let count = input.len() / square;
        let lanes = T::view_mut::<S>(scratch.lanes.room((2 * square + n) * width));
        let (a, rest) = lanes.split_at_mut(square);
        let (m, pivots) = rest.split_at_mut(square);
        for begin in (0..count).step_by(width) {
            let end = (begin + width).min(count);
            let own = &input[begin * square..end * square];
            let of = |i: usize| &own[i * square..];
            let form = Form::Lower(n, 0);
            l.simd.vectorize(IntoLanes::new(end - begin, of, form, cast_slice_mut(a)));
            if task == Lower::Inverse {
                invert_diagonal(l, n, a, pivots);
            } else {
                factor(l, n, a, pivots);
                check(l, end - begin, pivots).map_err(|bad| BadPivot {
                    matrix: begin + bad.matrix,
                    ..bad
                })?;
            }
            let out = &mut output[begin * square..end * square];
            match task {
                Lower::Factor => {
                    restore_diagonal(l, n, a, pivots);
                    scatter(n, cast_slice(a), out);
                }
                Lower::InverseOfFactor | Lower::Inverse => {
                    invert(l, n, a, m);
                    scatter(n, cast_slice(m), out);
                }
                Lower::InverseOfMatrix => {
                    invert(l, n, a, m);
                    gram(l, n, m, a);
                    scatter(n, cast_slice(a), out);
                    out.chunks_exact_mut(square).for_each(|x| mirror(n, x));
                }
            }
        }
        Ok(())
    }
}

/// Lower triangles out of lanes, zeros above.
fn scatter<T: Scalar>(n: usize, lanes: &[T], output: &mut [T]) {
    let width = lanes.len() / (n * n);
    for (r, registers) in lanes.chunks_exact(n * width).enumerate() {
        for (lane, matrix) in output.chunks_exact_mut(n * n).enumerate() {
            let (lower, above) = matrix[r * n..][..n].split_at_mut(r + 1);
            for (x, register) in lower.iter_mut().zip(registers.chunks_exact(width)) {
                *x = register[lane];
            }
            above.fill(T::ZERO);
        }
    }
}

/// In place; the diagonal holds `1/L_rr` on return and `pivots` the squares of `L_rr`.
#[inline(always)]
pub(crate) fn factor<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    n: usize,
    a: &mut [V<S, T>],
    pivots: &mut [V<S, T>],
) {
    for r in 0..n {
        let (above, row) = a.split_at_mut(r * n);
        let row = &mut row[..n];
        let (mut c, mut pivot) = (0, row[r]);
        while c + 4 <= r {
            factor_columns::<S, T, 4>(l, n, above, row, c, &mut pivot);
            c += 4;
        }
        while c < r {
            factor_columns::<S, T, 1>(l, n, above, row, c, &mut pivot);
            c += 1;
        }
        pivots[r] = pivot;
        row[r] = l.div(l.splat(T::ONE), l.sqrt(pivot));
    }
}

/// `C` columns of a row, from `first` on, left of the diagonal, and what they take from its pivot.
/// The sums of the columns do not wait for each other.
#[inline(always)]
#[allow(
    clippy::manual_memcpy,
    reason = "sums that are copied by a call live in memory, not in registers"
)]
fn factor_columns<S: Simd, T: Scalar, const C: usize>(
    l: Lanes<S, T>,
    n: usize,
    above: &[V<S, T>],
    row: &mut [V<S, T>],
    first: usize,
    pivot: &mut V<S, T>,
) {
    let others = &above[first * n..][..(C - 1) * n + first + C];
    let (done, own) = row.split_at_mut(first);
    let mut sums = [l.splat(T::ZERO); C];
    for c in 0..C {
        sums[c] = own[c];
    }
    for (k, x) in done.iter().enumerate() {
        for c in 0..C {
            sums[c] = l.neg_mul_add(*x, others[c * n + k], sums[c]);
        }
    }
    for c in 0..C {
        let other = &others[c * n + first..];
        for k in 0..c {
            sums[c] = l.neg_mul_add(sums[k], other[k], sums[c]);
        }
        sums[c] = l.mul(sums[c], other[c]);
        *pivot = l.neg_mul_add(sums[c], sums[c], *pivot);
    }
    store(own, &sums);
}

/// An error that names the first pivot, of the first of `count` matrices, that is not a positive,
/// finite number.
#[inline(always)]
pub(crate) fn check<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    count: usize,
    pivots: &[V<S, T>],
) -> Result<(), BadPivot<T>> {
    let (zero, one) = (l.splat(T::ZERO), l.splat(T::ONE));
    let mut good = one;
    for &pivot in pivots {
        let finite = l.equal(l.sub(pivot, pivot), zero);
        good = l.select(l.and(l.less(zero, pivot), finite), good, zero);
    }
    let (pivots, width) = (cast_slice::<_, T>(pivots), Lanes::<S, T>::width());
    let bad = |&matrix: &usize| cast_slice::<_, T>(&[good])[matrix] == T::ZERO;
    let Some(matrix) = (0..count).find(bad) else {
        return Ok(());
    };
    let of_matrix = pivots[matrix..].iter().step_by(width).copied();
    let (pivot, value) = of_matrix
        .enumerate()
        .find(|&(_, value)| !(value > T::ZERO && Scalar::is_finite(value)))
        .unwrap_or((0, T::ZERO));
    Err(BadPivot {
        matrix,
        pivot,
        value,
    })
}

#[inline(always)]
fn restore_diagonal<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    n: usize,
    a: &mut [V<S, T>],
    pivots: &[V<S, T>],
) {
    for r in 0..n {
        a[r * n + r] = l.sqrt(pivots[r]);
    }
}

#[inline(always)]
fn invert_diagonal<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    n: usize,
    a: &mut [V<S, T>],
    pivots: &mut [V<S, T>],
) {
    for r in 0..n {
        pivots[r] = a[r * n + r];
        a[r * n + r] = l.div(l.splat(T::ONE), a[r * n + r]);
    }
}

/// `m = L⁻¹`, lower triangle, from `L` with an inverted diagonal. Columns go in blocks whose sums
/// stay in registers.
#[inline(always)]
pub(crate) fn invert<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    n: usize,
    a: &[V<S, T>],
    m: &mut [V<S, T>],
) {
    let mut c = 0;
    if Lanes::<S, T>::WIDE {
        while c + 8 <= n {
            invert_columns::<S, T, 8>(l, n, a, m, c);
            c += 8;
        }
    }
    while c + 4 <= n {
        invert_columns::<S, T, 4>(l, n, a, m, c);
        c += 4;
    }
    while c < n {
        invert_columns::<S, T, 1>(l, n, a, m, c);
        c += 1;
    }
}

#[inline(always)]
fn invert_columns<S: Simd, T: Scalar, const C: usize>(
    l: Lanes<S, T>,
    n: usize,
    a: &[V<S, T>],
    m: &mut [V<S, T>],
    first: usize,
) {
    let zero = l.splat(T::ZERO);
    for r in first..n {
        let (done, rest) = m.split_at_mut(r * n);
        let row = &a[r * n + first..r * n + r];
        let mut sums = [zero; C];
        for (k, above) in row.iter().zip(done[first * n..].chunks_exact(n)) {
            let above: &[V<S, T>] = &above[first..first + C];
            for c in 0..C {
                sums[c] = l.mul_add(*k, above[c], sums[c]);
            }
        }
        let diagonal = a[r * n + r];
        let out = &mut rest[first..first + C];
        for c in 0..C {
            out[c] = l.neg(l.mul(sums[c], diagonal));
        }
        if r < first + C {
            out[r - first] = diagonal;
            for x in &mut out[r - first + 1..] {
                *x = zero;
            }
        }
    }
}

/// Copies the lower triangle above the diagonal.
fn mirror<T: Scalar>(n: usize, x: &mut [T]) {
    for r in 1..n {
        for c in 0..r {
            x[c * n + r] = x[r * n + c];
        }
    }
}

/// `out = MᵀM`, lower triangle, of a lower triangular `M`. Columns go in blocks whose sums stay in
/// registers.
#[inline(always)]
fn gram<S: Simd, T: Scalar>(l: Lanes<S, T>, n: usize, m: &[V<S, T>], out: &mut [V<S, T>]) {
    for r in 0..n {
        let mut c = 0;
        while c + 4 <= r + 1 {
            gram_columns::<S, T, 4>(l, n, m, out, r, c);
            c += 4;
        }
        while c <= r {
            gram_columns::<S, T, 1>(l, n, m, out, r, c);
            c += 1;
        }
    }
}

#[inline(always)]
fn gram_columns<S: Simd, T: Scalar, const C: usize>(
    l: Lanes<S, T>,
    n: usize,
    m: &[V<S, T>],
    out: &mut [V<S, T>],
    r: usize,
    first: usize,
) {
    let mut sums = [l.splat(T::ZERO); C];
    for row in m.chunks_exact(n).skip(r) {
        let entries: &[V<S, T>] = &row[first..first + C];
        for c in 0..C {
            sums[c] = l.mul_add(row[r], entries[c], sums[c]);
        }
    }
    store(&mut out[r * n + first..], &sums);
}
