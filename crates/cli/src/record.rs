//! What training leaves beside a model: `model.stiefel.json`, with the trials it saw and the options it was made with.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use stiefel::data::split::Fold;
use stiefel::model::metrics::Scores;
use stiefel::study::{Dataset, DatasetSummary};

use crate::failure::Failure;

/// The value of `format`.
const FORMAT: &str = "stiefel-training";

/// How a model was trained.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    format: String,
    version: u32,
    /// The version of the program.
    pub(crate) library: String,
    /// The data.
    pub(crate) dataset: DatasetSummary,
    /// Which trials trained, chose the epoch or C, and were held out.
    pub(crate) split: Fold,
    /// What the trials that chose were for.
    #[serde(default)]
    pub(crate) chosen: Chosen,
    /// Scores on them, of a model that was not fitted on them.
    pub(crate) validation: Scores,
    /// Scores on the trials held out, where there are any.
    pub(crate) test: Option<Scores>,
    /// The options, for another run.
    pub(crate) configuration: Value,
}

/// What the validation trials were for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Chosen {
    /// To choose the epoch of a network.
    #[default]
    Epoch,
    /// To choose `C` of the preset `recommended`.
    Penalty,
    /// The same, and it was then fitted on them too.
    PenaltyThenFit,
}

/// Some of the trials that a model was trained with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TrialPart {
    /// All trials
    All,
    /// Those the model was fitted on
    Train,
    /// Those that chose the epoch or C
    Validation,
    /// Those held out
    Test,
}

impl Record {
    pub(crate) fn new(
        dataset: DatasetSummary,
        (split, chosen): (Fold, Chosen),
        validation: Scores,
        test: Option<Scores>,
        configuration: Value,
    ) -> Self {
        Self {
            format: FORMAT.into(),
            version: 1,
            library: env!("CARGO_PKG_VERSION").into(),
            dataset,
            split,
            chosen,
            validation,
            test,
            configuration,
        }
    }

    fn path_for(model: &Path) -> PathBuf {
        let mut name = model.as_os_str().to_owned();
        name.push(".json");
        name.into()
    }

    /// Writes it beside the model.
    pub(crate) fn write(&self, model: &Path) -> Result<PathBuf, Failure> {
        let path = Self::path_for(model);
        let text = serde_json::to_string_pretty(self)? + "\n";
        std::fs::write(&path, text)
            .map_err(|e| Failure::Failed(format!("{}: {e}", path.display())))?;
        Ok(path)
    }

    /// The record of a model, if these are the data it was trained on.
    pub(crate) fn of(model: &Path, data: &Dataset) -> Option<Self> {
        let text = std::fs::read_to_string(Self::path_for(model)).ok()?;
        let record: Self = serde_json::from_str(&text).ok()?;
        let parts = [
            &record.split.train,
            &record.split.validation,
            &record.split.test,
        ];
        let inside = parts
            .iter()
            .all(|p| p.iter().all(|&i| i < data.trials.len()));
        let same = record.dataset.fingerprint == data.summary.fingerprint;
        (record.format == FORMAT && same && inside).then_some(record)
    }
}

/// The trials to judge a model on, and a sentence about them. On the data it was trained on these are the trials held out, or
/// else those that chose the epoch or `C`.
pub(crate) fn judged(
    record: Option<&Record>,
    wanted: Option<TrialPart>,
    count: usize,
) -> Result<(Vec<usize>, String), Failure> {
    let all = || (0..count).collect::<Vec<_>>();
    let Some(record) = record else {
        return match wanted {
            None | Some(TrialPart::All) => Ok((all(), format!("{count} trials"))),
            Some(_) => Err(Failure::Misuse(
                "--part wants the trials of a training, but these are not the data the model was trained on, or the record beside \
                 the model is gone; give the source and the part of it that was given to train"
                    .into(),
            )),
        };
    };
    let split = &record.split;
    let part = wanted.unwrap_or(if split.test.is_empty() {
        TrialPart::Validation
    } else {
        TrialPart::Test
    });
    let (trials, what) = match part {
        TrialPart::All => (all(), "trials, those it was trained on among them"),
        TrialPart::Train => (split.train.clone(), "trials it was trained on"),
        TrialPart::Validation => (
            split.validation.clone(),
            match record.chosen {
                Chosen::Epoch => {
                    "validation trials, which chose the epoch (train with --test to hold some out)"
                }
                Chosen::Penalty => {
                    "validation trials, which chose C (train with --test to hold some out)"
                }
                Chosen::PenaltyThenFit => {
                    "validation trials, which chose C and were then fitted too, so that scores are too good (train with --test to hold some out)"
                }
            },
        ),
        TrialPart::Test => (split.test.clone(), "test trials, held out from training"),
    };
    if trials.is_empty() {
        return Err(Failure::Misuse(
            "the model was trained without test trials; train with --test 0.15".into(),
        ));
    }
    Ok((trials.clone(), format!("{} {what}", trials.len())))
}
