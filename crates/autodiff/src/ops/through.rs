//! Straight-through: the value of one expression with the gradient of another.

use crate::{Context, Gradient, OpError, OpResult, Operation, Result, Shape, Var};
use stiefel_linalg::{MatView, MatViewMut, Scalar};

/// Inputs `(soft, hard)`.
#[derive(Debug)]
struct StraightThrough;

impl<T: Scalar> Operation<T> for StraightThrough {
    fn name(&self) -> &'static str {
        "straight_through"
    }

    fn shape(&self, inputs: &[Shape]) -> OpResult<Shape> {
        if inputs[0] == inputs[1] {
            return Ok(inputs[0]);
        }
        Err(OpError::Shape {
            needs: "equal shapes",
            found: inputs.to_vec(),
        })
    }

    fn forward(
        &mut self,
        inputs: &[MatView<'_, T>],
        output: &mut MatViewMut<'_, T>,
        _: &Context<'_, T>,
    ) -> OpResult {
        output.data().copy_from_slice(inputs[1].data());
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
        if let Some(soft) = &mut gradients[0] {
            soft.add(g.data());
        }
        Ok(())
    }
}

impl<'t, T: Scalar> Var<'t, T> {
    /// `soft + sg(hard − soft)`: the value is exactly that of `hard`, the gradient goes to `self` (soft) alone.
    ///
    /// ```
    /// use stiefel_autodiff::{Axis, Tape};
    /// use stiefel_linalg::MatBatch;
    ///
    /// let tape = Tape::<f64>::new();
    /// let soft = tape.parameter(&MatBatch::from_vec(1, 1, 2, vec![0.4, 0.6])?);
    /// let hard = tape.constant(&MatBatch::from_vec(1, 1, 2, vec![0.0, 1.0])?);
    /// let alpha = soft.straight_through(hard)?;
    /// assert_eq!(alpha.value().data(), [0.0, 1.0]);
    /// let gradients = tape.backward(alpha.square()?.sum(Axis::All)?)?;
    /// assert_eq!(gradients.get(soft).unwrap().data(), [0.0, 2.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn straight_through(self, hard: Var<'t, T>) -> Result<Self> {
        self.tape.apply(StraightThrough, &[self, hard.detach()])
    }
}
