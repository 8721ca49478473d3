//! Which model, and how it is trained.

use clap::{Args, ValueEnum};
use stiefel::model::net::{Anchor, DaspConfig, LossWeights, SpdNetConfig};
use stiefel::model::pooled::HeadConfig;
use stiefel::model::scaling::{Preset, Recommendation, ScalingRule};
use stiefel::model::{AdamConfig, Architecture, ModelConfig, PooledConfig};
use stiefel::prelude::TrainConfig;

use crate::failure::Failure;

/// The value of `--model` for the preset.
const RECOMMENDED: &str = "recommended";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Network {
    /// A filter for every trial, routed from a pool of experts
    Dasp,
    /// One filter for everybody: the baseline
    Spdnet,
    /// Routing around the first expert, without encoder and alignment
    Naive,
    /// No network: one discriminative filter, and a head partly everybody's, partly each domain's own; solved exactly
    Recommended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Precision {
    /// Single
    F32,
    /// Double
    F64,
}

/// Which model, and how it is trained. What one kind of model cannot use has no value for it unless the user gives one.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// The model
    #[arg(long, value_enum, default_value_t = Network::Dasp)]
    model: Network,
    /// Sizes: auto (the scaling rule, see `recommend`), or the paper's for weibo2014, bnci2014001, bnci2015001
    #[arg(
        long,
        value_name = "NAME",
        default_value = "auto",
        default_value_if("model", RECOMMENDED, None)
    )]
    preset: Option<String>,
    /// Directions k that a filter keeps [default: the preset's; 16 for recommended]
    #[arg(long, value_name = "K")]
    filters: Option<usize>,
    /// Experts in the pool [default: the preset's]
    #[arg(long, value_name = "N")]
    experts: Option<usize>,
    /// Train without a domain embedding: for people the model has never seen (input-only)
    #[arg(long)]
    no_embedding: bool,
    /// Seed of the split and, in networks, of the first values and the order of trials
    #[arg(long, default_value_t = 0)]
    pub(super) seed: u64,
    /// Epochs at most
    #[arg(
        long,
        value_name = "N",
        default_value = "40",
        default_value_if("model", RECOMMENDED, None)
    )]
    epochs: Option<usize>,
    /// Epochs without a better validation score before stopping
    #[arg(
        long,
        value_name = "N",
        default_value = "10",
        default_value_if("model", RECOMMENDED, None)
    )]
    patience: Option<usize>,
    /// Learning rate
    #[arg(
        long,
        value_name = "RATE",
        default_value = "0.01",
        default_value_if("model", RECOMMENDED, None)
    )]
    lr: Option<f64>,
    /// Trials per step
    #[arg(
        long,
        value_name = "N",
        default_value = "32",
        default_value_if("model", RECOMMENDED, None)
    )]
    batch: Option<usize>,
    /// Precision of the network
    #[arg(
        long,
        value_enum,
        default_value = "f32",
        default_value_if("model", RECOMMENDED, None)
    )]
    precision: Option<Precision>,
    /// recommended: inverse penalties C to choose from on the validation trials [default: 1,3,10,30]
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value_if("model", RECOMMENDED, "1,3,10,30")
    )]
    c: Option<Vec<f64>>,
    /// recommended: variance of a domain's own weights over that of the shared ones; 0: the same head for everybody [default: 8]
    #[arg(
        long,
        value_name = "RATIO",
        default_value_if("model", RECOMMENDED, "8")
    )]
    rho: Option<f64>,
    /// recommended: do not fit again on training and validation trials when C is chosen
    #[arg(long)]
    no_refit: bool,
}

impl Options {
    /// The preset `recommended`, or none where a network is wanted. Options of the other kind are refused.
    pub(super) fn pooled(&self) -> Result<Option<PooledConfig>, Failure> {
        let (model, others) = match self.model {
            Network::Recommended => (
                "--model recommended has no network to train",
                &[
                    ("--preset", self.preset.is_some()),
                    ("--experts", self.experts.is_some()),
                    ("--no-embedding", self.no_embedding),
                    ("--epochs", self.epochs.is_some()),
                    ("--patience", self.patience.is_some()),
                    ("--lr", self.lr.is_some()),
                    ("--batch", self.batch.is_some()),
                    ("--precision", self.precision.is_some()),
                ][..],
            ),
            Network::Dasp | Network::Spdnet | Network::Naive => (
                "only --model recommended has a head to be solved",
                &[
                    ("--c", self.c.is_some()),
                    ("--rho", self.rho.is_some()),
                    ("--no-refit", self.no_refit),
                ][..],
            ),
        };
        let given: Vec<&str> = others.iter().filter(|o| o.1).map(|o| o.0).collect();
        if !given.is_empty() {
            let given = given.join(", ");
            return Err(Failure::Misuse(format!("{model}: leave out {given}")));
        }
        if self.model != Network::Recommended {
            return Ok(None);
        }
        let (config, head) = (PooledConfig::default(), HeadConfig::default());
        let config = PooledConfig {
            filters: self.filters.unwrap_or(config.filters),
            head: HeadConfig {
                ratio: self.rho.unwrap_or(head.ratio),
                candidates: self.c.clone().unwrap_or(head.candidates),
            },
            refit: !self.no_refit,
            ..config
        };
        config.check()?;
        Ok(Some(config))
    }

    /// The precision of the network.
    pub(super) fn precision(&self) -> Precision {
        self.precision.unwrap_or(Precision::F32)
    }

    /// The configuration for `n` channels and `d` training domains, and why its sizes were chosen.
    pub(super) fn config(
        &self,
        n: usize,
        d: usize,
    ) -> Result<(ModelConfig, Option<Recommendation>), Failure> {
        let auto = match self.preset.as_deref() {
            None | Some("auto") => ScalingRule::default().recommend(n, d)?,
            Some(name) => name.parse::<Preset>()?.recommendation(),
        };
        let defaults = TrainConfig::default();
        let training = TrainConfig {
            adam: AdamConfig {
                learning_rate: self.lr.unwrap_or(defaults.adam.learning_rate),
                ..AdamConfig::default()
            },
            batch: self.batch.unwrap_or(defaults.batch),
            epochs: self.epochs.unwrap_or(defaults.epochs),
            patience: self.patience.unwrap_or(defaults.patience),
            seed: self.seed,
        };
        training.check()?;
        let mut config = ModelConfig::sized(&auto, training);
        let explained = match self.model {
            // The preset is no network; `pooled` has taken it.
            Network::Dasp | Network::Recommended => Some(auto),
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
                    embedding: auto.embedding.value,
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
