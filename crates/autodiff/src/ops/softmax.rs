//! Softmax and its logarithm over the last axis, shifted by the row's maximum so that nothing
//! overflows.
//!
//! `y_c = e^{x_c}/Σ e^{x}`, pull-back `y∘(g − Σ g y)`; `y_c = x_c − log Σ e^{x}`, pull-back `g −
//! e^{y} Σ g`.

use super::wrong_shape;
use crate::{Forward, OpResult, Operation, PullBack, Result, Shape, Var};
use stiefel_linalg::{Scalar, log_sum_exp, softmax};

#[derive(Debug, Clone, Copy)]
enum Softmax {
    Plain,
    Log,
}

impl<T: Scalar> Operation<T> for Softmax {
    fn name(&self) -> &'static str {
        match self {
            Self::Plain => "softmax",
            Self::Log => "log_softmax",
        }
    }

    fn shape(&self, inputs: &[Shape]) -> OpResult<Shape> {
        if inputs[0].2 == 0 {
            return wrong_shape("at least one column", inputs);
        }
        Ok(inputs[0])
    }

    fn forward(&mut self, pass: &mut Forward<'_, T>) -> OpResult {
        let cols = pass.inputs[0].cols();
        let rows = pass.output.data().chunks_exact_mut(cols);
        for (y, x) in rows.zip(pass.inputs[0].data().chunks_exact(cols)) {
            match self {
                Self::Plain => {
                    y.copy_from_slice(x);
                    softmax(y);
                }
                Self::Log => {
                    let (top, rest) = log_sum_exp(x);
                    y.iter_mut()
                        .zip(x)
                        .for_each(|(y, &x)| *y = (x - top) - rest);
                }
            }
        }
        Ok(())
    }

    fn pull_back(&self, pass: &mut PullBack<'_, '_, T>) -> OpResult {
        let g = pass.g;
        let Some(dx) = &mut pass.gradients[0] else {
            return Ok(());
        };
        let cols = g.cols();
        let rows = dx.accumulator().chunks_exact_mut(cols);
        let given = pass
            .output
            .data()
            .chunks_exact(cols)
            .zip(g.data().chunks_exact(cols));
        for (dx, (y, g)) in rows.zip(given) {
            let entries = dx.iter_mut().zip(y).zip(g);
            match self {
                Self::Plain => {
                    // A common offset of g changes nothing; taking it out first makes equal entries
                    // give exactly zero.
                    let first = g[0];
                    let mean: T = y.iter().zip(g).map(|(&y, &g)| y * (g - first)).sum();
                    entries.for_each(|((d, &y), &g)| *d += y * ((g - first) - mean));
                }
                Self::Log => {
                    let sum: T = g.iter().copied().sum();
                    entries.for_each(|((d, &y), &g)| *d += g - Scalar::exp(y) * sum);
                }
            }
        }
        Ok(())
    }
}

impl<T: Scalar> Var<'_, T> {
    /// The softmax of every row.
    #[track_caller]
    pub fn softmax(self) -> Result<Self> {
        self.tape.apply(Softmax::Plain, &[self])
    }

    /// The logarithm of the softmax of every row, accurate where the softmax underflows.
    #[track_caller]
    pub fn log_softmax(self) -> Result<Self> {
        self.tape.apply(Softmax::Log, &[self])
    }
}
