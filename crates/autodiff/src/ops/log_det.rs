//! Log-determinants `log det X = 2 Σ log L_rr` of SPD matrices `X = L Lᵀ`, read from their lower
//! triangles; the pull-back is `g X⁻¹`, symmetric.

use crate::{Buffer, Forward, OpResult, Operation, PullBack, Result, Shape, Var};
use stiefel_linalg::{Op, Scalar, cholesky, invert_lower, product};

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
    /// `log det X_i` of SPD matrices, `count × 1 × 1`.
    #[track_caller]
    pub fn log_det(self) -> Result<Self> {
        self.tape.apply(LogDet { factor: None }, &[self])
    }
}
