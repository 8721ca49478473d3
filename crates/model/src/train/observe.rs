//! What training tells, and who listens.

use super::{Evaluation, orthonormality_defect};
use crate::metrics::Confusion;
use crate::net::{Losses, Network, Outputs};
use crate::routing_stats::{FilterRank, filter_rank, routing_stats};
use crate::{Parameters, Prepared, Result};
use serde::{Deserialize, Serialize};
use std::any::Any;
use stiefel_linalg::{MatView, Scalar};

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Stop now; the best epoch so far is kept.
    Stop,
}

/// Someone who watches training, whatever is trained and in whatever precision: a progress bar, a
/// log, a writer of checkpoints, a stop button.
pub trait Observer {
    /// After every step; of the preset, which has no epochs, many times a second.
    fn step(&mut self, _epoch: usize) -> Flow {
        Flow::Continue
    }

    /// After every epoch; `state` is the [`Checkpoint`](super::Checkpoint) in the precision of the
    /// network, which [`resume`](super::resume) needs.
    fn epoch(&mut self, _record: &EpochRecord, _state: &dyn Any) -> Flow {
        Flow::Continue
    }
}

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {}

/// One epoch in numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpochRecord {
    /// Zero-based.
    pub epoch: usize,
    /// Mean training loss of each term, weighted as it enters the total.
    pub losses: Vec<(String, f64)>,
    /// Cross-entropy on the validation set.
    pub validation_loss: f64,
    /// Balanced accuracy on the validation set.
    pub validation_accuracy: f64,
    /// Normalised routing entropy on the validation set, where there is routing among several
    /// experts.
    pub routing_entropy: Option<f64>,
    /// Mean `‖Δ_j − Δ̄‖_F` over experts at the last step: zero where the experts have collapsed.
    pub expert_spread: Option<f64>,
    /// Mean norm per sample of the loss's gradient in the routing scores: zero where routing
    /// cannot learn.
    pub routing_gradient: Option<f64>,
    /// `max |WᵀW − I|` over all filters.
    pub orthonormality: f64,
    /// Smallest singular value of every expert, where experts need not be orthonormal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expert_singular: Option<Vec<f64>>,
    /// Smallest singular value over the routed filters of the validation set, where experts need
    /// not be orthonormal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routed_singular: Option<f64>,
}

impl EpochRecord {
    /// Higher validation accuracy; among equals, lower validation loss.
    pub fn better_than(&self, other: &Self) -> bool {
        let (a, b) = (self.validation_accuracy, other.validation_accuracy);
        a > b || (a == b && self.validation_loss < other.validation_loss)
    }
}

/// Running sums over the steps of an epoch.
#[derive(Debug, Default)]
pub(super) struct Sums {
    losses: Vec<(String, f64)>,
    routing_gradient: Option<f64>,
    expert_spread: Option<f64>,
}

impl Sums {
    pub(super) fn add<T: Scalar>(
        &mut self,
        samples: usize,
        losses: &Losses<'_, T>,
        outputs: &Outputs<'_, T>,
        scores: Option<MatView<'_, T>>,
    ) {
        for (i, (name, term)) in losses.terms.iter().enumerate() {
            if self.losses.len() == i {
                self.losses.push(((*name).into(), 0.0));
            }
            self.losses[i].1 += samples as f64 * term.item().unwrap_or(f64::NAN);
        }
        if let Some(g) = scores {
            // The loss is a mean: times the batch it is the gradient of each sample's own term.
            let per_sample = |row: &[T]| row.iter().map(|x| x.to_f64().powi(2)).sum::<f64>().sqrt();
            let sum: f64 = g.data().chunks_exact(g.cols()).map(per_sample).sum();
            *self.routing_gradient.get_or_insert(0.0) += samples as f64 * sum;
        }
        self.expert_spread = outputs.routed.map(|r| spread(r.tangents.value()));
    }

    pub(super) fn record<T: Scalar>(
        self,
        network: &dyn Network<T>,
        (epoch, samples): (usize, usize),
        scores: &Evaluation,
        validation: &Prepared<T>,
        parameters: &Parameters<T>,
    ) -> Result<EpochRecord> {
        let mean = |x: f64| x / samples as f64;
        let classes = scores.probabilities.cols();
        let confusion = Confusion::new(validation.labels(), &scores.predictions(), classes)?;
        // Every set with a trial has a class present; an empty one was refused before training.
        let accuracy = confusion.balanced_accuracy().value().unwrap_or(0.0);
        let entropy = match &scores.alpha {
            Some(alpha) => routing_stats(alpha.view(), validation.domains())?
                .entropy
                .value(),
            None => None,
        };
        let rank = match &scores.alpha {
            Some(alpha) => filter_rank(network, parameters, alpha)?,
            None => None,
        };
        Ok(EpochRecord {
            epoch,
            losses: self
                .losses
                .into_iter()
                .map(|(name, x)| (name, mean(x)))
                .collect(),
            validation_loss: scores.cross_entropy,
            validation_accuracy: accuracy,
            routing_entropy: entropy,
            expert_spread: self.expert_spread,
            routing_gradient: self.routing_gradient.map(mean),
            orthonormality: orthonormality_defect(parameters)?,
            routed_singular: rank.as_ref().map(FilterRank::smallest_routed),
            expert_singular: rank.map(|r| r.experts),
        })
    }
}

/// Mean `‖Δ_j − Δ̄‖_F`.
fn spread<T: Scalar>(tangents: MatView<'_, T>) -> f64 {
    let (count, rows, cols) = tangents.shape();
    let size = rows * cols;
    let mean: Vec<f64> = (0..size)
        .map(|e| {
            (0..count)
                .map(|j| tangents.matrix(j)[e].to_f64())
                .sum::<f64>()
                / count as f64
        })
        .collect();
    let distance = |j: usize| {
        let pairs = tangents.matrix(j).iter().zip(&mean);
        pairs
            .map(|(x, m)| (x.to_f64() - m).powi(2))
            .sum::<f64>()
            .sqrt()
    };
    (0..count).map(distance).sum::<f64>() / count.max(1) as f64
}

/// The course of a training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainingRecord {
    /// Training trials.
    pub trials: usize,
    /// Validation trials.
    pub validation: usize,
    /// The epoch whose parameters are kept.
    pub best_epoch: usize,
    /// Whether training was cancelled.
    pub cancelled: bool,
    /// Every epoch.
    pub history: Vec<EpochRecord>,
}
