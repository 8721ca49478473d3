//! How a network is trained.

use crate::optim::AdamConfig;
use crate::{ModelError, Result};
use serde::{Deserialize, Serialize};

/// The protocol of one run (the paper's by default).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainConfig {
    /// The optimiser.
    pub adam: AdamConfig,
    /// Samples per step.
    pub batch: usize,
    /// Epochs at most.
    pub epochs: usize,
    /// Epochs without a better validation score before stopping.
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
    /// An error where a number is out of its range.
    pub fn check(&self) -> Result<()> {
        self.adam.check()?;
        for (name, value) in [
            ("the batch size", self.batch),
            ("the number of epochs", self.epochs),
            ("the patience", self.patience),
        ] {
            if value == 0 {
                let (op, value, expected) = ("training", 0.0, "at least 1");
                return Err(ModelError::Parameter {
                    op,
                    name,
                    value,
                    expected,
                });
            }
        }
        Ok(())
    }
}
