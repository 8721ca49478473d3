//! Symmetric matrices as vectors: the upper triangle row by row, off-diagonals times √2, `count × n × n` to `count × 1 × n(n+1)/2`, and back.
//! Both keep inner products, so the two are mutually adjoint.

use crate::{Context, Gradient, OpError, OpResult, Operation, Result, Shape, Var};
use stiefel_geometry::spd;
use stiefel_linalg::{MatView, MatViewMut, Scalar};

#[derive(Debug, Clone, Copy)]
enum Vectorise {
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
            _ => Err(OpError::Shape {
                needs: "one row of n(n+1)/2 entries",
                found: inputs.to_vec(),
            }),
        }
    }

    fn forward(
        &mut self,
        inputs: &[MatView<'_, T>],
        output: &mut MatViewMut<'_, T>,
        _: &Context<'_, T>,
    ) -> OpResult {
        let value = match self {
            Self::Upper => spd::upper(inputs[0])?,
            Self::FromUpper => spd::from_upper(inputs[0])?,
        };
        output.data().copy_from_slice(value.data());
        Ok(())
    }

    fn pull_back(
        &self,
        _: &[MatView<'_, T>],
        _: MatView<'_, T>,
        g: MatView<'_, T>,
        gradients: &mut [Option<Gradient<'_, T>>],
        _: &Context<'_, T>,
    ) -> OpResult {
        if let Some(dx) = &mut gradients[0] {
            let pulled = match self {
                Self::Upper => spd::upper_pull_back(g)?,
                Self::FromUpper => spd::from_upper_pull_back(g)?,
            };
            dx.add(pulled.data());
        }
        Ok(())
    }
}

/// The upper triangle by itself, or its inverse.
pub(crate) fn operation<T: Scalar>(inverse: bool) -> Box<dyn Operation<T>> {
    Box::new(if inverse {
        Vectorise::FromUpper
    } else {
        Vectorise::Upper
    })
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
