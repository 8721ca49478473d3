//! Whether a window looks like anything the model was trained on.
//!
//! `δ(X, M)`, the affine-invariant distance of the window's broad view to the mean of its domain, is measured by the median `m` of the distances of that domain's
//! training trials, and told as the share of all training trials whose `δ/m` is smaller. A window is unfamiliar where `δ/m` exceeds so many times (the limit) what
//! 99 % of the training trials do not exceed.
//!
//! A domain with training trials has its mean and its median in the model. The mean of a new one is that of its own windows so far, from the tenth on; before,
//! nothing is said. Its median is that of the windows that entered the mean, each measured before it did; until there are ten of them, that of the training domains.

use crate::tolerance::{ADAPTATION_WINDOWS, FAMILIAR_QUANTILE, FAMILIAR_WINDOWS};
use stiefel_model::FittedModel;
use stiefel_model::fitted::{Distances, FamiliarityBaseline};

use crate::Result;

/// How far a window is from what is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Familiarity {
    /// The distance to the mean of the domain.
    pub distance: f64,
    /// The share of the training trials that were nearer, every domain by its own measure.
    pub quantile: f64,
    /// Whether it is beyond the limit.
    pub unfamiliar: bool,
}

/// The check of one domain.
#[derive(Debug)]
pub(crate) struct Familiar {
    distances: Distances,
    /// The limit as a multiple of the median.
    limit: f64,
    median: f64,
    baseline: Option<FamiliarityBaseline>,
    own: Option<Own>,
}

/// What is known of a new domain.
#[derive(Debug)]
struct Own {
    /// Sum and number of its windows.
    sum: Vec<f64>,
    count: usize,
    /// Distances of windows before they entered the mean, in ascending order.
    measured: Vec<f64>,
}

impl Familiar {
    /// None where the model does not know its training trials' distances.
    pub(crate) fn new(model: &FittedModel, domain: &str, limit: f64) -> Result<Option<Self>> {
        let Some(distances) = model.distances().cloned() else {
            return Ok(None);
        };
        let known = model.knows(domain);
        let baseline = if known {
            model.familiarity_baseline(domain, None)?
        } else {
            None
        };
        let n = model.channel_count();
        let number = model.domains().iter().position(|d| d == domain);
        Ok(Some(Self {
            limit: limit * distances.at(FAMILIAR_QUANTILE),
            median: distances.scale(number),
            distances,
            baseline,
            own: (!known).then(|| Own {
                sum: vec![0.0; n * n],
                count: 0,
                measured: Vec::with_capacity(ADAPTATION_WINDOWS),
            }),
        }))
    }

    /// How familiar the broad view of a window is; none as long as nothing can be said.
    pub(crate) fn judge(&mut self, broad: &[f64]) -> Result<Option<Familiarity>> {
        let Some(baseline) = &mut self.baseline else {
            return Ok(None);
        };
        let distance = baseline.distance(broad)?;
        let ratio = distance / self.median;
        Ok(Some(Familiarity {
            distance,
            quantile: self.distances.quantile_of(ratio),
            unfamiliar: ratio > self.limit,
        }))
    }

    /// Takes a window of a new domain into its mean, with what was said of it.
    pub(crate) fn learn(
        &mut self,
        model: &FittedModel,
        domain: &str,
        broad: &[f64],
        said: Option<Familiarity>,
    ) -> Result<()> {
        let Some(own) = &mut self.own else {
            return Ok(());
        };
        if own.count >= ADAPTATION_WINDOWS {
            return Ok(());
        }
        own.count += 1;
        for (s, x) in own.sum.iter_mut().zip(broad) {
            *s += x;
        }
        if let Some(said) = said {
            let place = own.measured.partition_point(|d| *d < said.distance);
            own.measured.insert(place, said.distance);
            if own.measured.len() >= FAMILIAR_WINDOWS {
                self.median = own.measured[own.measured.len() / 2];
            }
        }
        if own.count >= FAMILIAR_WINDOWS {
            let mean: Vec<f64> = own.sum.iter().map(|s| s / own.count as f64).collect();
            self.baseline = model.familiarity_baseline(domain, Some(&mean))?;
        }
        Ok(())
    }
}
