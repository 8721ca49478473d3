//! Options of a study, and how they meet the configuration file.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use stiefel::eeg::select::ChannelChoice;
use stiefel::study::{Study, StudyConfig};

use crate::failure::Failure;
use crate::source::{band, window};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// A .npz of covariances, a dataset of `stiefel data list`, or synthetic:weibo2014
    data: Option<String>,
    /// Where results go [default: stiefel-results/STUDY-DATA]
    #[arg(long, short, value_name = "FOLDER")]
    pub(super) output: Option<PathBuf>,
    /// Channels: names separated by commas, or a montage (bnci2014001, bnci2015001, weibo2014)
    #[arg(long, value_delimiter = ',')]
    channels: Option<Vec<String>>,
    /// Classes, separated by commas
    #[arg(long, value_delimiter = ',')]
    classes: Option<Vec<String>>,
    /// Subjects by place, counted from 1: 1-26,30
    #[arg(long)]
    subjects: Option<String>,
    /// Pass band in hertz, where signals are filtered: 8,32
    #[arg(long, value_name = "LOW,HIGH", value_parser = band)]
    band: Option<[f64; 2]>,
    /// Seconds from the cue, where trials are cut: 0.5,3.5
    #[arg(long, value_name = "FROM,TO", value_parser = window, allow_hyphen_values = true)]
    window: Option<[f64; 2]>,
    /// Methods, separated by commas [default: all of the study]
    #[arg(long, value_delimiter = ',')]
    methods: Option<Vec<String>>,
    /// What is held out together: trial or block (a whole run)
    #[arg(long)]
    split: Option<String>,
    /// Seeds of split, initial values and batches, separated by commas
    #[arg(long, value_delimiter = ',')]
    seeds: Option<Vec<u64>>,
    /// Sizes of the networks: auto (the scaling rule), weibo2014, bnci2014001 or bnci2015001 (the paper's)
    #[arg(long)]
    preset: Option<String>,
    /// Epochs at most
    #[arg(long)]
    epochs: Option<usize>,
    /// Epochs without a better validation score before stopping
    #[arg(long)]
    patience: Option<usize>,
    /// Samples per step
    #[arg(long)]
    batch: Option<usize>,
    /// Learning rate
    #[arg(long)]
    learning_rate: Option<f64>,
    /// Number type of the networks: f32 or f64
    #[arg(long)]
    precision: Option<String>,
    /// How filters stay orthonormal: riemannian or cayley
    #[arg(long)]
    orthogonality: Option<String>,
    /// How domains are whitened: symmetric, pca or none
    #[arg(long)]
    whitening: Option<String>,
    /// The scale given to matrices: per-trial, per-domain or none
    #[arg(long)]
    scaling: Option<String>,
    /// How a subject without training trials is whitened: pooled, own-mean or causal
    #[arg(long, value_name = "POLICY")]
    unseen: Option<String>,
    /// Whether a network with one expert is retrained as a control of routed methods
    #[arg(long, value_name = "BOOL")]
    retrained: Option<bool>,
    /// Threads [default: all cores]
    #[arg(long)]
    pub(super) threads: Option<usize>,
    /// Write the configuration and list the units without running them
    #[arg(long)]
    pub(super) plan: bool,
    /// Print figures as JSON
    #[arg(long)]
    pub(super) json: bool,
    /// No progress
    #[arg(long, short)]
    pub(super) quiet: bool,
}

impl Options {
    /// Defaults, and what the options say.
    pub(super) fn resolve(&self, study: Study) -> Result<StudyConfig, Failure> {
        let Some(data) = &self.data else {
            return Err(Failure::Misuse(
                "no dataset was given; give one, for instance `synthetic:weibo2014`".into(),
            ));
        };
        StudyConfig::with_settings(study, data, self.given())
            .map_err(|e| Failure::Misuse(e.to_string()))
    }

    /// What the options say, by name.
    fn given(&self) -> Vec<(&'static str, Value)> {
        let channels = (self.channels.clone()).map(|c| json!(ChannelChoice::from(c)));
        [
            ("channels", channels),
            ("classes", self.classes.as_ref().map(|x| json!(x))),
            ("subjects", self.subjects.as_ref().map(|x| json!(x))),
            ("band", self.band.as_ref().map(|x| json!(x))),
            ("window", self.window.as_ref().map(|x| json!(x))),
            ("methods", self.methods.as_ref().map(|x| json!(x))),
            ("split", self.split.as_ref().map(|x| json!(x))),
            ("seeds", self.seeds.as_ref().map(|x| json!(x))),
            ("preset", self.preset.as_ref().map(|x| json!(x))),
            ("epochs", self.epochs.map(|x| json!(x))),
            ("patience", self.patience.map(|x| json!(x))),
            ("batch", self.batch.map(|x| json!(x))),
            ("learning_rate", self.learning_rate.map(|x| json!(x))),
            ("precision", self.precision.as_ref().map(|x| json!(x))),
            (
                "orthogonality",
                self.orthogonality.as_ref().map(|x| json!(x)),
            ),
            ("whitening", self.whitening.as_ref().map(|x| json!(x))),
            ("scaling", self.scaling.as_ref().map(|x| json!(x))),
            ("unseen", self.unseen.as_ref().map(|x| json!(x))),
            ("retrained", self.retrained.map(|x| json!(x))),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
    }
}
