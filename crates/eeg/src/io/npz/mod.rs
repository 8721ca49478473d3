//! NumPy's `.npz`: a zip of `.npy` arrays, read as a set of trials.
//!
//! | key | shape | meaning |
//! |---|---|---|
//! | `X` | (trials, channels, samples), (trials, n, n) or (trials, views, n, n) | epochs in µV, or covariances in µV² |
//! | `y` | (trials,) | labels, strings or numbers; empty labels without it |
//! | `domain`, `groups` or `subject` | (trials,) | the domain; the first of them that is there |
//! | `subject` | (trials,) | the subject, beside one of the others |
//! | `session`, `run` | (trials,) | the run; with both, `session/run` |
//! | `ch_names` | (channels,) | names; `EEG1`, `EEG2`, … without it |
//! | `sfreq` | () | samples per second |
//! | `stiefel` | (bytes,) | JSON in UTF-8: how the covariances were made, and where the trials come from |
//!
//! `X` holds covariances when its matrices are square and all symmetric to the rounding of the type it is stored in, epochs otherwise. Other
//! keys are ignored. Entries may be stored or deflated.

mod archive;
mod dataset;
mod write;
mod zip_writer;

use std::path::Path;

pub(crate) use archive::{Entry, entries as zip_entries};
pub(crate) use dataset::{Tables, assemble};
pub use write::{write_epochs, write_trials, write_trials_to};

use super::npy::Array;
use super::stream::Budget;
use super::units::excerpt;
use super::{Content, Format, Head, ReadOptions, Reader, Source};
use crate::{EegError, Result};

/// `.npz` in the registry of formats.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Npz;

/// Named NumPy arrays.
pub const FORMAT: Format = Format {
    name: ".npz",
    extensions: &[],
};

impl Reader for Npz {
    fn format(&self) -> Format {
        FORMAT
    }

    fn recognises(&self, head: &Head<'_>) -> bool {
        head.bytes.starts_with(b"PK\x03\x04")
    }

    fn read(&self, mut source: Source<'_>, options: &ReadOptions) -> Result<Content> {
        let path = source.path().to_path_buf();
        let entries = archive::entries(&mut source)?;
        let mut entries = Arrays {
            source: &mut source,
            path: &path,
            entries,
            budget: Budget::new(options.max_expanded),
        };
        let Some(x) = entries.array("X")? else {
            let found: Vec<_> = entries
                .entries
                .iter()
                .take(8)
                .map(|e| excerpt(&e.name))
                .collect();
            return Err(EegError::Unsupported {
                path,
                kind: format!("zip without the array X (it has {})", found.join(", ")),
                remedy: "save trials with np.savez(path, X=X, y=y, subject=subject, ch_names=names, sfreq=rate)".into(),
            });
        };
        let domain = entries.first(&["domain", "groups"])?;
        let subject = entries.array("subject")?;
        let (domain, subject) = match domain {
            Some(domain) => (Some(domain), subject),
            None => (subject, None),
        };
        let tables = Tables {
            labels: entries.array("y")?,
            domain,
            subject,
            record: entries.array("stiefel")?,
            session: entries.array("session")?,
            run: entries.array("run")?,
            channel_names: entries.array("ch_names")?,
            sampling_rate: entries.array("sfreq")?,
        };
        assemble(&path, x, tables, options)
    }
}

/// The arrays of an archive, by key.
struct Arrays<'e, 's> {
    source: &'e mut Source<'s>,
    path: &'e Path,
    entries: Vec<Entry>,
    budget: Budget,
}

impl Arrays<'_, '_> {
    fn first(&mut self, keys: &[&str]) -> Result<Option<Array>> {
        for key in keys {
            if let Some(array) = self.array(key)? {
                return Ok(Some(array));
            }
        }
        Ok(None)
    }

    fn array(&mut self, key: &str) -> Result<Option<Array>> {
        let name = format!("{key}.npy");
        let Some(entry) = self.entries.iter().find(|entry| entry.name == name) else {
            return Ok(None);
        };
        let mut stream = entry.open_within(self.source, self.path, self.budget)?;
        let array = Array::read(&mut stream)?;
        let expanded = stream.finish(&format!("the entry {name}"))?;
        // Stored entries may be longer than the budget: the file accounts for them.
        self.budget = self.budget.after_at_most(expanded);
        Ok(Some(array))
    }
}
