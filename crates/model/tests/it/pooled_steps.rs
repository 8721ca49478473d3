//! The preset `recommended` step by step: choosing, fitting again, strangers trial by trial, what a file says.

use crate::support::named;
use stiefel_linalg::MatBatch;
use stiefel_model::file::{AnyHeader, inspect_any};
use stiefel_model::precondition::UnseenPolicy;
use stiefel_model::precondition::UnseenWhitening;
use stiefel_model::{Factor, FittedModel, PooledConfig, PooledModel, Trials};
use stiefel_testkit::{assert_close, random_spd};

/// Classes that differ in the first channel.
fn trials(seed: u64, count: usize, n: usize) -> Trials {
    let mut x = random_spd::<f64>(seed, count, n);
    for i in 0..count {
        x.matrix_mut(i)[0] += ((i / 3) % 2) as f64;
    }
    named(x, 3)
}

fn config(refit: bool) -> PooledConfig {
    PooledConfig {
        filters: 3,
        refit,
        ..PooledConfig::default()
    }
}

#[test]
fn a_fit_is_its_two_steps() {
    let (a, b) = (trials(1, 90, 5), trials(2, 30, 5));
    let go_on = || true;
    let chosen = PooledModel::choose_while(&a, &b, &config(true), &go_on).expect("fitted");
    assert_eq!(
        Ok(&chosen),
        PooledModel::fit(&a, &b, &config(false)).as_ref(),
        "the first step is a fit without the second"
    );
    let again = chosen.refit_while(&a, &b, &go_on).expect("fitted");
    assert_eq!(
        again,
        PooledModel::fit(&a, &b, &config(true)).expect("fitted")
    );
    assert_eq!(again.config(), &config(true));
    assert_ne!(again.head(), chosen.head());
    assert!(chosen.refit_while(&a, &b, &|| false).is_err(), "cancelled");
    let scores = again.score(&b).expect("scores");
    assert_eq!(scores, again.report(&b, 0).expect("a report").scores);
    assert!(again.score(&trials(3, 12, 4)).is_err(), "other channels");
}

#[test]
fn strangers_are_decided_as_they_are_evaluated() {
    let model = PooledModel::fit(&trials(1, 90, 5), &trials(2, 30, 5), &config(true));
    let model = model.expect("fitted");
    let new = trials(4, 20, 5);
    let x = new.covariances().clone();
    let name = Factor::new("domain", vec!["new".into()], vec![0; 20]).expect("one");
    let new = Trials::new(x.clone(), new.classes().clone(), name).expect("valid");
    let none = MatBatch::zeros(0, 5, 5);
    let all = |domain: &mut UnseenWhitening| -> Vec<f64> {
        (0..20)
            .flat_map(|i| model.decide_adapted(x.matrix(i), domain).expect("decided"))
            .collect()
    };
    let kappa = 3.0;
    for (policy, seen) in [
        (UnseenPolicy::Pooled, &none),
        (UnseenPolicy::OwnMean { kappa }, &x),
        (UnseenPolicy::Causal { kappa }, &none),
    ] {
        let mut domain = model.adapt_domain(seen.view(), policy).expect("prepared");
        assert_eq!(domain.policy(), policy);
        let expected = model.evaluate_unseen(&new, policy).expect("evaluated");
        let expected = expected.probabilities.data();
        assert_close("a stranger", &all(&mut domain), expected, 1e-12);
        // With trials seen before, as the batch does.
        let after = model
            .decide_unseen(x.view(), x.view(), policy)
            .expect("decided");
        let mut domain = model.adapt_domain(x.view(), policy).expect("prepared");
        assert_close("calibrated", &all(&mut domain), after.data(), 1e-12);
    }
}

#[test]
fn strangers_that_cannot_be_decided() {
    let model = PooledModel::fit(&trials(1, 90, 5), &trials(2, 30, 5), &config(true));
    let model = model.expect("fitted");
    let x = trials(4, 20, 5).covariances().clone();
    let none = MatBatch::zeros(0, 5, 5);
    let own = UnseenPolicy::OwnMean { kappa: 1.0 };
    let error = model.adapt_domain(none.view(), own).expect_err("no trials");
    assert!(error.to_string().contains("unlabelled"), "{error}");
    let negative = UnseenPolicy::Causal { kappa: -1.0 };
    assert!(model.adapt_domain(x.view(), negative).is_err());
    let mut broken = x.clone();
    broken.matrix_mut(7)[1] = f64::NAN;
    let error = model.adapt_domain(broken.view(), own).expect_err("a NaN");
    assert!(error.to_string().contains("matrix 7"), "{error}");

    // Prepared for another number of channels, or a covariance of another size.
    let other = PooledModel::fit(&trials(1, 90, 4), &trials(2, 30, 4), &config(true));
    let other = other.expect("fitted");
    for policy in [own, UnseenPolicy::Causal { kappa: 1.0 }] {
        let mut domain = model.adapt_domain(x.view(), policy).expect("prepared");
        let small = trials(5, 6, 4);
        let small = small.covariances().matrix(0);
        assert!(other.decide_adapted(small, &mut domain).is_err());
        assert!(model.decide_adapted(small, &mut domain).is_err());
        assert!(model.decide_adapted(x.matrix(0), &mut domain).is_ok());
    }
}

#[test]
fn a_file_says_what_it_is() {
    let model = PooledModel::fit(&trials(1, 90, 5), &trials(2, 30, 5), &config(true));
    let model = model.expect("fitted");
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("pooled-inspected-{}", std::process::id()));
    let fitted = FittedModel::from(model.clone());
    fitted.save(&path, true).expect("saved");
    let header = inspect_any(&path).expect("a header");
    std::fs::remove_file(&path).expect("removed");
    let AnyHeader::Pooled(header) = header else {
        panic!("{header:?}");
    };
    let about = &header.model;
    assert_eq!((&about.config, about.c), (model.config(), model.head().c()));
    assert_eq!((about.sizes.channels, about.sizes.filters), (5, 3));
    assert_eq!(about.domain_trials, [40, 40, 40]);
    assert_eq!(header.tensors["anchor"].shape, [5, 3]);
    assert!(inspect_any(&path).is_err(), "gone");
}
