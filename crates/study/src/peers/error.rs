//! What can go wrong when a peer is fitted.

use stiefel_geometry::GeometryError;
use stiefel_linalg::LinalgError;
use stiefel_model::ModelError;

/// An error of a peer. Trials, classes and features are zero-based.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PeerError {
    /// A name that no peer has.
    #[error("peer \"{found}\" is not known; one of: {known}")]
    UnknownPeer {
        /// The name.
        found: String,
        /// Those that exist.
        known: String,
    },
    /// A part of a fold without trials where some are needed.
    #[error("{peer}: no {part} trials; {remedy}")]
    EmptyPart {
        /// The peer.
        peer: &'static str,
        /// Which part.
        part: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// Parts of a fold whose lists of names differ, so that equal numbers mean different things.
    #[error(
        "{peer}: the {part} trials have the {what} {found:?}, but the training trials have {expected:?}; select all parts from one set"
    )]
    Names {
        /// The peer.
        peer: &'static str,
        /// Which part.
        part: &'static str,
        /// Names of what.
        what: &'static str,
        /// In the training trials.
        expected: Vec<String>,
        /// In this part.
        found: Vec<String>,
    },
    /// Training trials of fewer than two classes.
    #[error(
        "{peer}: all training trials belong to class \"{found}\"; a decision needs at least two classes"
    )]
    OneClass {
        /// The peer.
        peer: &'static str,
        /// The only class.
        found: String,
    },
    /// A class without training trials.
    #[error("{op}: class {class} has no trials; leave it out, or fit on trials that have it")]
    EmptyClass {
        /// The operation.
        op: &'static str,
        /// Which class.
        class: usize,
    },
    /// A class beyond their number.
    #[error("{op}: trial {trial} has class {class}, but there are {count}")]
    NoSuchClass {
        /// The operation.
        op: &'static str,
        /// Which trial.
        trial: usize,
        /// Its class.
        class: usize,
        /// How many there are.
        count: usize,
    },
    /// Numbers that do not fit together.
    #[error("{op}: {found} {what}, expected {expected}")]
    Count {
        /// The operation.
        op: &'static str,
        /// What was counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A feature that is not a number or infinite.
    #[error("{op}: feature {feature} of trial {trial} is {value}")]
    NotFinite {
        /// The operation.
        op: &'static str,
        /// Which trial.
        trial: usize,
        /// Which feature.
        feature: usize,
        /// Its value.
        value: f64,
    },
    /// A number out of its range.
    #[error("{op}: {name} is {value}, expected {expected}")]
    Parameter {
        /// The operation.
        op: &'static str,
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        expected: &'static str,
    },
    /// A fit that did not reach its minimum.
    #[error(
        "logistic regression with C = {c}: after {steps} steps the gradient is {gradient:e} of the one at zero, expected at most \
         1e-10; features of very different sizes cause this, or a C that is far too large; use the default pre-conditioning and grid"
    )]
    NotConverged {
        /// The inverse penalty.
        c: f64,
        /// Newton steps taken.
        steps: usize,
        /// The gradient reached, as a share of the one at zero.
        gradient: f64,
    },
    /// Whitening, tangent vectors, distances or means refused.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl From<LinalgError> for PeerError {
    fn from(error: LinalgError) -> Self {
        Self::Model(error.into())
    }
}

impl From<GeometryError> for PeerError {
    fn from(error: GeometryError) -> Self {
        Self::Model(error.into())
    }
}

impl From<stiefel_data::DataError> for PeerError {
    fn from(error: stiefel_data::DataError) -> Self {
        Self::Model(error.into())
    }
}
