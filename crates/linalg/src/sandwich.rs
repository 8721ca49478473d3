//! `A_i X_i A_iᵀ` for symmetric `X_i`, lanes along the rows.
//!
//! `H = X Aᵀ`, then the lower triangle of `A H`, mirrored. Rows are padded to whole registers; blocks of four rows and three registers
//! keep their sums in registers. The last block of a matrix overlaps the one before, so there is no remainder to treat.

use crate::simd::{Lanes, V, compiled, dispatch, store};
use crate::{Aligned, LinalgError, MatView, MatViewMut, Result, Scalar};
use pulp::bytemuck::{cast_slice, cast_slice_mut};
use pulp::{Simd, WithSimd};

/// Rows computed together.
const ROWS: usize = 4;
/// Registers of each row computed together.
const REGISTERS: usize = 3;

/// Buffers of one matrix, reused from matrix to matrix and from call to call.
#[derive(Debug, Clone, Default)]
pub struct SandwichScratch<T> {
    lanes: Aligned<T>,
}

/// What is known of the outer factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outer {
    /// Nothing.
    Full,
    /// Zero above the diagonal, which saves half of the work.
    Lower,
}

/// `A_i X_i A_iᵀ` of symmetric `n × n` matrices into `out`, exactly symmetric; a single `A` or `X` is broadcast. Nothing is
/// allocated once `scratch` has seen the size.
///
/// ```
/// use stiefel_linalg::{MatBatch, Outer, SandwichScratch, sandwich_into};
///
/// let a = MatBatch::from_vec(1, 2, 2, vec![1.0, 0.0, 1.0, 1.0])?;
/// let x = MatBatch::from_vec(1, 2, 2, vec![2.0, 1.0, 1.0, 3.0])?;
/// let mut out = MatBatch::zeros(1, 2, 2);
/// sandwich_into(a.view(), Outer::Lower, x.view(), out.view_mut(), &mut SandwichScratch::default())?;
/// assert_eq!(out.data(), [2.0, 3.0, 3.0, 7.0]);
/// # Ok::<(), stiefel_linalg::LinalgError>(())
/// ```
pub fn sandwich_into<T: Scalar>(
    a: MatView<'_, T>,
    outer: Outer,
    x: MatView<'_, T>,
    mut out: MatViewMut<'_, T>,
    scratch: &mut SandwichScratch<T>,
) -> Result<()> {
    let (count, n, _) = out.shape();
    let fits =
        |v: MatView<'_, T>| (v.rows(), v.cols()) == (n, n) && [1, count].contains(&v.count());
    if !(fits(a) && fits(x) && out.shape().2 == n) {
        return Err(LinalgError::Shape {
            op: "two-sided product",
            expected: "square matrices of one size, and equal counts or a count of one".into(),
            found: format!("{:?}, {:?} into {:?}", a.shape(), x.shape(), out.shape()),
        });
    }
    if n > 0 && count > 0 {
        dispatch(Sandwich {
            n,
            a,
            outer,
            x,
            out: out.data(),
            scratch,
        })?;
    }
    Ok(())
}

compiled!(Scalar; Sandwich);

#[derive(Debug)]
struct Sandwich<'a, T> {
    n: usize,
    a: MatView<'a, T>,
    outer: Outer,
    x: MatView<'a, T>,
    out: &'a mut [T],
    scratch: &'a mut SandwichScratch<T>,
}

impl<T: Scalar> WithSimd for Sandwich<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (n, a, x) = (self.n, self.a, self.x);
        let l = Lanes::<S, T>::new(simd);
        let width = Lanes::<S, T>::width();
        let stride = n.div_ceil(width);
        let size = n * stride;
        let lanes: &mut [V<S, T>] = T::view_mut::<S>(self.scratch.lanes.room(3 * size * width));
        let (right, rest) = lanes.split_at_mut(size);
        let (half, whole) = rest.split_at_mut(size);
        for (i, out) in self.out.chunks_exact_mut(n * n).enumerate() {
            let left = a.matrix(if a.count() == 1 { 0 } else { i });
            if i == 0 || a.count() > 1 {
                transpose(n, left, cast_slice_mut(right));
            }
            let middle = x.matrix(if x.count() == 1 { 0 } else { i });
            let lower = self.outer == Outer::Lower;
            product::<S, T>(l, n, middle, right, half, false, lower);
            product::<S, T>(l, n, left, half, whole, true, lower);
            mirror(n, cast_slice(whole), out);
        }
    }
}

/// `aᵀ` in padded rows; the padding is zero.
fn transpose<T: Scalar>(n: usize, a: &[T], out: &mut [T]) {
    let stride = out.len() / n;
    for (c, out) in out.chunks_exact_mut(stride).enumerate() {
        for r in 0..n {
            out[r] = a[r * n + c];
        }
        out[n..].fill(T::ZERO);
    }
}

/// The lower triangle of padded rows on both sides of the diagonal.
fn mirror<T: Scalar>(n: usize, whole: &[T], out: &mut [T]) {
    for (r, row) in whole.chunks_exact(whole.len() / n).enumerate() {
        out[r * n..=r * n + r].copy_from_slice(&row[..=r]);
        for (c, &x) in row[..r].iter().enumerate() {
            out[c * n + r] = x;
        }
    }
}

/// `a·b`, `a` row-major, `b` and `out` in padded rows. `below`: only blocks that reach the lower triangle, for a second product;
/// `lower`: `a` (where `below`) or `bᵀ` (otherwise) is lower triangular, and what is zero is left out of the sums.
#[inline(always)]
fn product<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    n: usize,
    a: &[T],
    b: &[V<S, T>],
    out: &mut [V<S, T>],
    below: bool,
    lower: bool,
) {
    let (width, stride) = (Lanes::<S, T>::width(), b.len() / n);
    let mut row = 0;
    while row < n {
        let wide = n >= ROWS;
        let r = if wide { row.min(n - ROWS) } else { row };
        let rows = if wide { ROWS } else { 1 };
        let mut register = 0;
        while register < stride && !(below && register * width >= r + rows) {
            let wide_row = stride >= REGISTERS;
            let v = if wide_row {
                register.min(stride - REGISTERS)
            } else {
                register
            };
            let registers = if wide_row { REGISTERS } else { 1 };
            let terms = match (lower, below) {
                (false, _) => n,
                (true, true) => r + rows,
                (true, false) => ((v + registers) * width).min(n),
            };
            match (wide, wide_row) {
                (true, true) => block::<S, T, ROWS, REGISTERS>(l, n, terms, a, b, out, r, v),
                (true, false) => block::<S, T, ROWS, 1>(l, n, terms, a, b, out, r, v),
                (false, true) => block::<S, T, 1, REGISTERS>(l, n, terms, a, b, out, r, v),
                (false, false) => block::<S, T, 1, 1>(l, n, terms, a, b, out, r, v),
            }
            register += registers;
        }
        row += rows;
    }
}

/// `R` rows and `C` registers of a product, the first `terms` terms of each sum.
#[inline(always)]
fn block<S: Simd, T: Scalar, const R: usize, const C: usize>(
    l: Lanes<S, T>,
    n: usize,
    terms: usize,
    a: &[T],
    b: &[V<S, T>],
    out: &mut [V<S, T>],
    row: usize,
    register: usize,
) {
    let stride = b.len() / n;
    let left: [&[T]; R] = std::array::from_fn(|r| &a[(row + r) * n..][..terms]);
    let mut sums = [[l.splat(T::ZERO); C]; R];
    for (k, right) in b.chunks_exact(stride).take(terms).enumerate() {
        let right: &[V<S, T>] = &right[register..register + C];
        for r in 0..R {
            let x = l.splat(left[r][k]);
            for c in 0..C {
                sums[r][c] = l.mul_add(x, right[c], sums[r][c]);
            }
        }
    }
    for r in 0..R {
        store(&mut out[(row + r) * stride + register..], &sums[r]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MatBatch, Op, product};

    /// Against plain products, for sizes around every block boundary, in both precisions and on plain scalars.
    #[test]
    fn agrees_with_two_products() {
        for n in 1..=40 {
            check::<f64>(n, 1e-12);
            check::<f32>(n, 1e-3);
        }
    }

    fn check<T: Scalar>(n: usize, tolerance: f64) {
        let entry = |i: usize, r: usize, c: usize| {
            T::from_f64(((1 + 7 * i + 13 * r + 29 * c) as f64).sin())
        };
        let x = MatBatch::from_fn(3, n, n, |i, r, c| entry(i, r.max(c), r.min(c)));
        for outer in [Outer::Full, Outer::Lower] {
            for count in [1, 3] {
                let a = MatBatch::from_fn(count, n, n, |i, r, c| {
                    let zero = outer == Outer::Lower && c > r;
                    if zero { T::ZERO } else { entry(i + 5, r, c) }
                });
                let half = product(x.view(), Op::N, a.view(), Op::T).expect("shapes");
                let expected = product(a.view(), Op::N, half.view(), Op::N).expect("shapes");
                let mut fast = MatBatch::zeros(3, n, n);
                let mut plain = MatBatch::zeros(3, n, n);
                let scratch = &mut SandwichScratch::default();
                sandwich_into(a.view(), outer, x.view(), fast.view_mut(), scratch).expect("shapes");
                Sandwich {
                    n,
                    a: a.view(),
                    outer,
                    x: x.view(),
                    out: plain.data_mut(),
                    scratch: &mut SandwichScratch::default(),
                }
                .with_simd(pulp::Scalar);
                for found in [&fast, &plain] {
                    for (at, (f, e)) in found.data().iter().zip(expected.data()).enumerate() {
                        let gap = (f.to_f64() - e.to_f64()).abs();
                        assert!(gap < tolerance * n as f64, "n={n} {outer:?} {at}: {f} {e}");
                    }
                    assert_eq!(found.transposed(), *found);
                }
            }
        }
    }

    #[test]
    fn shapes_that_do_not_fit_are_named() {
        let (a, x) = (MatBatch::<f64>::identity(2, 3), MatBatch::identity(3, 3));
        let mut out = MatBatch::zeros(3, 3, 3);
        let scratch = &mut SandwichScratch::default();
        let error = sandwich_into(a.view(), Outer::Full, x.view(), out.view_mut(), scratch);
        assert!(matches!(error, Err(LinalgError::Shape { .. })));
    }
}
