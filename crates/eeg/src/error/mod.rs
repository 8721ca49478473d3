//! What can go wrong between a file and a covariance.

pub(crate) mod catalogue;

use std::path::{Path, PathBuf};

use stiefel_formats::{FormatError, path_text};

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
    /// Some of several files cannot be read.
    #[error(
        "{} of {total} files cannot be read:{}\nmend or remove them, or leave them out",
        files.len(),
        lines(files)
    )]
    Unreadable {
        /// The files, and why each cannot be read.
        files: Vec<(PathBuf, EegError)>,
        /// Files there are.
        total: usize,
    },
    /// A public data set that is not known, not here or not whole.
    #[error(transparent)]
    Catalogue(Box<catalogue::CatalogueError>),
    /// A file that cannot be read, or a signal that cannot be one.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// Matrices that are no set of trials.
    #[error(transparent)]
    Data(#[from] stiefel_data::DataError),
}

impl From<catalogue::CatalogueError> for EegError {
    fn from(error: catalogue::CatalogueError) -> Self {
        Self::Catalogue(Box::new(error))
    }
}

/// A line for each file that cannot be read.
fn lines(files: &[(PathBuf, EegError)]) -> String {
    let line = |(path, error): &(PathBuf, EegError)| {
        format!("\n  {}: {}", path_text(path), error.reason(path))
    };
    files.iter().map(line).collect()
}

impl EegError {
    /// Gives the whole reason without the name of the file it is about.
    pub fn reason(&self, path: &Path) -> String {
        let text = self.to_string();
        let name = format!("{}: ", path.display());
        text.strip_prefix(&name).unwrap_or(&text).to_owned()
    }

    /// The reason in a few words, without the file's name and without advice: what a table has room
    /// for.
    ///
    /// ```
    /// use stiefel_eeg::io::{Source, read_from};
    /// let error = read_from(Source::from_bytes("a.cnt", b"Version 3.0")).unwrap_err();
    /// assert_eq!(error.short(), "Neuroscan CNT");
    /// ```
    pub fn short(&self) -> String {
        let what = match self {
            Self::Format(error) => return error.short(),
            Self::Io { source, .. } => source.to_string(),
            Self::Invalid { what, .. } | Self::Setting { what, .. } => what.clone(),
            other => other.to_string(),
        };
        let remedy = String::new();
        FormatError::Invalid { what, remedy }.short()
    }

    /// Names the file in front of what a request does not fit.
    pub(crate) fn in_file(self, path: &Path) -> Self {
        let named = |what: String| format!("{}: {what}", path.display());
        match self {
            Self::Invalid { what, remedy }
            | Self::Format(FormatError::Invalid { what, remedy }) => {
                Self::invalid(named(what), remedy)
            }
            Self::Setting { what, remedy }
            | Self::Format(FormatError::Setting { what, remedy }) => {
                Self::setting(named(what), remedy)
            }
            other => other,
        }
    }

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
