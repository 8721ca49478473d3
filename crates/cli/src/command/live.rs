//! `stiefel live`: a model at work on a running signal.

mod deciding;
mod output;

use std::io::{BufReader, stdin};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use stiefel::eeg::recipe::LabelledRecording;
use stiefel::live::lsl::Query;
use stiefel::live::source::{
    Format, LslOptions, LslSource, Replay, Samples, SamplesOptions, Source, Speed, connect,
};
use stiefel::live::{Calibration, Options, Session, Sink, Summary, offline, run};
use stiefel::model::FittedModel;

use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::output::Output;
use crate::source::check_output;
use crate::voice::{note, say};
use deciding::Deciding;
use output::{Sinks, ToOutput};

#[derive(Debug, Args)]
#[command(after_help = "\
Where the signal comes from:
  stdin           samples on the standard input
  tcp:HOST:PORT   samples from a sender that listens there
  replay:FILE     a recording in any readable format, played again; its events are cues
  lsl:WHICH       a stream of the Lab Streaming Layer: type=EEG, name=NAME or source_id=ID

Samples are all channels of the first sample, then of the second, and so on, in the unit of the
model (microvolts): text with a line per sample, numbers separated by commas, semicolons, tabs or
blanks, where a first line may name the channels; or little-endian numbers of four (f32) or eight
bytes (f64). The format is recognised. Channels are picked by name and put in the order of the
model; others are dropped.

Rate, bands, windows, channels, unit and estimator are those the model was trained with; a stream
or an option that says something else is refused. A model that was trained on covariances of \
                        unknown
origin needs --rate, --band, --window and --estimator. The filter is causal. With cues (events of
the recording, --markers) windows are those of the training trials; otherwise a window ends every
--hop seconds.

Output: a JSON line for every window, with the status decided, undecided, unfamiliar or rejected:
  {\"type\": \"window\", \"time\": 3.0, \"sample\": 750, \"status\": \"decided\", \"class\": \
                        \"feet\", …}
time and sample are those of the end of the window. The last line is a summary, which is also
printed in words. The documentation has the schema (docs/live.md).")]
pub(crate) struct Arguments {
    /// The model file
    model: PathBuf,
    /// Where the signal comes from: stdin, tcp:HOST:PORT, replay:FILE or lsl:WHICH
    #[arg(long, value_name = "SOURCE")]
    from: String,
    /// The LSL stream that has the markers: lsl:WHICH; or the column of text on the standard input
    /// or from TCP
    #[arg(long, value_name = "SOURCE")]
    markers: Option<String>,
    /// Names of the channels of samples, in their order, separated by commas [default: the first
    /// line of text, or the model's]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    channels: Option<Vec<String>>,
    /// How samples are written [default: recognised from the first bytes]
    #[arg(long, value_enum)]
    format: Option<Written>,
    /// Samples read at a time [default: 1]
    #[arg(long, value_name = "SAMPLES", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    block: Option<u32>,
    /// How fast a recording is played: 2 is twice as fast as it was recorded, max as fast as
    /// possible
    #[arg(long, value_name = "TIMES", value_parser = speed)]
    speed: Option<Speed>,
    /// Play a recording this many times, with a gap between
    #[arg(long, value_name = "TIMES", value_parser = clap::value_parser!(u64).range(1..))]
    repeat: Option<u64>,
    /// Seconds to look for LSL streams
    #[arg(long, value_name = "SECONDS")]
    wait: Option<f64>,
    /// Learn from the labelled cues of --domain, each after it was decided, and write the
    /// calibrated model to this file
    #[arg(long, value_name = "FILE")]
    calibrate: Option<PathBuf>,
    /// Replace the file of --calibrate where it exists
    #[arg(long, requires = "calibrate")]
    overwrite: bool,
    #[command(flatten)]
    deciding: Deciding,
    #[command(flatten)]
    sinks: Sinks,
}

fn speed(text: &str) -> Result<Speed, String> {
    match text.parse::<f64>() {
        _ if text == "max" => Ok(Speed::Max),
        Ok(times) if times > 0.0 && times.is_finite() => Ok(Speed::Times(times)),
        _ => Err("give a number above 0, or max".into()),
    }
}

/// A source of samples on the command line.
enum From {
    Stdin,
    Tcp(String),
    Replay(PathBuf),
    Lsl(Query),
}

/// A source, opened.
struct Opened {
    source: Box<dyn Source>,
    options: Options,
    /// The recordings that are played, where their trials can be decided offline too.
    played: Option<Arc<[LabelledRecording]>>,
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        let from = self.source()?;
        let model = FittedModel::load(&self.model)?;
        if let Some(path) = &self.calibrate {
            check_output(path, self.overwrite)?;
            if self.deciding.named().is_none() {
                return Err(Failure::Misuse(
                    "--calibrate needs the name of the person who is recorded; give it with \
                     --domain"
                        .into(),
                ));
            }
        }
        // What is wrong without a look at the signal is said before waiting for it.
        self.deciding.session(&model)?;
        let unseen = self.deciding.unseen(&model)?;
        let mut calibration = (self.calibrate.as_ref())
            .map(|_| Calibration::new(&model, self.deciding.domain(), unseen.as_ref()));
        let Opened {
            mut source,
            options,
            played,
        } = self.open(&from, &model)?;
        let offline = |summary: &mut Summary| -> Outcome {
            let Some(played) = &played else { return Ok(()) };
            let (domain, made) = (
                self.deciding.domain(),
                self.deciding.preparation(&model, None)?,
            );
            let decided = offline(&model, &made, played, domain, unseen.as_ref())?;
            summary.with_offline(&decided);
            Ok(())
        };
        decide(
            &model,
            &self.deciding,
            &self.sinks,
            &mut *source,
            options,
            calibration.as_mut(),
            &offline,
            output,
        )?;
        self.write(calibration.as_ref())
    }

    /// Opens the source; its cues say when to decide, where it has some.
    fn open(&self, from: &From, model: &FittedModel) -> Result<Opened, Failure> {
        let of_stream = |source: Box<dyn Source>| Opened {
            source,
            options: self.deciding.options(self.markers.is_some()),
            played: None,
        };
        Ok(match from {
            From::Stdin | From::Tcp(_) => {
                let made = self.deciding.preparation(model, None)?;
                let options = SamplesOptions {
                    format: self.format.map(Into::into),
                    names: self.channels.clone(),
                    own: channels(model),
                    block: self.block.unwrap_or(1) as usize,
                    markers: self.markers.clone(),
                    rate: Some(made.rate()),
                    unit: made.unit,
                };
                let samples = match from {
                    From::Tcp(address) => Samples::new(connect(address)?, &options)?,
                    _ => Samples::new(BufReader::new(stdin().lock()), &options)?,
                };
                of_stream(Box::new(samples))
            }
            From::Replay(path) => {
                let speed = self.speed.unwrap_or(Speed::Times(1.0));
                let made = self.deciding.preparation(model, None)?;
                let repeat = self.repeat.unwrap_or(1);
                let replay = Replay::open(path, &made, speed)?.repeated(repeat);
                let cueless = replay.without_cue();
                let mut options = self.deciding.options(cueless.is_none());
                options.class_cues = false;
                if let (Some(events), Some(hop)) = (&cueless, options.hop) {
                    let path = path.display();
                    note(&format!(
                        "no event of {path} is a cue ({events}); a window ends every {hop} s"
                    ));
                }
                let played = (repeat == 1 && cueless.is_none()).then(|| replay.recordings());
                Opened {
                    source: Box::new(replay),
                    options,
                    played,
                }
            }
            From::Lsl(query) => {
                let options = LslOptions {
                    samples: query.clone(),
                    markers: self.markers.as_deref().map(marker_stream).transpose()?,
                    timeout: self.wait.unwrap_or(10.0),
                };
                of_stream(Box::new(LslSource::new(&self.sinks.lsl()?, options)?))
            }
        })
    }

    fn source(&self) -> Result<From, Failure> {
        let from = match self.from.split_once(':') {
            None if self.from == "stdin" => From::Stdin,
            Some(("tcp", address)) if address.contains(':') => From::Tcp(address.to_owned()),
            Some(("replay", path)) if !path.is_empty() => From::Replay(path.into()),
            Some(("lsl", query)) => From::Lsl(query.parse()?),
            _ => {
                return Err(Failure::Misuse(format!(
                    "--from {}: give stdin, tcp:HOST:PORT, replay:FILE or lsl:WHICH, for example \
                     lsl:type=EEG",
                    self.from
                )));
            }
        };
        let replay = matches!(from, From::Replay(_));
        let lsl = matches!(from, From::Lsl(_));
        let samples = matches!(from, From::Stdin | From::Tcp(_));
        let written = "samples from stdin or tcp";
        let applies = [
            ("--channels", self.channels.is_some(), samples, written),
            ("--format", self.format.is_some(), samples, written),
            ("--block", self.block.is_some(), samples, written),
            (
                "--speed",
                self.speed.is_some(),
                replay,
                "a recording that is played",
            ),
            (
                "--repeat",
                self.repeat.is_some(),
                replay,
                "a recording that is played",
            ),
            ("--wait", self.wait.is_some(), lsl, "LSL streams"),
            (
                "--markers",
                self.markers.is_some(),
                !replay,
                "streams; the events of a recording are its markers",
            ),
        ];
        match applies
            .iter()
            .find(|(_, given, applies, _)| *given && !applies)
        {
            Some((option, _, _, what)) => Err(Failure::Misuse(format!(
                "{option} is for {what}; leave it out"
            ))),
            None => Ok(from),
        }
    }

    /// Writes the calibrated model.
    fn write(&self, calibration: Option<&Calibration>) -> Outcome {
        let (Some(path), Some(calibration)) = (&self.calibrate, calibration) else {
            return Ok(());
        };
        let Some(model) = calibration.model() else {
            return Err(Failure::Failed(format!(
                "no model was written: labelled trials of every class are needed, but there were \
                 {:?}",
                calibration.counts()
            )));
        };
        model.save(path, self.overwrite)?;
        let count: usize = calibration.counts().iter().sum();
        say(&format!(
            "{}: calibrated with {count} labelled trials",
            path.display()
        ));
        Ok(())
    }
}

fn marker_stream(text: &str) -> Result<Query, Failure> {
    let query = text.strip_prefix("lsl:").ok_or_else(|| {
        Failure::Misuse(format!(
            "--markers {text}: the markers of an LSL stream come from another LSL stream; give \
             it, for example lsl:type=Markers"
        ))
    })?;
    Ok(query.parse()?)
}

/// The channels of the model, numbered where they have no names.
fn channels(model: &FittedModel) -> Vec<String> {
    let numbered = || (1..=model.channel_count()).map(|i| i.to_string()).collect();
    model.channels().map_or_else(numbered, <[String]>::to_vec)
}

/// From the first sample to the last, and the summary, which `complete` may add to.
fn decide(
    model: &FittedModel,
    deciding: &Deciding,
    sinks: &Sinks,
    source: &mut dyn Source,
    options: Options,
    calibration: Option<&mut Calibration>,
    complete: &dyn Fn(&mut Summary) -> Outcome,
    output: &mut Output,
) -> Outcome {
    let made = deciding.preparation(model, Some(source.description()))?;
    let decider = deciding.session(model)?;
    let mut session = Session::new(model, decider, &made, source.description(), options)?;
    for text in session.notes() {
        note(&text);
    }
    let mut outlet = sinks.outlet(model.classes())?;
    let mut page = sinks.page(&session)?;
    let stop = interrupt::cancel()?;
    let mut lines = ToOutput(output);
    let mut all: Vec<&mut dyn Sink> = vec![&mut lines];
    all.extend(outlet.as_mut().map(|o| o as &mut dyn Sink));
    all.extend(page.as_mut().map(|p| p as &mut dyn Sink));
    let mut summary = run(&mut session, source, &mut all, calibration, &|| {
        stop.is_cancelled()
    })?;
    if summary.windows == 0 && !stop.is_cancelled() {
        let timing = session.timing();
        if summary.samples == 0 {
            return Err(Failure::Failed(
                "the input is empty: there is no sample to decide".into(),
            ));
        }
        return Err(Failure::Failed(format!(
            "the input ended after {} samples ({:.1} s), before a window was full; a window takes \
             {} samples ({:.1} s), and the filter must settle before it",
            summary.samples,
            summary.samples as f64 / timing.rate,
            timing.span(),
            timing.span() as f64 / timing.rate
        )));
    }
    complete(&mut summary)?;
    say(&summary.to_string());
    for sink in all {
        sink.finish(&summary)?;
    }
    Ok(())
}

/// How samples on the standard input are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Written {
    /// A line per sample
    Csv,
    /// Binary, four bytes per value
    F32,
    /// Binary, eight bytes per value
    F64,
}

impl std::convert::From<Written> for Format {
    fn from(written: Written) -> Self {
        match written {
            Written::Csv => Self::Csv,
            Written::F32 => Self::F32,
            Written::F64 => Self::F64,
        }
    }
}
