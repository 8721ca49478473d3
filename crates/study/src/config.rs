//! Everything that decides a study's table: what a configuration file says, and what is stored with
//! each result.

use crate::family::Family;
use crate::{Result, StudyError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fmt;
use std::str::FromStr;
use stiefel_data::split::{Fold, block_folds, cross_domain_folds};
use stiefel_data::{Factor, Trials};
use stiefel_eeg::select::Selection;
use stiefel_model::kind::DataSizes;
use stiefel_model::net::Orthogonality;
use stiefel_model::network::{Precision, Sizing};
use stiefel_model::precondition::{Adaptation, Scaling, Whitening};
use stiefel_model::train::TrainConfig;

/// Which study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Study {
    /// Baseline, naive routing, DASP and the peers, across domains.
    Main,
    /// The seven rows from naive routing to DASP.
    Ablation,
    /// One subject held out per fold, under every stand-in for its embedding.
    Loso,
    /// Encoder and alignment on and off, over channels and domain counts.
    Scaling,
    /// Trained on each subject's first session, tested on the later ones.
    Session,
    /// One subject held out, its trials decoded in recording order with causal whitening.
    Online,
    /// Labels replaced by the run a trial came from: whatever is above chance is leakage.
    Null,
    /// One subject held out, with none or the first 2, 4, 8 or 16 of their trials labelled.
    Calibration,
}

impl Study {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Main,
        Self::Ablation,
        Self::Loso,
        Self::Scaling,
        Self::Session,
        Self::Online,
        Self::Null,
        Self::Calibration,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Ablation => "ablation",
            Self::Loso => "loso",
            Self::Scaling => "scaling",
            Self::Session => "session",
            Self::Online => "online",
            Self::Null => "null",
            Self::Calibration => "calibration",
        }
    }

    /// What it is about, in a line.
    pub fn about(self) -> &'static str {
        match self {
            Self::Main => "Baseline, naive routing, DASP and the peers, across domains",
            Self::Ablation => "The seven rows from naive routing to DASP",
            Self::Loso => "One subject held out per fold, under every stand-in for its embedding",
            Self::Scaling => "Encoder and alignment on and off, over channels and domain counts",
            Self::Session => "Trained on each subject's first session, tested on the later ones",
            Self::Online => "One subject held out, decoded trial by trial with causal whitening",
            Self::Null => {
                "Labels that say only the run a trial came from: what is above chance is leakage"
            }
            Self::Calibration => {
                "One subject held out, with none or the first 2, 4, 8 or 16 of their trials \
                 labelled"
            }
        }
    }

    /// Whether its folds hold out whole people.
    pub fn holds_out_people(self) -> bool {
        matches!(self, Self::Loso | Self::Online | Self::Calibration)
    }

    /// Whether its folds are its own: whole people, or whole sessions.
    pub fn has_own_folds(self) -> bool {
        self.holds_out_people() || self == Self::Session
    }
}

impl fmt::Display for Study {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Study {
    type Err = StudyError;

    fn from_str(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|s| s.name() == name);
        found.ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|s| s.name()).collect();
            StudyError::setting(
                format!("there is no study \"{name}\""),
                format!("the studies are {}", known.join(", ")),
            )
        })
    }
}

/// What is held out together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SplitUnit {
    /// Single trials at random.
    #[default]
    Trial,
    /// Whole runs.
    Block,
}

impl FromStr for SplitUnit {
    type Err = StudyError;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "trial" => Ok(Self::Trial),
            "block" => Ok(Self::Block),
            other => Err(StudyError::setting(
                format!("\"{other}\" is not a unit to split by"),
                "choose trial, or block (a whole run)",
            )),
        }
    }
}

impl SplitUnit {
    /// Returns the folds: five with trials drawn at random, or one per block. Windows that share
    /// samples never fall on two sides of one ([`Fold::apart`]).
    pub fn folds(self, trials: &Trials, seed: u64) -> Result<Vec<Fold>> {
        let (labels, domains) = (trials.classes().indices(), trials.domains().indices());
        let folds = match self {
            Self::Trial => cross_domain_folds(labels, domains, seed)?,
            Self::Block => {
                let runs = trials.runs().map(Factor::indices);
                block_folds(labels, domains, runs, seed)?
            }
        };
        let apart = |fold: Fold| Ok(fold.apart(trials)?.0);
        folds.into_iter().map(apart).collect()
    }
}

/// A study, resolved: the same configuration, data and code version give the same table to the bit.
///
/// ```
/// use stiefel_study::{Study, StudyConfig};
///
/// let config = StudyConfig::new(Study::Main, "synthetic:bnci2015001");
/// assert_eq!(config.seeds, [0]);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StudyConfig {
    /// Which study.
    #[schemars(skip)]
    pub study: Study,
    /// The dataset: a name or a path.
    #[schemars(skip)]
    pub data: String,
    /// Which part of it.
    #[serde(default)]
    pub choice: Selection,
    /// Methods by name; empty: all of the study. For `main`, `session`, `online` and `null`.
    #[serde(default)]
    pub methods: Vec<String>,
    /// What is held out together.
    #[serde(default)]
    pub split: SplitUnit,
    /// Seeds of split, initial values and batches.
    #[schemars(length(min = 1))]
    #[serde(default = "one_seed")]
    pub seeds: Vec<u64>,
    /// Where the sizes of the networks come from.
    #[serde(default)]
    pub sizes: Sizing,
    /// The protocol of training; its seed is replaced by each unit's.
    #[serde(default)]
    pub training: TrainConfig,
    /// Number type of the networks.
    #[serde(default)]
    pub precision: Precision,
    /// How filters stay orthonormal.
    #[serde(default = "riemannian")]
    pub orthogonality: Orthogonality,
    /// Whether and how domains are whitened; `none` keeps their differences.
    #[serde(default = "symmetric")]
    pub whitening: Whitening,
    /// The scale given to whitened matrices.
    #[serde(default = "per_trial")]
    pub scaling: Scaling,
    /// How the trials of people without training trials are whitened.
    #[serde(default = "own_mean")]
    pub adapt: Adaptation,
    /// Whether routed methods have one expert retrained beside them as a control.
    #[serde(default = "yes")]
    pub retrained: bool,
}

fn one_seed() -> Vec<u64> {
    vec![0]
}

fn riemannian() -> Orthogonality {
    Orthogonality::Riemannian
}

fn symmetric() -> Whitening {
    Whitening::Symmetric
}

fn per_trial() -> Scaling {
    Scaling::PerTrial
}

fn own_mean() -> Adaptation {
    Adaptation::OwnMean {
        kappa: Adaptation::DEFAULT_KAPPA,
    }
}

fn yes() -> bool {
    true
}

impl StudyConfig {
    /// Defaults: one seed, all methods, single trials held out, the scaling rule.
    pub fn new(study: Study, data: impl Into<String>) -> Self {
        Self {
            study,
            data: data.into(),
            choice: Selection::default(),
            methods: Vec::new(),
            split: SplitUnit::default(),
            seeds: one_seed(),
            sizes: Sizing::default(),
            training: TrainConfig::default(),
            precision: Precision::default(),
            orthogonality: riemannian(),
            whitening: symmetric(),
            scaling: per_trial(),
            adapt: own_mean(),
            // The controls that retrain double a study's time; the ablation is about the rows
            // themselves.
            retrained: !matches!(study, Study::Ablation | Study::Scaling | Study::Calibration),
        }
    }

    /// Returns the methods, sized for so many channels and training domains.
    pub fn family(&self, channels: usize, domains: usize) -> Result<Family> {
        let unseen = match self.study {
            Study::Online => Adaptation::Causal {
                kappa: Adaptation::DEFAULT_KAPPA,
            },
            _ => self.adapt,
        };
        let common = json!({
            "precision": self.precision,
            "orthogonality": self.orthogonality,
            "preconditioning": {
                "whitening": self.whitening, "scaling": self.scaling, "unseen": unseen,
            },
            "training": self.training,
        });
        Ok(Family {
            sizes: DataSizes { channels, domains },
            sizing: json!(self.sizes),
            common,
            unseen,
            retrained: self.retrained,
        })
    }

    pub(crate) fn check(&self) -> Result<()> {
        self.training.check()?;
        if self.study.has_own_folds() && self.split == SplitUnit::Block {
            return Err(StudyError::setting(
                format!(
                    "whole blocks were asked for, but the study {} holds out whole people or \
                     sessions",
                    self.study
                ),
                "split by trials",
            ));
        }
        if self.seeds.is_empty() {
            return Err(StudyError::setting(
                "the list of seeds is empty",
                "give at least one seed",
            ));
        }
        let mut sorted = self.seeds.clone();
        sorted.sort_unstable();
        if sorted.windows(2).any(|w| w[0] == w[1]) {
            return Err(StudyError::setting(
                format!("a seed is given twice in {:?}", self.seeds),
                "name each seed once",
            ));
        }
        Ok(())
    }
}
