//! `stiefel manual`.

use std::path::PathBuf;

use clap::Args;

use crate::failure::{Failure, Outcome};
use crate::output::Output;

#[derive(Debug, Args)]
#[command(after_help = "\
For instance: stiefel manual ~/.local/share/man/man1")]
pub(crate) struct Arguments {
    /// The folder to write them to; it is made if it does not exist
    folder: PathBuf,
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        let failed = |error: std::io::Error| {
            Failure::Failed(format!(
                "the manual pages could not be written to {}: {error}",
                self.folder.display()
            ))
        };
        std::fs::create_dir_all(&self.folder).map_err(failed)?;
        clap_mangen::generate_to(crate::command_line(), &self.folder).map_err(failed)?;
        output.line(&format!("manual pages: {}", self.folder.display()))
    }
}
