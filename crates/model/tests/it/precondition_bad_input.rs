//! What pre-conditioning refuses, and with which words.

use crate::support::mixed_trials;
use serde_json::json;
use stiefel_data::settings::SettingError;
use stiefel_linalg::MatBatch;
use stiefel_model::precondition::{
    Adaptation, Preconditioning, Reference, Tikhonov, WhitenScratch, Whitener,
};
use stiefel_model::{Factor, ModelError, Trials};

fn fitted() -> (Whitener, Trials) {
    let all = mixed_trials(1, 24, 3, 3);
    let known: Vec<usize> = (0..24).filter(|i| i % 3 != 2).collect();
    let training = all.select(&known).unwrap();
    (Preconditioning::default().fit(&training).unwrap(), all)
}

fn of_domain(all: &Trials, d: usize) -> Trials {
    let at: Vec<usize> = (0..all.len()).filter(|&i| i % 3 == d).collect();
    all.select(&at).unwrap()
}

#[test]
fn numbers_out_of_range() {
    let trials = mixed_trials(1, 6, 3, 2);
    for bad in [0.0, -1e-8, f64::NAN, f64::INFINITY] {
        for tikhonov in [Tikhonov::Relative(bad), Tikhonov::Absolute(bad)] {
            let config = Preconditioning {
                tikhonov,
                ..Preconditioning::default()
            };
            assert!(matches!(
                config.fit(&trials),
                Err(ModelError::Setting(SettingError::Value { .. }))
            ));
        }
    }
    for kappa in [-1.0, f64::NAN, f64::INFINITY] {
        let config = Preconditioning {
            unseen: Some(Adaptation::OwnMean { kappa }),
            ..Preconditioning::default()
        };
        assert!(matches!(
            config.fit(&trials),
            Err(ModelError::Setting(error)) if error.name() == "unseen.kappa"
        ));
        let (whitener, all) = fitted();
        let new = of_domain(&all, 2);
        for policy in [Adaptation::OwnMean { kappa }, Adaptation::Causal { kappa }] {
            assert!(whitener.transform_new(&new, policy).is_err());
        }
    }
}

#[test]
fn nothing_to_fit_on() {
    let empty = mixed_trials(1, 6, 3, 2).select(&[]).unwrap();
    assert!(matches!(
        Preconditioning::default().fit(&empty),
        Err(ModelError::Empty { .. })
    ));
}

#[test]
fn new_domains_need_a_policy() {
    let (whitener, all) = fitted();
    let error = whitener.transform(&all).unwrap_err();
    assert!(matches!(
        &error,
        ModelError::UntrainedDomain { domain: 2, name, .. } if name == "s2"
    ));
    assert!(error.to_string().contains("own-mean"), "{error}");
    let mut out = vec![0.0; 9];
    let x = all.covariances().matrix(2);
    let single = whitener.transform_into(2, x, &mut out, &mut WhitenScratch::default());
    assert!(matches!(single, Err(ModelError::UntrainedDomain { .. })));
    let beyond = whitener.transform_into(3, x, &mut out, &mut WhitenScratch::default());
    assert!(matches!(
        beyond,
        Err(ModelError::NoSuchDomain {
            domain: 3,
            count: 3,
            ..
        })
    ));
}

#[test]
fn known_domains_are_not_unseen_and_domains_are_not_mixed() {
    let (whitener, all) = fitted();
    let error = whitener
        .transform_new(&of_domain(&all, 0), Adaptation::Pooled)
        .unwrap_err();
    assert!(matches!(error, ModelError::KnownDomain { trials: 8, .. }));
    let error = whitener
        .transform_new(&all.select(&[2, 5, 0]).unwrap(), Adaptation::Pooled)
        .unwrap_err();
    assert!(matches!(error, ModelError::MixedDomains { trial: 2, .. }));
    let none = all.select(&[]).unwrap();
    assert!(matches!(
        whitener.transform_new(&none, Adaptation::Pooled),
        Err(ModelError::Empty { .. })
    ));
}

#[test]
fn domain_numbers_must_mean_what_they_meant() {
    let (whitener, all) = fitted();
    let renamed = |names: [&str; 3]| {
        let names = names.map(String::from).to_vec();
        let domains = Factor::new("domain", names, vec![0, 1]).unwrap();
        let x = all.covariances().select(&[0, 1]);
        Trials::new(x, Factor::from_labels(["a", "b"]), domains).unwrap()
    };
    assert!(whitener.transform(&renamed(["s0", "s1", "x"])).is_ok());
    assert!(matches!(
        whitener.transform(&renamed(["s1", "s0", "s2"])),
        Err(ModelError::DomainIndex {
            at_fit: 1,
            found: 0,
            ..
        })
    ));
    assert!(matches!(
        whitener.transform(&renamed(["s0", "other", "s2"])),
        Err(ModelError::DomainName { domain: 1, .. })
    ));
}

#[test]
fn montages_must_agree() {
    let (whitener, _) = fitted();
    let four = mixed_trials(2, 6, 4, 3).select(&[0]).unwrap();
    assert!(matches!(
        whitener.transform(&four),
        Err(ModelError::Channels {
            expected: 3,
            found: 4,
            ..
        })
    ));
    let named = |names: [&str; 3]| {
        let names = names.map(String::from).to_vec();
        mixed_trials(1, 6, 3, 3).with_channels(names).unwrap()
    };
    let whitener = Preconditioning::default()
        .fit(&named(["C3", "Cz", "C4"]))
        .unwrap();
    let swapped = whitener.transform(&named(["C3", "C4", "Cz"]));
    assert!(matches!(
        swapped,
        Err(ModelError::ChannelName { channel: 1, .. })
    ));
    let mut scratch = WhitenScratch::default();
    let (mut out, x) = (vec![0.0; 9], vec![1.0; 4]);
    assert!(
        whitener
            .transform_into(0, &x, &mut out, &mut scratch)
            .is_err()
    );
    let x = MatBatch::identity(1, 3).into_vec();
    assert!(
        whitener
            .transform_into(0, &x, &mut out[..8], &mut scratch)
            .is_err()
    );
    let mut bad = x.clone();
    bad[1] = f64::NAN;
    assert!(
        whitener
            .transform_into(0, &bad, &mut out, &mut scratch)
            .is_err()
    );
    bad[1] = 0.5;
    assert!(
        whitener
            .transform_into(0, &bad, &mut out, &mut scratch)
            .is_err()
    );
}

#[test]
fn own_mean_without_a_prior_needs_ten_trials() {
    let (whitener, all) = fitted();
    let new = of_domain(&all, 2);
    for (policy, found) in [
        (Adaptation::OwnMean { kappa: 0.0 }, 8),
        (Adaptation::Causal { kappa: 0.0 }, 1),
    ] {
        let error = whitener.transform_new(&new, policy).unwrap_err();
        let expected = ModelError::TooFewForOwnMean {
            op: "pre-conditioning",
            needed: 10,
            found,
        };
        assert_eq!(error, expected);
    }
    // After ten trials taken in, the running mean stands on its own.
    let none = MatBatch::zeros(0, 3, 3);
    let policy = Adaptation::Causal { kappa: 0.0 };
    let mut causal = whitener.adapt(none.view(), policy).unwrap();
    assert!(causal.mean().is_err());
    let mut out = vec![0.0; 9];
    for i in 0..9 {
        assert!(
            causal
                .transform_into(all.covariances().matrix(i), &mut out)
                .is_err()
        );
        assert_eq!(causal.trial_count(), i);
        causal.observe(all.covariances().matrix(i)).unwrap();
    }
    causal
        .transform_into(all.covariances().matrix(9), &mut out)
        .unwrap();
}

#[test]
fn a_refused_trial_leaves_the_running_mean_alone() {
    let (whitener, all) = fitted();
    let none = MatBatch::zeros(0, 3, 3);
    let policy = Adaptation::Causal { kappa: 10.0 };
    let mut causal = whitener.adapt(none.view(), policy).unwrap();
    causal.observe(all.covariances().matrix(2)).unwrap();
    let before = causal.mean().unwrap();
    let mut out = vec![0.0; 9];
    let flat = [0.0; 9];
    assert!(matches!(
        causal.transform_into(&flat, &mut out),
        Err(ModelError::NoScale { trial: 1, .. })
    ));
    assert!(causal.transform_into(&[f64::NAN; 9], &mut out).is_err());
    assert!(causal.transform_into(&[1.0; 4], &mut out).is_err());
    assert!(causal.observe(&[1.0; 4]).is_err());
    assert_eq!(causal.mean().unwrap(), before);
    assert_eq!(causal.trial_count(), 1);
}

#[test]
fn flat_trials_and_singular_means_are_named() {
    let all = mixed_trials(1, 12, 3, 2);
    let mut x = all.covariances().clone();
    x.matrix_mut(4).fill(0.0);
    let flat = all.with_covariances(x).unwrap();
    let whitener = Preconditioning::default().fit(&all).unwrap();
    assert!(matches!(
        whitener.transform(&flat),
        Err(ModelError::NoScale { trial: 4, .. })
    ));
    // Every trial of a domain without one channel, and no loading.
    let mut x = all.covariances().clone();
    for i in (1..12).step_by(2) {
        let m = x.matrix_mut(i);
        for j in 0..3 {
            m[j] = 0.0;
            m[3 * j] = 0.0;
        }
    }
    let dead = all.with_covariances(x).unwrap();
    for reference in [
        Reference::Euclidean,
        Reference::LogEuclidean,
        Reference::Riemannian,
    ] {
        let config = Preconditioning {
            tikhonov: Tikhonov::None,
            reference,
            ..Preconditioning::default()
        };
        let error = config.fit(&dead).unwrap_err();
        assert!(error.to_string().contains("domain 1 (\"s1\")"), "{error}");
    }
}

#[test]
fn damaged_states_are_refused() {
    let (whitener, _) = fitted();
    let good = serde_json::to_value(&whitener).unwrap();
    let damage = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut value = good.clone();
        change(&mut value);
        Whitener::from_json(&value.to_string())
    };
    assert_eq!(damage(&|_| ()), Ok(whitener));
    let bad: [(&str, serde_json::Value); 10] = [
        ("/n", 0.into()),
        ("/n", u64::MAX.into()),
        ("/known", json!([null, null, null])),
        ("/known", json!([null, null])),
        ("/known/0/0/beta", (-1.0).into()),
        ("/known/0/0/mean", json!([1.0])),
        ("/pooled/square", 0.0.into()),
        ("/domains", json!(["a", "a", "b"])),
        ("/channels", json!(["Cz"])),
        ("/config/tikhonov", json!({"relative": -1.0})),
    ];
    for (place, value) in bad {
        let change = |v: &mut serde_json::Value| *v.pointer_mut(place).unwrap() = value.clone();
        assert!(damage(&change).is_err(), "{place}");
    }
}
