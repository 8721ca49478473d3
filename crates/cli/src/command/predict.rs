//! `stiefel predict`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Map, json};
use stiefel::data::Trials;
use stiefel::model::fitted::Familiarity;
use stiefel::model::{Decided, FittedModel};
use stiefel::study::table::csv_field;

use crate::decoding::AdaptArguments;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::source::{Part, check_output, load_for};
use crate::voice::say;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table with a heading
    Csv,
    /// A JSON object per line
    Jsonl,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The data are a dataset file, a public data set, synthetic:…, or recordings (a file or a folder). \
                        Recordings are prepared as the model's training
trials were.

Every trial has one line: its place, domain, run and label, whether the model has seen it
(trained: fitted on it; chose: it chose the epoch or the penalty), the decision, its status
(unfamiliar: far from the trials of training; such a decision means little), the share of training
trials that were nearer, the distance, the probability of every class and, where the network
routes, the weight of every expert. Labels are not used.")]
pub(crate) struct Arguments {
    /// The model file
    model: PathBuf,
    /// The data: a dataset file, a public data set, synthetic:…, or recordings
    source: String,
    #[command(flatten)]
    part: Part,
    #[command(flatten)]
    unseen: AdaptArguments,
    /// Filter recordings forwards only, as a live stream is filtered
    #[arg(long)]
    causal: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Csv)]
    format: Format,
    /// The same as --format jsonl
    #[arg(long)]
    json: bool,
    /// Write to this file instead of the standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "output")]
    overwrite: bool,
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        if let Some(path) = &self.output {
            check_output(path, self.overwrite)?;
        }
        let model = FittedModel::load(&self.model)?;
        let unseen = self.unseen.policies(&model)?;
        let trials = load_for(&model, &self.source, &self.part, self.causal)?;
        let decided = model.decide(&trials, unseen.as_ref())?;
        let seen = seen(&model, &trials)?;
        let known = seen.iter().filter(|s| !s.is_empty()).count();
        let notes = decided.notes.iter().map(|n| format!("unseen domain {n}"));
        let known = (known > 0).then(|| {
            format!(
                "{known} of {} trials were used to train the model",
                trials.len()
            )
        });
        for line in notes.chain(known) {
            say(&line);
        }
        let table = Table {
            model: &model,
            trials: &trials,
            decided: &decided,
            seen: &seen,
            familiarity: &model.familiarity(&trials)?,
        };
        let lines = if self.json || self.format == Format::Jsonl {
            table.json_lines()
        } else {
            table.csv()
        };
        let Some(path) = &self.output else {
            return output.line(&lines.join("\n"));
        };
        let text = lines.join("\n") + "\n";
        stiefel::data::write_whole(path, text.as_bytes())
            .map_err(|e| Failure::Failed(format!("{}: {e}", path.display())))
    }
}

/// What the model knows of each trial.
fn seen(model: &FittedModel, trials: &Trials) -> Result<Vec<&'static str>, Failure> {
    let trials = model.accept(trials)?;
    let mut said = vec![""; trials.len()];
    let [trained, chose, _] = model.about().seen.divide(&trials);
    for (places, word) in [(trained, "trained"), (chose, "chose")] {
        for place in places {
            said[place] = word;
        }
    }
    Ok(said)
}

/// The columns before the probabilities.
const COLUMNS: [&str; 9] = [
    "trial",
    "domain",
    "run",
    "label",
    "seen",
    "decision",
    "status",
    "familiarity",
    "distance",
];

/// Everything that is printed.
struct Table<'a> {
    model: &'a FittedModel,
    trials: &'a Trials,
    decided: &'a Decided,
    seen: &'a [&'static str],
    familiarity: &'a [Option<Familiarity>],
}

impl Table<'_> {
    /// The routing weights of a trial.
    fn weights(&self, trial: usize) -> &[f64] {
        self.decided
            .routing
            .as_ref()
            .map_or(&[], |all| &all.data()[trial * all.cols()..][..all.cols()])
    }

    /// Returns the status that a live window would have.
    fn status(&self, trial: usize) -> &'static str {
        match self.familiarity[trial] {
            Some(f) if f.unfamiliar => "unfamiliar",
            _ => "decided",
        }
    }

    fn probabilities(&self, trial: usize) -> &[f64] {
        let p = &self.decided.probabilities;
        &p.data()[trial * p.cols()..][..p.cols()]
    }

    fn run(&self, trial: usize) -> Option<&str> {
        self.trials.runs().map(|runs| runs.label(trial))
    }

    fn csv(&self) -> Vec<String> {
        let (classes, best) = (self.model.classes(), self.decided.classes());
        let mut heading = COLUMNS.map(String::from).to_vec();
        heading.extend(classes.iter().map(|c| csv_field(&format!("p_{c}"))));
        let experts = self
            .decided
            .routing
            .as_ref()
            .map_or(0, stiefel::linalg::MatBatch::cols);
        heading.extend((1..=experts).map(|j| format!("alpha_{j}")));
        let mut lines = vec![heading.join(",")];
        for i in 0..self.trials.len() {
            let mut row = vec![
                i.to_string(),
                csv_field(self.trials.domains().label(i)),
                csv_field(self.run(i).unwrap_or("")),
                csv_field(self.trials.classes().label(i)),
                self.seen[i].to_owned(),
                csv_field(&classes[best[i]]),
                self.status(i).to_owned(),
            ];
            let familiarity = self.familiarity[i];
            row.push(familiarity.map_or(String::new(), |f| f.quantile.to_string()));
            row.push(familiarity.map_or(String::new(), |f| f.distance.to_string()));
            let numbers = self.probabilities(i).iter().chain(self.weights(i));
            row.extend(numbers.map(f64::to_string));
            lines.push(row.join(","));
        }
        lines
    }

    fn json_lines(&self) -> Vec<String> {
        let (classes, best) = (self.model.classes(), self.decided.classes());
        let line = |i: usize| {
            let p = self.probabilities(i).iter().map(|p| json!(p));
            let named = classes.iter().cloned().zip(p);
            let mut value = json!({
                "trial": i, "domain": self.trials.domains().label(i), "run": self.run(i), "label": self.trials.classes().label(i),
                "seen": self.seen[i], "decision": classes[best[i]], "probabilities": named.collect::<Map<_, _>>(),
                "status": self.status(i), "familiarity": self.familiarity[i].map(|f| f.quantile),
                "distance": self.familiarity[i].map(|f| f.distance),
            });
            if self.decided.routing.is_some() {
                value["routing"] = json!(self.weights(i));
            }
            value.to_string()
        };
        (0..self.trials.len()).map(line).collect()
    }
}
