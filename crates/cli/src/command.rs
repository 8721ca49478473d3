//! The commands, a file each.

mod data;

use crate::failure::Outcome;
use crate::output::Output;

/// What the program can do.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List, describe and fetch public data sets
    Data(data::Arguments),
}

impl Command {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        match self {
            Self::Data(arguments) => arguments.run(output),
        }
    }
}
