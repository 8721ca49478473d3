//! What can go wrong between an amplifier and a decision.

use stiefel_eeg::EegError;
use stiefel_eeg::io::FormatError;
use stiefel_model::ModelError;

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, LiveError>;

/// An error that says what was wrong, with the numbers, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiveError {
    /// What was asked for does not fit the model, or does not exist.
    #[error("{what}; {remedy}")]
    Setting {
        /// What is wrong.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// The stream is not the one the model was trained for.
    #[error("{what}; {remedy}")]
    Mismatch {
        /// What differs, with both sides.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// A source or a sink failed.
    #[error("{what}; {remedy}")]
    Failed {
        /// What failed.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// Somebody who read the lines has gone away, or they cannot be written.
    #[error("the decisions could not be written: {0}")]
    Write(#[from] std::io::Error),
    /// The signal could not be read or filtered.
    #[error(transparent)]
    Eeg(#[from] EegError),
    /// The model refused.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl From<FormatError> for LiveError {
    fn from(error: FormatError) -> Self {
        Self::Eeg(error.into())
    }
}

impl LiveError {
    pub(crate) fn setting(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Setting {
            what: what.into(),
            remedy: remedy.into(),
        }
    }

    pub(crate) fn mismatch(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Mismatch {
            what: what.into(),
            remedy: remedy.into(),
        }
    }

    pub(crate) fn failed(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Failed {
            what: what.into(),
            remedy: remedy.into(),
        }
    }
}
