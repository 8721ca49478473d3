//! How far full-rank experts are from losing a direction: smallest singular values.
//!
//! ```text
//! barrier   σ_min(W_j)  and  σ_min(Σ_j α_ij W_j)
//! polar     σ_min(Q_j P_j^{1/2}) = σ_min(L_j)  and  σ_min(W_i) = exp(½ λ_min(Σ_j α_ij log P_j))
//! ```
//!
//! Experts are `K × n × k` (their scales `K × k × k`), weights `1 × N × K`. Experts with
//! orthonormal columns have ones only, and no report.

use crate::net::pool::{factors, log_scales_of};
use crate::net::{FilterSlots, Network};
use crate::{Manifold, Parameter, Parameters, Result};
use serde::{Deserialize, Serialize};
use stiefel_linalg::{MatBatch, Scalar, eigenvalues, smallest_singular_values};

/// Smallest singular values of filters that are not orthonormal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FilterRank {
    /// Of every expert.
    pub experts: Vec<f64>,
    /// Of every sample's routed filter.
    pub routed: Vec<f64>,
}

impl FilterRank {
    /// The smallest over the samples.
    pub fn smallest_routed(&self) -> f64 {
        self.routed.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The smallest over the experts.
    pub fn smallest_expert(&self) -> f64 {
        self.experts.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

/// The smallest singular value of every expert and of every sample's filter under weights `alpha`;
/// `None` where experts are orthonormal or there are none.
pub fn filter_rank<T: Scalar>(
    network: &dyn Network<T>,
    parameters: &Parameters<T>,
    alpha: &MatBatch<f64>,
) -> Result<Option<FilterRank>> {
    let FilterSlots::Pool(experts, scales) = network.filter_slots() else {
        return Ok(None);
    };
    if let Some(scales) = scales.and_then(|slot| parameters.at(slot)) {
        let scales: MatBatch<f64> = scales.value.cast();
        let logs = mixed(alpha, &log_scales_of(&scales)?);
        let values = eigenvalues(logs.view())?;
        let routed = values.chunks_exact(logs.rows());
        return Ok(Some(FilterRank {
            experts: smallest_singular_values(factors(&scales).view())?,
            // Ascending.
            routed: routed.map(|values| (0.5 * values[0]).exp()).collect(),
        }));
    }
    let free = |p: &&Parameter<T>| p.manifold == Manifold::Euclidean;
    let Some(experts) = parameters.at(experts).filter(free) else {
        return Ok(None);
    };
    let experts: MatBatch<f64> = experts.value.cast();
    Ok(Some(FilterRank {
        routed: smallest_singular_values(mixed(alpha, &experts).view())?,
        experts: smallest_singular_values(experts.view())?,
    }))
}

/// `Σ_j α_ij X_j` for every sample.
fn mixed(alpha: &MatBatch<f64>, x: &MatBatch<f64>) -> MatBatch<f64> {
    let (experts, rows, cols) = x.shape();
    MatBatch::from_fn(alpha.rows(), rows, cols, |i, r, c| {
        (0..experts)
            .map(|j| alpha.get(0, i, j) * x.get(j, r, c))
            .sum()
    })
}
