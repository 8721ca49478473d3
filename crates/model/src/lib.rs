//! Whatever is fitted on training trials and travels with the model.
//!
//! # The way of the data
//! [`Trials`] (covariances, classes, domains) → [`Preconditioning::fit`] on the training trials →
//! [`Whitener`] → [`tangent_vectors`], once per split → [`DspEncoder`] → the network; [`metrics`]
//! and [`routing_stats`] judge the result.
//!
//! # Conventions
//! * Classes, domains and runs are zero-based indices into a list of names ([`Factor`]).
//! * Preparation of data is in `f64`; the network chooses its precision.
//! * Nothing fits and transforms in one call: what is fitted has seen the training trials only.
//! * A quantity that does not exist is a [`Measure::Undefined`] with its reason, never a NaN.

pub mod adapt;
pub mod anchor;
pub mod choir;
mod continued;
pub mod csp;
pub mod decoder;
pub mod diagnostics;
pub mod dsp;
mod error;
pub mod file;
pub mod fitted;
mod kernel;
pub mod kind;
mod means;
pub mod measure;
pub mod metrics;
mod model;
mod names;
pub mod net;
pub mod network;
pub mod optim;
mod parameters;
pub mod peers;
mod policy;
pub mod precondition;
mod prepared;
mod problem;
mod random;
pub mod registry;
pub mod routing_stats;
pub mod scaling;
mod sizes;
pub mod tangent;
pub mod tolerance;
pub mod train;

pub use adapt::{TransductiveConfig, adapt_embedding};
pub use choir::{Choir, ChoirConfig};
pub use decoder::{Decision, Decoder, Domain};
pub use dsp::{DspConfig, DspEncoder};
pub use error::{ModelError, Result};
pub use fitted::{DecisionSession, FittedModel, Judged};
pub use kind::{Decided, ModelSpec};
pub use measure::Measure;
pub use model::{Architecture, Frontend, Model, ModelConfig, Ready};
pub use net::Bound;
pub use network::{NetworkSettings, Precision};
pub use optim::AdamConfig;
pub use parameters::{Manifold, Parameter, Parameters};
pub use policy::{AdaptEmbedding, AdaptPolicy};
pub use precondition::{DomainState, Preconditioning, Whitener};
pub use prepared::{Batch, Prepared};
pub use stiefel_data::{Factor, Preparation, Trials};
pub use tangent::tangent_vectors;
pub use train::TrainingRecord;
