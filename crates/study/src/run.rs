//! Runs the units of a plan that have no record yet, several at a time, and keeps each result as it
//! comes.

use crate::unit::{Cancel, Unit, execute};
use crate::{Plan, Result, Store, StudyError, UnitRecord};
use rayon::{ThreadPool, ThreadPoolBuilder};
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

/// What has to be computed: places in [`Plan::units`] of those without a record, together where
/// they share their training, in the order of the plan. Each group is one call of [`execute`], here
/// or on another machine.
pub fn missing(plan: &Plan, store: &Store) -> Vec<Vec<usize>> {
    let kept: Vec<bool> = plan
        .units
        .iter()
        .map(|unit| store.find(&unit.ids.unit).is_some())
        .collect();
    groups(&plan.units, &kept)
}

fn groups(units: &[Unit], kept: &[bool]) -> Vec<Vec<usize>> {
    let mut place: BTreeMap<&str, usize> = BTreeMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (i, unit) in units.iter().enumerate().filter(|&(i, _)| !kept[i]) {
        let at = *place.entry(&unit.ids.training).or_insert(groups.len());
        if at == groups.len() {
            groups.push(Vec::new());
        }
        groups[at].push(i);
    }
    groups
}

/// Computes what is missing and gives all records in the order of the plan.
///
/// A unit that fails does not stop the others; the first failure is returned after all have run. A
/// cancelled study ends with [`StudyError::Interrupted`]; whatever was finished is kept.
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
    let there: Vec<bool> = kept.iter().map(Option::is_some).collect();
    observer.begin(plan.units.len(), there.iter().filter(|&&k| k).count());
    let computed: Mutex<BTreeMap<String, UnitRecord>> = Mutex::default();
    let failures: Mutex<Vec<StudyError>> = Mutex::default();
    let one = |group: Vec<usize>| {
        if cancel.is_cancelled() {
            return;
        }
        let group: Vec<Unit> = group.into_iter().map(|i| plan.units[i].clone()).collect();
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
    spread(threads, groups(&plan.units, &there), one)?;
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

/// Runs every group, as many at a time as there are threads.
///
/// Each worker has a pool of its own for what happens within a group: a single thread where there
/// are groups for all, more where there are not. In one pool for everything, a thread that waits
/// for a part of its group would start another group in the meantime.
fn spread(threads: usize, groups: Vec<Vec<usize>>, one: impl Fn(Vec<usize>) + Sync) -> Result<()> {
    let workers = threads.min(groups.len()).max(1);
    let pool = |worker: usize| -> Result<ThreadPool> {
        let own = threads / workers + usize::from(worker < threads % workers);
        let built = ThreadPoolBuilder::new().num_threads(own).build();
        built.map_err(|e| StudyError::setting(format!("{own} threads: {e}"), "use fewer threads"))
    };
    let pools = (0..workers).map(pool).collect::<Result<Vec<_>>>()?;
    let queue = Mutex::new(groups.into_iter());
    let next = || lock(&queue).next();
    let work = || {
        while let Some(group) = next() {
            one(group);
        }
    };
    std::thread::scope(|scope| {
        for pool in &pools {
            scope.spawn(move || pool.install(work));
        }
    });
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
