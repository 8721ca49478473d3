//! Entry-wise `a + b`, `a − b`, `a·b`, `a/b` with broadcasting over every axis of size one.
//!
//! Pull-backs for `g = ∂ℓ/∂y`: `(g, g)`, `(g, −g)`, `(g·b, g·a)`, `(g/b, −g·y/b)`, each summed over
//! the axes that were broadcast.

use super::broadcast::{common, map, reduce};
use crate::operation::view;
use crate::{Forward, Gradient, OpResult, Operation, PullBack, Result, Shape, Var};
use stiefel_linalg::{MatView, Scalar};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Binary {
    Add,
    Sub,
    Mul,
    Div,
}

/// Adds `Σ f(g, other)` to a gradient whose input may have been broadcast.
fn add_reduced<T: Scalar>(
    gradient: &mut Gradient<'_, T>,
    full: Shape,
    g: &[T],
    other: MatView<'_, T>,
    f: impl Fn(T, T) -> T,
) {
    if gradient.shape() == full && other.shape() == full {
        gradient.add_map2(g, other.data(), f);
    } else {
        let shape = gradient.shape();
        reduce(gradient.accumulator(), shape, full, g, other, f);
    }
}

impl<T: Scalar> Operation<T> for Binary {
    fn name(&self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Sub => "sub",
            Self::Mul => "mul",
            Self::Div => "div",
        }
    }

    fn shape(&self, inputs: &[Shape]) -> OpResult<Shape> {
        common(inputs[0], inputs[1])
    }

    fn forward(&mut self, pass: &mut Forward<'_, T>) -> OpResult {
        let (full, out) = (pass.output.shape(), pass.output.data());
        let (a, b) = (pass.inputs[0], pass.inputs[1]);
        match self {
            Self::Add => map(out, full, a, b, |x, y| x + y),
            Self::Sub => map(out, full, a, b, |x, y| x - y),
            Self::Mul => map(out, full, a, b, |x, y| x * y),
            Self::Div => map(out, full, a, b, |x, y| x / y),
        }
        Ok(())
    }

    fn pull_back(&self, pass: &mut PullBack<'_, '_, T>) -> OpResult {
        let (full, g) = (pass.output.shape(), pass.g.data());
        let one = [T::ONE];
        let one = view((1, 1, 1), &one);
        if let Some(da) = &mut pass.gradients[0] {
            match self {
                Self::Add | Self::Sub if da.shape() == full => da.add(g),
                Self::Add | Self::Sub => add_reduced(da, full, g, one, |g, _| g),
                Self::Mul => add_reduced(da, full, g, pass.inputs[1], |g, b| g * b),
                Self::Div => add_reduced(da, full, g, pass.inputs[1], |g, b| g / b),
            }
        }
        if let Some(db) = &mut pass.gradients[1] {
            match self {
                Self::Add if db.shape() == full => db.add(g),
                Self::Add => add_reduced(db, full, g, one, |g, _| g),
                Self::Sub => add_reduced(db, full, g, one, |g, _| -g),
                Self::Mul => add_reduced(db, full, g, pass.inputs[0], |g, a| g * a),
                Self::Div => {
                    let mut gy = pass.context.buffer(g.len());
                    map(&mut gy, full, view(full, g), pass.output, |g, y| -(g * y));
                    add_reduced(db, full, &gy, pass.inputs[1], |gy, b| gy / b);
                }
            }
        }
        Ok(())
    }
}

#[allow(
    clippy::should_implement_trait,
    reason = "an operator could not return an error"
)]
impl<'t, T: Scalar> Var<'t, T> {
    /// `a + b`, broadcast over axes of size one.
    #[track_caller]
    pub fn add(self, other: Var<'t, T>) -> Result<Self> {
        self.tape.apply(Binary::Add, &[self, other])
    }

    /// `a − b`, broadcast over axes of size one.
    #[track_caller]
    pub fn sub(self, other: Var<'t, T>) -> Result<Self> {
        self.tape.apply(Binary::Sub, &[self, other])
    }

    /// `a·b` entry by entry, broadcast over axes of size one.
    ///
    /// ```
    /// use stiefel_autodiff::Tape;
    /// use stiefel_linalg::MatBatch;
    ///
    /// let tape = Tape::<f64>::new();
    /// let x = tape.parameter(&MatBatch::from_vec(1, 2, 2, vec![1.0, 2.0, 3.0, 4.0])?);
    /// let row = tape.parameter(&MatBatch::from_vec(1, 1, 2, vec![10.0, 100.0])?);
    /// assert_eq!(x.mul(row)?.value().data(), [10.0, 200.0, 30.0, 400.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn mul(self, other: Var<'t, T>) -> Result<Self> {
        self.tape.apply(Binary::Mul, &[self, other])
    }

    /// `a/b` entry by entry, broadcast over axes of size one.
    #[track_caller]
    pub fn div(self, other: Var<'t, T>) -> Result<Self> {
        self.tape.apply(Binary::Div, &[self, other])
    }
}
