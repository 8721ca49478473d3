//! The preset `recommended` on one fold.

use super::{Found, Unit, of_domain};
use crate::{Outcome, Result, RoutingRecord};
use stiefel_model::Trials;
use stiefel_model::pooled::{PooledConfig, PooledModel};
use stiefel_model::train::Evaluation;

pub(super) fn run(unit: &Unit, config: &PooledConfig) -> Result<Outcome> {
    let (training, validation, test) = unit.parts()?;
    let model = PooledModel::fit(&training, &validation, config)?;
    let known = training.domains().present();
    let mut notes = vec![format!("C = {} on validation", model.head().c())];
    let is_known = |d: &usize| known.contains(d);
    let (evaluation, routing) = if test.domains().present().iter().all(is_known) {
        let report = model.report(&test, unit.seed)?;
        // Where nothing is routed there is nothing to draw.
        let routing = report.controls.is_some().then(|| RoutingRecord {
            report,
            domain_weights: Vec::new(),
            queries: Vec::new(),
            angles: Vec::new(),
            patterns: Vec::new(),
        });
        (model.evaluate(&test)?, routing)
    } else {
        notes.push("subjects without training trials are decided by the shared weights".into());
        (unseen(&model, &test)?, None)
    };
    let decided = Found {
        decided: evaluation.predictions(),
        probabilities: evaluation.probabilities.into_vec(),
        routing,
        history: Vec::new(),
        notes,
    };
    unit.outcome(&test, decided)
}

/// Trials of one or several domains without training trials, each whitened on its own.
fn unseen(model: &PooledModel, test: &Trials) -> Result<Evaluation> {
    let policy = model.whitener().unseen_policy()?;
    let mut all: Option<Evaluation> = None;
    for domain in test.domains().present() {
        let at = of_domain(test, domain);
        let part = model.evaluate_unseen(&test.select(&at)?, policy)?;
        let whole = all.get_or_insert_with(|| Evaluation {
            probabilities: stiefel_linalg::MatBatch::zeros(
                1,
                test.len(),
                part.probabilities.cols(),
            ),
            alpha: None,
            queries: None,
            cross_entropy: 0.0,
        });
        let classes = part.probabilities.cols();
        for (place, &i) in at.iter().enumerate() {
            whole.probabilities.matrix_mut(0)[i * classes..][..classes]
                .copy_from_slice(&part.probabilities.data()[place * classes..][..classes]);
        }
        whole.cross_entropy += part.cross_entropy * at.len() as f64 / test.len() as f64;
    }
    all.ok_or_else(|| crate::StudyError::setting("no test trials", "give at least one"))
}
