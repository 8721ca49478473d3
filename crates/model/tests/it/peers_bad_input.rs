//! What peers refuse, and how they say so.

use crate::peers::{Case, Outcome, all, cases, decided, fitted, preconditioning};
use stiefel_model::precondition::Tikhonov;
use stiefel_model::{Factor, ModelError, Preconditioning, Trials};

/// Training, validation and test trials.
fn parts(case: &Case) -> [Trials; 3] {
    let part = |indices: &[usize]| case.trials.select(indices).unwrap();
    [
        part(&case.fold.train),
        part(&case.fold.validation),
        part(&case.fold.test),
    ]
}

fn run(
    peer: &str,
    [train, validation, test]: &[Trials; 3],
    config: &Preconditioning,
) -> Result<Outcome, ModelError> {
    let model = fitted(peer, train, validation, config)?;
    decided(&model, test, config.unseen)
}

fn refused(peer: &str, parts: &[Trials; 3]) -> ModelError {
    run(peer, parts, &preconditioning()).unwrap_err()
}

#[test]
fn empty_parts() {
    let good = parts(&cases()[0]);
    let empty = good[0].select(&[]).unwrap();
    for peer in all() {
        let mut bad = good.clone();
        bad[0] = empty.clone();
        let error = refused(peer, &bad);
        assert!(matches!(error, ModelError::Empty { .. }), "{error}");
    }
    let mut bad = good;
    bad[1] = empty;
    for peer in ["ts+lr", "ts+lr-per-domain", "recentred-ts+lr"] {
        let error = refused(peer, &bad);
        assert!(error.to_string().contains("validation trials"), "{error}");
    }
    // Nothing to choose, nothing to validate.
    run("mdm", &bad, &preconditioning()).unwrap();
}

#[test]
fn one_class() {
    let mut bad = parts(&cases()[0]);
    let labels = bad[0].classes().indices();
    let own: Vec<usize> = (0..labels.len()).filter(|&i| labels[i] == 1).collect();
    bad[0] = bad[0].select(&own).unwrap();
    for peer in all() {
        let error = refused(peer, &bad);
        assert!(
            error.to_string().contains("belong to class \"c1\""),
            "{error}"
        );
    }
}

#[test]
fn names_and_channels_that_differ() {
    let good = parts(&cases()[0]);
    let x = |k: usize| good[k].covariances().clone();
    let renamed = |f: &Factor| Factor::from_labels(f.indices().iter().map(|i| format!("z{i}")));
    // Domains of the trials to decide are found by name; their classes are not read.
    let (classes, domains) = (good[1].classes(), good[1].domains());
    let others = [
        (
            "classes",
            Trials::new(x(1), renamed(classes), domains.clone()),
        ),
        (
            "domains",
            Trials::new(x(1), classes.clone(), renamed(domains)),
        ),
    ];
    for (what, other) in others {
        let mut bad = good.clone();
        bad[1] = other.unwrap();
        let error = refused("mdm", &bad);
        assert!(error.to_string().contains(what), "{error}");
    }
    let channels = |from: usize| {
        (from..from + 8)
            .map(|c| format!("E{c}"))
            .collect::<Vec<_>>()
    };
    let mut bad = good.clone().map(|t| t.with_channels(channels(0)).unwrap());
    bad[2] = good[2].clone().with_channels(channels(1)).unwrap();
    let error = refused("mdm", &bad);
    assert!(matches!(error, ModelError::Impossible { .. }), "{error}");
    let mut bad = good.clone();
    let smaller = stiefel_linalg::MatBatch::identity(good[2].len(), 7);
    bad[2] = good[2].with_covariances(smaller).unwrap();
    let error = refused("recentred-mdm", &bad);
    assert!(
        matches!(
            error,
            ModelError::Channels {
                expected: 8,
                found: 7,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn an_unseen_domain_without_a_policy() {
    let parts = parts(&cases()[2]);
    let none = Preconditioning::default();
    for peer in ["ts+lr", "ts+lr-per-domain", "recentred-mdm"] {
        let error = run(peer, &parts, &none).unwrap_err();
        assert!(
            matches!(
                error,
                ModelError::NoAdaptation | ModelError::NewDomain { .. }
            ),
            "{error}"
        );
    }
    run("mdm", &parts, &none).unwrap();
}

#[test]
fn matrices_that_are_not_positive_definite_and_loadings_that_are_none() {
    let [train, validation, test] = parts(&cases()[0]);
    let mut x = train.covariances().clone();
    x.matrix_mut(3).fill(0.0);
    let flat = train.with_covariances(x).unwrap();
    let flat = [flat, validation.clone(), test.clone()];
    let good = [train, validation, test];
    for peer in all() {
        refused(peer, &flat);
        for epsilon in [0.0, -1.0, f64::NAN] {
            let bad = Preconditioning {
                tikhonov: Tikhonov::Relative(epsilon),
                ..preconditioning()
            };
            run(peer, &good, &bad).unwrap_err();
        }
    }
}
