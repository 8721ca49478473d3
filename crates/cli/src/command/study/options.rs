//! Options of a study, and how they meet the configuration file.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value, json};
use stiefel::study::{Study, StudyConfig};

use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// A .npz of covariances, a dataset of `stiefel data list`, or synthetic:weibo2014
    data: Option<String>,
    /// Read settings from a TOML or JSON file (study.json of an earlier run will do); options win
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where results go [default: stiefel-results/STUDY-DATA]
    #[arg(long, short, value_name = "FOLDER")]
    pub(super) out: Option<PathBuf>,
    /// Channels: names separated by commas, or a montage (bnci2014001, bnci2015001, weibo2014)
    #[arg(long)]
    channels: Option<String>,
    /// Classes, separated by commas
    #[arg(long, value_delimiter = ',')]
    classes: Option<Vec<String>>,
    /// Subjects by place, counted from 1: 1-26,30
    #[arg(long)]
    subjects: Option<String>,
    /// Pass band in hertz, where signals are filtered: 8,32
    #[arg(long, value_delimiter = ',', num_args = 1)]
    band: Option<Vec<f64>>,
    /// Seconds from the cue, where trials are cut: 0.5,3.5
    #[arg(long, value_delimiter = ',', num_args = 1)]
    window: Option<Vec<f64>>,
    /// Methods, separated by commas; all of the study unless given
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
    /// How a subject without training trials is whitened: pooled, own-mean or causal
    #[arg(long, value_name = "POLICY")]
    unseen: Option<String>,
    /// Whether one expert is retrained beside routed methods as a control
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
    /// Defaults, then the file, then the options.
    pub(super) fn resolve(&self, study: Study) -> Result<StudyConfig, Failure> {
        let file = match &self.config {
            Some(path) => crate::settings::read(path)?,
            None => Map::new(),
        };
        if let Some(other) = file.get("study").and_then(Value::as_str)
            && other != study.name()
        {
            return Err(Failure::Misuse(format!(
                "the configuration is of the study \"{other}\", and \"{study}\" was asked for; give `stiefel study {other}`"
            )));
        }
        let data = match (&self.data, file.get("data").and_then(Value::as_str)) {
            (Some(data), _) => data.clone(),
            (None, Some(data)) => data.to_owned(),
            (None, None) => {
                return Err(Failure::Misuse(
                    "no dataset; give one, for instance `synthetic:weibo2014`, or a configuration that names one".into(),
                ));
            }
        };
        let start = serde_json::to_value(StudyConfig::new(study, data))
            .map_err(crate::failure::unexpected)?;
        let mut merged = match start {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        crate::settings::merge(&mut merged, file);
        crate::settings::merge(&mut merged, self.given());
        serde_json::from_value(Value::Object(merged))
            .map_err(|e| Failure::Misuse(format!("a setting is wrong: {e}")))
    }

    /// What the command line says, in the shape of the configuration.
    fn given(&self) -> Map<String, Value> {
        let mut all = Map::new();
        let mut put = |path: &[&str], value: Option<Value>| {
            if let Some(value) = value {
                crate::settings::put(&mut all, path, value);
            }
        };
        put(&["data"], self.data.as_ref().map(|d| json!(d)));
        put(
            &["choice", "channels"],
            self.channels.as_ref().map(|c| {
                if c.contains(',') {
                    json!(c.split(',').map(str::trim).collect::<Vec<_>>())
                } else {
                    json!(c)
                }
            }),
        );
        put(
            &["choice", "classes"],
            self.classes.as_ref().map(|c| json!(c)),
        );
        put(
            &["choice", "subjects"],
            self.subjects.as_ref().map(|s| json!(s)),
        );
        put(&["choice", "band"], self.band.as_ref().map(|b| json!(b)));
        put(
            &["choice", "window"],
            self.window.as_ref().map(|w| json!(w)),
        );
        put(&["methods"], self.methods.as_ref().map(|m| json!(m)));
        put(&["split"], self.split.as_ref().map(|s| json!(s)));
        put(&["seeds"], self.seeds.as_ref().map(|s| json!(s)));
        put(&["sizing"], self.preset.as_ref().map(|p| json!(p)));
        put(&["training", "epochs"], self.epochs.map(|e| json!(e)));
        put(&["training", "patience"], self.patience.map(|p| json!(p)));
        put(&["training", "batch"], self.batch.map(|b| json!(b)));
        put(
            &["training", "adam", "learning_rate"],
            self.learning_rate.map(|l| json!(l)),
        );
        put(&["precision"], self.precision.as_ref().map(|p| json!(p)));
        put(
            &["orthogonality"],
            self.orthogonality.as_ref().map(|o| json!(o)),
        );
        put(
            &["unseen"],
            self.unseen.as_ref().map(|u| match u.as_str() {
                "pooled" => json!({"policy": "pooled"}),
                other => json!({"policy": other, "kappa": 10.0}),
            }),
        );
        put(&["retrained"], self.retrained.map(|r| json!(r)));
        all
    }
}
