//! Networks and the preset on one fold: fitted as everybody fits them, the test trials decided once.

use super::pictures::pictures;
use super::{Cancel, Found, Unit};
use crate::method::{FittedMethod, Method};
use crate::{Outcome, Result, StudyError};

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
    let FittedMethod::Model(model, _) = fitted.map_err(stopped)? else {
        return Ok(Vec::new());
    };
    let mut outcomes = Vec::with_capacity(units.len());
    let mut single = None;
    for unit in units {
        let Method::Model {
            retrained, unseen, ..
        } = &unit.method
        else {
            continue;
        };
        if *retrained && single.is_none() {
            let parts = (&training, &validation, &test);
            let control = model.retrain_single(parts, Some(unseen), &mut observer);
            single = control.map_err(|e| stopped(e.into()))?;
        }
        if cancel.is_cancelled() {
            return Err(StudyError::Interrupted);
        }
        let (report, decided) = model.examine(&test, Some(unseen), unit.seed)?;
        let report = report.with_retrained(single);
        let routing = if report.controls.is_some() {
            Some(pictures(&model, &decided, &training, &test, report)?)
        } else {
            None
        };
        let mut notes = decided.notes.clone();
        if let Some(preset) = model.preset() {
            notes.insert(0, format!("C = {} on validation", preset.head().c()));
        }
        let found = Found {
            decided: decided.classes(),
            probabilities: decided.probabilities.into_vec(),
            routing,
            history: model.record().map_or(Vec::new(), |r| r.history.clone()),
            notes,
        };
        outcomes.push(unit.outcome(&test, found)?);
    }
    Ok(outcomes)
}
