//! Decisions combined over time: a running mean of log-odds.
//!
//! With `l_i = log p_i` of the windows that were decided at times `t_i`, and weights that fade with
//! the time constant `τ`,
//!
//! ```text
//! E_t = Σ w_i l_i / Σ w_i,   w_i = exp(−(t − t_i)/τ),   evidence = softmax(E_t)
//! ```
//!
//! so that the log-odds of two classes are the running mean of their log-odds. A mean and not a
//! sum: windows that overlap are no independent witnesses, and adding them up would be sure of
//! itself for no reason. Probabilities below [`LEAST_PROBABILITY`] count as that: no single window
//! decides alone.

use crate::tolerance::LEAST_PROBABILITY;

/// A running mean of log-odds.
#[derive(Debug, Clone)]
pub struct Evidence {
    constant: f64,
    sums: Vec<f64>,
    weight: f64,
    last: f64,
    probabilities: Vec<f64>,
}

impl Evidence {
    /// For so many classes, with a time constant in seconds.
    pub fn new(classes: usize, constant: f64) -> Self {
        Self {
            constant,
            sums: vec![0.0; classes],
            weight: 0.0,
            last: 0.0,
            probabilities: vec![0.0; classes],
        }
    }

    /// Takes the probabilities of a window that ended at a time, in seconds.
    ///
    /// ```
    /// use stiefel_live::Evidence;
    /// let mut evidence = Evidence::new(2, 1.0);
    /// assert!(evidence.get().is_none());
    /// evidence.add(0.0, &[0.9, 0.1]);
    /// evidence.add(0.0, &[0.1, 0.9]);
    /// assert!((evidence.get().unwrap()[0] - 0.5).abs() < 1e-12);
    /// evidence.add(10.0, &[0.2, 0.8]);
    /// assert!((evidence.get().unwrap()[1] - 0.8).abs() < 1e-3);
    /// ```
    pub fn add(&mut self, time: f64, probabilities: &[f64]) {
        let fade = (-(time - self.last).max(0.0) / self.constant).exp();
        self.weight = self.weight * fade + 1.0;
        for (sum, p) in self.sums.iter_mut().zip(probabilities) {
            *sum = *sum * fade + p.max(LEAST_PROBABILITY).ln();
        }
        self.last = time;
        let mean = |s: &f64| s / self.weight;
        let top = self.sums.iter().map(mean).fold(f64::NEG_INFINITY, f64::max);
        let mut total = 0.0;
        for (p, s) in self.probabilities.iter_mut().zip(&self.sums) {
            *p = (s / self.weight - top).exp();
            total += *p;
        }
        for p in &mut self.probabilities {
            *p /= total;
        }
    }

    /// Forgets everything: another trial begins, or the signal was interrupted.
    pub fn reset(&mut self) {
        self.weight = 0.0;
        self.sums.fill(0.0);
    }

    /// The probability of every class; none before the first window.
    pub fn get(&self) -> Option<&[f64]> {
        (self.weight > 0.0).then_some(&self.probabilities)
    }
}
