//! `stiefel stream`: decisions on a live signal, decoded as the model says.

mod samples;

use std::io::{BufReader, stdin};
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use serde_json::{Map, json};
use stiefel::data::{Estimator, Steps, View};
use stiefel::eeg::live::{Live, LiveConfig};
use stiefel::eeg::montage::canonical;
use stiefel::eeg::signal::{Band, Sos};
use stiefel::linalg::MatBatch;
use stiefel::model::{FittedModel, ModelError, Session};

use crate::decoding::UnseenArguments;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::source::{Part, band, load_for, window};
use samples::{Format, Samples};

/// What is whitened is called, where nobody says whose signal it is.
const UNNAMED: &str = "of the stream";

#[derive(Debug, Args)]
#[command(after_help = "\
Rate, band, window and estimator are those the model was trained with; an option that says something else is refused. Only a model of covariances
of unknown origin must be told: --rate, --band, --window and --estimator. The filter is causal: the Butterworth of the training, forwards only.

Input, one sample of all channels after the other, in microvolts:
  csv       a line per sample, numbers separated by commas, semicolons, tabs or blanks; a first line may name the channels
  f32, f64  binary, little-endian
Channels are picked by name and put in the order of the model; others are dropped.

Output: a JSON line per window, as soon as it is full:
  {\"time\": 3.0, \"sample\": 750, \"class\": \"feet\", \"probabilities\": {…}, \"routing\": […], \"milliseconds\": 0.4}
time and sample are those of the end of the window, milliseconds the time from the last sample's arrival to the decision.")]
pub(crate) struct Arguments {
    /// The model file
    model: PathBuf,
    /// Samples per second [default: the model's]
    #[arg(long, value_name = "HZ")]
    rate: Option<f64>,
    /// Names of the channels in the order of the input, separated by commas [default: the first line of csv, or the model's]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    channels: Option<Vec<String>>,
    /// How samples arrive
    #[arg(long, value_enum, default_value_t = Format::Csv)]
    format: Format,
    /// Samples taken in at a time
    #[arg(long, value_name = "SAMPLES", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    block: u32,
    /// The window of the training trials; windows of the stream are as long [default: the model's]
    #[arg(long, value_name = "FROM,TO", value_parser = window, allow_hyphen_values = true)]
    window: Option<[f64; 2]>,
    /// Seconds from one decision to the next
    #[arg(long, value_name = "SECONDS", default_value_t = 0.25)]
    hop: f64,
    /// Pass band in hertz [default: the model's]
    #[arg(long, value_name = "LOW,HIGH", value_parser = band)]
    band: Option<[f64; 2]>,
    /// The samples are filtered already, in the model's band
    #[arg(long, conflicts_with = "band")]
    filtered: bool,
    /// Covariance estimator: sample, ledoit-wolf, oas, schaefer-strimmer [default: the model's]
    #[arg(long, value_name = "NAME")]
    estimator: Option<Estimator>,
    /// The training domain whose signal it is; a domain the model does not know needs --unseen-whitening
    #[arg(long, value_name = "NAME")]
    domain: Option<String>,
    #[command(flatten)]
    unseen: UnseenArguments,
    /// Unlabelled trials of the new domain, for own-mean whitening and a nearest embedding
    #[arg(long, value_name = "SOURCE")]
    calibration: Option<String>,
}

/// What the live chain computes.
struct Chain {
    view: View,
    rate: f64,
    order: usize,
    estimator: Estimator,
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        let model = FittedModel::load(&self.model)?;
        let chain = self.chain(model.preparation().steps())?;
        let mut session = self.session(&model)?;
        let mut input = Samples::new(
            BufReader::new(stdin().lock()),
            self.format,
            self.block as usize,
        );
        let picks = self.picks(&model, &mut input)?;
        let mut live = self.live(&chain, picks.len())?;
        let (mut raw, mut block) = (Vec::new(), Vec::new());
        while input.next_block(&mut raw)? {
            let arrived = Instant::now();
            block.clear();
            for sample in raw.chunks_exact(input.channels()) {
                block.extend(picks.iter().map(|&c| sample[c]));
            }
            let mut outcome: Outcome = Ok(());
            live.push(&block, |window| {
                if outcome.is_ok() {
                    let at = (window.end, chain.rate, arrived);
                    outcome =
                        decision(&mut session, model.classes(), window.covariance, at, output);
                }
            })
            .map_err(|e| Failure::Failed(format!("{}: {e}", input.place())))?;
            outcome?;
        }
        Ok(())
    }

    /// Whose signal it is.
    fn session(&self, model: &FittedModel) -> Result<Session, Failure> {
        let unseen = self.unseen.policies(model)?;
        let name = self.domain.as_deref().unwrap_or(UNNAMED);
        let known = model.knows(name);
        if known && unseen.is_some() {
            return Err(Failure::Misuse(format!(
                "the model was trained on domain \"{name}\": --unseen-whitening is for others"
            )));
        }
        if known && self.calibration.is_some() {
            return Err(Failure::Misuse(format!(
                "the model was trained on domain \"{name}\": --calibration is for others"
            )));
        }
        let n = model.channels_count();
        let trials = match &self.calibration {
            Some(source) => {
                let trials = load_for(model, source, &Part::default(), false)?;
                model.accept(&trials)?.covariances().clone()
            }
            None => MatBatch::zeros(0, n, n),
        };
        let session = model.session(name, unseen.as_ref(), trials.view());
        session.map_err(|error| match error {
            ModelError::Empty { .. } if self.calibration.is_none() => {
                Failure::Misuse(format!("{error} (give them with --calibration)"))
            }
            other => other.into(),
        })
    }

    /// Where the channels of the model are in the input.
    fn picks(&self, model: &FittedModel, input: &mut Samples) -> Result<Vec<usize>, Failure> {
        let heading = input.heading()?;
        let own = model.channels().map(<[String]>::to_vec);
        let names = self.channels.clone().or(heading).or(own.clone());
        let n = model.channels_count();
        let (Some(names), Some(own)) = (names, own) else {
            input.set_channels(n)?;
            return Ok((0..n).collect());
        };
        input.set_channels(names.len())?;
        let key = |name: &String| canonical(name).to_lowercase();
        let have: Vec<String> = names.iter().map(key).collect();
        let place = |name: &String| {
            have.iter().position(|h| *h == key(name)).ok_or_else(|| {
                Failure::Misuse(format!(
                    "the model needs channel {name}; the input has {}",
                    names.join(", ")
                ))
            })
        };
        own.iter().map(place).collect()
    }

    /// The model's steps; what the options say must be the same, and everything where the model does not know.
    fn chain(&self, steps: Option<&Steps>) -> Result<Chain, Failure> {
        let Some(steps) = steps else {
            return self.told();
        };
        let broad = steps.broad();
        let span = |[a, b]: [f64; 2]| format!("{a},{b}");
        let said = [
            (
                "--rate",
                self.rate.map(|r| r.to_string()),
                steps.rate.to_string(),
            ),
            ("--band", self.band.map(span), span(broad.band)),
            ("--window", self.window.map(span), span(broad.window)),
            (
                "--estimator",
                self.estimator.map(|e| e.to_string()),
                steps.estimator.to_string(),
            ),
        ];
        for (option, given, own) in said {
            if let Some(given) = given.filter(|given| *given != own) {
                return Err(Failure::Misuse(format!(
                    "{option} {given}: the model was trained with {own}; leave the option out, or train a model on trials made that way"
                )));
            }
        }
        Ok(Chain {
            view: broad,
            rate: steps.rate,
            order: steps.order,
            estimator: steps.estimator,
        })
    }

    /// The chain of a model that was trained on covariances of unknown origin.
    fn told(&self) -> Result<Chain, Failure> {
        let missing = [
            ("--rate", self.rate.is_none()),
            (
                "--band (or --filtered)",
                self.band.is_none() && !self.filtered,
            ),
            ("--window", self.window.is_none()),
            ("--estimator", self.estimator.is_none()),
        ];
        let missing: Vec<&str> = missing.iter().filter(|m| m.1).map(|m| m.0).collect();
        match (self.rate, self.window, self.estimator) {
            (Some(rate), Some(window), Some(estimator)) if missing.is_empty() => Ok(Chain {
                view: View {
                    band: self.band.unwrap_or([0.0, rate]),
                    window,
                },
                rate,
                order: 4,
                estimator,
            }),
            _ => Err(Failure::Misuse(format!(
                "the model does not say how its training trials were made; give {}",
                missing.join(", ")
            ))),
        }
    }

    /// Filter, window and covariance.
    fn live(&self, chain: &Chain, channels: usize) -> Result<Live, Failure> {
        let misuse = |e: stiefel::eeg::EegError| Failure::Misuse(e.to_string());
        let ([low, high], [from, to]) = (chain.view.band, chain.view.window);
        let filter = if self.filtered {
            None
        } else {
            let sos = Sos::butterworth(chain.order, Band::BandPass(low, high), chain.rate);
            Some(sos.map_err(misuse)?)
        };
        let samples = |seconds: f64| (seconds * chain.rate).round_ties_even() as usize;
        let config = LiveConfig {
            channels,
            filter,
            window: samples(to - from),
            hop: samples(self.hop),
            estimator: chain.estimator,
        };
        Live::new(config).map_err(misuse)
    }
}

/// Decides one window and prints the line.
fn decision(
    session: &mut Session,
    classes: &[String],
    covariance: &[f64],
    (end, rate, arrived): (u64, f64, Instant),
    output: &mut Output,
) -> Outcome {
    let decision = session
        .decide(covariance)
        .map_err(|e| Failure::Failed(format!("window that ends at sample {end}: {e}")))?;
    let p = decision.probabilities.iter().map(|p| json!(p));
    let named = classes.iter().cloned().zip(p);
    let mut line = json!({
        "time": end as f64 / rate,
        "sample": end,
        "class": classes[decision.class],
        "probabilities": named.collect::<Map<_, _>>(),
    });
    if let Some(routing) = decision.routing {
        line["routing"] = json!(routing);
    }
    line["milliseconds"] = json!(arrived.elapsed().as_secs_f64() * 1e3);
    output.line(&line.to_string())
}
