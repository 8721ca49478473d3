//! A peer on one fold: fitted once, then asked under every policy and with every number of labelled trials.

use super::{Found, Unit};
use crate::method::Method;
use crate::peers::Peer;
use crate::{Outcome, Result};
use stiefel_model::Preconditioning;

pub(super) fn run(
    units: &[Unit],
    peer: Peer,
    preconditioning: &Preconditioning,
) -> Result<Vec<Outcome>> {
    let [training, validation, _] = units[0].parts()?;
    let fitted = peer.fit(&training, &validation, preconditioning)?;
    let mut outcomes = Vec::with_capacity(units.len());
    for unit in units {
        let policy = match &unit.method {
            Method::Peer {
                preconditioning, ..
            } => preconditioning.unseen,
            Method::Model { .. } => None,
        };
        let [test, labelled] = unit.tested()?;
        let found = if labelled.is_empty() {
            fitted.decide_under(&test, policy)?
        } else {
            fitted.decide_after(&labelled, &test, policy)?
        };
        let decided = Found {
            probabilities: found.probabilities,
            decided: found.decided,
            routing: None,
            carried: None,
            patterns: Vec::new(),
            history: Vec::new(),
            notes: found.notes,
        };
        outcomes.push(unit.outcome(&test, decided)?);
    }
    Ok(outcomes)
}
