//! The commands, a file each.

mod calibrate;
mod data;
mod demo;
mod evaluate;
mod generate;
mod inspect;
mod live;
mod predict;
mod prepare;
mod settings;
mod study;
mod train;

use crate::failure::Outcome;
use crate::output::Output;
use clap::Subcommand as _;
use std::fmt::Write as _;

/// The commands of the program, by what they are about.
const GROUPS: [(&str, &[&str]); 3] = [
    ("Data", &["data", "prepare", "inspect"]),
    (
        "Models",
        &["train", "calibrate", "evaluate", "predict", "live"],
    ),
    ("Comparisons", &["demo", "study"]),
];

/// What the program can do.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List, describe and fetch public data sets
    Data(data::Arguments),
    /// Turn recordings into a dataset file: filter, cut, reject, estimate covariances
    Prepare(prepare::Arguments),
    /// Show what is in a file, a folder, a data set or a model
    Inspect(inspect::Arguments),
    /// Train a model and write it to a file
    Train(train::Arguments),
    /// Fit a model to a person with a few of their labelled trials
    Calibrate(calibrate::Arguments),
    /// Score a model on labelled trials, with controls of its routing
    Evaluate(evaluate::Arguments),
    /// Print class probabilities and routing of trials
    Predict(predict::Arguments),
    /// Run a model on a running signal: LSL, a replayed recording, TCP or the standard input
    Live(live::Arguments),
    /// Go from simulated EEG to a report with one command
    Demo(demo::Arguments),
    /// Compare methods on a dataset: the paper's tables, with peers, tests and a report
    Study(study::Arguments),
    /// List the settings of a model or a study, with defaults and values
    #[command(hide = true)]
    Settings(settings::Arguments),
    /// Write completion scripts, manual pages and what is made of settings
    #[command(hide = true)]
    Generate(generate::Arguments),
}

impl Command {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        match self {
            Self::Data(arguments) => arguments.run(output),
            Self::Prepare(arguments) => arguments.run(output),
            Self::Inspect(arguments) => arguments.run(output),
            Self::Train(arguments) => arguments.run(output),
            Self::Calibrate(arguments) => arguments.run(output),
            Self::Evaluate(arguments) => arguments.run(output),
            Self::Predict(arguments) => arguments.run(output),
            Self::Live(arguments) => arguments.run(output),
            Self::Demo(arguments) => arguments.run(output),
            Self::Study(arguments) => arguments.run(output),
            Self::Settings(arguments) => arguments.run(output),
            Self::Generate(arguments) => arguments.run(output),
        }
    }
}

/// Returns the template of the program's help, with the commands under headings.
pub(crate) fn help_template() -> String {
    let all = Command::augment_subcommands(clap::Command::new("stiefel"));
    let mut text = String::from("{about}\n\n{usage-heading} {usage}\n");
    for (heading, names) in GROUPS {
        let _ = writeln!(text, "\n{heading}:");
        for name in names {
            let about = all.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {name:<11}{about}");
        }
    }
    text + "\nOptions:\n{options}{after-help}"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_stands_under_one_heading() {
        let all = Command::augment_subcommands(clap::Command::new("stiefel"));
        let shown = all.get_subcommands().filter(|c| !c.is_hide_set());
        let mut shown: Vec<&str> = shown.map(clap::Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        shown.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(shown, grouped);
        assert!(shown.len() <= 16);
    }
}
