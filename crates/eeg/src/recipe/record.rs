//! What was made of what, for people: `dataset.json` beside `dataset.npz`. The dataset file needs
//! nothing of it to be right.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stiefel_data::{Provenance, Quality, Trials};

use crate::io::write_trials;
use crate::ledger::FileRecord;
use crate::{EegError, Result};

const FORMAT: &str = "stiefel-dataset";

/// What happened to the trials of a domain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainRecord {
    /// The domain.
    pub domain: String,
    /// Trials before rejection.
    pub trials: usize,
    /// Trials left out.
    pub rejected: usize,
}

/// How a dataset came about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    format: String,
    version: u32,
    /// The version of the library.
    pub library: String,
    /// What was asked for.
    pub sources: Vec<String>,
    /// The recipe that was run, the signals it was run on, and how files were read.
    pub preparation: Provenance,
    /// Samples of a trial.
    pub samples: usize,
    /// Trials by domain.
    pub domains: Vec<DomainRecord>,
    /// The files that were read.
    pub files: Vec<FileRecord>,
    /// Events that stand for no class.
    pub not_selected: BTreeMap<String, usize>,
    /// Events whose window leaves the recording.
    pub outside: usize,
    /// What else there is to say.
    pub notes: Vec<String>,
    /// Amplitudes of every electrode and person, and what is wrong with the signals.
    pub quality: Quality,
    /// The options of the command, for another run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<serde_json::Value>,
}

impl Record {
    pub(super) fn new(sources: &[String], preparation: Provenance) -> Self {
        Self {
            format: FORMAT.into(),
            version: 1,
            library: env!("CARGO_PKG_VERSION").into(),
            sources: sources.to_vec(),
            preparation,
            samples: 0,
            domains: Vec::new(),
            files: Vec::new(),
            not_selected: BTreeMap::new(),
            outside: 0,
            notes: Vec::new(),
            quality: Quality::default(),
            configuration: None,
        }
    }

    /// Where it stands beside a dataset file.
    pub fn path_for(dataset: &Path) -> PathBuf {
        dataset.with_extension("json")
    }

    /// Writes the dataset and this beside it, each whole or not at all; links are followed.
    pub fn write(&self, dataset: &Path, trials: &Trials) -> Result<()> {
        let part = |path: &Path| {
            let mut name = path.file_name().unwrap_or_default().to_owned();
            name.push(".part");
            path.with_file_name(name)
        };
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            move |source| EegError::Io { path, source }
        };
        let target = |path: &Path| stiefel_data::writable(path).map_err(failed(path));
        let beside = &target(&Self::path_for(dataset))?;
        let dataset = &target(dataset)?;
        write_trials(part(dataset), trials)?;
        let text = serde_json::to_string_pretty(self)
            .map_err(std::io::Error::from)
            .map_err(failed(beside))?;
        std::fs::write(part(beside), text + "\n").map_err(failed(beside))?;
        std::fs::rename(part(dataset), dataset).map_err(failed(dataset))?;
        std::fs::rename(part(beside), beside).map_err(failed(beside))
    }
}
