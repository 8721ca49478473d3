//! `stiefel evaluate`: scores on labelled trials, and what routing adds to them.

mod controls;

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use stiefel::model::metrics::Scores;
use stiefel::model::{FittedModel, fitted};
use stiefel::study::DatasetSummary;

use crate::decoding::AdaptArguments;
use crate::failure::Outcome;
use crate::output::Output;
use crate::source::{self, Part, load_for};
use crate::table::{columns, entry};
use controls::Controls;

#[derive(Debug, Args)]
#[command(after_help = "\
The data are a dataset file, a public data set, synthetic:…, or recordings (a file or a folder). \
                        Recordings are prepared as the model's training
trials were.

A model knows the trials it was trained on, and those that chose its epoch or its penalty, \
                        whatever file they are in. They are counted and scored
separately: only trials that are new to the model say how well it decides. Domains the model was \
                        not trained on need --adapt.

With --controls the routing report follows. Δ_K1 is the model's balanced accuracy minus that of the
same model with uniform routing. It does not show by itself that routing helps, so the controls
stand beside it: routing weights of other trials (permuted), the mean weights of the domain, the
winner alone, and with --retrain one expert trained from scratch, which needs the data that the
model was trained on. Where it is domains that are routed, Δ_K1 compares each domain's own weights
with their mean, and permuted takes the weights of other trials' domains. It is made on trials that
are new to the model; if there are none, on those that chose its epoch or its penalty.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
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
    /// Judge routing: does it help, and is it routing that helps
    #[arg(long)]
    controls: bool,
    /// Train the same layer with one expert from scratch, as one more control
    #[arg(long, requires = "controls")]
    retrain: bool,
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
        let model = FittedModel::load(&self.model)?;
        if self.retrain {
            controls::check_retrain(&model)?;
        }
        let unseen = self.unseen.policies(&model)?;
        let trials = load_for(&model, &self.source, &self.part, self.causal)?;
        let judged = model.judge(&trials, unseen.as_ref())?;
        let controls = (self.controls)
            .then(|| Controls::of(&model, &trials, self.retrain))
            .transpose()?;
        let classes = model.classes();
        if self.json {
            return output.json(&json!({
                "model": self.model, "dataset": DatasetSummary::of(&trials), "judged": judged.to_string(), "unseen": judged.decided.notes,
                "classes": classes, "new": judged.new, "chose": judged.stopped, "trained": judged.trained,
                "routing": controls.as_ref().map(Controls::value),
                "unfamiliar": judged.unfamiliar(), "familiarity": judged.familiarity,
                "configuration": output.configuration(),
            }));
        }
        let mut lines = vec![entry("judged", &judged.to_string(), 12)];
        lines.extend((judged.decided.notes.iter()).map(|u| entry("unseen", u, 12)));
        lines.extend(unfamiliar(&judged));
        let none = "None of these trials is new to the model: there is no score. Train with \
                    --test 0.15 to hold some out.";
        match &judged.new {
            Some(part) => lines.push(format!("\n{}", shown(part, classes))),
            None => lines.push(format!("\n{none}")),
        }
        let seen = [
            (
                "trials that chose the epoch or the penalty: these figures are too good to be \
                 scores",
                &judged.stopped,
            ),
            (
                "trials it was trained on: these figures are no scores at all",
                &judged.trained,
            ),
        ];
        for (what, part) in seen {
            if let Some(part) = part {
                lines.push(format!("\n{what}\n{}", table(part)));
            }
        }
        if let Some(controls) = &controls {
            lines.push(format!("\n{}", controls.text()));
        }
        output.line(&lines.join("\n"))
    }
}

/// Tells which trials are unlike those of training.
fn unfamiliar(judged: &fitted::Judged) -> Option<String> {
    let places = judged.unfamiliar();
    let mut told: Vec<String> = places.iter().take(10).map(usize::to_string).collect();
    if let Some(more) = places.len().checked_sub(10).filter(|&n| n > 0) {
        told.push(format!("and {more} more"));
    }
    let text = format!(
        "{} of {} trials lie far from those of training: {}",
        places.len(),
        judged.familiarity.len(),
        told.join(", ")
    );
    (!places.is_empty()).then(|| entry("unfamiliar", &text, 12))
}

fn shown(part: &fitted::JudgedPart, classes: &[String]) -> String {
    format!("{}\n\n{}", table(part), confusion(&part.scores, classes))
}

fn table(part: &fitted::JudgedPart) -> String {
    let row = |name: &str, s: &Scores| {
        let short = |m: &stiefel::model::Measure| {
            m.value()
                .map_or_else(|| "–".to_owned(), |x| format!("{x:.3}"))
        };
        vec![
            name.to_owned(),
            s.trials.to_string(),
            short(&s.balanced_accuracy),
            short(&s.roc_auc),
            short(&s.kappa),
        ]
    };
    let heading = ["DOMAIN", "TRIALS", "BALANCED ACCURACY", "ROC-AUC", "KAPPA"];
    let mut rows = vec![heading.map(String::from).to_vec()];
    rows.extend(part.domains.iter().map(|d| row(&d.name, &d.scores)));
    rows.push(row("all", &part.scores));
    columns(&rows)
}

/// True classes down, decided ones across.
fn confusion(scores: &Scores, classes: &[String]) -> String {
    let mut heading = vec!["TRUE \\ DECIDED".to_owned()];
    heading.extend(classes.iter().cloned());
    let mut rows = vec![heading];
    for (c, name) in classes.iter().enumerate() {
        let mut row = vec![name.clone()];
        row.extend(scores.confusion.row(c).iter().map(usize::to_string));
        rows.push(row);
    }
    columns(&rows)
}
