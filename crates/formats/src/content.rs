//! What a file can hold, and what a reader must do.

use std::path::Path;

use super::{ReadOptions, Source};
use crate::{Epochs, FormatError, Recording, Result};

/// What was in a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Continuous signals: one per run, or per stretch of a file with gaps.
    Recordings(Vec<Recording>),
    /// Trials.
    Epochs(Epochs),
}

impl Content {
    /// What this is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Recordings(_) => "recordings",
            Self::Epochs(_) => "epochs",
        }
    }

    /// The recordings, or an error that says what was there instead.
    pub fn into_recordings(self) -> Result<Vec<Recording>> {
        match self {
            Self::Recordings(recordings) => Ok(recordings),
            Self::Epochs(_) => Err(self.unexpected("recordings")),
        }
    }

    /// Returns the only recording, or an error that says what was there instead.
    pub fn into_recording(self) -> Result<Recording> {
        let mut recordings = self.into_recordings()?;
        match (recordings.pop(), recordings.len()) {
            (Some(recording), 0) => Ok(recording),
            (last, others) => Err(FormatError::invalid(
                format!(
                    "the file holds {} recordings, one was asked for",
                    others + usize::from(last.is_some())
                ),
                "read them one by one; a file with gaps has one for each stretch",
            )),
        }
    }

    /// The epochs, or an error that says what was there instead.
    pub fn into_epochs(self) -> Result<Epochs> {
        match self {
            Self::Epochs(epochs) => Ok(epochs),
            Self::Recordings(_) => Err(self.unexpected("epochs")),
        }
    }

    fn unexpected(&self, wanted: &str) -> FormatError {
        FormatError::Invalid {
            what: format!("the file holds {}, {wanted} were asked for", self.kind()),
            remedy: format!("give a file of {wanted}, or use what this one holds"),
        }
    }
}

/// A format, as people call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// How the names of its recordings end: what is looked for in folders. None where a file is
    /// opened by name only.
    pub extensions: &'static [&'static str],
}

/// The start of a file, by which formats are recognised.
#[derive(Debug, Clone, Copy)]
pub struct Head<'b> {
    /// The first bytes.
    pub bytes: &'b [u8],
    /// The name, for the few formats without a mark of their own.
    pub path: &'b Path,
}

impl Head<'_> {
    /// Whether the name ends in one of these extensions, whatever the case.
    pub fn has_extension(&self, extensions: &[&str]) -> bool {
        let extension = self.path.extension().and_then(|e| e.to_str()).unwrap_or("");
        extensions.iter().any(|e| extension.eq_ignore_ascii_case(e))
    }
}

/// A format: how it is recognised and how it is read.
pub trait Reader: Sync {
    /// Which format this is.
    fn format(&self) -> Format;

    /// Whether a file that starts like this is of the format.
    fn recognises(&self, head: &Head<'_>) -> bool;

    /// Reads a source of this format as it is, in as much memory as the source may take:
    /// [`Source::unpacked`] sets [`Limits::max_memory`](crate::Limits::max_memory).
    /// [`read_with`](crate::read_with) and its kin see to that, and add the events of marker
    /// channels and what BIDS tables tell.
    fn read(&self, source: Source<'_>, options: &ReadOptions) -> Result<Content>;
}
