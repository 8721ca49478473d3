//! Sums and means over axes, the reduced axes staying with size one; pull-back: the gradient
//! repeated along them.

use super::broadcast::{map, reduce};
use crate::operation::view;
use crate::{Forward, OpError, OpResult, Operation, PullBack, Result, Shape, Var};
use stiefel_linalg::Scalar;

/// What a reduction runs over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Everything: `1 × 1 × 1` remains.
    All,
    /// Rows and columns of each matrix: `count × 1 × 1` remains.
    Matrix,
    /// The matrices of the batch: `1 × rows × cols` remains.
    Count,
    /// The rows of each matrix: `count × 1 × cols` remains.
    Rows,
    /// The columns of each matrix (within each row): `count × rows × 1` remains.
    Cols,
}

impl Axis {
    fn reduced(self, (count, rows, cols): Shape) -> Shape {
        match self {
            Self::All => (1, 1, 1),
            Self::Matrix => (count, 1, 1),
            Self::Count => (1, rows, cols),
            Self::Rows => (count, 1, cols),
            Self::Cols => (count, rows, 1),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Reduce<T> {
    axis: Axis,
    factor: T,
    name: &'static str,
}

impl<T: Scalar> Operation<T> for Reduce<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn shape(&self, inputs: &[Shape]) -> OpResult<Shape> {
        let (full, reduced) = (inputs[0], self.axis.reduced(inputs[0]));
        let terms = |(b, r, c): Shape| b * r * c;
        if self.name == "mean" && terms(full) == 0 && terms(reduced) != 0 {
            return Err(OpError::Shape {
                needs: "at least one entry to average",
                found: vec![full],
            });
        }
        Ok(reduced)
    }

    fn forward(&mut self, pass: &mut Forward<'_, T>) -> OpResult {
        let (full, shape) = (pass.inputs[0].shape(), pass.output.shape());
        let factor = [self.factor];
        pass.output.data().fill(T::ZERO);
        let out = pass.output.data();
        reduce(
            out,
            shape,
            full,
            pass.inputs[0].data(),
            view((1, 1, 1), &factor),
            |x, _| x,
        );
        for y in out {
            *y *= self.factor;
        }
        Ok(())
    }

    fn pull_back(&self, pass: &mut PullBack<'_, '_, T>) -> OpResult {
        let g = pass.g;
        let Some(dx) = &mut pass.gradients[0] else {
            return Ok(());
        };
        let full = pass.inputs[0].shape();
        let factor = [self.factor];
        let factor = view((1, 1, 1), &factor);
        let mut repeated = pass.context.buffer(pass.inputs[0].data().len());
        map(&mut repeated, full, g, factor, |g, f| g * f);
        dx.add(&repeated);
        Ok(())
    }
}

impl<T: Scalar> Var<'_, T> {
    /// The sum over an axis, in an order that depends on nothing but the shape.
    ///
    /// ```
    /// use stiefel_autodiff::{Axis, Tape};
    /// use stiefel_linalg::MatBatch;
    ///
    /// let tape = Tape::<f64>::new();
    /// let x = tape.constant(&MatBatch::from_vec(1, 2, 2, vec![1.0, 2.0, 3.0, 4.0])?);
    /// assert_eq!(x.sum(Axis::Rows)?.value().data(), [4.0, 6.0]);
    /// assert_eq!(x.mean(Axis::All)?.item(), Some(2.5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn sum(self, axis: Axis) -> Result<Self> {
        let factor = T::ONE;
        let name = "sum";
        self.tape.apply(Reduce { axis, factor, name }, &[self])
    }

    /// The mean over an axis.
    #[track_caller]
    pub fn mean(self, axis: Axis) -> Result<Self> {
        let (b, r, c) = axis.reduced(self.shape());
        let terms = self.len() / (b * r * c).max(1);
        let factor = T::from_f64(1.0 / terms.max(1) as f64);
        let name = "mean";
        self.tape.apply(Reduce { axis, factor, name }, &[self])
    }
}
