//! Splits: no trial in two parts, disjoint tests, strata, determinism, small cells, bad input.

use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use stiefel_data::split::{Fold, block_folds, cross_domain_folds, holdout, loso_folds};

fn check_partition(fold: &Fold, count: usize) {
    let mut all: Vec<usize> = [&fold.train, &fold.validation, &fold.test]
        .into_iter()
        .flatten()
        .copied()
        .collect();
    all.sort_unstable();
    assert_eq!(
        all,
        (0..count).collect::<Vec<_>>(),
        "every trial in exactly one part"
    );
    for part in [&fold.train, &fold.validation, &fold.test] {
        assert!(part.is_sorted());
    }
}

/// Trials per (domain, class) in a part.
fn cells(part: &[usize], labels: &[usize], domains: &[usize]) -> BTreeMap<(usize, usize), usize> {
    let mut counts = BTreeMap::new();
    for &i in part {
        *counts.entry((domains[i], labels[i])).or_default() += 1;
    }
    counts
}

/// Cells of random sizes, at least one of them with five trials.
fn layout() -> impl Strategy<Value = (Vec<usize>, Vec<usize>)> {
    (
        proptest::collection::vec(1_usize..24, 1..9),
        5_usize..30,
        any::<u64>(),
    )
        .prop_map(|(sizes, first, mix)| {
            let mut pairs = Vec::new();
            for (cell, size) in std::iter::once(first).chain(sizes).enumerate() {
                pairs.extend(vec![(cell / 3, cell % 3); size]);
            }
            // In some recording order that is not sorted by cell.
            let mut order: Vec<usize> = (0..pairs.len()).collect();
            order.sort_by_key(|&i| (i as u64 + 1).wrapping_mul(mix | 1));
            order.into_iter().map(|i| (pairs[i].1, pairs[i].0)).unzip()
        })
}

proptest! {
    #[test]
    fn cross_domain_laws((labels, domains) in layout(), seed in any::<u64>()) {
        let folds = cross_domain_folds(&labels, &domains, seed).unwrap();
        prop_assert_eq!(folds.len(), 5);
        let mut tested = BTreeSet::new();
        let whole = cells(&(0..labels.len()).collect::<Vec<_>>(), &labels, &domains);
        for fold in &folds {
            check_partition(fold, labels.len());
            for &t in &fold.test {
                prop_assert!(tested.insert(t), "trial {} is tested twice", t);
            }
            let parts = [&fold.train, &fold.validation, &fold.test].map(|p| cells(p, &labels, &domains));
            for (cell, &size) in &whole {
                let [train, validation, test] = [0, 1, 2].map(|p| parts[p].get(cell).copied().unwrap_or(0));
                let share = 0.15 * size as f64;
                prop_assert!(train >= 1, "{:?} has nothing to train on", cell);
                prop_assert!((test as f64 - share).abs() <= 1.0 && (validation as f64 - share).abs() <= 1.0);
                prop_assert!(size < 5 || (validation >= 1 && test >= 1));
                prop_assert!(size < 3 || validation >= 1);
            }
        }
        // Every trial of a cell of two to five is tested once; of larger ones 75 %.
        for (cell, &size) in &whole {
            let count = tested.iter().filter(|&&t| (domains[t], labels[t]) == *cell).count();
            let expected = match size { 1 => 0, 2..7 => size.min(5), _ => (3 * size + 2) / 4 };
            prop_assert_eq!(count, expected, "cell of {}", size);
        }
        prop_assert_eq!(&folds, &cross_domain_folds(&labels, &domains, seed).unwrap());
    }

    #[test]
    fn a_cell_does_not_depend_on_the_others((labels, domains) in layout(), seed in any::<u64>()) {
        // One more domain at the end leaves the rest as it was.
        let folds = cross_domain_folds(&labels, &domains, seed).unwrap();
        let (mut more_labels, mut more_domains) = (labels.clone(), domains.clone());
        more_labels.extend(vec![1; 10]);
        more_domains.extend(vec![77; 10]);
        let more = cross_domain_folds(&more_labels, &more_domains, seed).unwrap();
        for (a, b) in folds.iter().zip(&more) {
            let old: Vec<usize> = b.test.iter().copied().filter(|&i| i < labels.len()).collect();
            prop_assert_eq!(&a.test, &old);
        }
    }

    #[test]
    fn block_laws((labels, _) in layout(), blocks in 2_usize..6, seed in any::<u64>()) {
        let count = labels.len().max(20);
        let labels: Vec<usize> = (0..count).map(|i| labels[i % labels.len()]).collect();
        let domains: Vec<usize> = (0..count).map(|i| i / (count / 2 + 1)).collect();
        let runs: Vec<usize> = (0..count).map(|i| 10 + i % blocks).collect();
        let folds = block_folds(&labels, &domains, Some(&runs), seed).unwrap();
        prop_assert_eq!(folds.len(), blocks);
        for (f, fold) in folds.iter().enumerate() {
            check_partition(fold, count);
            prop_assert!(fold.test.iter().all(|&t| runs[t] == 10 + f));
            prop_assert!(fold.train.iter().chain(&fold.validation).all(|&t| runs[t] != 10 + f));
            let rest = cells(&[fold.train.clone(), fold.validation.clone()].concat(), &labels, &domains);
            let validation = cells(&fold.validation, &labels, &domains);
            for (cell, &size) in &rest {
                let found = validation.get(cell).copied().unwrap_or(0) as f64;
                prop_assert!((found - 0.15 * size as f64).abs() <= 1.0);
            }
        }
        prop_assert_eq!(&folds, &block_folds(&labels, &domains, Some(&runs), seed).unwrap());
    }
}

#[test]
fn exact_shares_where_they_are_whole() {
    let labels: Vec<usize> = (0..200).map(|i| i % 2).collect();
    let domains: Vec<usize> = (0..200).map(|i| i / 40).collect();
    for fold in cross_domain_folds(&labels, &domains, 3).unwrap() {
        for (part, each) in [(&fold.train, 14), (&fold.validation, 3), (&fold.test, 3)] {
            let cells = cells(part, &labels, &domains);
            assert_eq!(cells.len(), 10);
            assert!(cells.values().all(|&c| c == each));
        }
    }
    let a = cross_domain_folds(&labels, &domains, 3).unwrap();
    let b = cross_domain_folds(&labels, &domains, 4).unwrap();
    assert_ne!(a, b, "another seed, another split");
}

#[test]
fn splits_stay_what_they_are() {
    // The first fold of a small layout, written down: a change of the generator or of the shuffle
    // would show here.
    let labels: Vec<usize> = (0..20).map(|i| i % 2).collect();
    let folds = cross_domain_folds(&labels, &[0; 20], 1).unwrap();
    let tests: Vec<&[usize]> = folds.iter().map(|f| &f.test[..]).collect();
    assert_eq!(tests, FROZEN);
}

const FROZEN: [&[usize]; 5] = [
    &[4, 13, 14, 15],
    &[5, 16],
    &[3, 6, 7, 10],
    &[11, 12],
    &[2, 9, 18, 19],
];

#[test]
fn rounding_falls_to_different_folds() {
    // Ten trials per cell: tests of two and of one in turn. Over five domains every fold tests
    // equally many.
    let labels: Vec<usize> = (0..100).map(|i| i % 2).collect();
    let domains: Vec<usize> = (0..100).map(|i| i / 20).collect();
    let sizes: Vec<usize> = cross_domain_folds(&labels, &domains, 1)
        .unwrap()
        .iter()
        .map(|f| f.test.len())
        .collect();
    assert_eq!(sizes, [16; 5]);
}

#[test]
fn fifths_without_runs_are_contiguous() {
    let labels: Vec<usize> = (0..46).map(|i| i % 2).collect();
    let domains: Vec<usize> = (0..46).map(|i| usize::from(i >= 20)).collect();
    let folds = block_folds(&labels, &domains, None, 0).unwrap();
    assert_eq!(folds.len(), 5);
    assert_eq!(folds[0].test, [0, 1, 2, 3, 20, 21, 22, 23, 24, 25]);
    assert_eq!(folds[4].test, [16, 17, 18, 19, 41, 42, 43, 44, 45]);
    let all: BTreeSet<usize> = folds.iter().flat_map(|f| f.test.clone()).collect();
    assert_eq!(all.len(), 46);
}

#[test]
fn loso_holds_out_all_sessions_of_a_subject() {
    // Four domains: two sessions each of subjects 5 and 9.
    let labels: Vec<usize> = (0..80).map(|i| i % 2).collect();
    let domains: Vec<usize> = (0..80).map(|i| i / 20).collect();
    let folds = loso_folds(&labels, &domains, &[5, 5, 9, 9], 1).unwrap();
    assert_eq!(folds.len(), 2);
    assert_eq!(folds[0].test, (0..40).collect::<Vec<_>>());
    assert_eq!(folds[1].test, (40..80).collect::<Vec<_>>());
    for fold in &folds {
        check_partition(fold, 80);
        let validation = cells(&fold.validation, &labels, &domains);
        assert_eq!(validation.len(), 4);
        assert!(validation.values().all(|&c| c == 2), "15 % of ten, rounded");
    }
}

#[test]
fn bad_input() {
    let (labels, domains) = (vec![0, 1, 0, 1], vec![0, 0, 1, 1]);
    assert!(cross_domain_folds(&labels, &domains[1..], 0).is_err());
    assert!(cross_domain_folds(&[], &[], 0).is_err());
    let error = cross_domain_folds(&labels, &domains, 0).unwrap_err();
    assert!(error.to_string().contains("no trial to test on"), "{error}");
    assert!(block_folds(&labels, &domains, Some(&[0, 1]), 0).is_err());
    assert!(
        block_folds(&labels, &domains, Some(&[3; 4]), 0)
            .unwrap_err()
            .to_string()
            .contains("one block")
    );
    let error = block_folds(&labels, &domains, Some(&[0, 1, 1, 1]), 0).unwrap_err();
    assert!(error.to_string().contains("domain 1"), "{error}");
    assert!(loso_folds(&labels, &domains, &[0], 0).is_err());
    assert!(
        loso_folds(&labels, &domains, &[4, 4], 0)
            .unwrap_err()
            .to_string()
            .contains("one subject")
    );
}

proptest! {
    #[test]
    fn a_holdout_leaves_every_cell_something_to_train_on(
        (labels, domains) in layout(),
        validation in 0.0..0.5_f64,
        test in 0.0..0.49_f64,
        seed in any::<u64>(),
    ) {
        let split = holdout(&labels, &domains, validation, test, seed).unwrap();
        check_partition(&split, labels.len());
        let all: Vec<usize> = (0..labels.len()).collect();
        let trained = cells(&split.train, &labels, &domains);
        let validated = cells(&split.validation, &labels, &domains);
        for (cell, size) in cells(&all, &labels, &domains) {
            prop_assert!(trained[&cell] >= 1);
            prop_assert_eq!(validated.contains_key(&cell), size >= 3 && validation > 0.0);
        }
        prop_assert_eq!(&split, &holdout(&labels, &domains, validation, test, seed).unwrap());
    }
}

#[test]
fn shares_that_cannot_be_held_out() {
    for (validation, test) in [
        (-0.1, 0.0),
        (f64::NAN, 0.1),
        (1.0, 0.0),
        (0.0, f64::INFINITY),
        (0.5, 0.5),
    ] {
        assert!(holdout(&[0, 1, 0, 1], &[0; 4], validation, test, 0).is_err());
    }
    assert!(holdout(&[], &[], 0.1, 0.1, 0).is_err());
    assert!(holdout(&[0], &[0, 1], 0.1, 0.1, 0).is_err());
    let none = holdout(&[0, 1, 0, 1], &[0; 4], 0.0, 0.0, 0).unwrap();
    assert_eq!(none.train, [0, 1, 2, 3]);
}
