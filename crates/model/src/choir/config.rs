//! Settings of CHOIR, checked once, at the door.

use crate::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stiefel_data::settings;

/// Settings of CHOIR.
///
/// ```
/// use stiefel_model::choir::ChoirConfig;
///
/// let choir = ChoirConfig::default();
/// assert_eq!((choir.filters_of(0, 22), choir.filters_of(5, 22)), (16, 12));
/// // Nobody has weights of their own:
/// let shared = ChoirConfig {
///     own: 0.0,
///     ..ChoirConfig::default()
/// };
/// assert!(shared.check().is_ok());
/// let none = ChoirConfig {
///     filters: 0,
///     ..ChoirConfig::default()
/// };
/// assert!(none.check().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChoirConfig {
    /// Directions kept of the first view, `k_0`; all of them where there are fewer channels.
    #[schemars(range(min = 1))]
    pub filters: usize,
    /// Directions kept of every further view.
    #[schemars(range(min = 1))]
    pub further_filters: usize,
    /// Weights `ω_v` of the views, in order; views beyond the list count as much as its last one.
    #[schemars(extend("items" = { "type": "number", "exclusiveMinimum": 0.0 }))]
    pub view_weights: Vec<f64>,
    /// Share `s` of every covariance that is replaced by its mean variance times the identity.
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub shrinkage: f64,
    /// Prior variance `v_0` of the shared weights.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub shared: f64,
    /// Prior variance `v_δ` of a person's own weights; 0 gives everybody the same.
    #[schemars(range(min = 0.0))]
    pub own: f64,
    /// How many trials the other people count for in the mean of a person who is calibrated, `κ`.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub kappa: f64,
    /// Whether everything is fitted again on training and validation trials together, once the
    /// latter have given their score: nothing is chosen on them.
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

    /// Checks every number against its range.
    pub fn check(&self) -> Result<()> {
        Ok(settings::check("choir", self)?)
    }
}
