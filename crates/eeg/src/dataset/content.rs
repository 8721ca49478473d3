//! What a file can hold.

use stiefel_data::Trials;

use crate::{EegError, Epochs, Recording, Result};

/// What was in a file.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one, and it is taken apart at once"
)]
pub enum Content {
    /// Continuous signals: one per run, or per stretch of a file with gaps.
    Recordings(Vec<Recording>),
    /// Trials.
    Epochs(Epochs),
    /// One covariance matrix per trial.
    Trials(Trials),
}

impl From<stiefel_formats::Content> for Content {
    fn from(content: stiefel_formats::Content) -> Self {
        match content {
            stiefel_formats::Content::Recordings(recordings) => Self::Recordings(recordings),
            stiefel_formats::Content::Epochs(epochs) => Self::Epochs(epochs),
        }
    }
}

impl Content {
    /// Names what this is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Recordings(_) => "recordings",
            Self::Epochs(_) => "epochs",
            Self::Trials(_) => "covariances",
        }
    }

    /// Returns the recordings, or an error that says what was there instead.
    pub fn into_recordings(self) -> Result<Vec<Recording>> {
        match self {
            Self::Recordings(recordings) => Ok(recordings),
            other => Err(other.unexpected("recordings")),
        }
    }

    /// Returns the epochs, or an error that says what was there instead.
    pub fn into_epochs(self) -> Result<Epochs> {
        match self {
            Self::Epochs(epochs) => Ok(epochs),
            other => Err(other.unexpected("epochs")),
        }
    }

    /// Returns the covariances, or an error that says what was there instead.
    pub fn into_trials(self) -> Result<Trials> {
        match self {
            Self::Trials(trials) => Ok(trials),
            other => Err(other.unexpected("covariances")),
        }
    }

    fn unexpected(&self, wanted: &str) -> EegError {
        EegError::invalid(
            format!("the file holds {}, {wanted} were asked for", self.kind()),
            format!("give a file of {wanted}, or use what this one holds"),
        )
    }
}
