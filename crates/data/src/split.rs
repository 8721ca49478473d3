//! How trials are divided: training, validation and test, by fold.
//!
//! A **cell** is the set of trials of one domain and one class. With a seed, each cell is shuffled
//! once by its own ChaCha stream: its order depends on the seed, the domain, the class and the
//! cell's trials, not on the rest of the data.
//!
//! * [`cross_domain_folds`]: five folds. Fold f tests on its own 15 % of every cell (the five test
//!   sets are disjoint), validates on the 15 % that follow in the cell's shuffled circle, and
//!   trains on the rest.
//! * [`block_folds`]: one fold per block (run; without runs, contiguous fifths of each domain in
//!   recording order) held out whole; 15 % of each remaining cell validates.
//! * [`loso_folds`]: one fold per subject, all of whose domains are held out; 15 % of each
//!   remaining cell validates.
//! * [`session_folds`]: every domain's first session trains, the later ones test.
//! * [`holdout`]: one division with shares of your own, for a model that is to be used.
//!
//! Trials whose windows share samples never fall on two sides: [`Fold::apart`] leaves out of
//! training (and of validation) those that share some with a trial that is held out.
//!
//! Small cells: one trial always trains; with two to four, each tests in one fold (and one
//! validates from three on); from five on every fold has the cell in all three parts. Which folds
//! the larger cuts fall to rotates with the domain.

use crate::{DataError, Factor, Result, Trials};
use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

const OP: &str = "split";

/// Folds of [`cross_domain_folds`], and blocks where there are no runs.
pub const FOLDS: usize = 5;

/// Percent of a cell that tests, and that validates.
const HELD_OUT_PERCENT: usize = 15;

/// One division of the trials; indices ascend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fold {
    /// Trials to fit on.
    pub train: Vec<usize>,
    /// Trials to choose the epoch (and nothing else) on.
    pub validation: Vec<usize>,
    /// Trials to report on.
    pub test: Vec<usize>,
}

impl Fold {
    /// Training, validation and test trials.
    pub fn of(&self, trials: &Trials) -> Result<[Trials; 3]> {
        let part = |at: &[usize]| trials.select(at);
        Ok([
            part(&self.train)?,
            part(&self.validation)?,
            part(&self.test)?,
        ])
    }

    /// Leaves out of training the trials whose windows share samples with one that validates or
    /// tests, and out of validation those that share some with one that tests. Returns how many
    /// were left out; none where no windows overlap.
    ///
    /// Refuses a fold that would lose all training trials of a domain or a class.
    pub fn apart(self, trials: &Trials) -> Result<(Self, usize)> {
        let with = trials.overlapping();
        if with.iter().all(Vec::is_empty) {
            return Ok((self, 0));
        }
        let mut parts = vec![None; trials.len()];
        for (at, part) in [
            (&self.train, Part::Train),
            (&self.validation, Part::Validation),
            (&self.test, Part::Test),
        ] {
            for &i in at {
                parts[i] = Some(part);
            }
        }
        let meets = |i: usize, held: &[Part]| {
            let held = |&j: &usize| parts[j].is_some_and(|part| held.contains(&part));
            with[i].iter().any(held)
        };
        let kept = |at: &[usize], held: &[Part]| -> Vec<usize> {
            at.iter().copied().filter(|&i| !meets(i, held)).collect()
        };
        let apart = Self {
            train: kept(&self.train, &[Part::Validation, Part::Test]),
            validation: kept(&self.validation, &[Part::Test]),
            test: self.test,
        };
        for factor in [trials.domains(), trials.classes()] {
            check_trained(factor, &self.train, &apart.train)?;
        }
        let left_out = self.train.len() - apart.train.len() + self.validation.len();
        let left_out = left_out - apart.validation.len();
        Ok((apart, left_out))
    }
}

/// An error where a name had training trials, and has none any more.
fn check_trained(factor: &Factor, before: &[usize], after: &[usize]) -> Result<()> {
    let of =
        |at: &[usize]| -> BTreeSet<usize> { at.iter().map(|&i| factor.indices()[i]).collect() };
    let Some(&lost) = of(before).difference(&of(after)).next() else {
        return Ok(());
    };
    Err(DataError::Impossible {
        op: OP,
        why: format!(
            "the windows of trials overlap, and all training trials of {} share samples with \
             trials that are held out",
            factor.name(lost)
        ),
        remedy: "cut shorter windows, or hold out whole runs",
    })
}

/// The trials of each (domain, class), in recording order.
type Cells = BTreeMap<(usize, usize), Vec<usize>>;

/// Five folds of 70 % training, 15 % validation, 15 % test in every (domain, class) cell.
///
/// ```
/// use stiefel_data::split::cross_domain_folds;
///
/// let labels: Vec<usize> = (0..80).map(|i| i % 2).collect();
/// let domains: Vec<usize> = (0..80).map(|i| i / 40).collect();
/// let folds = cross_domain_folds(&labels, &domains, 7)?;
/// assert_eq!(folds.len(), 5);
/// assert_eq!(
///     (
///         folds[0].train.len(),
///         folds[0].validation.len(),
///         folds[0].test.len()
///     ),
///     (56, 12, 12)
/// );
/// # Ok::<(), stiefel_data::DataError>(())
/// ```
pub fn cross_domain_folds(labels: &[usize], domains: &[usize], seed: u64) -> Result<Vec<Fold>> {
    let cells = cells(labels, domains)?;
    let mut parts = vec![vec![Part::Train; labels.len()]; FOLDS];
    for (&(domain, class), trials) in &cells {
        let shuffled = shuffled(trials, seed, domain, class);
        let cuts = test_cuts(trials.len());
        for (fold, parts) in parts.iter_mut().enumerate() {
            let slot = (fold + domain) % FOLDS;
            let (from, to) = (cuts[slot], cuts[slot + 1]);
            for &trial in &shuffled[from..to] {
                parts[trial] = Part::Test;
            }
            // The next ones round the circle, so that the five validation sets differ as well.
            for step in 0..validation_size(trials.len(), to - from) {
                parts[shuffled[(to + step) % trials.len()]] = Part::Validation;
            }
        }
    }
    let folds: Vec<Fold> = parts.iter().map(|parts| Fold::from_parts(parts)).collect();
    check_tests(&folds)?;
    Ok(folds)
}

/// One fold per block held out whole. `runs` is the block of each trial; without it, each domain is
/// cut into contiguous fifths in the order of its trials.
pub fn block_folds(
    labels: &[usize],
    domains: &[usize],
    runs: Option<&[usize]>,
    seed: u64,
) -> Result<Vec<Fold>> {
    let cells = cells(labels, domains)?;
    let blocks = match runs {
        Some(runs) => {
            check_count("runs", labels.len(), runs.len())?;
            runs.to_vec()
        }
        None => fifths(domains),
    };
    let held_out = distinct(&blocks);
    if held_out.len() < 2 {
        return Err(DataError::Impossible {
            op: OP,
            why: format!("all {} trials belong to one block", labels.len()),
            remedy: "whole blocks need at least two runs; without run information pass none, and \
                     fifths are taken",
        });
    }
    let mut seen: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (&d, &b) in domains.iter().zip(&blocks) {
        let of = seen.entry(d).or_default();
        if !of.contains(&b) {
            of.push(b);
        }
    }
    if let Some((domain, only)) = seen.iter().find(|(_, of)| of.len() < 2) {
        return Err(DataError::Impossible {
            op: OP,
            why: format!(
                "all trials of domain {domain} belong to block {}: if it is held out, nothing of \
                 the domain is left to train on",
                only[0]
            ),
            remedy: "leave the domain out, or hold out whole subjects instead (LOSO)",
        });
    }
    let of = |block: usize| hold_out(&cells, labels.len(), seed, |trial| blocks[trial] == block);
    Ok(held_out.into_iter().map(of).collect())
}

/// One fold per subject: `subject_of_domain[d]` is the subject of domain `d`, so that all sessions
/// of a subject are held out together.
pub fn loso_folds(
    labels: &[usize],
    domains: &[usize],
    subject_of_domain: &[usize],
    seed: u64,
) -> Result<Vec<Fold>> {
    let cells = cells(labels, domains)?;
    let count = subject_of_domain.len();
    if let Some(trial) = domains.iter().position(|&d| d >= count) {
        return Err(DataError::IndexOutOfRange {
            op: OP,
            what: "domain",
            trial,
            index: domains[trial],
            count,
        });
    }
    let subject = |trial: usize| subject_of_domain[domains[trial]];
    let subjects = distinct(&(0..labels.len()).map(subject).collect::<Vec<_>>());
    if subjects.len() < 2 {
        return Err(DataError::Impossible {
            op: OP,
            why: "all trials belong to one subject".into(),
            remedy: "leaving one subject out needs at least two",
        });
    }
    let of = |who: usize| hold_out(&cells, labels.len(), seed, |trial| subject(trial) == who);
    Ok(subjects.into_iter().map(of).collect())
}

/// One fold across days: each domain (a subject) trains and validates on the session its first
/// trial is of, and tests on its other sessions. `sessions[i]` is the session of trial `i`.
///
/// ```
/// use stiefel_data::split::session_folds;
///
/// let labels: Vec<usize> = (0..40).map(|i| i % 2).collect();
/// let sessions: Vec<usize> = (0..40).map(|i| i / 20).collect();
/// let fold = session_folds(&labels, &[0; 40], &sessions, 7)?;
/// assert_eq!(
///     (fold.train.len(), fold.validation.len(), fold.test.len()),
///     (16, 4, 20)
/// );
/// # Ok::<(), stiefel_data::DataError>(())
/// ```
pub fn session_folds(
    labels: &[usize],
    domains: &[usize],
    sessions: &[usize],
    seed: u64,
) -> Result<Fold> {
    let cells = cells(labels, domains)?;
    check_count("sessions", labels.len(), sessions.len())?;
    let mut first: BTreeMap<usize, usize> = BTreeMap::new();
    for (&domain, &session) in domains.iter().zip(sessions) {
        first.entry(domain).or_insert(session);
    }
    let later = |trial: usize| first.get(&domains[trial]) != Some(&sessions[trial]);
    if !(0..labels.len()).any(later) {
        return Err(DataError::Impossible {
            op: OP,
            why: "every domain has one session".into(),
            remedy: "a cross-session study needs people who came back on another day",
        });
    }
    Ok(hold_out(&cells, labels.len(), seed, later))
}

/// One division: the given shares of every (domain, class) cell validate and test, each at least
/// one trial where the share is above zero and the cell has three trials; at least one trial of a
/// cell trains.
///
/// ```
/// use stiefel_data::split::holdout;
///
/// let (labels, domains) = ([0, 1].repeat(20), vec![0; 40]);
/// let split = holdout(&labels, &domains, 0.15, 0.1, 7)?;
/// assert_eq!(
///     (split.train.len(), split.validation.len(), split.test.len()),
///     (30, 6, 4)
/// );
/// assert!(holdout(&labels, &domains, 0.6, 0.5, 7).is_err());
/// # Ok::<(), stiefel_data::DataError>(())
/// ```
pub fn holdout(
    labels: &[usize],
    domains: &[usize],
    validation: f64,
    test: f64,
    seed: u64,
) -> Result<Fold> {
    for (name, value) in [
        ("the share of validation trials", validation),
        ("the share of test trials", test),
        ("the share of trials held out", validation + test),
    ] {
        if !(0.0..1.0).contains(&value) {
            return Err(DataError::Parameter {
                op: OP,
                name,
                value,
                expected: "at least 0 and below 1",
            });
        }
    }
    let mut parts = vec![Part::Train; labels.len()];
    for (&(domain, class), trials) in &cells(labels, domains)? {
        let size = trials.len();
        let share = |part: f64| match part {
            0.0 => 0,
            part if size >= 3 => ((part * size as f64).round() as usize).max(1),
            _ => 0,
        };
        let validated = share(validation).min(size - 1);
        let tested = share(test).min(size - 1 - validated);
        let shuffled = shuffled(trials, seed, domain, class);
        for &trial in &shuffled[..validated] {
            parts[trial] = Part::Validation;
        }
        for &trial in &shuffled[validated..validated + tested] {
            parts[trial] = Part::Test;
        }
    }
    Ok(Fold::from_parts(&parts))
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Train,
    Validation,
    Test,
}

impl Fold {
    fn from_parts(parts: &[Part]) -> Self {
        let of = |part: Part| (0..parts.len()).filter(|&i| parts[i] == part).collect();
        Self {
            train: of(Part::Train),
            validation: of(Part::Validation),
            test: of(Part::Test),
        }
    }
}

/// Tests on what `held` says, validates on 15 % of what is left of each cell.
fn hold_out(cells: &Cells, count: usize, seed: u64, held: impl Fn(usize) -> bool) -> Fold {
    let mut parts = vec![Part::Train; count];
    for (&(domain, class), trials) in cells {
        let (test, mut rest): (Vec<usize>, Vec<usize>) =
            (shuffled(trials, seed, domain, class).into_iter()).partition(|&t| held(t));
        for t in test {
            parts[t] = Part::Test;
        }
        rest.truncate(validation_size(rest.len(), 0));
        for t in rest {
            parts[t] = Part::Validation;
        }
    }
    Fold::from_parts(&parts)
}

/// Where a cell's shuffled trials are cut into five test sets.
fn test_cuts(size: usize) -> [usize; FOLDS + 1] {
    std::array::from_fn(|slot| match size {
        0 | 1 => 0,
        // Below seven, 15 % is less than one trial: one each, as far as they go.
        2..7 => slot.min(size),
        _ => (2 * HELD_OUT_PERCENT * size * slot + 100) / 200,
    })
}

/// How many of a cell validate: 15 %, at least one, where something is left to train on; none of a
/// pair.
fn validation_size(size: usize, tested: usize) -> usize {
    if size < 3 {
        return 0;
    }
    let share = ((2 * HELD_OUT_PERCENT * size + 100) / 200).max(1);
    share.min((size - tested).saturating_sub(1))
}

fn cells(labels: &[usize], domains: &[usize]) -> Result<Cells> {
    check_count("domains", labels.len(), domains.len())?;
    if labels.is_empty() {
        return Err(DataError::Impossible {
            op: OP,
            why: "no trials".into(),
            remedy: "pass the class and the domain of every trial",
        });
    }
    let mut cells = Cells::new();
    for (trial, (&class, &domain)) in labels.iter().zip(domains).enumerate() {
        cells.entry((domain, class)).or_default().push(trial);
    }
    Ok(cells)
}

fn check_count(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(DataError::Count {
        op: OP,
        what,
        expected,
        found,
    })
}

/// An error where a fold has nothing to test on.
fn check_tests(folds: &[Fold]) -> Result<()> {
    match folds.iter().position(|f| f.test.is_empty()) {
        None => Ok(()),
        Some(fold) => Err(DataError::Impossible {
            op: OP,
            why: format!(
                "fold {fold} has no trial to test on, because all (domain, class) cells are too \
                 small"
            ),
            remedy: "five folds need at least five trials in some cell",
        }),
    }
}

fn distinct(values: &[usize]) -> Vec<usize> {
    let mut all = values.to_vec();
    all.sort_unstable();
    all.dedup();
    all
}

/// The fifth of its domain each trial is in.
fn fifths(domains: &[usize]) -> Vec<usize> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    let positions: Vec<usize> = (domains.iter())
        .map(|&d| {
            let at = counts.entry(d).or_default();
            *at += 1;
            *at - 1
        })
        .collect();
    (domains.iter().zip(positions))
        .map(|(d, at)| at * FOLDS / counts[d])
        .collect()
}

/// A cell's trials in random order (Fisher–Yates), from a stream of its own.
fn shuffled(trials: &[usize], seed: u64, domain: usize, class: usize) -> Vec<usize> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // Domains and classes are list positions, far below 2³².
    rng.set_stream(((domain as u64) << 32) ^ class as u64);
    let mut out = trials.to_vec();
    for i in (1..out.len()).rev() {
        out.swap(i, below(&mut rng, i as u64 + 1) as usize);
    }
    out
}

/// A uniform number below `bound` by multiplication and rejection (Lemire 2019), written out so
/// that splits never change with a version of a library.
fn below(rng: &mut ChaCha8Rng, bound: u64) -> u64 {
    let rejected = bound.wrapping_neg() % bound;
    loop {
        let wide = u128::from(rng.next_u64()) * u128::from(bound);
        if (wide as u64) >= rejected {
            return (wide >> 64) as u64;
        }
    }
}
