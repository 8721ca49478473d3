//! The currency of the house: [`Trials`], which readers make, models eat and splits divide.
//!
//! A trial is `(X_i^(v), y_i, d_i)`: covariances in SPD(n), one per view `v` (bands and windows;
//! view 0 is the broad one), a class and a domain. With it travel subject, session and run where
//! they are known, the names of the channels, and the [`Preparation`] that made the matrices. It is
//! known by its recording and onset ([`Fingerprint`], [`Span`]) or by a sketch of its matrix: a
//! model remembers which trials it has [`Seen`].
//!
//! # Conventions
//! * Classes, domains, subjects, sessions and runs are zero-based indices into a list of names
//!   ([`Factor`]).
//! * Matrices are `f64`, symmetric to rounding, in the order of the channels.
//! * Every part of a set keeps the whole lists of names: domain 1 is the same person in training
//!   and test.

mod contradiction;
mod error;
mod factor;
mod identity;
mod input;
mod labels;
mod preparation;
mod quality;
mod recipe;
mod seen;
pub mod settings;
mod sketch;
pub mod split;
pub mod tolerance;
mod trials;
mod whole;

pub use contradiction::Contradiction;
pub use error::{DataError, Result};
pub use factor::{Factor, check_distinct};
pub use identity::{Fingerprint, Recorded, Recordings, Span, TrialId, hex};
pub use input::{DomainFrom, Duplicates, Input};
pub use labels::{LabelUse, Labels};
pub use preparation::{Elsewhere, Preparation, Provenance};
pub use quality::{Amplitudes, Finding, FindingKind, Quality};
pub use recipe::{Estimator, Phase, Recipe, Reference, View, class_rules};
pub use seen::{Role, Seen, fingerprint};
pub use trials::{LabelOrder, Origin, Trials, channel_places, check_symmetric, subject_session};
pub use whole::{writable, write_whole};
