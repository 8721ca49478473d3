//! Whose signal it is, how it was recorded, and when a decision counts.

use clap::Args;
use stiefel::data::{Estimator, Phase, Provenance, Recipe, Trials, View};
use stiefel::live::{Description, Options};
use stiefel::model::{AdaptPolicy, DecisionSession, FittedModel, ModelError};

use crate::decoding::AdaptArguments;
use crate::failure::Failure;
use crate::source::{Part, band, load_for, window};

/// What somebody is called whom nobody named.
const UNNAMED: &str = "of the stream";

/// Seconds from one decision to the next, where there are no cues.
const HOP: f64 = 0.25;

#[derive(Debug, Args)]
pub(crate) struct Deciding {
    /// The domain whose signal it is; a domain that the model was not trained on needs --adapt
    #[arg(long, value_name = "NAME")]
    domain: Option<String>,
    #[command(flatten)]
    unseen: AdaptArguments,
    /// Unlabelled trials of the new domain, for own-mean whitening and a nearest embedding
    #[arg(long, value_name = "SOURCE")]
    calibration: Option<String>,
    /// Learn nothing from unlabelled windows: the running mean of causal whitening stays as it is
    #[arg(long)]
    freeze: bool,
    /// Seconds from one decision to the next [default: 0.25; where there are cues, at cues only]
    #[arg(long, value_name = "SECONDS")]
    hop: Option<f64>,
    /// The smallest probability with which a class is decided; windows below it are "undecided"
    #[arg(long, value_name = "P")]
    threshold: Option<f64>,
    /// Time constant of the evidence over time, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    time_constant: f64,
    /// A window is "unfamiliar" when it lies more than this many times as far from the mean of its
    /// domain as 99 % of the training trials do: a number, or off
    #[arg(long, value_name = "LIMIT", default_value = "1.5", value_parser = limit)]
    unfamiliar: Limit,
    /// Labels of markers that are cues without a class, separated by commas; labels of the model's
    /// classes always are cues
    #[arg(long, value_name = "LABELS", value_delimiter = ',')]
    cues: Vec<String>,
    /// Samples per second [default: the model's]
    #[arg(long, value_name = "HZ")]
    rate: Option<f64>,
    /// Pass band in hertz [default: the model's]
    #[arg(long, value_name = "LOW,HIGH", value_parser = band)]
    band: Option<[f64; 2]>,
    /// The samples are filtered already, in the model's band
    #[arg(long, conflicts_with = "band")]
    filtered: bool,
    /// The window of the training trials; windows of the stream have the same length [default: the
    /// model's]
    #[arg(long, value_name = "FROM,TO", value_parser = window, allow_hyphen_values = true)]
    window: Option<[f64; 2]>,
    /// Covariance estimator: sample, ledoit-wolf, oas, schaefer-strimmer [default: the model's]
    #[arg(long, value_name = "NAME")]
    estimator: Option<Estimator>,
}

/// A limit, or none.
#[derive(Debug, Clone, Copy)]
struct Limit(Option<f64>);

fn limit(text: &str) -> Result<Limit, String> {
    match text.parse::<f64>() {
        _ if text == "off" => Ok(Limit(None)),
        Ok(limit) if limit > 0.0 && limit.is_finite() => Ok(Limit(Some(limit))),
        _ => Err("give a number above 0, or off".into()),
    }
}

impl Deciding {
    /// Whose signal it is.
    pub(super) fn domain(&self) -> &str {
        self.domain.as_deref().unwrap_or(UNNAMED)
    }

    /// The name of the domain, where somebody gave one.
    pub(super) fn named(&self) -> Option<&str> {
        self.domain.as_deref()
    }

    /// What is done for a domain without training trials.
    pub(super) fn unseen(&self, model: &FittedModel) -> Result<Option<AdaptPolicy>, Failure> {
        self.unseen.policies(model)
    }

    /// When a decision counts; `cued` says whether cues tell when to decide.
    pub(crate) fn options(&self, cued: bool) -> Options {
        Options {
            hop: self.hop.or((!cued).then_some(HOP)),
            threshold: self.threshold,
            time_constant: self.time_constant,
            unfamiliar: self.unfamiliar.0,
            freeze: self.freeze,
            cues: self.cues.clone(),
            filtered: self.filtered,
            ..Options::default()
        }
    }

    /// Decisions for whose signal it is.
    pub(crate) fn session(&self, model: &FittedModel) -> Result<DecisionSession, Failure> {
        let unseen = self.unseen(model)?;
        let name = self.domain();
        let known = model.knows(name);
        if self.domain.is_none() && unseen.is_none() {
            return Err(Failure::Misuse(format!(
                "whose signal is it? Give --domain with one of {}; for somebody else --adapt says \
                 what whitens the signal (causal learns it as it goes)",
                model.known_domains().join(", ")
            )));
        }
        // Somebody who is known from calibration alone goes on learning: as they go, or from
        // unlabelled trials that are given.
        let given = self.calibration.is_some();
        let heeded = (unseen.as_ref()).is_some_and(|u| model.policy_applies(name, u, given));
        if unseen.is_some() && !heeded {
            let why = if model.is_calibrated(name) {
                "the model was calibrated for domain \"{name}\"; only causal whitening, or \
                 own-mean with --calibration, goes on learning from unlabelled signal"
            } else {
                "the model was trained on domain \"{name}\"; --adapt is for other domains, leave \
                 it out"
            };
            return Err(Failure::Misuse(why.replace("{name}", name)));
        }
        if known && !heeded && self.calibration.is_some() {
            return Err(Failure::Misuse(format!(
                "the model was trained on domain \"{name}\"; --calibration is for other domains, \
                 leave it out"
            )));
        }
        if self.freeze && !unseen.as_ref().is_some_and(AdaptPolicy::is_causal) {
            return Err(Failure::Misuse(
                "--freeze keeps the running mean of causal whitening as it is; without causal \
                 whitening nothing learns from unlabelled windows, so leave it out"
                    .into(),
            ));
        }
        let trials = match &self.calibration {
            Some(source) => {
                let trials = load_for(model, source, &Part::default(), false)?;
                Some(model.accept(&trials)?)
            }
            None => None,
        };
        let seen = trials.as_ref().map(Trials::matrices).unwrap_or_default();
        let session = model.session(name, unseen.as_ref(), &seen);
        session.map_err(|error| match error {
            ModelError::Empty { .. } if self.calibration.is_none() => {
                Failure::Misuse(format!("{error} (give them with --calibration)"))
            }
            other => other.into(),
        })
    }

    /// Returns how the model's trials were made; what the options say must be the same, and
    /// everything where the model does not know.
    pub(crate) fn preparation(
        &self,
        model: &FittedModel,
        stream: Option<&Description>,
    ) -> Result<Provenance, Failure> {
        let Some(made) = model.preparation().known() else {
            return self.stated(model, stream);
        };
        let broad = made.recipe.broad();
        let span = |[a, b]: [f64; 2]| format!("{a},{b}");
        let said = [
            (
                "--rate",
                self.rate.map(|r| r.to_string()),
                made.rate().to_string(),
            ),
            ("--band", self.band.map(span), span(broad.band)),
            ("--window", self.window.map(span), span(broad.window)),
            (
                "--estimator",
                self.estimator.map(|e| e.to_string()),
                made.recipe.estimator.to_string(),
            ),
        ];
        for (option, given, own) in said {
            if let Some(given) = given.filter(|given| *given != own) {
                return Err(Failure::Misuse(format!(
                    "{option} {given}: the model was trained with {own}; leave the option out, or \
                     train a model on trials made that way"
                )));
            }
        }
        let mut made = made.clone();
        if let Some(channels) = model.channels() {
            made.recipe.channels = Some(channels.to_vec());
        }
        Ok(made)
    }

    /// Returns what the options state, for a model that was trained on covariances of unknown
    /// origin.
    fn stated(
        &self,
        model: &FittedModel,
        stream: Option<&Description>,
    ) -> Result<Provenance, Failure> {
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
        let (Some(rate), Some(window), Some(estimator), true) =
            (self.rate, self.window, self.estimator, missing.is_empty())
        else {
            return Err(Failure::Misuse(format!(
                "the model does not say how its training trials were made; give {}",
                missing.join(", ")
            )));
        };
        let streamed = || stream.map(|s| s.channels.iter().map(|c| c.name.clone()).collect());
        let own = model.channels().map(<[String]>::to_vec);
        let numbered = || (1..=model.channel_count()).map(|i| i.to_string()).collect();
        let channels = own.or_else(streamed).unwrap_or_else(numbered);
        Ok(Provenance {
            recipe: Recipe {
                channels: Some(channels),
                views: vec![View {
                    band: self.band.unwrap_or([0.0, rate]),
                    window,
                }],
                phase: Phase::Causal,
                estimator,
                reject: None,
                classes: (model.classes().iter())
                    .map(|class| (class.clone(), class.clone()))
                    .collect(),
                ..Recipe::default()
            },
            recorded_rate: rate,
            ..Provenance::default()
        })
    }
}
