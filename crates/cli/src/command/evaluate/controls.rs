//! The routing report of a model: does routing help, and is it routing that helps.

use serde_json::{Value, json};
use stiefel::data::Trials;
use stiefel::model::diagnostics::{RoutingEvidence, RoutingReport, RoutingVerdict};
use stiefel::model::{FittedModel, ModelError};

use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::table::entry;

/// A routing report, on which trials it was made, and its verdict.
pub(super) struct Controls {
    judged: String,
    report: RoutingReport,
    verdict: RoutingVerdict,
}

impl Controls {
    /// Judges routing on the trials that are new to the model; if there are none, on those that
    /// chose its epoch or its penalty.
    pub(super) fn of(model: &FittedModel, trials: &Trials, retrain: bool) -> Result<Self, Failure> {
        let [trained, stopped, new] = model.divide(trials)?;
        let count = |n: usize, what: &str| format!("{n} trials {what}");
        let chosen = new.is_empty();
        let (at, judged) = if chosen {
            (
                &stopped,
                count(stopped.len(), "that chose the epoch or the penalty"),
            )
        } else {
            (&new, count(new.len(), "that are new to the model"))
        };
        if at.is_empty() {
            return Err(Failure::Misuse(format!(
                "the model was trained on all {} trials: there is nothing to judge its routing \
                 on; train with --test 0.15",
                trained.len()
            )));
        }
        let test = trials.select(at)?;
        let mut report = model.report(&test, None, 0).map_err(known_only)?;
        if retrain {
            let single = single(model, trials, &[trained, stopped.clone()], &test)?;
            report = report.with_retrained(single);
        }
        let by = model.model().kind().routed_by();
        let verdict = RoutingEvidence::from_report(&report, by, chosen).verdict();
        Ok(Self {
            judged,
            report,
            verdict,
        })
    }

    pub(super) fn text(&self) -> String {
        let judged = entry("routing", &self.judged, 12);
        let report = self.report.to_string();
        format!("{judged}\n\n{}\n\n{}", report.trim_end(), self.verdict)
    }

    pub(super) fn value(&self) -> Value {
        json!({ "judged": self.judged, "report": self.report, "verdict": self.verdict })
    }
}

/// Refuses `--retrain` for a model without experts, before any work.
pub(super) fn check_retrain(model: &FittedModel) -> Outcome {
    if model.spec()?.single_expert()?.is_some() {
        return Ok(());
    }
    Err(Failure::Misuse(format!(
        "--retrain is for models that route trials among experts, and a model {} does not",
        model.name()
    )))
}

/// Routing by domain is judged on domains the model knows.
fn known_only(error: ModelError) -> Failure {
    match error {
        ModelError::NewDomain { name, known } => Failure::Misuse(format!(
            "domain \"{name}\" had no training trials, but routing is judged on domains that had \
             some ({known}); choose these with --subjects"
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
            "--retrain needs the data the model was trained on, with the trials that chose its \
             epoch"
                .into(),
        ));
    }
    let numbered = model.names().renumber(&model.accept(trials)?)?;
    let (training, validation) = (numbered.select(trained)?, numbered.select(stopped)?);
    let mut cancel = interrupt::cancel()?;
    Ok(model.retrain_single((&training, &validation, test), None, &mut cancel)?)
}
