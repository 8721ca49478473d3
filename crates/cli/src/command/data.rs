//! `stiefel data`: the catalogue of public data sets.

mod convert;
mod fetch;
mod info;
mod list;
mod path;

use clap::{Args, Subcommand};
use stiefel::eeg::catalogue::{Dataset, Selection, find, parse_subjects};

use crate::failure::{Failure, Outcome};
use crate::output::Output;

#[derive(Debug, Args)]
#[command(after_help = "\
Files are kept in the folder that STIEFEL_DATA names, or else in the platform's folder for data
(Linux: ~/.local/share/stiefel). Files that MNE-Python or MOABB have fetched already (MNE_DATA,
~/mne_data) are used where they are.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the data sets
    List(list::Arguments),
    /// Describe one data set: subjects, channels, classes, licence, citation
    Info(info::Arguments),
    /// Download a data set, or the part of it that is missing
    Fetch(fetch::Arguments),
    /// Print the folder of a data set, or its files
    Path(path::Arguments),
    /// Write trials or covariances of any readable file as .npz
    Convert(convert::Arguments),
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        match self.action {
            Action::List(arguments) => arguments.run(output),
            Action::Info(arguments) => arguments.run(output),
            Action::Fetch(arguments) => arguments.run(output),
            Action::Path(arguments) => arguments.run(output),
            Action::Convert(arguments) => arguments.run(output),
        }
    }
}

/// A data set and the wanted part of it.
#[derive(Debug, Args)]
struct Wanted {
    /// The data set, as `stiefel data list` names it
    name: String,
    /// Subjects, counted from 1: 3, 1-5 or 1-3,7 [default: all]
    #[arg(long, value_name = "LIST")]
    subjects: Option<String>,
    /// Tasks, separated by commas; `all` for every task [default: the data set's first]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    task: Option<Vec<String>>,
}

impl Wanted {
    fn resolve(&self) -> Result<(&'static Dataset, Selection), Failure> {
        let dataset = find(&self.name)?;
        let mut selection = match &self.subjects {
            None => Selection::all(),
            Some(list) => Selection::subjects(parse_subjects(list)?),
        };
        if let Some(tasks) = &self.task {
            selection = selection.with_tasks(tasks.iter().map(String::as_str));
        }
        Ok((dataset, selection))
    }
}
