//! A peer on one fold.

use super::{Found, Unit};
use crate::peers::{Peer, run_peer};
use crate::{Outcome, Result};
use stiefel_model::Preconditioning;

pub(super) fn run(unit: &Unit, peer: Peer, preconditioning: &Preconditioning) -> Result<Outcome> {
    let (training, validation, test) = unit.parts()?;
    let found = run_peer(&peer, &training, &validation, &test, preconditioning)?;
    let decided = Found {
        probabilities: found.probabilities,
        decided: found.decided,
        routing: None,
        history: Vec::new(),
        notes: found.notes,
    };
    unit.outcome(&test, decided)
}
