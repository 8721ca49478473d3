//! `stiefel train`.

mod options;
mod pooled;

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use stiefel::data::split::{Fold, holdout};
use stiefel::linalg::Scalar;
use stiefel::model::Model;
use stiefel::model::diagnostics::score;
use stiefel::model::metrics::Scores;
use stiefel::model::train::{Checkpoint, EpochRecord, Flow, Observer};
use stiefel::study::Dataset;

use crate::bar::Bar;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::record::{Chosen, Record};
use crate::source::{Part, load};
use crate::table::entry;
use crate::{interrupt, source};
use options::{Options, Precision};

#[derive(Debug, Args)]
#[command(after_help = "\
A source is a dataset file (`stiefel prepare`), a public data set, or synthetic:weibo2014, synthetic:bnci2014001 and
synthetic:bnci2015001 (with ,subjects=4,trials=20 and the like).

Ctrl-C ends training after the current step: the best epoch so far is written (nothing with --model recommended, which has no
epochs), the exit code is 130. Beside the model a .json is written: data, split, scores and options.
`stiefel train --config model.stiefel.json` does the same again.")]
pub(crate) struct Arguments {
    /// The data
    source: String,
    /// The model file to write
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    part: Part,
    #[command(flatten)]
    options: Options,
    /// Share of each domain's and class's trials that choose the epoch, or C
    #[arg(long, value_name = "SHARE", default_value_t = 0.15)]
    validation: f64,
    /// Share of each domain's and class's trials that are held out, for `evaluate` and `diagnose`
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    test: f64,
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
        source::check_folder(&self.output)?;
        let pooled = self.options.pooled()?;
        let data = load(&self.source, &self.part.choice())?;
        let trials = &data.trials;
        let (labels, domains) = (trials.classes().indices(), trials.domains().indices());
        let seed = self.options.seed;
        let split = holdout(labels, domains, self.validation, self.test, seed)?;
        interrupt::cancel()?;
        if let Some(config) = &pooled {
            return self.fit_pooled(config, &data, &split, output);
        }
        match self.options.precision() {
            Precision::F32 => self.fit::<f32>(&data, &split, output),
            Precision::F64 => self.fit::<f64>(&data, &split, output),
        }
    }

    fn fit<T: Scalar>(&self, data: &Dataset, split: &Fold, output: &mut Output) -> Outcome {
        let (training, validation) = (
            data.trials.select(&split.train)?,
            data.trials.select(&split.validation)?,
        );
        let present = training.domains().present().len();
        let (config, recommendation) = self.options.config(training.channels_count(), present)?;
        let steps = training.len().div_ceil(config.training.batch.max(1));
        let mut watcher = Watcher {
            bar: Bar::new("training", config.training.epochs.saturating_mul(steps)),
        };
        let model = Model::<T>::fit(&training, &validation, &config, &mut watcher)?;
        drop(watcher);
        let stopped = model.record().cancelled;
        if model.record().history.is_empty() {
            return Err(Failure::Interrupted(
                "interrupted before the first epoch was over; nothing was written".into(),
            ));
        }
        let model = match recommendation {
            Some(auto) => model.with_scaling(auto),
            None => model,
        };
        model.save(&self.output)?;
        let scored = |part: &[usize]| -> Result<Scores, Failure> {
            let trials = data.trials.select(part)?;
            let prepared = model.frontend().prepare::<T>(&trials)?;
            Ok(score(&model.evaluate(&trials)?, &prepared)?)
        };
        let test = match &split.test[..] {
            [] => None,
            part => Some(scored(part)?),
        };
        let record = Record::new(
            data.summary.clone(),
            (split.clone(), Chosen::Epoch),
            scored(&split.validation)?,
            test,
            output.configuration().clone(),
        );
        let trained = model.record();
        let (best, epochs) = (trained.best_epoch + 1, trained.history.len());
        let told = Told {
            scaling: model.scaling().map(ToString::to_string),
            choice: ("best epoch", format!("{best} of {epochs}")),
            details: json!({
                "model": config, "epochs": epochs, "best_epoch": trained.best_epoch, "interrupted": stopped,
            }),
        };
        self.tell(&record, &told, output)?;
        if stopped {
            return Err(Failure::Interrupted(format!(
                "interrupted after {epochs} epochs; {} holds the best so far, epoch {best}",
                self.output.display()
            )));
        }
        Ok(())
    }

    /// Writes the record beside the model, and says what came out.
    fn tell(&self, record: &Record, told: &Told, output: &mut Output) -> Outcome {
        record.write(&self.output)?;
        let (data, split) = (&record.dataset, &record.split);
        if self.json {
            let mut value = told.details.clone();
            for (name, part) in [
                ("output", json!(self.output)),
                ("dataset", json!(data)),
                (
                    "trials",
                    json!({ "train": split.train.len(), "validation": split.validation.len(), "test": split.test.len() }),
                ),
                ("validation", json!(record.validation)),
                ("test", json!(record.test)),
                ("configuration", record.configuration.clone()),
            ] {
                value[name] = part;
            }
            return output.json(&value);
        }
        let chosen = match record.chosen {
            Chosen::Epoch => "the epoch",
            Chosen::Penalty | Chosen::PenaltyThenFit => "C",
        };
        let mut lines = vec![
            entry(
                "data",
                &format!(
                    "{}: {} trials, {} channels, {} domains, classes {}",
                    data.name,
                    data.trials,
                    data.channels.len(),
                    data.domains.len(),
                    data.classes.join(", ")
                ),
                12,
            ),
            entry(
                "split",
                &format!(
                    "{} train, {} choose {chosen}, {} are held out",
                    split.train.len(),
                    split.validation.len(),
                    split.test.len()
                ),
                12,
            ),
        ];
        lines.extend(told.scaling.iter().map(|s| s.trim_end().to_owned()));
        let scores = |s: &Scores| {
            format!(
                "balanced accuracy {}, ROC-AUC {}",
                s.balanced_accuracy, s.roc_auc
            )
        };
        lines.push(entry(told.choice.0, &told.choice.1, 12));
        lines.push(entry("validation", &scores(&record.validation), 12));
        if record.chosen == Chosen::PenaltyThenFit {
            let again = "fitted again on training and validation trials";
            lines.push(entry("then", again, 12));
        }
        if let Some(test) = &record.test {
            lines.push(entry("test", &scores(test), 12));
        }
        let written = self.output.display().to_string();
        lines.push(entry("written", &written, 12));
        output.line(&lines.join("\n"))
    }
}

/// What there is to say of one kind of model.
struct Told {
    /// Why sizes were chosen.
    scaling: Option<String>,
    /// What the validation trials chose.
    choice: (&'static str, String),
    /// An object.
    details: Value,
}

/// A bar, and the ear for Ctrl-C.
struct Watcher {
    bar: Bar,
}

impl<T: Scalar> Observer<T> for Watcher {
    fn step(&mut self, _epoch: usize) -> Flow {
        self.bar.advance();
        if interrupt::asked() {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }

    fn epoch(&mut self, record: &EpochRecord, _state: &Checkpoint<T>) -> Flow {
        let (epoch, accuracy) = (record.epoch + 1, record.validation_accuracy);
        self.bar.say(format!("epoch {epoch}: {accuracy:.3}"));
        Flow::Continue
    }
}
