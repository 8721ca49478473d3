//! The choices of the preset, checked once, at the door.

use super::OP;
use crate::{ModelError, Result};
use serde::{Deserialize, Serialize};

/// What a view contributes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// Directions kept, `k_v`; all of them where there are fewer channels.
    pub filters: usize,
    /// Its weight `ω_v` beside the others.
    pub weight: f64,
}

/// Everything that is decided before fitting; the default is the preset `recommended`.
///
/// ```
/// use stiefel_model::views::{Block, ViewsConfig};
///
/// let recommended = ViewsConfig::default();
/// assert_eq!((recommended.block(0).filters, recommended.block(5).filters), (16, 12));
/// // Nobody has weights of their own:
/// let shared = ViewsConfig { own: 0.0, ..ViewsConfig::default() };
/// assert!(shared.check().is_ok());
/// let none = ViewsConfig { blocks: vec![Block { filters: 0, weight: 1.0 }], ..ViewsConfig::default() };
/// assert!(none.check().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewsConfig {
    /// One block per view, in order; views beyond the list take the last one.
    pub blocks: Vec<Block>,
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

impl Default for ViewsConfig {
    fn default() -> Self {
        let block = |filters| Block {
            filters,
            weight: 1.0,
        };
        Self {
            blocks: vec![block(16), block(12)],
            shrinkage: 0.01,
            shared: 0.1,
            own: 2.0,
            kappa: 10.0,
            refit: true,
        }
    }
}

impl ViewsConfig {
    /// The block of a view.
    pub fn block(&self, view: usize) -> Block {
        let last = self.blocks.len().saturating_sub(1);
        let none = Block {
            filters: 0,
            weight: 0.0,
        };
        self.blocks.get(view.min(last)).copied().unwrap_or(none)
    }

    /// Directions kept of each of so many views of so many channels.
    pub(crate) fn filters(&self, views: usize, channels: usize) -> Vec<usize> {
        (0..views)
            .map(|v| self.block(v).filters.min(channels))
            .collect()
    }

    /// An error where a number is out of its range.
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
        if self.blocks.is_empty() {
            return wrong("the number of blocks", 0.0, "at least 1");
        }
        if self.blocks.iter().any(|b| b.filters == 0) {
            return wrong("k, the directions kept of a view,", 0.0, "at least 1");
        }
        if let Some(b) = self.blocks.iter().find(|b| !above(b.weight)) {
            return wrong("the weight of a view", b.weight, "a finite number above 0");
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
