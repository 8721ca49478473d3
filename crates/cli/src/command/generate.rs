//! `stiefel generate`: what a packager installs beside the program.

mod settings;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use clap_complete::Shell;

use crate::failure::{Failure, Outcome};
use crate::output::Output;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    artefact: Artefact,
}

#[derive(Debug, Subcommand)]
enum Artefact {
    /// Print a completion script for a shell
    #[command(after_help = "\
For instance: stiefel generate completions bash > \
                            ~/.local/share/bash-completion/completions/stiefel")]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write manual pages, one file per command
    #[command(after_help = "For instance: stiefel generate manual ~/.local/share/man/man1")]
    Manual {
        /// The folder to write them to; it is made if it does not exist
        folder: PathBuf,
    },
    /// Write docs/settings.md and the stub of stiefel.model from the settings of models and studies
    Settings {
        /// The root of the repository
        root: PathBuf,
    },
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        let mut line = crate::command_line();
        match self.artefact {
            Artefact::Completions { shell } => {
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut line, "stiefel", &mut script);
                output.line(String::from_utf8_lossy(&script).trim_end())
            }
            Artefact::Settings { root } => output.line(&settings::write_all(&root)?.join("\n")),
            Artefact::Manual { folder } => {
                let failed = |error: std::io::Error| {
                    let folder = folder.display();
                    Failure::Failed(format!("{folder}: manual pages were not written: {error}"))
                };
                std::fs::create_dir_all(&folder).map_err(failed)?;
                clap_mangen::generate_to(line, &folder).map_err(failed)?;
                output.line(&format!("manual pages: {}", folder.display()))
            }
        }
    }
}
