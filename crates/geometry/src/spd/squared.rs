//! Squared affine-invariant distances and their adjoint: `d² = Σ ln² λ(A⁻¹B)` of `n × n` matrices
//! (Moakher 2005).
//!
//! With `A = LLᵀ` and `C = L⁻¹BL⁻ᵀ` the symmetric gradients are `−2 L⁻ᵀ log(C) L⁻¹` in `A` and `2
//! L⁻ᵀ log(C)C⁻¹ L⁻¹` in `B`.

use super::distance::{FIRST, SECOND};
use super::whiten::{factor, log_spectrum};
use crate::Result;
use crate::batch::{common_count, sum_to};
use crate::error::shape_error;
use stiefel_linalg::{Eigen, MatBatch, MatView, Op, Scalar, product, symmetrise};

/// Squared affine-invariant distances with what their pull-back needs.
#[derive(Debug, Clone, PartialEq)]
pub struct SquaredDistance<T> {
    /// `d²(A_i, B_i)`.
    pub value: Vec<T>,
    counts: (usize, usize),
    l_inv: MatBatch<T>,
    logs: Eigen<T>,
}

/// `d²(A_i, B_i)` in the affine-invariant metric, differentiable in both arguments; a single one is
/// broadcast.
pub fn squared_distance<T: Scalar>(
    a: MatView<'_, T>,
    b: MatView<'_, T>,
) -> Result<SquaredDistance<T>> {
    common_count("distance", a, b)?;
    let left = factor(FIRST, a)?;
    let logs = log_spectrum(SECOND, &left, b)?;
    let square = |l: &[T]| l.iter().map(|&x| x * x).sum::<T>();
    Ok(SquaredDistance {
        value: logs.values.chunks_exact(a.rows()).map(square).collect(),
        counts: (a.count(), b.count()),
        l_inv: left.l_inv,
        logs,
    })
}

impl<T: Scalar> SquaredDistance<T> {
    /// The symmetric gradients `(in A, in B)` of a scalar whose gradient in the squared distances
    /// is `g`: `−2g L⁻ᵀ log(C) L⁻¹` and `2g L⁻ᵀ log(C)C⁻¹ L⁻¹`, `C = L⁻¹BL⁻ᵀ`; summed where an
    /// argument was broadcast.
    pub fn pull_back(&self, g: &[T]) -> Result<(MatBatch<T>, MatBatch<T>)> {
        if g.len() != self.value.len() {
            let expected = format!("{} gradients", self.value.len());
            return Err(shape_error("distance pull-back", expected, g.len()));
        }
        let two = T::from_f64(2.0);
        let in_a = self.coloured(|l| -two * l, g)?;
        let in_b = self.coloured(|l| two * l * Scalar::exp(-l), g)?;
        Ok((sum_to(in_a, self.counts.0), sum_to(in_b, self.counts.1)))
    }

    /// `g L⁻ᵀ U f(ln λ) Uᵀ L⁻¹`.
    fn coloured(&self, f: impl Fn(T) -> T, g: &[T]) -> Result<MatBatch<T>> {
        let u = product(self.l_inv.view(), Op::T, self.logs.vectors.view(), Op::N)?;
        let (count, n, _) = u.shape();
        let mut scaled = u.clone();
        for i in 0..count {
            let logs = self.logs.values_of(i);
            for row in scaled.matrix_mut(i).chunks_exact_mut(n) {
                for (x, &l) in row.iter_mut().zip(logs) {
                    *x *= g[i] * f(l);
                }
            }
        }
        let mut out = product(scaled.view(), Op::N, u.view(), Op::T)?;
        symmetrise(&mut out.view_mut())?;
        Ok(out)
    }
}
