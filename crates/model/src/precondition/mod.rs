//! Pre-conditioning of covariances per domain, fitted on that domain's **training trials only**:
//!
//! 1. diagonal loading: `X + ε·(tr X/n)·I` ([`Tikhonov`]);
//! 2. whitening by the domain's reference mean: `Y = Z X Zᵀ` with `Z M Zᵀ = I` ([`Reference`],
//!    [`Whitening`]);
//! 3. scaling: `Y·tr(Y)/‖Y‖_F²`, the multiple of `Y` closest to the identity ([`Scaling`]).
//!
//! Shapes: trials are `count × n × n`, in f64 throughout. Source: the paper's set-up
//! ("pre-conditioned per domain by a sequence of three operations").
//!
//! A domain without training trials has no mean of its own. Three named policies ([`Adaptation`]):
//! `M_pooled`, the mean of the means of all training domains (each domain counts once, however many
//! trials it has: a new domain is one more of them); or `M = (κ·M_pooled + Σ X)/(κ + t)` over its
//! `t` unlabelled trials, all of them or those seen so far.
//!
//! [`Preconditioning::fit`] takes training trials and gives a [`Whitener`], which only transforms:
//! there is no call that does both, so no test trial can reach what is fitted.
//!
//! ```
//! use stiefel_linalg::MatBatch;
//! use stiefel_model::precondition::{Adaptation, Preconditioning};
//! use stiefel_model::{Factor, Trials};
//!
//! let x = MatBatch::from_fn(4, 2, 2, |i, r, c| if r == c { (1 + i) as f64 } else { 0.3 });
//! let classes = Factor::from_labels(["hand", "feet", "hand", "feet"]);
//! let domains = Factor::from_labels(["s1", "s1", "s1", "s2"]);
//! let trials = Trials::new(x, classes, domains)?;
//!
//! let whitener = Preconditioning::default().fit(&trials.select(&[0, 1])?)?;
//! let test = whitener.transform(&trials.select(&[2])?)?;
//! assert_eq!(test.len(), 1);
//! // "s2" had no training trials: its policy has to be named.
//! let new = trials.select(&[3])?;
//! assert!(whitener.transform(&new).is_err());
//! whitener.transform_new(&new, Adaptation::OwnMean { kappa: 10.0 })?;
//! # Ok::<(), stiefel_model::ModelError>(())
//! ```

mod config;
mod domain;
mod fit;
mod frame;
pub(crate) mod reference;
mod state;
mod whitener;

pub use config::{Adaptation, Preconditioning, Reference, Scaling, Tikhonov, Whitening};
pub use domain::DomainState;
pub use frame::WhitenScratch;
pub(crate) use frame::{check_single, scale_of, trace_and_square};
pub use whitener::Whitener;

/// Named in errors.
pub(crate) const OP: &str = "pre-conditioning";

/// Trials below which a domain's own mean without a prior (κ = 0) is refused.
pub const OWN_MEAN_MIN_TRIALS: usize = 10;
