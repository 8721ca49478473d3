//! Settings of CHOIR, checked once, at the door.

use super::OP;
use crate::{ModelError, Result};
use serde::{Deserialize, Serialize};

/// Settings of CHOIR.
///
/// ```
/// use stiefel_model::choir::ChoirConfig;
///
/// let choir = ChoirConfig::default();
/// assert_eq!((choir.filters_of(0, 22), choir.filters_of(5, 22)), (16, 12));
/// // Nobody has weights of their own:
/// let shared = ChoirConfig { own: 0.0, ..ChoirConfig::default() };
/// assert!(shared.check().is_ok());
/// let none = ChoirConfig { filters: 0, ..ChoirConfig::default() };
/// assert!(none.check().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChoirConfig {
    /// Directions kept of the first view, `k_0`; all of them where there are fewer channels.
    pub filters: usize,
    /// Directions kept of every further view.
    pub further_filters: usize,
    /// Weights `ω_v` of the views, in order; views beyond the list count as much as its last one.
    pub view_weights: Vec<f64>,
    /// Share `s` of every covariance that is replaced by its mean variance times the identity.
    pub shrinkage: f64,
    /// Prior variance `v_0` of the shared weights.
    pub shared: f64,
    /// Prior variance `v_δ` of a person's own weights; 0 gives everybody the same.
    pub own: f64,
    /// How many trials the other people count for in the mean of a person who is calibrated, `κ`.
    pub kappa: f64,
    /// Whether everything is fitted again on training and validation trials together once the latter have given their score: nothing is chosen on
    /// them.
    pub refit: bool,
}

impl Default for ChoirConfig {
    fn default() -> Self {
        Self {
            filters: 16,
            further_filters: 12,
            view_weights: vec![1.0],
            shrinkage: 0.01,
            shared: 0.1,
            own: 2.0,
            kappa: 10.0,
            refit: true,
        }
    }
}

impl ChoirConfig {
    /// Returns the directions kept of a view of so many channels.
    pub fn filters_of(&self, view: usize, channels: usize) -> usize {
        let wanted = if view == 0 {
            self.filters
        } else {
            self.further_filters
        };
        wanted.min(channels)
    }

    /// Returns the weight of a view beside the others.
    pub fn weight_of(&self, view: usize) -> f64 {
        let last = self.view_weights.last();
        let own = self.view_weights.get(view).or(last);
        own.copied().unwrap_or(1.0)
    }

    /// Returns the directions kept of each of so many views of so many channels.
    pub(crate) fn filters(&self, views: usize, channels: usize) -> Vec<usize> {
        (0..views).map(|v| self.filters_of(v, channels)).collect()
    }

    /// Returns an error where a number is out of its range.
    pub fn check(&self) -> Result<()> {
        let wrong = |name, value: f64, expected| {
            Err(ModelError::Parameter {
                op: OP,
                name,
                value,
                expected,
            })
        };
        let at_least = |value: f64, least: f64| value.is_finite() && value >= least;
        let above = |value: f64| value.is_finite() && value > 0.0;
        if self.filters == 0 || self.further_filters == 0 {
            return wrong("k, the directions kept of a view,", 0.0, "at least 1");
        }
        if let Some(weight) = self.view_weights.iter().find(|w| !above(**w)) {
            return wrong("the weight of a view", *weight, "a finite number above 0");
        }
        if !(self.shrinkage > 0.0 && self.shrinkage < 1.0) {
            return wrong(
                "the shrinkage",
                self.shrinkage,
                "above 0 and below 1 (0.01 is usual)",
            );
        }
        if !above(self.shared) {
            return wrong(
                "v_0, the variance of the shared weights,",
                self.shared,
                "a finite number above 0 (0.1 is usual)",
            );
        }
        if !at_least(self.own, 0.0) {
            return wrong(
                "v_δ, the variance of a person's own weights,",
                self.own,
                "a finite number, zero or above (2 is usual)",
            );
        }
        if !above(self.kappa) {
            return wrong("κ", self.kappa, "a finite number above 0 (10 is usual)");
        }
        Ok(())
    }
}
