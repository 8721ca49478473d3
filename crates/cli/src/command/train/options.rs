//! Which network, and how it is trained.

use clap::{Args, ValueEnum};
use stiefel::model::net::{Anchor, DaspConfig, LossWeights, SpdNetConfig};
use stiefel::model::scaling::{Preset, Recommendation, ScalingRule};
use stiefel::model::{AdamConfig, Architecture, ModelConfig};
use stiefel::prelude::TrainConfig;

use crate::failure::Failure;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Network {
    /// A filter for every trial, routed from a pool of experts
    Dasp,
    /// One filter for everybody: the baseline
    Spdnet,
    /// Routing around the first expert, without encoder and alignment
    Naive,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Precision {
    /// Single
    F32,
    /// Double
    F64,
}

/// Which network, and how it is trained.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// The network
    #[arg(long, value_enum, default_value_t = Network::Dasp)]
    model: Network,
    /// Sizes: auto (the scaling rule, see `recommend`), or the paper's for weibo2014, bnci2014001, bnci2015001
    #[arg(long, value_name = "NAME", default_value = "auto")]
    preset: String,
    /// Directions k that a filter keeps [default: the preset's]
    #[arg(long, value_name = "K")]
    filters: Option<usize>,
    /// Experts in the pool [default: the preset's]
    #[arg(long, value_name = "N")]
    experts: Option<usize>,
    /// Train without a domain embedding: for people the model has never seen (input-only)
    #[arg(long)]
    no_embedding: bool,
    /// Seed of the split, the first values and the order of trials
    #[arg(long, default_value_t = 0)]
    pub(super) seed: u64,
    /// Epochs at most
    #[arg(long, value_name = "N", default_value_t = 40)]
    epochs: usize,
    /// Epochs without a better validation score before stopping
    #[arg(long, value_name = "N", default_value_t = 10)]
    patience: usize,
    /// Learning rate
    #[arg(long, value_name = "RATE", default_value_t = 0.01)]
    lr: f64,
    /// Trials per step
    #[arg(long, value_name = "N", default_value_t = 32)]
    batch: usize,
    /// Precision of the network
    #[arg(long, value_enum, default_value_t = Precision::F32)]
    pub(super) precision: Precision,
}

impl Options {
    /// The configuration for `n` channels and `d` training domains, and why its sizes were chosen.
    pub(super) fn config(
        &self,
        n: usize,
        d: usize,
    ) -> Result<(ModelConfig, Option<Recommendation>), Failure> {
        let auto = match self.preset.as_str() {
            "auto" => ScalingRule::default().recommend(n, d)?,
            name => name.parse::<Preset>()?.recommendation(),
        };
        let training = TrainConfig {
            adam: AdamConfig {
                learning_rate: self.lr,
                ..AdamConfig::default()
            },
            batch: self.batch,
            epochs: self.epochs,
            patience: self.patience,
            seed: self.seed,
        };
        training.check()?;
        let mut config = ModelConfig::sized(&auto, training);
        let explained = match self.model {
            Network::Dasp => Some(auto),
            Network::Spdnet => {
                config.encoder = None;
                config.architecture = Architecture::Spdnet(SpdNetConfig {
                    filters: auto.filters.value,
                    ..SpdNetConfig::default()
                });
                None
            }
            Network::Naive => {
                config.encoder = None;
                config.architecture = Architecture::Dasp(DaspConfig {
                    filters: auto.filters.value,
                    experts: auto.experts.value,
                    width: auto.embedding.value,
                    anchor: Anchor::First,
                    decoupled_keys: false,
                    losses: LossWeights::default(),
                    ..DaspConfig::default()
                });
                None
            }
        };
        match &mut config.architecture {
            Architecture::Dasp(net) => {
                net.filters = self.filters.unwrap_or(net.filters);
                net.experts = self.experts.unwrap_or(net.experts);
                net.domain_embedding = !self.no_embedding;
            }
            Architecture::Spdnet(net) => net.filters = self.filters.unwrap_or(net.filters),
        }
        // What the user chose is not what the rule explains.
        let own = self.filters.is_some() || self.experts.is_some();
        Ok((config, explained.filter(|_| !own)))
    }
}
