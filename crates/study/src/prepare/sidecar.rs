//! What is known of a prepared dataset beside its covariances: `dataset.json` beside `dataset.npz`; the format is at [`Sidecar`].

use super::Preparation;
use crate::{Provenance, Result, StudyError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use stiefel_eeg::catalogue::Sha256;
use stiefel_eeg::io::{CovarianceSet, write_covariances};

/// The value of `format`.
const FORMAT: &str = "stiefel-dataset";

/// A file that went in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// Its name.
    pub name: String,
    /// SHA-256 of its bytes.
    pub sha256: String,
}

/// What became of a domain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainRecord {
    /// The domain.
    pub domain: String,
    /// Trials before rejection.
    pub trials: usize,
    /// Trials left out for their amplitude.
    pub rejected: usize,
}

/// How covariances were made, `dataset.json` beside `dataset.npz`:
///
/// ```json
/// { "format": "stiefel-dataset", "version": 1, "covariances_sha256": "…", "steps": { "band": [8, 32], … },
///   "domains": [ { "domain": "S001", "trials": 45, "rejected": 2 }, … ], "files": [ { "name": "S001R06.edf", "sha256": "…" }, … ] }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sidecar {
    format: String,
    version: u32,
    /// The version of the library that made it.
    pub library: String,
    /// SHA-256 of the file of covariances.
    pub covariances_sha256: String,
    /// What was asked for.
    pub sources: Vec<String>,
    /// The steps, with every default filled in.
    pub steps: Preparation,
    /// Samples per second the covariances were computed at.
    pub sampling_rate: f64,
    /// Samples of a trial.
    pub samples: usize,
    /// Trials and rejected trials per domain.
    pub domains: Vec<DomainRecord>,
    /// Files that went in.
    pub files: Vec<FileRecord>,
    /// Events that were seen and not asked for.
    pub not_selected: BTreeMap<String, usize>,
    /// Events whose window leaves their recording.
    pub outside: usize,
    /// What was left out or assumed.
    pub notes: Vec<String>,
    /// Licence of the recordings, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// How to cite them, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub citation: Option<String>,
    /// The options of the program that wrote it, for another run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<serde_json::Value>,
}

impl Sidecar {
    /// With nothing known but the steps.
    pub(super) fn new(sources: &[String], steps: Preparation) -> Self {
        Self {
            format: FORMAT.into(),
            version: 1,
            library: env!("CARGO_PKG_VERSION").into(),
            covariances_sha256: String::new(),
            sources: sources.to_vec(),
            steps,
            sampling_rate: 0.0,
            samples: 0,
            domains: Vec::new(),
            files: Vec::new(),
            not_selected: BTreeMap::new(),
            outside: 0,
            notes: Vec::new(),
            licence: None,
            citation: None,
            configuration: None,
        }
    }

    /// `dataset.json` for `dataset.npz`.
    pub fn path_for(covariances: &Path) -> PathBuf {
        covariances.with_extension("json")
    }

    /// The sidecar of a file of covariances; none where there is no such file or it is somebody else's.
    pub fn read(covariances: &Path) -> Result<Option<Self>> {
        let path = Self::path_for(covariances);
        let Ok(text) = std::fs::read_to_string(&path) else {
            return Ok(None);
        };
        let ours = serde_json::from_str::<serde_json::Value>(&text)
            .is_ok_and(|v| v.get("format").is_some_and(|f| f == FORMAT));
        if !ours {
            return Ok(None);
        }
        let remedy = "delete it, or prepare the dataset again";
        let found: Self =
            serde_json::from_str(&text).map_err(|e| StudyError::file(&path, e, remedy))?;
        if found.covariances_sha256 != Sha256::of_file(covariances)?.to_string() {
            let error = format!(
                "it describes other covariances than {}",
                covariances.display()
            );
            return Err(StudyError::file(&path, error, remedy));
        }
        Ok(Some(found))
    }

    /// Writes covariances and sidecar, each first under another name: what is there is whole.
    pub fn write(&mut self, covariances: &Path, set: &CovarianceSet) -> Result<()> {
        let remedy = "choose a folder that exists and can be written, with --output";
        let part = |path: &Path| {
            let mut name = path.file_name().unwrap_or_default().to_owned();
            name.push(".part");
            path.with_file_name(name)
        };
        let rename = |from: &Path, to: &Path| {
            std::fs::rename(from, to).map_err(|e| StudyError::file(to, e, remedy))
        };
        let partial = part(covariances);
        write_covariances(&partial, set)?;
        self.covariances_sha256 = Sha256::of_file(&partial)?.to_string();
        let path = Self::path_for(covariances);
        let failed = |e: &dyn std::fmt::Display| StudyError::file(&path, e, remedy);
        let text = serde_json::to_string_pretty(self).map_err(|e| failed(&e))?;
        std::fs::write(part(&path), text + "\n").map_err(|e| failed(&e))?;
        rename(&partial, covariances)?;
        rename(&part(&path), &path)
    }

    /// What a dataset remembers of it.
    pub fn provenance(&self) -> Provenance {
        Provenance {
            rejected: (self.domains.iter())
                .map(|d| (d.domain.clone(), d.rejected))
                .collect(),
            preparation: Some(self.steps.to_string()),
            licence: self.licence.clone(),
            citation: self.citation.clone(),
        }
    }
}
