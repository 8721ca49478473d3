//! `stiefel train`.

mod options;

use std::any::Any;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use stiefel::data::Trials;
use stiefel::data::split::{Fold, holdout};
use stiefel::model::kind::DataSizes;
use stiefel::model::metrics::Scores;
use stiefel::model::registry::{self, KINDS};
use stiefel::model::train::{EpochRecord, Flow, Observer};
use stiefel::model::{FittedModel, ModelError, ModelSpec};
use stiefel::study::{DatasetSummary, SplitUnit};

use crate::bar::Bar;
use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::output::Output;
use crate::record::{Counts, Record};
use crate::source::{self, Part, check_output, load};
use crate::table::entry;
use crate::voice::note;
use options::Options;

/// Shares of trials that are kept from training, unless a fold says which.
const VALIDATION: f64 = 0.15;

const HELP: &str = "\
A source is a dataset file (`stiefel prepare`), a public data set, or synthetic:weibo2014,
synthetic:bnci2014001 and synthetic:bnci2015001 (with ,subjects=4,trials=20 and the like).

Models:
MODELS

Settings are given by name, --set filters=12 --set training.patience=5. `stiefel help settings \
                    dasp`
lists those of a model, with their defaults and values.

With --fold the split is that of `stiefel study main` with the same --seed and --split: the model \
                    is
the one that the study judged.

Ctrl-C ends training after the current step, with the exit code 130. Of a model with epochs the \
                    best
one so far is written, of any other nothing. The model file holds everything a decision needs, how
the trials were made, and which trials it has seen. A .json for people is written beside it: data,
scores and options. `stiefel train --config model.stiefel.json` repeats the training.";

#[derive(Debug, Args)]
#[command(after_help = help())]
pub(crate) struct Arguments {
    /// The data
    source: String,
    /// The model file to write
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Replace the model file if it exists
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    part: Part,
    #[command(flatten)]
    options: Options,
    /// Share of the trials of each domain and class for validation: they choose an epoch or a
    /// penalty, and give the model a score [default: 0.15]
    #[arg(long, value_name = "SHARE")]
    validation: Option<f64>,
    /// Share of the trials of each domain and class that are held out, for `evaluate`
    /// [default: 0]
    #[arg(long, value_name = "SHARE")]
    test: Option<f64>,
    /// Train on a fold of a study, counted from 0
    #[arg(long, value_name = "N", conflicts_with_all = ["validation", "test"])]
    fold: Option<usize>,
    /// What a fold holds out together: trial, or block (a whole run) [default: trial]
    #[arg(long, value_name = "UNIT", requires = "fold")]
    split: Option<SplitUnit>,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        source::threads(self.threads)?;
        check_output(&self.output, self.overwrite)?;
        self.options.check()?;
        let trials = load(&self.source, &self.part.selection())?;
        let split = self.fold(&trials)?;
        let used = split.train.len() + split.validation.len() + split.test.len();
        if used < trials.len() {
            let left = trials.len() - used;
            note(&format!(
                "{left} trials are left out: their windows share samples with held-out ones"
            ));
        }
        let part = |at: &[usize]| trials.select(at);
        let (training, validation) = (part(&split.train)?, part(&split.validation)?);
        let spec = self.options.spec(DataSizes {
            channels: trials.channels_count(),
            domains: trials.domains().names().len(),
        })?;
        if trials.views() > 1 && !spec.takes_views() {
            return Err(Failure::Misuse(format!(
                "{} has {} views of every trial, but --model {} takes one; prepare the trials \
                 with --views broad, or train {}",
                self.source,
                trials.views(),
                self.options.model,
                of_views().join(", ")
            )));
        }
        interrupt::cancel()?;
        let steps = spec.kind().steps(spec.settings(), training.len());
        let mut watcher = Watcher {
            bar: Bar::new("training", steps),
        };
        let fitted = FittedModel::fit(&training, &validation, &spec, &mut watcher);
        drop(watcher);
        let model = fitted.map_err(|error| match error {
            ModelError::Cancelled { .. } => Failure::Interrupted(
                "interrupted before the fit was over; nothing was written".into(),
            ),
            other => other.into(),
        })?;
        if model.record().is_some_and(|r| r.history.is_empty()) {
            return Err(Failure::Interrupted(
                "interrupted before the first epoch was over; nothing was written".into(),
            ));
        }
        let model = model.with_about(|about| about.method = Some(self.options.model.clone()));
        model.save(&self.output, self.overwrite)?;
        let test = match &split.test[..] {
            [] => None,
            at => model.judge(&part(at)?, None)?.new.map(|p| p.scores),
        };
        let record = Record {
            format: "stiefel-training",
            version: 1,
            library: env!("CARGO_PKG_VERSION"),
            dataset: DatasetSummary::of(&trials),
            trials: Counts {
                train: split.train.len(),
                validation: split.validation.len(),
                test: split.test.len(),
            },
            validation: model.validation().cloned(),
            test,
            configuration: output.configuration().clone(),
        };
        self.tell(&model, &spec, &record, output)
    }

    /// Which trials train, choose and are held out.
    fn fold(&self, trials: &Trials) -> Result<Fold, Failure> {
        let seed = self.options.seed;
        let Some(fold) = self.fold else {
            let (labels, domains) = (trials.classes().indices(), trials.domains().indices());
            let (validation, test) = (self.validation.unwrap_or(VALIDATION), self.test);
            let fold = holdout(labels, domains, validation, test.unwrap_or(0.0), seed)?;
            return Ok(fold.apart(trials)?.0);
        };
        let mut folds = self.split.unwrap_or_default().folds(trials, seed)?;
        let count = folds.len();
        if fold >= count {
            return Err(Failure::Misuse(format!(
                "--fold {fold}: there are {count} folds, counted from 0"
            )));
        }
        Ok(folds.swap_remove(fold))
    }

    /// Writes the record beside the model, and says what came out.
    fn tell(
        &self,
        model: &FittedModel,
        spec: &ModelSpec,
        record: &Record,
        output: &mut Output,
    ) -> Outcome {
        record.write(&self.output)?;
        let trained = model.record();
        let stopped = trained.filter(|t| t.cancelled);
        let choices = model.model().choices();
        let choice = match trained {
            Some(t) => {
                let (best, epochs) = (t.best_epoch + 1, t.history.len());
                ("best epoch", format!("{best} of {epochs}"))
            }
            None if choices.is_empty() => ("views", model.view_count().to_string()),
            None => ("chosen", choices.join(" ")),
        };
        if self.json {
            let mut value = serde_json::to_value(record)?;
            value["output"] = json!(self.output);
            value["method"] = json!(self.options.model);
            value["model"] = json!(spec);
            value["interrupted"] = json!(stopped.is_some());
            value["chosen"] = json!(choice.1);
            output.json(&value)?;
        } else {
            output.line(&self.text(model, spec, record, &choice))?;
        }
        match stopped {
            None => Ok(()),
            Some(t) => Err(Failure::Interrupted(format!(
                "interrupted after {} epochs; {} holds the best so far, epoch {}",
                t.history.len(),
                self.output.display(),
                t.best_epoch + 1
            ))),
        }
    }

    fn text(
        &self,
        model: &FittedModel,
        spec: &ModelSpec,
        record: &Record,
        choice: &(&str, String),
    ) -> String {
        let (data, counts) = (&record.dataset, record.trials);
        let about = format!(
            "{}: {} trials, {} channels, {} domains, classes {}",
            data.name,
            data.trials,
            data.channels.len(),
            data.domains.len(),
            data.classes.join(", ")
        );
        let split = format!(
            "{} train, {} are for validation, {} are held out",
            counts.train, counts.validation, counts.test
        );
        let mut lines = vec![
            entry("data", &about, 12),
            entry("made", &model.preparation().to_string(), 12),
            entry("split", &split, 12),
            entry("model", &self.options.model, 12),
        ];
        lines.extend(model.scaling().map(|s| s.to_string().trim_end().to_owned()));
        let scores = |s: &Scores| {
            format!(
                "balanced accuracy {}, ROC-AUC {}",
                s.balanced_accuracy, s.roc_auc
            )
        };
        lines.push(entry(choice.0, &choice.1, 12));
        lines.extend((record.validation.as_ref()).map(|v| entry("validation", &scores(v), 12)));
        if spec.kind().refits(spec.settings()) && counts.validation > 0 {
            let again = "fitted again on training and validation trials";
            lines.push(entry("then", again, 12));
        }
        lines.extend((record.test.as_ref()).map(|t| entry("test", &scores(t), 12)));
        lines.push(entry("written", &self.output.display().to_string(), 12));
        lines.join("\n")
    }
}

/// Models that take all views of a trial.
fn of_views() -> Vec<&'static str> {
    let kinds = KINDS.iter().filter(|k| k.takes_views()).map(|k| k.name());
    let variants = KINDS.iter().flat_map(|k| k.variants());
    kinds
        .chain(variants.filter(|v| v.all_views).map(|v| v.name))
        .collect()
}

/// Returns what follows the options in the help; the models are those of the registry.
fn help() -> String {
    let one = |name| {
        let about = registry::about(name).unwrap_or_default();
        entry(&format!("  {name}"), about, 24)
    };
    let models: Vec<String> = registry::names().into_iter().map(one).collect();
    HELP.replace("MODELS", &models.join("\n"))
}

/// A bar, and the ear for Ctrl-C.
struct Watcher {
    bar: Bar,
}

impl Observer for Watcher {
    fn step(&mut self, _epoch: usize) -> Flow {
        self.bar.advance();
        if interrupt::asked() {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }

    fn epoch(&mut self, record: &EpochRecord, _state: &dyn Any) -> Flow {
        let (epoch, accuracy) = (record.epoch + 1, record.validation_accuracy);
        self.bar.say(&format!("epoch {epoch}: {accuracy:.3}"));
        Flow::Continue
    }
}
