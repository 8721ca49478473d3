//! One score per unit, subject and session: what analyses outside this project start from.

use crate::{Plan, Result, Unit, UnitRecord};
use std::collections::BTreeMap;
use stiefel_data::{Factor, subject_session};
use stiefel_model::metrics::{Decisions, Scores};

/// A unit's scores on the test trials of one subject in one session.
#[derive(Debug, Clone, PartialEq)]
pub struct SubjectScore {
    /// What the table calls the method.
    pub method: String,
    /// Zero-based.
    pub fold: usize,
    /// The seed.
    pub seed: u64,
    /// Name of the subject.
    pub subject: String,
    /// Name of the session; `0` where the dataset has none.
    pub session: String,
    /// Trials the unit was trained with, those that validated among them, of all subjects.
    pub training: usize,
    /// Test trials of this subject and session.
    pub test: usize,
    /// Channels.
    pub channels: usize,
    /// Scores on them.
    pub scores: Scores,
    /// Seconds of the whole unit, where they were measured.
    pub seconds: Option<f64>,
}

/// The scores of every record of a plan, in the order of the plan.
///
/// ```
/// use stiefel_eeg::load;
/// use stiefel_study::{
///     Cancel, Plan, Store, Study, StudyConfig, Unwatched, run, subject_scores,
/// };
///
/// let mut config =
///     StudyConfig::new(Study::Main, "synthetic:bnci2015001,subjects=2,trials=8");
/// config.methods = vec!["mdm".into()];
/// let plan = Plan::new(config.clone(), &load(&config.data, &config.choice)?)?;
/// let folder = std::env::temp_dir().join(format!("stiefel-scores-{}", std::process::id()));
/// let records = run(
///     &plan,
///     &Store::open(&folder)?,
///     1,
///     &Cancel::default(),
///     &Unwatched,
/// )?;
/// let scores = subject_scores(&plan, &records)?;
/// assert_eq!(
///     (scores[0].subject.as_str(), scores[0].session.as_str()),
///     ("S01", "1")
/// );
/// # std::fs::remove_dir_all(&folder).ok();
/// # Ok::<(), stiefel_study::StudyError>(())
/// ```
pub fn subject_scores(plan: &Plan, records: &[UnitRecord]) -> Result<Vec<SubjectScore>> {
    let mut found = Vec::new();
    for (unit, record) in plan.units.iter().zip(records) {
        for ((subject, session), trials) in cells(plan, unit, record) {
            found.push(SubjectScore {
                method: record.method.clone(),
                fold: record.fold,
                seed: record.seed,
                subject: plan.summary.subjects[subject].clone(),
                session,
                training: unit.fold.train.len() + unit.fold.validation.len(),
                test: trials.len(),
                channels: unit.trials.channels_count(),
                scores: scores(record, &trials, plan.summary.classes.len())?,
                seconds: record.seconds,
            });
        }
    }
    Ok(found)
}

/// Places among the test trials of each subject, by number, and session.
fn cells(plan: &Plan, unit: &Unit, record: &UnitRecord) -> BTreeMap<(usize, String), Vec<usize>> {
    let summary = &plan.summary;
    // Parts of a dataset number their trials anew.
    let whole = unit.trials.len() == plan.trials.len();
    let sessions: Option<Factor> = plan.trials.sessions().filter(|_| whole);
    let mut cells: BTreeMap<(usize, String), Vec<usize>> = BTreeMap::new();
    for (i, &domain) in record.outcome.domains.iter().enumerate() {
        let subject = summary.subject_of_domain[domain];
        let named = subject_session(&summary.domains[domain]).1;
        let of_trial = || sessions.as_ref().map(|s| s.label(record.outcome.test[i]));
        let session = named.or_else(of_trial).unwrap_or("0").to_owned();
        cells.entry((subject, session)).or_default().push(i);
    }
    cells
}

fn scores(record: &UnitRecord, trials: &[usize], classes: usize) -> Result<Scores> {
    let o = &record.outcome;
    let pick = |v: &[usize]| trials.iter().map(|&i| v[i]).collect::<Vec<_>>();
    let values: Option<Vec<f64>> =
        (classes == 2).then(|| trials.iter().map(|&i| o.probabilities[2 * i + 1]).collect());
    Ok(Decisions {
        truth: &pick(&o.truth),
        decided: &pick(&o.decided),
        values: values.as_deref(),
        classes,
    }
    .scores()?)
}
