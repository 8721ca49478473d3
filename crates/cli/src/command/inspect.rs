//! `stiefel inspect`: what is in a file, a folder, a data set or a model.

mod dataset;
mod folder;
mod model;
mod quality;
mod signals;

use std::io::Read;
use std::path::Path;

use clap::Args;
use serde_json::Value;
use stiefel::eeg::io::{Content, Source, read_with};
use stiefel::eeg::part_of_file;
use stiefel::model::FittedModel;

use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::reading::Reading;
use crate::source::{Part, load_to_show};

#[derive(Debug, Args)]
#[command(after_help = "\
Recordings: channels, rate, duration, events, what the reader left out or assumed, and the
amplitudes of the electrodes (largest minus smallest value within three seconds) with what is
wrong with them. A folder: a line for every file, with a short reason where a file cannot be read;
-v gives the whole reason. Trials: numbers per domain and class. Covariances, data sets and
synthetic:…: trials per domain and class, rejected trials, rank and condition of each domain's
mean, median condition of its trials, amplitudes by person (of one person: by electrode) and what
is wrong, the command that trains a model on them, and the sizes that the scaling rule gives a
routed network (`stiefel train --model dasp`), each with its reason. Models: kind, classes,
domains and training.")]
pub(crate) struct Arguments {
    /// A file, a folder of recordings, a public data set, or synthetic:…
    source: String,
    #[command(flatten)]
    part: Part,
    #[command(flatten)]
    reading: Reading,
    /// Print the recipe of a model or a dataset file, as `stiefel prepare --config` reads it
    #[arg(long, conflicts_with = "json")]
    recipe: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A description for people and one for machines.
struct Description {
    text: String,
    value: Value,
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        if self.recipe {
            return output.line(self.recipe()?.trim_end());
        }
        let description = self.describe()?;
        if self.json {
            output.json(&description.value)
        } else {
            output.line(description.text.trim_end())
        }
    }

    /// Returns the recipe of a model or of trials as a configuration of `prepare`.
    fn recipe(&self) -> Result<String, Failure> {
        self.whole("a recipe")?;
        self.without_reading("a recipe")?;
        let path = Path::new(&self.source);
        let preparation = if is_model(path) {
            FittedModel::load(path)?.preparation().clone()
        } else {
            load_to_show(&self.source, &Part::default().selection())?
                .preparation()
                .clone()
        };
        let Some(recipe) = preparation.recipe() else {
            return Err(Failure::Misuse(format!(
                "{}: it is not known how its covariances were made",
                self.source
            )));
        };
        let text = toml::to_string(recipe).map_err(|e| Failure::Failed(e.to_string()))?;
        Ok(format!("[prepare]\n{text}"))
    }

    /// Refuses a part of what is described as a whole.
    fn whole(&self, what: &str) -> Outcome {
        if self.part == Part::default() {
            return Ok(());
        }
        let options = "--subjects, --classes and --channels";
        Err(self.useless(options, &format!("{what}, which is described as a whole")))
    }

    /// Refuses options of reading where no recording is read.
    fn without_reading(&self, what: &str) -> Outcome {
        if self.reading == Reading::default() {
            return Ok(());
        }
        let options = "--partial, --sampling-rate, --markers, --mat, --stream and --max-expanded";
        Err(self.useless(options, &format!("{what}: they are about recordings")))
    }

    fn useless(&self, options: &str, of: &str) -> Failure {
        Failure::Misuse(format!("{}: {options} cannot apply to {of}", self.source))
    }

    fn describe(&self) -> Result<Description, Failure> {
        let path = Path::new(&self.source);
        if path.is_dir() {
            self.whole("a folder")?;
            return folder::describe(path, &self.reading.options()?);
        }
        if path.exists() && !path.is_file() {
            Source::open(path)?;
        }
        if !path.is_file() {
            self.without_reading("a data set")?;
            let trials = load_to_show(&self.source, &self.part.selection())?;
            return dataset::describe(&self.source, &trials);
        }
        if is_model(path) {
            self.whole("a model")?;
            self.without_reading("a model")?;
            return model::describe(path);
        }
        let options = self.reading.options()?;
        match read_with(Source::open(path)?, &options)? {
            Content::Recordings(recordings) => {
                self.whole("a recording")?;
                Ok(signals::recordings(path, &recordings))
            }
            Content::Epochs(epochs) => {
                self.whole("trials of signals")?;
                Ok(signals::epochs(path, &epochs))
            }
            Content::Trials(trials) => {
                let trials = part_of_file(path, trials, &self.part.selection())?;
                dataset::describe(&self.source, &trials)
            }
        }
    }
}

/// Whether a file starts like a model: the length of a JSON header, then the header.
fn is_model(path: &Path) -> bool {
    let mut head = [0; 9];
    let read = std::fs::File::open(path).and_then(|mut f| f.read_exact(&mut head));
    let [length @ .., brace] = head;
    let size = std::fs::metadata(path).map_or(0, |m| m.len());
    read.is_ok() && brace == b'{' && u64::from_le_bytes(length) < size
}
