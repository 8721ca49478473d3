//! What can go wrong between a file and a covariance.

pub(crate) mod catalogue;

use std::path::{Path, PathBuf};

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
    #[error("{}: this kind of file cannot be read: {kind}; {remedy}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// The kind of file.
        kind: String,
        /// The one-line conversion that helps.
        remedy: String,
    },
    /// More memory is needed than the machine has.
    #[error("{}: its content needs {} MB of memory, more than the machine can give; read fewer channels, or a part of it", path.display(), bytes / 1_000_000)]
    OutOfMemory {
        /// The file, or what else the memory is for.
        path: PathBuf,
        /// The bytes that are needed.
        bytes: u128,
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
        format!("\n  {}: {}", crate::io::path_text(path), error.reason(path))
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

    /// The reason in a few words, without the file's name and without advice: what a table has room for.
    ///
    /// ```
    /// use stiefel_eeg::io::{Source, read_from};
    /// let error = read_from(Source::from_bytes("a.cnt", b"Version 3.0")).unwrap_err();
    /// assert_eq!(error.short(), "Neuroscan CNT");
    /// ```
    pub fn short(&self) -> String {
        const LONGEST: usize = 50;
        let text = match self {
            Self::Io { source, .. } => source.to_string(),
            // What it is; the numbers come behind the colon.
            Self::Malformed { reason, .. } => {
                reason.split(": ").next().unwrap_or(reason).to_owned()
            }
            Self::Unsupported { kind, .. } => kind.clone(),
            Self::OutOfMemory { bytes, .. } => format!("needs {} MB of memory", bytes / 1_000_000),
            Self::Invalid { what, .. } | Self::Setting { what, .. } => what.clone(),
            other => other.to_string(),
        };
        // Up to the first piece of advice or detail.
        let text = text.split([';', '(']).next().unwrap_or(&text).trim_end();
        let mut letters = text.chars();
        let short: String = letters.by_ref().take(LONGEST).collect();
        if letters.next().is_some() {
            return format!("{}…", short.trim_end());
        }
        short
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
