//! What can go wrong between a file and a covariance.

pub(crate) mod catalogue;

use std::path::PathBuf;

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, EegError>;

/// An error that says what was wrong, where, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EegError {
    /// The operating system refused to read or write.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: std::io::Error,
    },
    /// The bytes of a file do not follow its format.
    #[error("{}: at byte {offset}: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where in the file, in bytes from its start.
        offset: u64,
        /// What was expected and what was found there.
        reason: String,
    },
    /// The file is of a kind that is recognised but not read.
    #[error("{}: this is a {kind} file, which stiefel does not read; {remedy}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// The kind of file.
        kind: String,
        /// The one-line conversion that helps.
        remedy: String,
    },
    /// A request that the data cannot meet.
    #[error("{what}; {remedy}")]
    Invalid {
        /// What was wrong, with the numbers.
        what: String,
        /// What to do about it.
        remedy: String,
    },
    /// Something that was asked for and is not there, or does not apply.
    #[error("{what}; {remedy}")]
    Setting {
        /// What is wrong.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// A public data set that is not known, not here or not whole.
    #[error(transparent)]
    Catalogue(Box<catalogue::CatalogueError>),
    /// Matrices that are no set of trials.
    #[error(transparent)]
    Data(#[from] stiefel_data::DataError),
}

impl From<catalogue::CatalogueError> for EegError {
    fn from(error: catalogue::CatalogueError) -> Self {
        Self::Catalogue(Box::new(error))
    }
}

impl EegError {
    pub(crate) fn setting(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Setting {
            what: what.into(),
            remedy: remedy.into(),
        }
    }

    pub(crate) fn invalid(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Invalid {
            what: what.into(),
            remedy: remedy.into(),
        }
    }
}
