//! `stiefel stream`: decisions on samples that arrive on the standard input; `live --from stdin` with a say in how they are written.

use std::io::{BufReader, stdin};
use std::path::PathBuf;

use clap::Args;
use stiefel::live::source::{Samples, SamplesOptions};
use stiefel::model::FittedModel;

use super::live::{Deciding, Sinks, Written, channels, decide};
use crate::failure::Outcome;
use crate::output::Output;

#[derive(Debug, Args)]
#[command(after_help = "\
Rate, bands, windows and estimator are those the model was trained with; an option that says something else is refused. A model that was
trained on covariances of unknown origin does not know them and needs --rate, --band, --window and --estimator. The filter is that of the training, forwards only.

Input: all channels of the first sample, then of the second, and so on, in the unit of the model (microvolts):
  csv       a line per sample, numbers separated by commas, semicolons, tabs or blanks; a first line may name the channels
  f32, f64  binary, little-endian
The format is recognised from the first bytes. Channels are picked by name and put in the order of the model; others are dropped.

Output: a JSON line for every window, with the status decided, undecided, unfamiliar or rejected; the last line is a summary:
  {\"type\": \"window\", \"time\": 3.0, \"sample\": 750, \"status\": \"decided\", \"class\": \"feet\", \"probabilities\": {…}, \"milliseconds\": 0.4, …}
time and sample are those of the end of the window; milliseconds is the time from the arrival of the last sample to the decision. The documentation has the schema (docs/live.md).")]
pub(crate) struct Arguments {
    /// The model file
    model: PathBuf,
    /// Names of the channels in the order of the input, separated by commas [default: the first line of csv, or the model's]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    channels: Option<Vec<String>>,
    /// How samples are written [default: recognised from the first bytes]
    #[arg(long, value_enum)]
    format: Option<Written>,
    /// Samples read at a time
    #[arg(long, value_name = "SAMPLES", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    block: u32,
    /// The column of csv that holds markers: a label where something happens, empty or 0 elsewhere
    #[arg(long, value_name = "NAME")]
    markers: Option<String>,
    #[command(flatten)]
    deciding: Deciding,
    #[command(flatten)]
    sinks: Sinks,
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        let model = FittedModel::load(&self.model)?;
        // What is wrong without a look at the input is said before waiting for it.
        let made = self.deciding.preparation(&model, None)?;
        self.deciding.session(&model)?;
        let options = SamplesOptions {
            format: self.format.map(Into::into),
            names: self.channels.clone(),
            own: channels(&model),
            block: self.block as usize,
            markers: self.markers.clone(),
            rate: Some(made.rate()),
            unit: made.unit,
        };
        let mut input = Samples::new(BufReader::new(stdin().lock()), &options)?;
        let cued = self.markers.is_some();
        decide(
            &model,
            &self.deciding,
            &self.sinks,
            &mut input,
            cued,
            None,
            &|_| Ok(()),
            output,
        )
    }
}
