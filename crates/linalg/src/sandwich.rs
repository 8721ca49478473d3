//! `A_i X_i A_iᵀ` for symmetric `X_i`, lanes along the rows.
//!
//! `H = X Aᵀ`, then the upper triangle of `A H`, mirrored. Rows are padded to whole registers.

use crate::parts::{Sums, Terms};
use crate::simd::{Lanes, chosen_arch};
use crate::tall::product::{Product, multiply};
use crate::tiles::{mirror, transpose_padded};
use crate::{Aligned, LinalgError, MatView, MatViewMut, Result, Scalar, kernel};

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

/// `A_i X_i A_iᵀ` of symmetric `n × n` matrices into `out`, exactly symmetric; a single `A` or `X`
/// is broadcast. Nothing is allocated once `scratch` has seen the size.
///
/// ```
/// use stiefel_linalg::{MatBatch, Outer, SandwichScratch, sandwich_into};
///
/// let a = MatBatch::from_vec(1, 2, 2, vec![1.0, 0.0, 1.0, 1.0])?;
/// let x = MatBatch::from_vec(1, 2, 2, vec![2.0, 1.0, 1.0, 3.0])?;
/// let mut out = MatBatch::zeros(1, 2, 2);
/// sandwich_into(
///     a.view(),
///     Outer::Lower,
///     x.view(),
///     out.view_mut(),
///     &mut SandwichScratch::default(),
/// )?;
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
        let sandwich = Sandwich {
            n,
            a,
            outer,
            x,
            out: out.data(),
            scratch,
        };
        sandwich.run(chosen_arch()?);
    }
    Ok(())
}

kernel! {
    struct Sandwich<'a, S, T>(
        l: Lanes<S, T>,
        n: usize,
        a: MatView<'a, T>,
        outer: Outer,
        x: MatView<'a, T>,
        out: &'a mut [T],
        scratch: &'a mut SandwichScratch<T>,
    ) {
        let row = n.next_multiple_of(Lanes::<S, T>::width());
        let size = n * row;
        let lower = outer == Outer::Lower;
        let (right, rest) = scratch.lanes.room(3 * size).split_at_mut(size);
        let (half, whole) = rest.split_at_mut(size);
        for (i, out) in out.chunks_exact_mut(n * n).enumerate() {
            let left = a.matrix(if a.count() == 1 { 0 } else { i });
            if i == 0 || a.count() > 1 {
                transpose_padded(l.simd, n, (left, n), (right, row));
            }
            let middle = x.matrix(if x.count() == 1 { 0 } else { i });
            let mut first = Product::new((n, n), (middle, n, 1), right, half);
            if lower {
                first.terms = Terms::UpperRight;
            }
            multiply(l.simd, first);
            let mut second = Product::new((n, n), (left, n, 1), half, whole);
            second.sums = Sums::Upper;
            if lower {
                second.terms = Terms::LowerLeft;
            }
            multiply(l.simd, second);
            mirror(l.simd, n, whole, row, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MatBatch, Op, product};
    use pulp::WithSimd;

    /// Against plain products, for sizes around every block boundary, in both precisions and on
    /// plain scalars.
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
