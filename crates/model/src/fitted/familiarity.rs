//! Whether a trial or a window looks like anything the model was trained on, live and offline.
//!
//! `δ(X, M)`, the affine-invariant distance of the broad view to the mean of its domain, is
//! measured by the median `m` of the distances of that domain's training trials, and told as the
//! share of all training trials whose `δ/m` is smaller. A trial is unfamiliar where `δ/m` exceeds
//! so many times (the limit) what 99 % of the training trials do not exceed.
//!
//! A domain with training trials has its mean and its median in the model. The mean of a new one is
//! that of its own trials so far, from the tenth on; before, nothing is said. Its median is that of
//! the trials that entered the mean, each measured before it did; until there are ten of them, that
//! of the training domains.

use super::{Distances, FamiliarityBaseline, FittedModel};
use crate::tolerance::{ADAPTATION_WINDOWS, FAMILIAR_QUANTILE, FAMILIAR_WINDOWS, UNFAMILIAR};
use crate::{ModelError, Result};
use serde::{Deserialize, Serialize};
use stiefel_data::Trials;
use stiefel_linalg::MatView;

/// How far a trial is from what is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Familiarity {
    /// The distance to the mean of the domain.
    pub distance: f64,
    /// The share of the training trials that were nearer, every domain by its own measure.
    pub quantile: f64,
    /// Whether it is beyond the limit.
    pub unfamiliar: bool,
}

/// The check of one domain, trial by trial.
#[derive(Debug)]
pub struct FamiliarityCheck {
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
    /// Sum and number of its trials.
    sum: Vec<f64>,
    count: usize,
    /// Distances of trials before they entered the mean, in ascending order.
    measured: Vec<f64>,
}

impl FamiliarityCheck {
    /// Starts on a domain; none where the model does not know its training trials' distances.
    pub fn new(model: &FittedModel, domain: &str, limit: f64) -> Result<Option<Self>> {
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

    /// Tells how familiar the broad view of a trial is; none as long as nothing can be said.
    pub fn judge(&mut self, broad: &[f64]) -> Result<Option<Familiarity>> {
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

    /// Takes a trial of a new domain into its mean, with what was said of it.
    pub fn learn(
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

impl FittedModel {
    /// Tells how familiar each trial is, in order within each domain, as a live session would; none
    /// where nothing can be said. What is unfamiliar does not enter the mean of a new domain.
    ///
    /// ```
    /// # use stiefel_linalg::MatBatch;
    /// # use stiefel_model::{Factor, ModelSpec, FittedModel, Trials, train::Silent};
    /// # let entry = |i: usize, r: usize| 1.0 + ((i * 3 + r) % 5) as f64;
    /// # let x = |far: f64| MatBatch::from_fn(8, 3, 3, |i, r, c| {
    /// #     if r == c { if i == 7 && r == 0 { far } else { entry(i, r) } } else { 0.2 }
    /// # });
    /// # let of = |x| Trials::new(x, Factor::from_labels(["hand", "feet"].repeat(4)),
    /// #     Factor::from_labels(vec!["s1"; 8]));
    /// # let (trials, other) = (of(x(2.0))?, of(x(1e6))?);
    /// let model = FittedModel::fit(&trials, &trials, &ModelSpec::default(), &mut Silent)?;
    /// let known = model.familiarity(&trials)?;
    /// assert!(known.iter().flatten().all(|f| !f.unfamiliar));
    /// // Its last trial has a thousand times the amplitude at one electrode.
    /// assert!(model.familiarity(&other)?[7].unwrap().unfamiliar);
    /// # Ok::<(), stiefel_model::ModelError>(())
    /// ```
    pub fn familiarity(&self, trials: &Trials) -> Result<Vec<Option<Familiarity>>> {
        let trials = self.accept(trials)?;
        let mut all = vec![None; trials.len()];
        for domain in trials.domains().present() {
            let (name, at) = (trials.domains().name(domain), trials.of_domain(domain));
            let x = trials.covariances().select(&at);
            let said = self
                .familiarity_of(name, x.view())
                .map_err(|(place, error)| error.at_trial(trials.place(at[place])))?;
            for (i, said) in at.into_iter().zip(said) {
                all[i] = said;
            }
        }
        Ok(all)
    }

    /// Tells how familiar each broad covariance of a domain is, in order. An error comes with the
    /// place of the matrix.
    pub fn familiarity_of(
        &self,
        domain: &str,
        x: MatView<'_, f64>,
    ) -> std::result::Result<Vec<Option<Familiarity>>, (usize, ModelError)> {
        let check = FamiliarityCheck::new(self, domain, UNFAMILIAR).map_err(|e| (0, e))?;
        let Some(mut check) = check else {
            return Ok(vec![None; x.count()]);
        };
        let mut one = |i: usize| -> Result<Option<Familiarity>> {
            let said = check.judge(x.matrix(i))?;
            if !said.is_some_and(|f| f.unfamiliar) {
                check.learn(self, domain, x.matrix(i), said)?;
            }
            Ok(said)
        };
        let each = (0..x.count()).map(|i| one(i).map_err(|error| (i, error)));
        each.collect()
    }
}
