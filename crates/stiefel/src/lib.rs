//! Decode EEG across people with Riemannian networks.
//!
//! Instead of one spatial filter for everybody, a pool of expert filters on the Stiefel manifold, and for every trial a filter
//! routed from that pool (Domain-Adaptive Stiefel Pool, DASP), with the diagnostics that tell whether routing really helps.
//!
//! # The way of the data
//! ```text
//! recording ─▶ epochs ─▶ covariances ─▶ whitened SPD + tangent vectors ─▶ fit ─▶ diagnostics
//!    eeg         eeg         eeg                    model                 model      model
//! ```
//!
//! # A first model
//! ```
//! use stiefel::prelude::*;
//!
//! // Synthetic motor imagery of three people, from raw signal to covariances: 13 channels, right hand against feet.
//! let study = SyntheticConfig { sessions: vec![1; 3], trials_per_class: 20, ..SyntheticConfig::bnci2015001() };
//! let trials = stiefel::synthetic_trials(&study)?;
//!
//! // One fold of the cross-domain protocol: trained on 70 % of each person's trials, stopped on 15 %, tested on 15 %.
//! let fold = &cross_domain_folds(trials.classes().indices(), trials.domains().indices(), 0)?[0];
//! let (training, validation) = (trials.select(&fold.train)?, trials.select(&fold.validation)?);
//!
//! // What the scaling rule says for 13 channels and 3 people; its `Display` explains each choice.
//! let auto = ScalingRule::default().recommend(13, 3)?;
//! let config = ModelConfig::sized(&auto, TrainConfig { epochs: 3, ..TrainConfig::default() });
//! let model = Model::<f32>::fit(&training, &validation, &config, &mut Silent)?;
//!
//! // Does routing help, and is it routing that helps?
//! let report = model.report(&training, &trials.select(&fold.test)?)?;
//! println!("{auto}\n{report}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Layers below
//! [`linalg`]: batches of small matrices, one matrix per SIMD lane. [`geometry`]: SPD(n) and St(n,k), each map with its adjoint.
//! [`autodiff`]: the tape on which a new layer or loss is a forward expression. [`model`]: what is fitted. [`eeg`]: files and signals.

pub use stiefel_autodiff as autodiff;
pub use stiefel_data as data;
pub use stiefel_eeg as eeg;
pub use stiefel_geometry as geometry;
pub use stiefel_linalg as linalg;
pub use stiefel_model as model;
pub use stiefel_study as study;
pub use stiefel_study::StudyError;

/// What most programs need.
pub mod prelude {
    pub use crate::data::split::cross_domain_folds;
    pub use crate::eeg::covariance::{Estimator, Pipeline};
    pub use crate::eeg::synthetic::SyntheticConfig;
    pub use crate::model::diagnostics::{RoutingReport, routing_report};
    pub use crate::model::net::{DaspConfig, SpdNetConfig};
    pub use crate::model::scaling::{Preset, ScalingRule};
    pub use crate::model::train::{Silent, TrainConfig};
    pub use crate::model::{
        Architecture, DspConfig, Factor, Model, ModelConfig, Preconditioning, Trials,
    };
}
