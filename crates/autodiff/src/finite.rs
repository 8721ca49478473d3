//! Where the first NaN or infinity came from.

use crate::Tape;
use crate::error::{Result, TapeError};
use crate::operation::view;
use crate::tape::Node;
use stiefel_linalg::{MatView, Scalar, sums};

/// The first entry that is not finite: `(matrix, row, col, value)`.
pub(crate) fn first_bad<T: Scalar>(x: MatView<'_, T>) -> Option<(usize, usize, usize, f64)> {
    // The usual case is one fast pass.
    if sums::all_finite(x.data()) {
        return None;
    }
    let at = x.data().iter().position(|&v| !Scalar::is_finite(v))?;
    let size = x.rows() * x.cols();
    let (row, col) = (at % size / x.cols(), at % x.cols());
    Some((at / size, row, col, x.data()[at].to_f64()))
}

impl<T: Scalar> Tape<T> {
    /// An error that names the first operation (or leaf) whose value is not finite, its line in the
    /// forward expression, the entry, and the ranges of its inputs.
    ///
    /// [`backward`](Tape::backward) reports by itself where a non-finite loss or gradient came
    /// from, and [`apply`](Tape::apply) where the input came from that a kernel refused; call
    /// this for values that reach neither.
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
    /// assert!(error.contains(
    ///     "-inf in matrix 0, row 0, column 1; its input 0 has values from 0e0 to 5e-1"
    /// ));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check_finite(&self) -> Result<()> {
        (0..self.nodes.len()).try_for_each(|id| self.node_finite(id))
    }

    /// An error where the value of a node is not finite: that of the ancestor where it arose, all
    /// of whose inputs are finite.
    pub(crate) fn trace(&self, mut id: usize) -> Result<()> {
        let bad = |id: usize| first_bad(self.node_value(id));
        // An infinity may be meant (a mask), a NaN never is: follow the NaN where there is a
        // choice.
        let nan = |id: usize| {
            self.node_value(id)
                .data()
                .iter()
                .any(|&x| x.to_f64().is_nan())
        };
        loop {
            let inputs = self.nodes[id].inputs.iter().map(|input| input.node);
            let mut suspects = inputs.filter(|&j| bad(j).is_some());
            match suspects
                .clone()
                .find(|&j| nan(j))
                .or_else(|| suspects.next())
            {
                Some(origin) => id = origin,
                None => return self.node_finite(id),
            }
        }
    }

    fn node_value(&self, id: usize) -> MatView<'_, T> {
        let node = &self.nodes[id];
        view(node.shape, &node.value)
    }

    fn node_finite(&self, id: usize) -> Result<()> {
        let Some((matrix, row, col, value)) = first_bad(self.node_value(id)) else {
            return Ok(());
        };
        let node = &self.nodes[id];
        Err(TapeError::NotFinite {
            op: node.name,
            label: node.label.get(),
            at: node.at,
            matrix,
            row,
            col,
            value,
            inputs: self.describe_inputs(node),
        })
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
            let (low, high) = range(&source.value);
            format!("its input {j}{label} has values from {low:e} to {high:e}")
        });
        each.collect::<Vec<_>>().join(", ")
    }
}

fn range<T: Scalar>(data: &[T]) -> (f64, f64) {
    let fold = |(low, high): (f64, f64), &x: &T| (low.min(x.to_f64()), high.max(x.to_f64()));
    data.iter().fold((f64::INFINITY, f64::NEG_INFINITY), fold)
}
