//! A peer on one fold.

use super::{Found, Unit};
use crate::peers::Peer;
use crate::{Outcome, Result};
use stiefel_model::Preconditioning;

pub(super) fn run(unit: &Unit, peer: Peer, preconditioning: &Preconditioning) -> Result<Outcome> {
    let [training, validation, test] = unit.parts()?;
    let fitted = peer.fit(&training, &validation, preconditioning)?;
    let found = fitted.decide(&test)?;
    let decided = Found {
        probabilities: found.probabilities,
        decided: found.decided,
        routing: None,
        history: Vec::new(),
        notes: found.notes,
    };
    unit.outcome(&test, decided)
}
