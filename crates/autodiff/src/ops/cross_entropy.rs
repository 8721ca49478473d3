//! Cross-entropy `Σ_i w_i (log Σ_c e^{z_ic} − z_{i,y_i}) / Σ_i w_i` of logits `z` (one row per
//! sample) and labels `y`.
//!
//! Pull-back `g·w_i/Σw·(softmax(z_i) − e_{y_i})`. Without weights all are one: the mean over
//! samples.

use super::wrong_shape;
use crate::{Buffer, Forward, OpError, OpResult, Operation, PullBack, Result, Shape, Var};
use stiefel_linalg::{Scalar, log_sum_exp};

#[derive(Debug)]
struct CrossEntropy<T> {
    labels: Box<[usize]>,
    weights: Option<Box<[T]>>,
    /// `∂ℓ/∂z` for `g = 1`.
    slope: Option<Buffer<T>>,
}

impl<T: Scalar> CrossEntropy<T> {
    fn check_weights(&self, samples: usize) -> OpResult {
        let Some(weights) = &self.weights else {
            return Ok(());
        };
        if weights.len() != samples {
            return Err(OpError::Length {
                what: "weights, one per sample",
                expected: samples,
                found: weights.len(),
            });
        }
        let refuse = |what, value, needs| Err(OpError::Argument { what, value, needs });
        if let Some(w) = weights
            .iter()
            .find(|&&w| !(Scalar::is_finite(w) && w >= T::ZERO))
        {
            return refuse("a sample weight", w.to_f64(), "finite and not negative");
        }
        let sum = weights.iter().copied().sum::<T>().to_f64();
        if sum > 0.0 && sum.is_finite() {
            return Ok(());
        }
        refuse("the sum of the sample weights", sum, "positive and finite")
    }
}

impl<T: Scalar> Operation<T> for CrossEntropy<T> {
    fn name(&self) -> &'static str {
        "cross_entropy"
    }

    fn shape(&self, inputs: &[Shape]) -> OpResult<Shape> {
        let (count, rows, classes) = inputs[0];
        let samples = count * rows;
        if samples == 0 || classes == 0 {
            return wrong_shape("at least one sample and one class", inputs);
        }
        if self.labels.len() != samples {
            return Err(OpError::Length {
                what: "labels, one per row",
                expected: samples,
                found: self.labels.len(),
            });
        }
        super::check_indices("label", &self.labels, classes)?;
        self.check_weights(samples)?;
        Ok((1, 1, 1))
    }

    fn forward(&mut self, pass: &mut Forward<'_, T>) -> OpResult {
        let (z, classes) = (pass.inputs[0].data(), pass.inputs[0].cols());
        let total = match &self.weights {
            Some(w) => w.iter().copied().sum::<T>(),
            None => T::from_f64(self.labels.len() as f64),
        };
        let share = |i: usize| self.weights.as_ref().map_or(T::ONE, |w| w[i]) / total;
        let mut slope = pass
            .context
            .wants_gradient()
            .then(|| pass.context.buffer(z.len()));
        let mut loss = T::ZERO;
        for (i, (row, &label)) in z.chunks_exact(classes).zip(&self.labels).enumerate() {
            let (top, rest) = log_sum_exp(row);
            loss += share(i) * (rest + (top - row[label]));
            if let Some(slope) = &mut slope {
                let slope = &mut slope[i * classes..(i + 1) * classes];
                let pairs = slope.iter_mut().zip(row);
                pairs.for_each(|(s, &z)| *s = share(i) * Scalar::exp((z - top) - rest));
                slope[label] -= share(i);
            }
        }
        pass.output.data()[0] = loss;
        self.slope = slope;
        Ok(())
    }

    fn pull_back(&self, pass: &mut PullBack<'_, '_, T>) -> OpResult {
        let g = pass.g;
        if let (Some(dz), Some(slope)) = (&mut pass.gradients[0], &self.slope) {
            let g = g.data()[0];
            dz.add_map(slope, |s| g * s);
        }
        Ok(())
    }
}

impl<T: Scalar> Var<'_, T> {
    /// The mean cross-entropy of logits (every row a sample, every column a class) and zero-based
    /// labels, weighted by sample where weights are given (the weights need not sum to one).
    ///
    /// ```
    /// use stiefel_autodiff::Tape;
    /// use stiefel_linalg::MatBatch;
    ///
    /// let tape = Tape::<f64>::new();
    /// let logits = tape.parameter(&MatBatch::from_vec(1, 2, 2, vec![0.0, 0.0, 1000.0, 0.0])?);
    /// let loss = logits.cross_entropy(&[1, 0], None)?;
    /// assert!((loss.item().unwrap() - 0.5 * 2_f64.ln()).abs() < 1e-15);
    /// assert!(
    ///     logits
    ///         .cross_entropy(&[1, 2], None)
    ///         .unwrap_err()
    ///         .to_string()
    ///         .contains("label 2 at position 1")
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn cross_entropy(self, labels: &[usize], weights: Option<&[T]>) -> Result<Self> {
        let operation = CrossEntropy {
            labels: labels.into(),
            weights: weights.map(Into::into),
            slope: None,
        };
        self.tape.apply(operation, &[self])
    }
}
