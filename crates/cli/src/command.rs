//! The commands, a file each.

mod data;
mod demo;
mod recommend;
mod report;
mod study;

use crate::failure::Outcome;
use crate::output::Output;

/// What the program can do.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// From raw synthetic EEG to a routing report, in one go
    Demo(demo::Arguments),
    /// List, describe and fetch public data sets
    Data(data::Arguments),
    /// The network's sizes and options for given data, each with its reason
    Recommend(recommend::Arguments),
    /// Compare methods on a dataset: the paper's tables, with peers, tests and a report
    Study(study::Arguments),
    /// Write the report of a finished study again
    Report(report::Arguments),
}

impl Command {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        match self {
            Self::Demo(arguments) => arguments.run(output),
            Self::Data(arguments) => arguments.run(output),
            Self::Recommend(arguments) => arguments.run(output),
            Self::Study(arguments) => arguments.run(output),
            Self::Report(arguments) => arguments.run(output),
        }
    }
}
