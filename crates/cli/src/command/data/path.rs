//! `stiefel data path`.

use clap::Args;
use serde_json::json;
use stiefel::eeg::catalogue::Cache;

use super::{Wanted, fetch::value};
use crate::failure::Outcome;
use crate::output::Output;

#[derive(Debug, Args)]
#[command(after_help = "\
Nothing is fetched. With --files the exit code is 1 where a file is missing.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    wanted: Wanted,
    /// Print the files instead of the folder, one per line
    #[arg(long)]
    files: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        let (dataset, selection) = self.wanted.resolve()?;
        let cache = Cache::from_env()?;
        let folder = cache.folder(dataset);
        // A selection that makes no sense is misuse, whether files are asked for or not.
        let inventory = cache.inventory(dataset, &selection)?;
        if self.json {
            let here: Vec<_> = inventory
                .iter()
                .filter_map(|(_, copy)| copy.as_ref())
                .map(value)
                .collect();
            let missing = inventory.iter().filter(|(_, copy)| copy.is_none());
            let missing: Vec<_> = missing.map(|(file, _)| &file.name).collect();
            return output.json(&json!({
                "dataset": dataset.id,
                "folder": folder,
                "files": here,
                "missing": missing,
            }));
        }
        if !self.files {
            return output.line(&folder.display().to_string());
        }
        for local in cache.locate(dataset, &selection)? {
            output.line(&local.path.display().to_string())?;
        }
        Ok(())
    }
}
