//! Straight-through: the value of one expression with the gradient of another.

use super::wrong_shape;
use crate::{Forward, OpResult, Operation, PullBack, Result, Shape, Var};
use stiefel_linalg::Scalar;

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
        wrong_shape("equal shapes", inputs)
    }

    fn forward(&mut self, pass: &mut Forward<'_, T>) -> OpResult {
        pass.output.data().copy_from_slice(pass.inputs[1].data());
        Ok(())
    }

    fn pull_back(&self, pass: &mut PullBack<'_, '_, T>) -> OpResult {
        if let Some(soft) = &mut pass.gradients[0] {
            soft.add(pass.g.data());
        }
        Ok(())
    }
}

impl<'t, T: Scalar> Var<'t, T> {
    /// `soft + sg(hard − soft)`: the value is exactly that of `hard`, the gradient goes to `self`
    /// (soft) alone.
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
