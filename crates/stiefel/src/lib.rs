//! Decode EEG across people with Riemannian geometry.
//!
//! Covariances of EEG trials are whitened person by person and decoded by a model that all people
//! share and each person owns a part of: CHOIR, or networks with a pool of expert filters on the
//! Stiefel manifold from which a filter is routed for every trial (Domain-Adaptive Stiefel Pool,
//! DASP), with the diagnostics that tell whether routing really helps.
//!
//! # The way of the data
//! ```text
//! recordings ──prepare──▶ Trials ──fit──▶ FittedModel ──decide──▶ probabilities
//!     eeg                  data             model      ──report──▶ does routing help?
//! ```
//! [`Trials`](data::Trials) know how they were made and which trials they are. A
//! [`FittedModel`](model::FittedModel) keeps both: it refuses matrices that were made another way,
//! and a score says how many of the judged trials the model had seen.
//!
//! # A first model
//! ```
//! use stiefel::prelude::*;
//!
//! // Synthetic motor imagery of three people, from raw signal to covariances: 13 channels, right hand against feet.
//! let study = SyntheticConfig { sessions: vec![1; 3], trials_per_class: 20, ..SyntheticConfig::bnci2015001() };
//! let trials = simulate(&study)?;
//!
//! // One fold of the cross-domain protocol: trained on 70 % of each person's trials, chosen on 15 %, tested on 15 %.
//! let fold = &cross_domain_folds(trials.classes().indices(), trials.domains().indices(), 0)?[0];
//! let [training, validation, test] = fold.of(&trials)?;
//!
//! // CHOIR, and what it says of trials it has not seen.
//! let model = FittedModel::fit(&training, &validation, &ModelSpec::default(), &mut Silent)?;
//! let judged = model.judge(&test, None)?;
//! let scores = judged.new.ok_or("all trials were seen")?.scores;
//! println!("balanced accuracy {}", scores.balanced_accuracy);
//!
//! // A network of the paper; the scaling rule chooses its sizes and says why.
//! let auto = ScalingRule::default().recommend(13, 3)?;
//! let config = ModelConfig::sized(&auto, TrainConfig { epochs: 3, ..TrainConfig::default() });
//! let network = FittedModel::fit(&training, &validation, &config.into(), &mut Silent)?;
//!
//! // Does routing help, and is it routing that helps?
//! println!("{auto}\n{}", network.report(&test, None, 0)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The crates below
//! [`linalg`]: batches of small matrices, one matrix per SIMD lane. [`geometry`]: SPD(n) and St(n,k); what networks are made of has its exact
//! adjoint. [`autodiff`]: the tape on which a new layer or loss is a forward expression.
//! [`formats`]: readers of recordings. [`data`]: trials and how they are divided. [`eeg`]: signals
//! and data sets. [`model`]: what is fitted. `live`: a model at work on a running signal. `study`:
//! many methods, folds and seeds, and their report.
//!
//! # Features
//! All are on unless switched off: `download` fetches public data sets (over TLS), `live` and
//! `study` are the crates of these names.

pub use stiefel_autodiff as autodiff;
pub use stiefel_data as data;
pub use stiefel_eeg as eeg;
pub use stiefel_formats as formats;
pub use stiefel_geometry as geometry;
pub use stiefel_linalg as linalg;
#[cfg(feature = "live")]
pub use stiefel_live as live;
pub use stiefel_model as model;
#[cfg(feature = "study")]
pub use stiefel_study as study;

/// What most programs need: trials from recordings, files, a generator or own covariances; folds;
/// models, their decisions and their reports.
pub mod prelude {
    pub use crate::data::split::{Fold, cross_domain_folds, holdout, loso_folds};
    pub use crate::data::{Estimator, Factor, Preparation, Trials};
    pub use crate::eeg::recipe::{Input, Recipe, prepare};
    pub use crate::eeg::select::Selection;
    pub use crate::eeg::synthetic::SyntheticConfig;
    pub use crate::eeg::{load, simulate};
    pub use crate::linalg::{MatBatch, MatView};
    pub use crate::model::diagnostics::RoutingReport;
    pub use crate::model::net::{DaspConfig, SpdNetConfig};
    pub use crate::model::scaling::{Preset, ScalingRule};
    pub use crate::model::train::{Observer, Silent, TrainConfig};
    pub use crate::model::{
        AdaptPolicy, Architecture, Decided, DecisionSession, Decoder, Domain, DspConfig,
        FittedModel, Judged, ModelConfig, ModelSpec, NetworkSettings, Precision, Preconditioning,
    };
}

/// The example of the page about the Rust library.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rust.md")]
pub struct Page;
