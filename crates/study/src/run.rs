//! Runs the units of a plan that have no record yet, several at a time, and keeps each result as it comes.

use crate::unit::{Cancel, Unit, execute};
use crate::{Plan, Result, Store, StudyError, UnitRecord};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Someone who watches a study.
pub trait StudyObserver: Sync {
    /// How many units there are and how many of them have a record already.
    fn begin(&self, _units: usize, _kept: usize) {}

    /// A unit has been computed.
    fn finished(&self, _record: &UnitRecord) {}
}

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl StudyObserver for Unwatched {}

/// Units that share their training, in the order of the plan.
fn groups(units: &[&Unit]) -> Vec<Vec<Unit>> {
    let mut order: Vec<&str> = Vec::new();
    let mut found: BTreeMap<&str, Vec<Unit>> = BTreeMap::new();
    for unit in units {
        let key = unit.ids.training.as_str();
        let group = found.entry(key).or_default();
        if group.is_empty() {
            order.push(key);
        }
        group.push((*unit).clone());
    }
    order
        .into_iter()
        .filter_map(|key| found.remove(key))
        .collect()
}

/// Computes what is missing and gives all records in the order of the plan.
///
/// A unit that fails does not stop the others; the first failure is returned after all have run. A cancelled study ends with
/// [`StudyError::Interrupted`]; whatever was finished is kept.
pub fn run(
    plan: &Plan,
    store: &Store,
    threads: usize,
    cancel: &Cancel,
    observer: &dyn StudyObserver,
) -> Result<Vec<UnitRecord>> {
    let kept: Vec<Option<UnitRecord>> = plan
        .units
        .iter()
        .map(|unit| store.find(&unit.ids.unit))
        .collect();
    let missing: Vec<&Unit> = plan
        .units
        .iter()
        .zip(&kept)
        .filter(|(_, record)| record.is_none())
        .map(|(unit, _)| unit)
        .collect();
    observer.begin(plan.units.len(), plan.units.len() - missing.len());
    let computed: Mutex<BTreeMap<String, UnitRecord>> = Mutex::default();
    let failures: Mutex<Vec<StudyError>> = Mutex::default();
    let one = |group: Vec<Unit>| {
        if cancel.is_cancelled() {
            return;
        }
        let kept = execute(&group, cancel).and_then(|records| {
            for record in records {
                store.keep(&record)?;
                observer.finished(&record);
                lock(&computed).insert(record.id.clone(), record);
            }
            Ok(())
        });
        if let Err(error) = kept
            && !matches!(error, StudyError::Interrupted)
        {
            let first = &group[0];
            lock(&failures).push(StudyError::Unit {
                method: first.name.clone(),
                fold: first.index,
                seed: first.seed,
                error: Box::new(error),
            });
        }
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| StudyError::setting(format!("{threads} threads: {e}"), "use fewer threads"))?;
    pool.install(|| {
        groups(&missing)
            .into_par_iter()
            .with_max_len(1)
            .for_each(one);
    });
    if cancel.is_cancelled() {
        return Err(StudyError::Interrupted);
    }
    if let Some(error) = lock(&failures).drain(..).next() {
        return Err(error);
    }
    let mut computed = lock(&computed);
    let record = |(unit, kept): (&Unit, Option<UnitRecord>)| -> Result<UnitRecord> {
        let found = kept.or_else(|| computed.remove(&unit.ids.unit));
        // Two rows of a table may be the same unit under two names.
        let found = found.or_else(|| store.find(&unit.ids.unit));
        let mut record = found.ok_or_else(|| {
            StudyError::setting(
                format!("the record of {} fold {} is gone", unit.name, unit.index),
                "was the folder emptied while the study ran?",
            )
        })?;
        record.method.clone_from(&unit.name);
        Ok(record)
    };
    plan.units.iter().zip(kept).map(record).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
