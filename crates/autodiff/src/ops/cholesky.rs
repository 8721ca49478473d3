//! Cholesky factors `X = L Lᵀ` and log-determinants `log det X = 2 Σ log L_rr` of SPD matrices, read from their lower triangles.
//!
//! With `Φ(A)` the lower triangle of `A` with its diagonal halved, the pull-back of the factor is `sym(L⁻ᵀ Φ(Lᵀ tril(G)) L⁻¹)` (Murray,
//! *Differentiation of the Cholesky decomposition*, 2016); of the log-determinant, `g X⁻¹`. Both gradients are symmetric.

use crate::{Buffer, Forward, OpResult, Operation, PullBack, Result, Shape, Var};
use stiefel_linalg::{MatBatch, MatView, Op, Scalar, cholesky, invert_lower, product, solve_lower};

#[derive(Debug)]
struct Cholesky;

/// `Φ(A)` in place.
fn half_lower<T: Scalar>(a: &mut MatBatch<T>) {
    let (count, n, _) = a.shape();
    for i in 0..count {
        let m = a.matrix_mut(i);
        for r in 0..n {
            m[r * n + r] *= T::from_f64(0.5);
            m[r * n + r + 1..(r + 1) * n].fill(T::ZERO);
        }
    }
}

/// The lower triangles, zeros above.
pub(super) fn lower<T: Scalar>(g: MatView<'_, T>) -> MatBatch<T> {
    let mut l = g.to_owned();
    let (count, n, _) = l.shape();
    for i in 0..count {
        let m = l.matrix_mut(i);
        for r in 0..n {
            m[r * n + r + 1..(r + 1) * n].fill(T::ZERO);
        }
    }
    l
}

impl<T: Scalar> Operation<T> for Cholesky {
    fn name(&self) -> &'static str {
        "cholesky"
    }

    fn shape(&self, inputs: &[Shape]) -> OpResult<Shape> {
        super::square(inputs)?;
        Ok(inputs[0])
    }

    fn forward(&mut self, pass: &mut Forward<'_, T>) -> OpResult {
        pass.output
            .data()
            .copy_from_slice(cholesky(pass.inputs[0])?.data());
        Ok(())
    }

    fn pull_back(&self, pass: &mut PullBack<'_, '_, T>) -> OpResult {
        let Some(dx) = &mut pass.gradients[0] else {
            return Ok(());
        };
        let mut phi = product(pass.output, Op::T, lower(pass.g).view(), Op::N)?;
        half_lower(&mut phi);
        let left = solve_lower(pass.output, Op::T, phi.view())?.transposed();
        let mut both = solve_lower(pass.output, Op::T, left.view())?;
        stiefel_linalg::symmetrise(&mut both.view_mut())?;
        dx.add(both.data());
        Ok(())
    }
}

#[derive(Debug)]
struct LogDet<T> {
    /// `L`, for the pull-back.
    factor: Option<Buffer<T>>,
}

impl<T: Scalar> Operation<T> for LogDet<T> {
    fn name(&self) -> &'static str {
        "log_det"
    }

    fn shape(&self, inputs: &[Shape]) -> OpResult<Shape> {
        super::square(inputs)?;
        Ok((inputs[0].0, 1, 1))
    }

    fn forward(&mut self, pass: &mut Forward<'_, T>) -> OpResult {
        let l = cholesky(pass.inputs[0])?;
        let n = l.rows();
        for (i, y) in pass.output.data().iter_mut().enumerate() {
            let diagonal = l.matrix(i).iter().step_by(n + 1);
            *y = T::from_f64(2.0) * diagonal.map(|&d| Scalar::ln(d)).sum::<T>();
        }
        self.factor = pass
            .context
            .wants_gradient()
            .then(|| pass.context.arena().copy_of(l.data()));
        Ok(())
    }

    fn pull_back(&self, pass: &mut PullBack<'_, '_, T>) -> OpResult {
        let (Some(dx), Some(factor)) = (&mut pass.gradients[0], &self.factor) else {
            return Ok(());
        };
        let l_inv = invert_lower(crate::operation::view(pass.inputs[0].shape(), factor))?;
        let inverse = product(l_inv.view(), Op::T, l_inv.view(), Op::N)?;
        let size = inverse.rows() * inverse.cols();
        dx.add_each(|e| pass.g.data()[e / size] * inverse.data()[e]);
        Ok(())
    }
}

impl<T: Scalar> Var<'_, T> {
    /// The lower Cholesky factor `L` of SPD matrices, `X = L Lᵀ`.
    #[track_caller]
    pub fn cholesky(self) -> Result<Self> {
        self.tape.apply(Cholesky, &[self])
    }

    /// `log det X_i` of SPD matrices, `count × 1 × 1`.
    #[track_caller]
    pub fn log_det(self) -> Result<Self> {
        self.tape.apply(LogDet { factor: None }, &[self])
    }
}
