//! What a fetch tells while it works.

use std::path::Path;
use std::time::Duration;

use super::super::cache::Place;

/// Watches a fetch; called from several threads. Any `Fn(&Progress)` is one.
pub trait Observer: Sync {
    /// Something happened.
    fn progress(&self, progress: &Progress<'_>);

    /// Asked often; the fetch ends with
    /// [`CatalogueError::Stopped`](super::super::CatalogueError::Stopped) when this turns true.
    fn stop(&self) -> bool {
        false
    }
}

impl<F: Fn(&Progress<'_>) + Sync> Observer for F {
    fn progress(&self, progress: &Progress<'_>) {
        self(progress);
    }
}

/// One thing that happened to one file; `name` is its path inside the data set's folder.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Progress<'p> {
    /// The file is here and passed its check.
    Present {
        /// The file.
        name: &'p str,
        /// Where it is.
        path: &'p Path,
        /// Who keeps it.
        place: Place,
    },
    /// A copy that is here did not pass its check.
    Rejected {
        /// The file.
        name: &'p str,
        /// The copy.
        path: &'p Path,
        /// What was wrong and what was done with it.
        reason: &'p str,
    },
    /// Another process is fetching the file.
    Waiting {
        /// The file.
        name: &'p str,
    },
    /// Bytes begin to arrive.
    Started {
        /// The file.
        name: &'p str,
        /// The address in use.
        url: &'p str,
        /// How many bytes are here from an earlier attempt.
        from: u64,
        /// The size of the file, where the server says.
        total: Option<u64>,
    },
    /// Bytes have arrived.
    Advanced {
        /// The file.
        name: &'p str,
        /// How many bytes are here now.
        bytes: u64,
        /// The size of the file, where the server says.
        total: Option<u64>,
    },
    /// What was here of the file could not be used.
    Restarted {
        /// The file.
        name: &'p str,
        /// Why.
        reason: &'p str,
    },
    /// An attempt failed; another follows.
    Retrying {
        /// The file.
        name: &'p str,
        /// Failed attempts in a row.
        attempt: u32,
        /// How many are made at most.
        attempts: u32,
        /// The pause before the next.
        pause: Duration,
        /// What went wrong.
        reason: &'p str,
    },
    /// The files of an archive are being unpacked.
    Unpacking {
        /// The archive.
        name: &'p str,
    },
    /// The file is in its place.
    Finished {
        /// The file.
        name: &'p str,
        /// Where it is.
        path: &'p Path,
        /// Its size.
        bytes: u64,
    },
}
