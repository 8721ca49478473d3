//! Symmetric matrices as vectors: the upper triangle row by row, off-diagonals times √2, `count × n
//! × n` to `count × 1 × n(n+1)/2`, and back. Both keep inner products, so the two are mutually
//! adjoint.

use super::wrong_shape;
use crate::{Forward, OpResult, Operation, PullBack, Result, Shape, Var};
use stiefel_geometry::spd;
use stiefel_linalg::Scalar;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Vectorise {
    Upper,
    FromUpper,
}

impl<T: Scalar> Operation<T> for Vectorise {
    fn name(&self) -> &'static str {
        match self {
            Self::Upper => "upper",
            Self::FromUpper => "from_upper",
        }
    }

    fn shape(&self, inputs: &[Shape]) -> OpResult<Shape> {
        let (count, rows, cols) = inputs[0];
        match (self, rows, spd::side_of_upper(cols)) {
            (Self::Upper, ..) => Ok((count, 1, spd::upper_len(super::square(inputs)?))),
            (Self::FromUpper, 1, Some(n)) => Ok((count, n, n)),
            _ => wrong_shape("one row of n(n+1)/2 entries", inputs),
        }
    }

    fn forward(&mut self, pass: &mut Forward<'_, T>) -> OpResult {
        let (x, out) = (pass.inputs[0], pass.output.data());
        match self {
            Self::Upper => spd::upper_into(x.rows(), x.data(), out),
            Self::FromUpper => out.copy_from_slice(spd::from_upper(x)?.data()),
        }
        Ok(())
    }

    fn pull_back(&self, pass: &mut PullBack<'_, '_, T>) -> OpResult {
        let g = pass.g;
        if let Some(dx) = &mut pass.gradients[0] {
            let pulled = match self {
                Self::Upper => spd::upper_pull_back(g)?,
                Self::FromUpper => spd::from_upper_pull_back(g)?,
            };
            dx.add(pulled.data());
        }
        Ok(())
    }
}

impl<T: Scalar> Var<'_, T> {
    /// The vectors of symmetric matrices, `count × 1 × n(n+1)/2`; the gradient is symmetric.
    #[track_caller]
    pub fn upper(self) -> Result<Self> {
        self.tape.apply(Vectorise::Upper, &[self])
    }

    /// The symmetric matrices of vectors `count × 1 × n(n+1)/2`.
    #[track_caller]
    pub fn from_upper(self) -> Result<Self> {
        self.tape.apply(Vectorise::FromUpper, &[self])
    }
}
