//! How the covariances of a dataset file were made, and where its trials come from.

use std::path::Path;

use serde::{Deserialize, Serialize};
use stiefel_data::{Origin, Preparation, Recorded, Trials};
use stiefel_formats::numpy::{Array, Values};

use super::invalid;
use crate::Result;

/// The version of the record in a dataset file.
const VERSION: u32 = 1;

/// What a dataset file says of itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Record {
    version: u32,
    pub(super) preparation: Preparation,
    pub(super) origin: Origin,
    /// The recordings that trials come from.
    #[serde(default)]
    pub(super) recordings: Vec<Recorded>,
}

impl Record {
    pub(super) fn of(trials: &Trials) -> Self {
        Self {
            version: VERSION,
            preparation: trials.preparation().clone(),
            origin: trials.origin().clone(),
            recordings: trials
                .recordings()
                .map_or_else(Vec::new, |(r, _)| r.to_vec()),
        }
    }

    pub(super) fn read(path: &Path, array: &Array) -> Result<Self> {
        const REMEDY: &str = "prepare the dataset again, or remove the array";
        let Values::Numbers(numbers) = &array.values else {
            return Err(invalid(path, "the array stiefel holds strings", REMEDY));
        };
        let bytes: Vec<u8> = numbers.iter().map(|&b| b as u8).collect();
        let wrong = |e: &dyn std::fmt::Display| {
            invalid(
                path,
                format!("the array stiefel cannot be read: {e}"),
                REMEDY,
            )
        };
        let version = serde_json::from_slice::<serde_json::Value>(&bytes).map_err(|e| wrong(&e))?;
        if let Some(newer) = version["version"].as_u64().filter(|v| *v > VERSION.into()) {
            return Err(invalid(
                path,
                format!(
                    "its record is of version {newer}, this version of stiefel reads up to \
                     {VERSION}"
                ),
                "use a newer stiefel",
            ));
        }
        serde_json::from_slice(&bytes).map_err(|e| wrong(&e))
    }
}
