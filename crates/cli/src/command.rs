//! The commands, a file each.

mod calibrate;
mod completions;
mod data;
mod demo;
mod diagnose;
mod evaluate;
mod inspect;
mod live;
mod manual;
mod predict;
mod prepare;
mod recommend;
mod report;
mod stream;
mod study;
mod train;

use crate::failure::Outcome;
use crate::output::Output;

/// What the program can do.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Go from raw synthetic EEG to a routing report with one command
    Demo(demo::Arguments),
    /// List, describe and fetch public data sets
    Data(data::Arguments),
    /// Turn recordings into a dataset file: filter, cut, reject, estimate covariances
    Prepare(prepare::Arguments),
    /// Show what is in a file, a folder, a data set or a model
    Inspect(inspect::Arguments),
    /// Show what to train on given data, and the sizes of a routed network, each with its reason
    Recommend(recommend::Arguments),
    /// Compare methods on a dataset: the paper's tables, with peers, tests and a report
    Study(study::Arguments),
    /// Write the report of a finished study again
    Report(report::Arguments),
    /// Train a model and write it to a file
    Train(train::Arguments),
    /// Fit a model to a person with a few of their labelled trials
    Calibrate(calibrate::Arguments),
    /// Print class probabilities and routing of trials
    Predict(predict::Arguments),
    /// Score a model on labelled trials
    Evaluate(evaluate::Arguments),
    /// Print the routing report of a model: does routing help, and is it routing that helps
    Diagnose(diagnose::Arguments),
    /// Run a model on a running signal: an LSL stream, a replayed recording, or the standard input
    Live(live::Arguments),
    /// Decide on samples from the standard input, with a JSON line for each decision
    Stream(stream::Arguments),
    /// Print a completion script for a shell
    Completions(completions::Arguments),
    /// Write manual pages, one file per command
    Manual(manual::Arguments),
}

impl Command {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        match self {
            Self::Demo(arguments) => arguments.run(output),
            Self::Data(arguments) => arguments.run(output),
            Self::Prepare(arguments) => arguments.run(output),
            Self::Inspect(arguments) => arguments.run(output),
            Self::Recommend(arguments) => arguments.run(output),
            Self::Study(arguments) => arguments.run(output),
            Self::Report(arguments) => arguments.run(output),
            Self::Train(arguments) => arguments.run(output),
            Self::Calibrate(arguments) => arguments.run(output),
            Self::Predict(arguments) => arguments.run(output),
            Self::Evaluate(arguments) => arguments.run(output),
            Self::Diagnose(arguments) => arguments.run(output),
            Self::Live(arguments) => arguments.run(output),
            Self::Stream(arguments) => arguments.run(output),
            Self::Completions(arguments) => arguments.run(output),
            Self::Manual(arguments) => arguments.run(output),
        }
    }
}
