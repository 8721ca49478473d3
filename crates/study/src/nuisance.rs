//! The null control: labels that say nothing but which run a trial came from.
//!
//! Within each domain its runs, in the order in which they first appear, are dealt alternately to
//! two nuisance classes. So that the nuisance says nothing about the real class, of each (domain,
//! class) as many trials are kept of the one as of the other, the first in recording order.
//! Whatever a decoder scores above chance is knowledge of the run: leakage.

use crate::{Result, StudyError};
use std::collections::BTreeMap;
use stiefel_data::{Factor, Trials};

pub(crate) fn relabel(trials: &Trials) -> Result<Trials> {
    let Some(runs) = trials.runs() else {
        return Err(StudyError::setting(
            "the dataset does not say which run a trial came from",
            "the null control needs runs: a `run` column in the file",
        ));
    };
    let (domains, classes) = (
        trials.domains().indices().to_vec(),
        trials.classes().indices().to_vec(),
    );
    let mut seen: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let nuisance: Vec<usize> = (0..trials.len())
        .map(|i| {
            let order = seen.entry(domains[i]).or_default();
            let run = runs.indices()[i];
            let place = order.iter().position(|&r| r == run).unwrap_or_else(|| {
                order.push(run);
                order.len() - 1
            });
            place % 2
        })
        .collect();
    if let Some((&domain, _)) = seen.iter().find(|(_, runs)| runs.len() < 2) {
        let name = trials.domains().name(domain);
        return Err(StudyError::setting(
            format!("all trials of {name} belong to one run"),
            "leave it out: the null control tells runs of one person apart",
        ));
    }
    let mut cells: BTreeMap<(usize, usize), [Vec<usize>; 2]> = BTreeMap::new();
    for i in 0..nuisance.len() {
        cells.entry((domains[i], classes[i])).or_default()[nuisance[i]].push(i);
    }
    let mut keep: Vec<usize> = Vec::new();
    for [a, b] in cells.values() {
        let each = a.len().min(b.len());
        keep.extend(a[..each].iter().chain(&b[..each]));
    }
    keep.sort_unstable();
    if keep.is_empty() {
        return Err(StudyError::setting(
            "no (domain, class) has trials in both kinds of runs",
            "the null control needs classes that share their runs",
        ));
    }
    let labels = Factor::from_labels(keep.iter().map(|&i| ["odd run", "even run"][nuisance[i]]));
    Ok(trials.select(&keep)?.with_classes(labels)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiefel_linalg::MatBatch;

    #[test]
    fn the_nuisance_says_nothing_about_the_class() {
        let n = 60;
        let labels = Factor::from_labels((0..n).map(|i| if i % 3 == 0 { "hand" } else { "feet" }));
        let domains = Factor::from_labels((0..n).map(|i| format!("S{}", i / 30)));
        let runs = Factor::from_labels((0..n).map(|i| format!("{}", (i % 30) / 10)));
        let trials = Trials::new(MatBatch::identity(n, 2), labels.clone(), domains.clone())
            .and_then(|t| t.with_runs(runs))
            .unwrap();
        let counts = relabel(&trials).unwrap().classes().counts();
        assert_eq!(counts[0], counts[1]);
    }

    #[test]
    fn without_runs_it_is_refused() {
        let trials = Trials::new(
            MatBatch::identity(2, 2),
            Factor::from_labels(["a", "b"]),
            Factor::from_labels(["1", "1"]),
        )
        .unwrap();
        let error = relabel(&trials).unwrap_err();
        assert!(error.to_string().contains("run"), "{error}");
    }
}
