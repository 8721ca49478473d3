//! What can go wrong between a file and its samples.

use std::path::PathBuf;

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, FormatError>;

/// An error that says what was wrong, where, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
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
}

impl FormatError {
    /// Returns the reason in a few words, without the file's name and without advice: as much as
    /// a table has room for.
    ///
    /// ```
    /// use stiefel_formats::{Source, read_from};
    /// let error = read_from(Source::from_bytes("a.cnt", b"Version 3.0")).unwrap_err();
    /// assert_eq!(error.short(), "Neuroscan CNT");
    /// ```
    pub fn short(&self) -> String {
        match self {
            Self::Io { source, .. } => shortened(&source.to_string()),
            // What it is; the numbers come behind the colon.
            Self::Malformed { reason, .. } => {
                shortened(reason.split(": ").next().unwrap_or(reason))
            }
            Self::Unsupported { kind, .. } => shortened(kind),
            Self::OutOfMemory { bytes, .. } => {
                shortened(&format!("needs {} MB of memory", bytes / 1_000_000))
            }
            Self::Invalid { what, .. } | Self::Setting { what, .. } => shortened(what),
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

/// Cuts a message before its first piece of advice or detail, and where it gets long.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 50;
    let text = text.split([';', '(']).next().unwrap_or(text).trim_end();
    let mut letters = text.chars();
    let short: String = letters.by_ref().take(LONGEST).collect();
    if letters.next().is_some() {
        return format!("{}…", short.trim_end());
    }
    short
}
