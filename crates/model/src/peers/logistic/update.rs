//! A few more trials: the maximum a posteriori of a regression of two classes around the one that
//! is there.
//!
//! ```text
//! min_δ Σ_i ω_i log(1 + e^{−t_i (w·x_i + b + δ·[x_i; 1])}) + ‖δ‖²/(2v),   v = 8 C
//! ```
//!
//! `v` is the variance that CHOIR's own weights have beside the shared ones of variance `C`; the
//! classes count alike. With `δ = v Xᵀa` the minimum is found in `a`, one number per trial, by
//! Newton's steps (Rasmussen & Williams 2006, algorithm 3.1).

use super::loss::sigmoid;
use super::{LogisticModel, OP, check_features};
use crate::tolerance::{LOGISTIC_GRADIENT, NEWTON_STEPS};
use crate::{ModelError, Result};
use stiefel_linalg::{Factored, MatBatch};

/// The prior variance of the update over `C`.
const RATIO: f64 = 8.0;

impl LogisticModel {
    /// The regression after labelled trials more; as it is without any, and with more than two
    /// classes.
    ///
    /// ```
    /// use stiefel_model::peers::logistic::Logistic;
    ///
    /// let model =
    ///     &Logistic::new(vec![-2.0, -1.0, 1.0, 2.0], 1, &[0, 0, 1, 1], 2)?.fit(&[1.0])?[0];
    /// // For somebody else it is the other way round.
    /// let moved = model.updated(&[-1.0, 1.0], &[1, 0])?;
    /// assert!(moved.weights[0] < model.weights[0]);
    /// # Ok::<(), stiefel_model::ModelError>(())
    /// ```
    pub fn updated(&self, x: &[f64], labels: &[usize]) -> Result<Self> {
        if labels.is_empty() || self.intercepts.len() != 1 {
            return Ok(self.clone());
        }
        let (m, p) = (labels.len(), self.weights.len());
        check_features(x, p)?;
        let (before, variance) = (self.decisions(x)?, RATIO * self.c);
        let row = |i: usize| &x[i * p..(i + 1) * p];
        let dot = |i: usize, j: usize| row(i).iter().zip(row(j)).map(|(a, b)| a * b).sum::<f64>();
        let kernel = MatBatch::from_fn(1, m, m, |_, i, j| variance * (dot(i, j) + 1.0));
        let count = |class: usize| labels.iter().filter(|&&l| l == class).count();
        let present = [0, 1].into_iter().filter(|&c| count(c) > 0).count();
        let weight = |i: usize| m as f64 / (present * count(labels[i])) as f64;
        let times = |a: &[f64]| -> Vec<f64> {
            (0..m)
                .map(|i| (0..m).map(|j| kernel.get(0, i, j) * a[j]).sum())
                .collect()
        };
        let mut a = vec![0.0; m];
        for _ in 0..NEWTON_STEPS {
            let f = times(&a);
            let pi: Vec<f64> = (0..m).map(|i| sigmoid(before[i] + f[i])).collect();
            let curve: Vec<f64> = (0..m).map(|i| weight(i) * pi[i] * (1.0 - pi[i])).collect();
            let push = |i: usize| weight(i) * (labels[i] as f64 - pi[i]);
            let b: Vec<f64> = (0..m).map(|i| curve[i] * f[i] + push(i)).collect();
            let root: Vec<f64> = curve.iter().map(|w| w.sqrt()).collect();
            let inner = MatBatch::from_fn(1, m, m, |_, i, j| {
                f64::from(u8::from(i == j)) + root[i] * kernel.get(0, i, j) * root[j]
            });
            let kb = times(&b);
            let mut right = MatBatch::from_fn(1, m, 1, |_, i, _| root[i] * kb[i]);
            Factored::new(inner.view())?.solve(&mut right)?;
            let next: Vec<f64> = (0..m)
                .map(|i| b[i] - root[i] * right.get(0, i, 0))
                .collect();
            let size = next.iter().fold(0.0_f64, |s, v| s.max(v.abs()));
            let step = (next.iter().zip(&a)).fold(0.0_f64, |s, (n, a)| s.max((n - a).abs()));
            a = next;
            if step <= LOGISTIC_GRADIENT * size {
                let add = |j: usize| (0..m).map(|i| variance * a[i] * row(i)[j]).sum::<f64>();
                return Ok(Self {
                    weights: (0..p).map(|j| self.weights[j] + add(j)).collect(),
                    intercepts: vec![self.intercepts[0] + variance * a.iter().sum::<f64>()],
                    ..self.clone()
                });
            }
        }
        Err(ModelError::Parameter {
            op: OP,
            name: "the number of Newton steps of an update",
            value: NEWTON_STEPS as f64,
            expected: "enough to converge; are the features of a reasonable size?",
        })
    }
}
