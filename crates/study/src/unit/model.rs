//! A model on one fold: fitted once, then asked under every policy and with every number of
//! labelled trials.

use super::pictures::{filters, pictures};
use super::{Cancel, Found, Unit};
use crate::{Outcome, Result, StudyError};
use stiefel_data::Trials;
use stiefel_model::FittedModel;

pub(super) fn run(units: &[Unit], cancel: &Cancel) -> Result<Vec<Outcome>> {
    let first = &units[0];
    let [training, validation, test] = first.parts()?;
    let stopped = |error: StudyError| {
        if cancel.is_cancelled() {
            StudyError::Interrupted
        } else {
            error
        }
    };
    let mut observer = cancel.clone();
    let fitted = (first.method).fit(&training, &validation, first.seed, &mut observer);
    let model = fitted.map_err(stopped)?;
    let mut outcomes = Vec::with_capacity(units.len());
    let patterns = filters(&model, &training)?;
    let mut single = None;
    for unit in units {
        let unseen = &unit.method.unseen;
        if unit.method.retrained && single.is_none() {
            let parts = (&training, &validation, &test);
            let control = model.retrain_single(parts, Some(unseen), &mut observer);
            single = control.map_err(|e| stopped(e.into()))?;
        }
        if cancel.is_cancelled() {
            return Err(StudyError::Interrupted);
        }
        let [test, labelled] = unit.tested()?;
        let (decided, routing, said) = if labelled.is_empty() {
            let (report, decided) = model.examine(&test, Some(unseen), unit.seed)?;
            let report = report.with_retrained(single);
            let routing = if report.controls.is_some() {
                Some(pictures(&model, &decided, &test, report)?)
            } else {
                None
            };
            (decided, routing, None)
        } else {
            let (met, said) = calibrated(&model, &labelled)?;
            (met.decide(&test, Some(unseen))?, None, said)
        };
        let carried = model.carried(&training, unit.index == 0)?;
        let mut notes: Vec<String> = carried.iter().map(ToString::to_string).collect();
        notes.extend(model.model().choices());
        notes.extend(decided.notes.iter().cloned());
        notes.extend(said);
        let found = Found {
            decided: decided.classes(),
            probabilities: decided.probabilities.into_vec(),
            routing,
            carried,
            patterns: patterns.clone(),
            history: model.record().map_or(Vec::new(), |r| r.history.clone()),
            notes,
        };
        outcomes.push(unit.outcome(&test, found)?);
    }
    Ok(outcomes)
}

/// The model after the labelled trials of those domains that have two classes among them.
fn calibrated(model: &FittedModel, labelled: &Trials) -> Result<(FittedModel, Option<String>)> {
    let classes = labelled.classes().indices();
    let mut at = Vec::new();
    let mut left = Vec::new();
    for domain in labelled.domains().present() {
        let own = labelled.of_domain(domain);
        if own.iter().all(|&i| classes[i] == classes[own[0]]) {
            left.push(labelled.domains().name(domain));
        } else {
            at.extend(own);
        }
    }
    let said = (!left.is_empty()).then(|| {
        format!(
            "not calibrated, because the labelled trials belong to one class: {}",
            left.join(", ")
        )
    });
    if at.is_empty() {
        return Ok((model.clone(), said));
    }
    Ok((model.calibrate(&labelled.select(&at)?)?, said))
}
