//! Decisions on a set of trials.

use stiefel_linalg::MatBatch;

/// Decisions of a model on a set of trials.
#[derive(Debug, Clone, PartialEq)]
pub struct Decided {
    /// `1 × N × C`.
    pub probabilities: MatBatch<f64>,
    /// Weights of the experts, `1 × N × K`, where a network routes.
    pub routing: Option<MatBatch<f64>>,
    /// Queries of the router, `1 × N × m`.
    pub queries: Option<MatBatch<f64>>,
    /// What was done for domains without training trials.
    pub notes: Vec<String>,
}

impl Decided {
    /// The most probable class of each trial; the first of equals.
    pub fn classes(&self) -> Vec<usize> {
        let rows = self.probabilities.data();
        rows.chunks_exact(self.probabilities.cols().max(1))
            .map(stiefel_linalg::argmax)
            .collect()
    }
}
