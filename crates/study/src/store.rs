//! Records on disk: one file per unit, named by its identity, written whole or not at all.
//!
//! ```text
//! units/ID.json   what the unit found: the same bits whenever and wherever it is computed
//! times/ID.json   the seconds it took, a single number
//! ```
//!
//! A record is written to a temporary file in the same folder, flushed to the disk and renamed. A
//! file that cannot be read or whose content is not the unit asked for (a disk that lied) is
//! computed again.

use crate::{Plan, Result, StudyError, UnitRecord};
use serde::Serialize;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// A folder of records.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// The file of the resolved configuration: `study` for those who go on with it, `configuration`
    /// for the command line.
    pub const RESOLVED: &str = "study.json";

    /// Opens a folder, making it where it is missing.
    ///
    /// ```
    /// use stiefel_study::Store;
    ///
    /// let folder = std::env::temp_dir().join("stiefel-store-doc");
    /// let store = Store::open(&folder)?;
    /// assert!(store.find("0123").is_none());
    /// # std::fs::remove_dir_all(&folder).ok();
    /// # Ok::<(), stiefel_study::StudyError>(())
    /// ```
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self> {
        let folder = folder.into();
        for part in ["units", "times"] {
            fs::create_dir_all(folder.join(part))
                .map_err(|e| StudyError::file(&folder, e, "choose a folder that can be written"))?;
        }
        Ok(Self { folder })
    }

    /// Opens the folder of a planned study and keeps there what was asked for.
    ///
    /// A folder that holds another study, or the same one on other data, is refused unless it may
    /// be overwritten; units that both have are kept. `configuration` is what a program needs to
    /// ask for it again.
    pub fn claim(
        folder: impl Into<PathBuf>,
        plan: &Plan,
        configuration: &Value,
        overwrite: bool,
    ) -> Result<Self> {
        let folder = folder.into();
        let own = json!({
            "configuration": configuration, "study": plan.config,
            "data": plan.summary.fingerprint, "identity": plan.identity(),
        });
        let path = folder.join(Self::RESOLVED);
        if !overwrite && let Ok(text) = fs::read(&path) {
            let there: Value = serde_json::from_slice(&text).unwrap_or_default();
            if there["identity"] != own["identity"] {
                let what = if there["data"] == own["data"] {
                    "a study of the same data with other settings"
                } else {
                    "a study of other data"
                };
                return Err(StudyError::Occupied { folder, what });
            }
        }
        let store = Self::open(folder)?;
        store.write(Self::RESOLVED, &own)?;
        Ok(store)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn path(&self, part: &str, id: &str) -> PathBuf {
        self.folder.join(part).join(format!("{id}.json"))
    }

    /// The record of a unit, where there is a sound one.
    pub fn find(&self, id: &str) -> Option<UnitRecord> {
        let text = fs::read(self.path("units", id)).ok()?;
        let mut record: UnitRecord = serde_json::from_slice(&text).ok()?;
        let time = fs::read(self.path("times", id)).ok();
        record.seconds = time.and_then(|t| serde_json::from_slice(&t).ok());
        (record.id == id).then_some(record)
    }

    /// Keeps a record.
    pub fn keep(&self, record: &UnitRecord) -> Result<()> {
        // The time first: whatever has a record has its time.
        if let Some(seconds) = record.seconds {
            let path = self.path("times", &record.id);
            write_atomically(&path, &encoded(&path, &seconds, false)?)?;
        }
        let path = self.path("units", &record.id);
        write_atomically(&path, &encoded(&path, record, false)?)
    }

    /// Writes a JSON file of the study itself.
    pub fn write(&self, name: &str, value: &impl Serialize) -> Result<PathBuf> {
        let path = self.folder.join(name);
        write_atomically(&path, &encoded(&path, value, true)?)?;
        Ok(path)
    }
}

fn encoded(path: &Path, value: &impl Serialize, pretty: bool) -> Result<Vec<u8>> {
    let text = if pretty {
        serde_json::to_vec_pretty(value)
    } else {
        serde_json::to_vec(value)
    };
    text.map_err(|e| StudyError::file(path, e, "this is a fault of the library, please report it"))
}

/// Writes a file whole or not at all.
pub fn write_atomically(path: &Path, content: &[u8]) -> Result<()> {
    stiefel_data::write_whole(path, content).map_err(|e| {
        StudyError::file(
            path,
            e,
            "is there room on the disk, and may the folder be written?",
        )
    })
}
