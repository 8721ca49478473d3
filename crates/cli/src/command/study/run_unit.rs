//! `stiefel study run-unit`: one unit of a planned study, so that any scheduler can spread them.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;
use stiefel::eeg::io::read_at_most;
use stiefel::study::{Store, StudyConfig, execute};

use super::planned;
use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::output::Output;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The study's folder, made by the study's command with --plan
    folder: PathBuf,
    /// The unit: its number in the plan, or the beginning of its identity
    unit: String,
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        let config = resolved(&self.folder.join(Store::RESOLVED))?;
        let plan = planned(config)?;
        let store = Store::open(&self.folder)?;
        // Digits alone are a number in the plan, never the beginning of an identity.
        let found: Vec<_> = match self.unit.parse::<usize>() {
            Ok(index) => plan.units.get(index).into_iter().collect(),
            Err(_) => plan
                .units
                .iter()
                .filter(|u| u.ids.unit.starts_with(&self.unit))
                .collect(),
        };
        let [unit] = found[..] else {
            return Err(Failure::Misuse(format!(
                "\"{}\" names {} units; give a number below {} or more letters of an identity \
                 (see --plan)",
                self.unit,
                found.len(),
                plan.units.len()
            )));
        };
        if store.find(&unit.ids.unit).is_some() {
            return output.line(&format!("{} is there already", unit.ids.unit));
        }
        for record in execute(std::slice::from_ref(unit), &interrupt::cancel()?)? {
            store.keep(&record)?;
        }
        output.line(&format!("{} done", unit.ids.unit))
    }
}

/// The configuration a study was planned with.
fn resolved(path: &Path) -> Result<StudyConfig, Failure> {
    let wrong = |e: &dyn std::fmt::Display| {
        Failure::Failed(format!(
            "{}: {e}; plan the study first: `stiefel study … --plan --output FOLDER`",
            path.display()
        ))
    };
    let text = read_at_most(path, crate::config::LONGEST).map_err(|e| wrong(&e))?;
    let mut file: Value = serde_json::from_slice(&text).map_err(|e| wrong(&e))?;
    let mut config: StudyConfig =
        serde_json::from_value(file["study"].take()).map_err(|e| wrong(&e))?;
    // Wherever the unit runs: the options beside have the whole path.
    if let Some(data) = file["configuration"]["study"][config.study.name()]["data"].as_str() {
        data.clone_into(&mut config.data);
    }
    Ok(config)
}
