//! `stiefel diagnose`: the routing report of a model on data.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use stiefel::data::Trials;
use stiefel::model::diagnostics::RoutingEvidence;
use stiefel::model::{FittedModel, ModelError};
use stiefel::study::DatasetSummary;

use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::output::Output;
use crate::source::{self, Part, load_for};
use crate::table::entry;

#[derive(Debug, Args)]
#[command(after_help = "\
Δ_K1 is the model's balanced accuracy minus that of the same model with uniform routing. It does not show by itself that routing
helps, so the controls stand beside it: routing weights of other trials (permuted), the mean weights of the domain, the winner
alone, and with --retrain one expert trained from scratch. Where it is domains that are routed, Δ_K1 compares each domain's own
weights with their mean, and permuted takes the weights of other trials' domains.

Trials that are new to the model are judged, whatever file they are in. If there are none, the trials that chose its epoch or its penalty are judged.
--retrain needs the data that the model was trained on.")]
pub(crate) struct Arguments {
    /// The model file
    model: PathBuf,
    /// The data: a dataset file, a public data set, synthetic:…, or recordings
    source: String,
    #[command(flatten)]
    part: Part,
    /// Train the same layer with one expert from scratch, as a control
    #[arg(long)]
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
        if self.retrain && model.spec()?.single_expert()?.is_none() {
            return Err(Failure::Misuse(format!(
                "--retrain is for models that route trials among experts, and a model {} does not",
                model.name()
            )));
        }
        let trials = load_for(&model, &self.source, &self.part, false)?;
        let [trained, stopped, new] = model.divide(&trials)?;
        let count = |n: usize, what: &str| format!("{n} trials {what}");
        let (at, judged, chosen) = if new.is_empty() {
            let told = "that chose the epoch or the penalty (train with --test to hold some out)";
            (&stopped, count(stopped.len(), told), true)
        } else {
            (&new, count(new.len(), "that are new to the model"), false)
        };
        if at.is_empty() {
            return Err(Failure::Misuse(format!(
                "the model was trained on all {} trials of {}: there is nothing to judge it on; train with --test 0.15",
                trained.len(),
                self.source
            )));
        }
        let test = trials.select(at)?;
        let mut report = model.report(&test, None, 0).map_err(known_only)?;
        if self.retrain {
            report =
                report.with_retrained(single(&model, &trials, &[trained, stopped.clone()], &test)?);
        }
        let by = model.model().kind().routed_by();
        let verdict = RoutingEvidence::of(&report, by, chosen).verdict();
        if self.json {
            return output.json(&json!({
                "model": self.model, "dataset": DatasetSummary::of(&trials), "judged": judged, "report": report, "verdict": verdict,
                "configuration": output.configuration(),
            }));
        }
        output.line(&entry("judged", &judged, 12))?;
        output.line(&format!("\n{}", report.to_string().trim_end()))?;
        output.line(&format!("\n{verdict}"))
    }
}

/// Routing by domain is judged on domains the model knows.
fn known_only(error: ModelError) -> Failure {
    match error {
        ModelError::NewDomain { name, known } => Failure::Misuse(format!(
            "domain \"{name}\" had no training trials, but routing is judged on domains that had some ({known}); choose these with --subjects"
        )),
        other => other.into(),
    }
}

/// The control that trains one expert, on the trials that the model was trained and stopped on.
fn single(
    model: &FittedModel,
    trials: &Trials,
    [trained, stopped]: &[Vec<usize>; 2],
    test: &Trials,
) -> Result<Option<f64>, Failure> {
    if trained.is_empty() || stopped.is_empty() {
        return Err(Failure::Misuse(
            "--retrain needs the data the model was trained on, with the trials that chose its epoch".into(),
        ));
    }
    let numbered = model.names().renumber(&model.accept(trials)?)?;
    let (training, validation) = (numbered.select(trained)?, numbered.select(stopped)?);
    let mut cancel = interrupt::cancel()?;
    Ok(model.retrain_single((&training, &validation, test), None, &mut cancel)?)
}
