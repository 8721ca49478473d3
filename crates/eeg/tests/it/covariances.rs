//! Estimators against scikit-learn and pyRiemann, against the definition, and their properties.

use crate::numbers::{eeg, fixtures, noise, relative_error};
use proptest::prelude::*;
use stiefel_eeg::covariance::{Estimator, Rank, RankLoss, covariances};
use stiefel_eeg::io::FormatError;
use stiefel_eeg::{Epochs, TrialInfo};

const ALL: [(Estimator, &str); 4] = [
    (Estimator::Sample, "sample"),
    (Estimator::LedoitWolf, "lw"),
    (Estimator::Oas, "oas"),
    (Estimator::SchaeferStrimmer, "sch"),
];

fn epochs(n: usize, t: usize, data: Vec<f64>) -> Epochs {
    let info = TrialInfo {
        label: "feet".into(),
        domain: "S1".into(),
        run: None,
    };
    let trials = vec![info; data.len() / (n * t)];
    Epochs::new(
        (0..n).map(|i| eeg(&format!("E{i}"))).collect(),
        100.0,
        t,
        data,
        trials,
    )
    .unwrap()
}

fn names(n: usize) -> Vec<String> {
    (0..n).map(|i| format!("E{i}")).collect()
}

#[test]
fn estimators_are_those_of_scikit_learn_and_pyriemann() {
    let records = fixtures(include_str!("../fixtures/covariance.txt"));
    let mut checked = 0;
    for (key, x) in records.iter().filter(|(key, _)| key.starts_with("x/")) {
        for (estimator, name) in ALL {
            let set = covariances(&epochs(x.rows, x.columns, x.data.clone()), estimator).unwrap();
            let expected = &records[&key.replacen('x', name, 1)].data;
            let error = relative_error(set.covariances().matrix(0), expected);
            assert!(error < 1e-9, "{key} {name}: off by {error:e}");
            checked += 1;
        }
    }
    assert_eq!(checked, 20);
}

#[test]
fn sample_covariance_follows_its_definition_for_every_trial() {
    let (n, t) = (7, 40);
    let data = noise(5, 3 * n * t);
    let set = covariances(&epochs(n, t, data.clone()), Estimator::Sample).unwrap();
    for trial in 0..3 {
        let x = |i: usize, s: usize| data[(trial * n + i) * t + s];
        let mean = |i: usize| (0..t).map(|s| x(i, s)).sum::<f64>() / t as f64;
        for i in 0..n {
            for j in 0..n {
                let naive: f64 = (0..t)
                    .map(|s| (x(i, s) - mean(i)) * (x(j, s) - mean(j)))
                    .sum::<f64>()
                    / (t - 1) as f64;
                assert!((set.covariances().matrix(trial)[i * n + j] - naive).abs() < 1e-14);
            }
        }
    }
}

#[test]
fn bad_trials_are_refused_by_name() {
    let mut data = noise(1, 2 * 3 * 10);
    data[10 * 4 + 2] = f64::NAN;
    for (estimator, _) in ALL {
        let message = covariances(&epochs(3, 10, data.clone()), estimator)
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("trial 1") && message.contains("E1") && message.contains("sample 2"),
            "{message}"
        );
    }
    let huge = vec![-1e200, 1e200, 0.0, 1.0];
    let message = covariances(&epochs(2, 2, huge), Estimator::Sample)
        .unwrap_err()
        .to_string();
    assert!(message.contains("overflow"), "{message}");
    assert!(covariances(&epochs(2, 1, vec![1.0, 2.0]), Estimator::Sample).is_err());
}

#[test]
fn flat_channels_do_not_poison_shrinkage() {
    let mut data = noise(2, 4 * 50);
    data[50..100].fill(3.0);
    for (estimator, _) in ALL {
        let set = covariances(&epochs(4, 50, data.clone()), estimator).unwrap();
        assert!(set.covariances().data().iter().all(|c| c.is_finite()));
    }
}

#[test]
fn rank_loss_is_explained() {
    let (n, t) = (6, 200);
    let x = noise(9, n * t);
    let rank = |x: Vec<f64>, t: usize| {
        let trials = covariances(&epochs(n, t, x), Estimator::Sample).unwrap();
        Rank::of_mean(&trials, t).unwrap()
    };
    let full = rank(x.clone(), t);
    assert!(
        full.is_full() && full.losses.is_empty() && full.condition < 10.0,
        "{full}"
    );

    let mut averaged = x.clone();
    for s in 0..t {
        let mean = (0..n).map(|i| x[i * t + s]).sum::<f64>() / n as f64;
        (0..n).for_each(|i| averaged[i * t + s] -= mean);
    }
    let found = rank(averaged, t);
    assert_eq!(
        (found.rank, found.losses),
        (5, vec![RankLoss::AverageReference])
    );

    let mut flat = x.clone();
    flat[t..2 * t].fill(4.0);
    flat.copy_within(3 * t..4 * t, 4 * t);
    let found = rank(flat, t);
    let expected = vec![
        RankLoss::FlatChannel("E1".into()),
        RankLoss::Copies("E3".into(), "E4".into()),
    ];
    assert_eq!((found.rank, found.losses), (4, expected));

    let mut interpolated = x.clone();
    for s in 0..t {
        interpolated[s] = 0.5 * x[t + s] + 0.2 * x[2 * t + s] + 0.3 * x[3 * t + s];
    }
    let found = rank(interpolated, t);
    assert_eq!(
        found.losses,
        vec![RankLoss::LinearCombination { directions: 1 }]
    );
    assert!(found.to_string().contains("interpolated"));

    let found = rank(x[..n * 4].to_vec(), 4);
    assert_eq!(
        (found.rank, found.losses),
        (3, vec![RankLoss::FewSamples { samples: 4 }])
    );

    assert!(Rank::of(&[1.0, f64::NAN, 0.0, 1.0], &names(2), 10).is_err());
    assert!(Rank::of(&[1.0; 3], &names(2), 10).is_err());
    assert!(Rank::of(&[], &[], 10).is_err());
}

fn smallest_eigenvalue_is_positive(c: &[f64], n: usize) -> bool {
    // A Cholesky factorisation exists.
    let mut l = c.to_vec();
    for j in 0..n {
        let d = l[j * n + j] - (0..j).map(|k| l[j * n + k] * l[j * n + k]).sum::<f64>();
        if d <= 0.0 {
            return false;
        }
        l[j * n + j] = d.sqrt();
        for i in j + 1..n {
            l[i * n + j] = (l[i * n + j]
                - (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum::<f64>())
                / l[j * n + j];
        }
    }
    true
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn shrinkage_is_positive_definite_even_with_few_samples(seed in 0u64..10_000, n in 2usize..12, t in 3usize..30) {
        for (estimator, _) in &ALL[1..] {
            let set = covariances(&epochs(n, t, noise(seed, n * t)), *estimator).unwrap();
            let c = set.covariances().matrix(0);
            for i in 0..n {
                for j in 0..n {
                    prop_assert_eq!(c[i * n + j], c[j * n + i]);
                }
            }
            // Schäfer–Strimmer may find no reason to shrink; then it is the sample covariance.
            if t > n || *estimator != Estimator::SchaeferStrimmer {
                prop_assert!(smallest_eigenvalue_is_positive(c, n), "{:?}", estimator);
            }
        }
    }

    #[test]
    fn scaling_the_signal_scales_the_covariance_by_its_square(seed in 0u64..10_000, exponent in -20i32..20, n in 1usize..10) {
        // A power of two, so that equality is exact.
        let scale = 2f64.powi(exponent);
        let x = noise(seed, n * 25);
        let scaled = x.iter().map(|x| x * scale).collect();
        for (estimator, _) in ALL {
            let a = covariances(&epochs(n, 25, x.clone()), estimator).unwrap();
            let b = covariances(&epochs(n, 25, Vec::clone(&scaled)), estimator).unwrap();
            for (a, b) in a.covariances().data().iter().zip(b.covariances().data()) {
                prop_assert_eq!(a * scale * scale, *b);
            }
        }
    }

    #[test]
    fn offsets_of_the_channels_do_not_matter(seed in 0u64..10_000, offset in -1000.0..1000.0f64) {
        let x = noise(seed, 5 * 30);
        let shifted = x.iter().map(|x| x + offset).collect();
        for (estimator, _) in ALL {
            let a = covariances(&epochs(5, 30, x.clone()), estimator).unwrap();
            let b = covariances(&epochs(5, 30, Vec::clone(&shifted)), estimator).unwrap();
            prop_assert!(relative_error(b.covariances().data(), a.covariances().data()) < 1e-10);
        }
    }
}

/// Few numbers of many channels have more covariances than any machine holds: that is said before
/// they are reserved.
#[test]
fn more_than_the_memory_is_an_error() {
    let n = 400_000;
    let error = covariances(&epochs(n, 2, vec![0.0; 2 * n]), Estimator::Sample).unwrap_err();
    assert!(
        matches!(error, stiefel_eeg::EegError::Format(FormatError::OutOfMemory { bytes, .. }) if bytes == 1_280_000_000_000),
        "{error}"
    );
}
