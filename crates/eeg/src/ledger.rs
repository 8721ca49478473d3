//! Hashes of the bytes that were decoded: a file is read once, into memory, hashed and decoded
//! there.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use stiefel_formats::{Opener, Source, name_text, read_whole};

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::checksum::Sha256;

/// A file that trials came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// Its name, without folders.
    pub name: String,
    /// The SHA-256 of the bytes that were decoded.
    pub sha256: Sha256,
    /// Files that its header names, or that tell of its events.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<FileRecord>,
}

/// The files that were read, and those that their headers named, in the order of reading.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ledger(Arc<Mutex<Vec<(PathBuf, FileRecord)>>>);

impl Ledger {
    /// Reads a file whole; what its header names is read, and noted, when a reader asks for it.
    pub(crate) fn open(&self, path: &Path) -> Result<(Source<'static>, Sha256)> {
        let (ledger, main) = (self.clone(), path.to_path_buf());
        let opener: Opener = Arc::new(move |path: &Path| {
            let bytes = read_whole(path)?;
            ledger.note(&main, path, Sha256::of(&bytes));
            Ok(bytes)
        });
        let source = Source::open_by(path, opener)?;
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sha = files.iter().rev().find(|(main, _)| main == path);
        let sha = sha.map_or_else(|| Sha256::of(&[]), |(_, file)| file.sha256);
        Ok((source, sha))
    }

    fn note(&self, main: &Path, path: &Path, sha256: Sha256) {
        let name = name_text(path.file_name().unwrap_or(path.as_os_str()));
        let file = FileRecord {
            name,
            sha256,
            beside: Vec::new(),
        };
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match files.iter_mut().find(|(known, _)| known == main) {
            Some((_, known)) if main != path => known.beside.push(file),
            Some((_, known)) => *known = file,
            None => files.push((main.to_path_buf(), file)),
        }
    }

    /// Returns what was read, the files that gave signals alone.
    pub(crate) fn files(&self, of: &[PathBuf]) -> Vec<FileRecord> {
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let used = files.iter().filter(|(path, _)| of.contains(path));
        used.map(|(_, file)| file.clone()).collect()
    }
}
