//! `stiefel data convert`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use stiefel::eeg::io::{Content, ReadOptions, Source, read_with, write_epochs, write_trials};

use crate::failure::{Failure, Outcome};
use crate::output::Output;

#[derive(Debug, Args)]
#[command(after_help = "\
Trials (.npy, .npz, MATLAB of Weibo 2014) and covariances (.npy, .npz) are written with the arrays \
                        X, y, subject,
run, ch_names and sfreq, which NumPy reads. Continuous recordings become trials with `stiefel \
                        prepare`.")]
pub(crate) struct Arguments {
    /// The file to read
    input: PathBuf,
    /// The .npz file to write
    output: PathBuf,
    /// Samples per second, if the file does not say it
    #[arg(long, value_name = "HZ")]
    rate: Option<f64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        if self.output.extension().is_none_or(|e| e != "npz") {
            return Err(Failure::Misuse(format!(
                "{}: the name of the output must end in .npz",
                self.output.display()
            )));
        }
        let options = ReadOptions {
            sampling_rate: self.rate,
            ..ReadOptions::default()
        };
        let content = read_with(Source::open(&self.input)?, &options)?;
        let kind = content.kind();
        let (trials, channels) = match &content {
            Content::Trials(trials) => {
                write_trials(&self.output, trials)?;
                (trials.len(), trials.channels_count())
            }
            Content::Epochs(epochs) => {
                write_epochs(&self.output, epochs)?;
                (epochs.trials().len(), epochs.channels().len())
            }
            Content::Recordings(_) => {
                return Err(Failure::Failed(format!(
                    "{} holds continuous recordings; cut and filter them with: stiefel prepare {} \
                     --classes … -o {}",
                    self.input.display(),
                    self.input.display(),
                    self.output.display()
                )));
            }
        };
        if self.json {
            return output.json(&json!({
                "kind": kind, "trials": trials, "channels": channels, "output": self.output,
            }));
        }
        output.line(&format!(
            "{}: {kind}, {trials} trials of {channels} channels",
            self.output.display()
        ))
    }
}
