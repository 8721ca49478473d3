//! NumPy's `.npz`: a zip of `.npy` arrays, read as a set of trials.
//!
//! | key | shape | meaning |
//! |---|---|---|
//! | `X` | (trials, channels, samples) or (trials, n, n) | epochs in µV, or covariances in µV² |
//! | `y` | (trials,) | labels, strings or numbers; empty labels without it |
//! | `domain`, `groups` or `subject` | (trials,) | the domain; the first of them that is there |
//! | `session`, `run` | (trials,) | the run; with both, `session/run` |
//! | `ch_names` | (channels,) | names; `EEG1`, `EEG2`, … without it |
//! | `sfreq` | () | samples per second |
//!
//! `X` holds covariances when its matrices are square and all symmetric, epochs otherwise. Other keys
//! are ignored. Entries may be stored or deflated.

mod dataset;
mod write;

use std::io::Read;
use std::path::Path;

use zip::ZipArchive;
use zip::result::ZipError;

pub(crate) use dataset::{Tables, assemble};
pub use write::{write_covariances, write_covariances_to};

use super::npy::Array;
use super::stream::Stream;
use super::{Content, Format, Head, ReadOptions, Reader, Source};
use crate::{EegError, Result};

/// `.npz` in the registry of formats.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Npz;

impl Reader for Npz {
    fn format(&self) -> Format {
        Format::Npz
    }

    fn recognises(&self, head: &Head<'_>) -> bool {
        head.bytes.starts_with(b"PK\x03\x04")
    }

    fn read(&self, mut source: Source<'_>, options: &ReadOptions) -> Result<Content> {
        let path = source.path().to_path_buf();
        let len = source.len();
        let mut archive = ZipArchive::new(&mut source)
            .map_err(|e| zip_error(&path, len, "the zip directory", e))?;
        let mut entries = Entries {
            archive: &mut archive,
            path: &path,
            len,
            budget: options.max_expanded,
        };
        let Some(x) = entries.array("X")? else {
            let found: Vec<_> = entries
                .archive
                .file_names()
                .take(8)
                .map(str::to_string)
                .collect();
            return Err(EegError::Unsupported {
                path,
                kind: format!("zip without the array X (it has {})", found.join(", ")),
                remedy: "save trials with np.savez(path, X=X, y=y, subject=subject, ch_names=names, sfreq=rate)".into(),
            });
        };
        let tables = Tables {
            labels: entries.array("y")?,
            domain: entries.first(&["domain", "groups", "subject"])?,
            session: entries.array("session")?,
            run: entries.array("run")?,
            channel_names: entries.array("ch_names")?,
            sampling_rate: entries.array("sfreq")?,
        };
        assemble(&path, x, tables, options)
    }
}

/// The arrays of an archive, by key.
struct Entries<'e, R: Read + std::io::Seek> {
    archive: &'e mut ZipArchive<R>,
    path: &'e Path,
    len: u64,
    budget: u64,
}

impl<R: Read + std::io::Seek> Entries<'_, R> {
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
        let what = format!("the entry {name}");
        let entry = match self.archive.by_name(&name) {
            Ok(entry) => entry,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(error) => return Err(zip_error(self.path, self.len, &what, error)),
        };
        let start = entry.header_start();
        let mut stream = Stream::compressed(entry, self.path, start, self.budget);
        let array = Array::read(&mut stream)?;
        self.budget -= stream.finish(&what)?;
        Ok(Some(array))
    }
}

fn zip_error(path: &Path, offset: u64, what: &str, error: ZipError) -> EegError {
    EegError::Malformed {
        path: path.to_path_buf(),
        offset,
        reason: format!("{what} cannot be read: {error}"),
    }
}
