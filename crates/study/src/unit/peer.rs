//! A peer on one fold.

use super::Unit;
use crate::peers::{Peer, run_peer};
use crate::{Outcome, Result};
use stiefel_model::Preconditioning;
use stiefel_model::metrics::Decisions;

pub(super) fn run(unit: &Unit, peer: Peer, preconditioning: &Preconditioning) -> Result<Outcome> {
    let (training, validation, test) = unit.parts()?;
    let found = run_peer(&peer, &training, &validation, &test, preconditioning)?;
    let classes = unit.trials.classes().names().len();
    let values: Option<Vec<f64>> =
        (classes == 2).then(|| found.probabilities.chunks_exact(2).map(|p| p[1]).collect());
    let truth = test.classes().indices();
    let scores = Decisions {
        truth,
        decided: &found.decided,
        values: values.as_deref(),
        classes,
    }
    .scores()?;
    Ok(Outcome {
        test: unit.fold.test.clone(),
        truth: truth.to_vec(),
        domains: test.domains().indices().to_vec(),
        decided: found.decided,
        probabilities: found.probabilities,
        scores,
        routing: None,
        history: Vec::new(),
        notes: found.notes,
    })
}
