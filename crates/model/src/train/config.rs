//! How a network is trained.

use crate::Result;
use crate::optim::AdamConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stiefel_data::settings;

/// The protocol of one run (the paper's by default).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrainConfig {
    /// The optimiser.
    pub adam: AdamConfig,
    /// Samples per step.
    #[schemars(range(min = 1))]
    pub batch: usize,
    /// Epochs at most.
    #[schemars(range(min = 1))]
    pub epochs: usize,
    /// Epochs without a better validation score before stopping.
    #[schemars(range(min = 1))]
    pub patience: usize,
    /// The seed of initial values and of the order of samples.
    pub seed: u64,
}

impl Default for TrainConfig {
    fn default() -> Self {
        Self {
            adam: AdamConfig::default(),
            batch: 32,
            epochs: 40,
            patience: 10,
            seed: 0,
        }
    }
}

impl TrainConfig {
    /// Checks every number against its range.
    pub fn check(&self) -> Result<()> {
        Ok(settings::check("training", self)?)
    }
}
