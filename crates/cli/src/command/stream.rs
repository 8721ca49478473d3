//! `stiefel stream`: decisions on a live signal.

mod samples;

use std::io::{BufReader, stdin};
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use serde_json::{Map, json};
use stiefel::eeg::covariance::Estimator;
use stiefel::eeg::live::{Live, LiveConfig};
use stiefel::eeg::montage::canonical;
use stiefel::eeg::signal::{Band, Sos};
use stiefel::linalg::MatBatch;
use stiefel::study::DataChoice;

use crate::decoding::{AnyDecoder, Handle, Unseen, Whose};
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::source::pair;
use samples::{Format, Samples};

#[derive(Debug, Args)]
#[command(after_help = "\
Input, one sample of all channels after the other, in microvolts:
  csv       a line per sample, numbers separated by commas, semicolons, tabs or blanks; a first line may name the channels
  f32, f64  binary, little-endian
Channels are picked by name and put in the order of the model; others are dropped. The filter is causal: the same Butterworth
as in training, forward only.

Output: a JSON line per window, as soon as it is full:
  {\"time\": 3.0, \"sample\": 750, \"class\": \"feet\", \"probabilities\": {…}, \"routing\": […], \"milliseconds\": 0.4}
time and sample are those of the end of the window, milliseconds the time from the last sample's arrival to the decision.")]
pub(crate) struct Arguments {
    /// The model file
    model: PathBuf,
    /// Samples per second
    #[arg(long, value_name = "HZ")]
    rate: f64,
    /// Names of the channels in the order of the input, separated by commas [default: the first line of csv, or the model's]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    channels: Option<Vec<String>>,
    /// How samples arrive
    #[arg(long, value_enum, default_value_t = Format::Csv)]
    format: Format,
    /// Samples taken in at a time
    #[arg(long, value_name = "SAMPLES", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    block: u32,
    /// Length of a window in seconds: that of the training trials
    #[arg(long, value_name = "SECONDS", default_value_t = 3.0)]
    window: f64,
    /// Seconds from one decision to the next
    #[arg(long, value_name = "SECONDS", default_value_t = 0.25)]
    hop: f64,
    /// Pass band in hertz; `off` for samples that are filtered already
    #[arg(long, value_name = "LOW,HIGH", default_value = "8,32")]
    band: String,
    /// Covariance estimator: sample, ledoit-wolf, oas, schaefer-strimmer
    #[arg(long, value_name = "NAME", default_value = "sample")]
    estimator: Estimator,
    /// The training domain whose signal it is; a domain the model does not know needs --unseen-whitening
    #[arg(long, value_name = "NAME")]
    domain: Option<String>,
    #[command(flatten)]
    unseen: Unseen,
    /// Unlabelled trials of the new domain, for own-mean whitening and a nearest embedding
    #[arg(long, value_name = "SOURCE")]
    calibration: Option<String>,
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        let mut decoder = AnyDecoder::load(&self.model)?;
        let mut handle = self.handle(&decoder)?;
        let mut input = Samples::new(
            BufReader::new(stdin().lock()),
            self.format,
            self.block as usize,
        );
        let picks = self.picks(&decoder, &mut input)?;
        let mut live = self.chain(picks.len())?;
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
                    let whose = match (&mut handle, &self.domain) {
                        (Some(handle), _) => Whose::Unseen(handle),
                        // The handle is made wherever no training domain is named.
                        (None, name) => Whose::Named(name.as_deref().unwrap_or_default()),
                    };
                    outcome = decision(
                        &mut decoder,
                        window.covariance,
                        whose,
                        window.end,
                        self.rate,
                        arrived,
                        output,
                    );
                }
            })
            .map_err(|e| Failure::Failed(format!("{}: {e}", input.place())))?;
            outcome?;
        }
        Ok(())
    }

    /// The policies of a new domain; none where the domain is one of the training's.
    fn handle(&self, decoder: &AnyDecoder) -> Result<Option<Handle>, Failure> {
        self.unseen.check(decoder)?;
        if let Some(name) = self.domain.as_ref().filter(|d| decoder.knows(d)) {
            if self.unseen.whitening.is_some() {
                return Err(Failure::Misuse(format!(
                    "the model was trained on domain \"{name}\": --unseen-whitening is for others"
                )));
            }
            return Ok(None);
        }
        let name = self.domain.as_deref().unwrap_or("of the stream");
        let policies = self.unseen.policies(decoder, name)?;
        let n = decoder.channels_count();
        let trials = match &self.calibration {
            Some(source) => {
                let data = decoder.load_data(source, DataChoice::default())?;
                data.trials.covariances().clone()
            }
            None => MatBatch::zeros(0, n, n),
        };
        let adapted = decoder.adapt(&trials, policies);
        adapted.map(Some).map_err(|e| match e {
            Failure::Failed(message) if self.calibration.is_none() => {
                Failure::Misuse(format!("{message} (give them with --calibration)"))
            }
            other => other,
        })
    }

    /// Where the channels of the model are in the input.
    fn picks(&self, decoder: &AnyDecoder, input: &mut Samples) -> Result<Vec<usize>, Failure> {
        let heading = input.heading()?;
        let own = decoder.channels().map(<[String]>::to_vec);
        let names = self.channels.clone().or(heading).or(own.clone());
        let n = decoder.channels_count();
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

    /// Filter, window and covariance.
    fn chain(&self, channels: usize) -> Result<Live, Failure> {
        let misuse = |e: stiefel::eeg::EegError| Failure::Misuse(e.to_string());
        let filter = match self.band.as_str() {
            "off" | "none" => None,
            text => {
                let [low, high] =
                    pair(text).map_err(|e| Failure::Misuse(format!("--band {text}: {e}")))?;
                let band = Band::BandPass(low, high);
                Some(Sos::butterworth(4, band, self.rate).map_err(misuse)?)
            }
        };
        let samples = |seconds: f64| (seconds * self.rate).round() as usize;
        let config = LiveConfig {
            channels,
            filter,
            window: samples(self.window),
            hop: samples(self.hop),
            estimator: self.estimator,
        };
        Live::new(config).map_err(misuse)
    }
}

/// Decides one window and prints the line.
fn decision(
    decoder: &mut AnyDecoder,
    covariance: &[f64],
    whose: Whose<'_>,
    end: u64,
    rate: f64,
    arrived: Instant,
    output: &mut Output,
) -> Outcome {
    let classes = decoder.classes().to_vec();
    let decision = decoder
        .decide(covariance, whose)
        .map_err(|e| Failure::Failed(format!("window that ends at sample {end}: {e}")))?;
    let named = classes
        .iter()
        .cloned()
        .zip(decision.probabilities.iter().map(|p| json!(p)));
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
