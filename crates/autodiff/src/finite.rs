//! Where the first NaN or infinity came from.

use crate::Tape;
use crate::error::{Result, TapeError};
use crate::tape::Node;
use stiefel_linalg::{MatView, Scalar};

/// The first entry that is not finite: `(matrix, row, col, value)`.
pub(crate) fn first_bad<T: Scalar>(x: MatView<'_, T>) -> Option<(usize, usize, usize, f64)> {
    // Zero times a finite number is zero: one pass without branches for the usual case.
    let folded: T = x.data().iter().map(|&v| v * T::ZERO).sum();
    if folded == T::ZERO {
        return None;
    }
    let at = x.data().iter().position(|&v| !Scalar::is_finite(v))?;
    let size = x.rows() * x.cols();
    let (row, col) = (at % size / x.cols(), at % x.cols());
    Some((at / size, row, col, x.data()[at].to_f64()))
}

impl<T: Scalar> Tape<T> {
    /// An error that names the first operation (or leaf) whose value is not finite, its line in the forward expression, the
    /// entry, and the ranges of its inputs.
    ///
    /// [`backward`](Tape::backward) asks by itself where the loss or a gradient is not finite, and [`apply`](Tape::apply) where
    /// a kernel refuses its input; call it for values that reach neither.
    ///
    /// ```
    /// use stiefel_autodiff::{Axis, Tape};
    /// use stiefel_linalg::MatBatch;
    ///
    /// let tape = Tape::<f64>::new();
    /// let p = tape.parameter(&MatBatch::from_vec(1, 1, 2, vec![0.5, 0.0])?);
    /// let entropy = p.mul(p.ln()?)?.sum(Axis::All)?.neg()?;
    /// let error = tape.backward(entropy).unwrap_err().to_string();
    /// assert!(error.starts_with("ln ("));
    /// assert!(error.contains("-inf in matrix 0, row 0, column 1; its input 0 has values from 0e0 to 5e-1"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check_finite(&self) -> Result<()> {
        for id in 0..self.nodes.len() {
            let node = &self.nodes[id];
            let value = crate::operation::view(node.shape, node.value.data());
            if let Some((matrix, row, col, value)) = first_bad(value) {
                return Err(TapeError::NotFinite {
                    op: node.name,
                    label: node.label.get(),
                    at: node.at,
                    matrix,
                    row,
                    col,
                    value,
                    inputs: self.describe_inputs(node),
                });
            }
        }
        Ok(())
    }

    /// An error where a pull-back of `node` made a gradient that is not finite.
    pub(crate) fn check_gradient(
        &self,
        node: &Node<T>,
        input: usize,
        gradient: MatView<'_, T>,
    ) -> Result<()> {
        let Some((matrix, row, col, value)) = first_bad(gradient) else {
            return Ok(());
        };
        Err(TapeError::GradientNotFinite {
            op: node.name,
            label: node.label.get(),
            at: node.at,
            input,
            matrix,
            row,
            col,
            value,
            inputs: self.describe_inputs(node),
        })
    }

    fn describe_inputs(&self, node: &Node<T>) -> String {
        if node.inputs.is_empty() {
            return "it is a leaf: the data or the parameter came in like that".into();
        }
        let each = node.inputs.iter().enumerate().map(|(j, input)| {
            let source = &self.nodes[input.node];
            let label = source
                .label
                .get()
                .map_or_else(String::new, |l| format!(" \"{l}\""));
            let (low, high) = range(source.value.data());
            format!("its input {j}{label} has values from {low:e} to {high:e}")
        });
        each.collect::<Vec<_>>().join(", ")
    }
}

fn range<T: Scalar>(data: &[T]) -> (f64, f64) {
    let fold = |(low, high): (f64, f64), &x: &T| (low.min(x.to_f64()), high.max(x.to_f64()));
    data.iter().fold((f64::INFINITY, f64::NEG_INFINITY), fold)
}
