//! What can go wrong in a study.

use std::path::PathBuf;
use stiefel_eeg::EegError;
use stiefel_model::ModelError;

/// A result of this crate.
pub type Result<T, E = StudyError> = std::result::Result<T, E>;

/// Why a study, a dataset or a unit could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// Reading, filtering, cutting or estimating.
    #[error(transparent)]
    Eeg(#[from] EegError),
    /// From a set of trials.
    #[error(transparent)]
    Data(#[from] stiefel_data::DataError),
    /// Fitting or evaluating.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A statistic.
    #[error(transparent)]
    Stats(#[from] crate::stats::StatsError),
    /// A name, an option or a selection that cannot be.
    #[error("{what}; {remedy}")]
    Setting {
        /// What was asked for.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// A setting by name that cannot be had.
    #[error(transparent)]
    Settings(#[from] stiefel_data::settings::SettingError),
    /// A file or folder of results.
    #[error("{}: {error}; {remedy}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        error: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A folder of results that are not those of this study.
    #[error(
        "{}: the folder holds {what}, which would be replaced; choose another folder, or let it be \
         overwritten",
        folder.display()
    )]
    Occupied {
        /// The folder.
        folder: PathBuf,
        /// What is in it.
        what: &'static str,
    },
    /// A page that could not be written.
    #[error("{0}; this is a fault of the library, please report it")]
    Page(String),
    /// A unit of a study.
    #[error("{method}, fold {fold}, seed {seed}: {error}")]
    Unit {
        /// The method.
        method: String,
        /// The fold.
        fold: usize,
        /// The seed.
        seed: u64,
        /// What went wrong.
        error: Box<StudyError>,
    },
    /// Someone asked to stop; what was finished is kept.
    #[error("interrupted; finished units are kept, and the same command continues from there")]
    Interrupted,
}

impl StudyError {
    pub(crate) fn setting(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Setting {
            what: what.into(),
            remedy: remedy.into(),
        }
    }

    pub(crate) fn file(
        path: impl Into<PathBuf>,
        error: impl std::fmt::Display,
        remedy: &'static str,
    ) -> Self {
        Self::File {
            path: path.into(),
            error: error.to_string(),
            remedy,
        }
    }
}
