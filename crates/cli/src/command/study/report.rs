//! `stiefel study report`: the report of a finished study, written again.

use std::path::PathBuf;

use clap::Args;
use stiefel::eeg::io::read_at_most;
use stiefel::study::{StudySummary, report};

use crate::failure::{Failure, Outcome};
use crate::output::Output;

/// The most bytes of a summary.
const LONGEST: u64 = 1 << 30;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The folder of a study
    folder: PathBuf,
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        let path = self.folder.join("summary.json");
        let text = read_at_most(&path, LONGEST).map_err(|e| {
            Failure::Failed(format!(
                "{}: {e}; give the folder of a study that has been run to its end",
                path.display()
            ))
        })?;
        let summary: StudySummary = serde_json::from_slice(&text).map_err(|e| {
            Failure::Failed(format!("{}: {e}; run the study again", path.display()))
        })?;
        let written = report::write(&summary, &self.folder)?;
        output.line(&format!("{}", written.display()))
    }
}
