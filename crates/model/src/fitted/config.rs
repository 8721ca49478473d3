//! Everything that decides a fit, but the trials.

use crate::net::RoutingRule;
use crate::{Architecture, ModelConfig, PooledConfig, ViewsConfig};
use serde::{Deserialize, Serialize};

/// The number type of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// Single.
    #[default]
    F32,
    /// Double.
    F64,
}

/// Everything that decides a fit, but the trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FitConfig {
    /// A network.
    Network {
        /// Pre-conditioning, encoder, architecture and training.
        model: Box<ModelConfig>,
        /// Its number type.
        #[serde(default)]
        precision: Precision,
    },
    /// The preset `recommended-1`: one view, a logistic head.
    Preset {
        /// Its choices.
        config: Box<PooledConfig>,
    },
    /// The preset `recommended`: any number of views.
    Views {
        /// Its choices.
        config: Box<ViewsConfig>,
    },
}

impl Default for FitConfig {
    /// The preset `recommended`.
    fn default() -> Self {
        Self::Views {
            config: Box::default(),
        }
    }
}

impl FitConfig {
    /// A network in single precision.
    pub fn network(model: ModelConfig) -> Self {
        Self::Network {
            model: Box::new(model),
            precision: Precision::F32,
        }
    }

    /// The same with another seed; a preset has none.
    pub fn seeded(mut self, seed: u64) -> Self {
        if let Self::Network { model, .. } = &mut self {
            model.training.seed = seed;
        }
        self
    }

    /// The same network with one expert, where it routes: a control.
    pub fn single(&self) -> Option<Self> {
        let mut single = self.clone();
        let Self::Network { model, .. } = &mut single else {
            return None;
        };
        let Architecture::Dasp(network) = &mut model.architecture else {
            return None;
        };
        network.experts = 1;
        network.routing = RoutingRule::Soft;
        Some(single)
    }
}
