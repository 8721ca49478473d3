//! What training leaves beside a model, for people: `model.stiefel.json`, with data, scores and the
//! options it was made with. The model file needs nothing of it.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;
use stiefel::model::metrics::Scores;
use stiefel::study::DatasetSummary;

use crate::failure::Failure;

/// How a model was trained.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Record {
    pub(crate) format: &'static str,
    pub(crate) version: u32,
    /// The version of the program.
    pub(crate) library: &'static str,
    /// The data.
    pub(crate) dataset: DatasetSummary,
    /// How many trials trained, chose the epoch or C, and were held out.
    pub(crate) trials: Counts,
    /// Scores on the trials that chose, of a model that was not fitted on them.
    pub(crate) validation: Option<Scores>,
    /// Scores on the trials held out, where there are any.
    pub(crate) test: Option<Scores>,
    /// The options, for another run.
    pub(crate) configuration: Value,
}

/// Trials of each part.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Counts {
    pub(crate) train: usize,
    pub(crate) validation: usize,
    pub(crate) test: usize,
}

impl Record {
    /// Writes it beside the model.
    pub(crate) fn write(&self, model: &Path) -> Result<PathBuf, Failure> {
        let mut name = model.as_os_str().to_owned();
        name.push(".json");
        let path = PathBuf::from(name);
        let text = serde_json::to_string_pretty(self)? + "\n";
        stiefel::data::write_whole(&path, text.as_bytes())
            .map_err(|e| Failure::Failed(format!("{}: {e}", path.display())))?;
        Ok(path)
    }
}
