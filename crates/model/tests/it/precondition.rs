//! Properties of pre-conditioning.

use crate::support::{distance_from_identity, mean_of, mixed_trials, named};
use proptest::prelude::*;
use stiefel_geometry::spd;
use stiefel_linalg::{MatBatch, congruence};
use stiefel_model::precondition::{
    Adaptation, Preconditioning, Reference, Scaling, Tikhonov, WhitenScratch, Whitener, Whitening,
};
use stiefel_model::{Factor, Trials};
use stiefel_testkit::{assert_close, random_batch, relative_error};

fn config(reference: Reference, whitening: Whitening, scaling: Scaling) -> Preconditioning {
    Preconditioning {
        reference,
        whitening,
        scaling,
        ..Preconditioning::default()
    }
}

const REFERENCES: [Reference; 3] = [
    Reference::Euclidean,
    Reference::Riemannian,
    Reference::LogEuclidean,
];
const WHITENINGS: [Whitening; 2] = [Whitening::Symmetric, Whitening::Pca];
const SCALINGS: [Scaling; 3] = [Scaling::PerTrial, Scaling::PerDomain, Scaling::None];

/// A set without the last domain in its training part, and the trials of that domain.
fn with_unseen(seed: u64, n: usize) -> (Trials, Trials, Trials) {
    let all = mixed_trials(seed, 36, n, 3);
    let of = |d: usize| (0..36).filter(|i| i % 3 == d).collect::<Vec<_>>();
    let known: Vec<usize> = (0..36).filter(|i| i % 3 != 2).collect();
    let unseen = all.select(&of(2)).unwrap();
    (all.select(&known).unwrap(), unseen, all)
}

/// What rounding may do to `M^{-1/2} X M^{-1/2}`: a multiple of `ε` times the condition number of
/// `M`.
fn rounding_of(mean: &[f64], n: usize) -> f64 {
    let mean = MatBatch::from_vec(1, n, n, mean.to_vec()).unwrap();
    let spectrum = stiefel_linalg::eigenvalues(mean.view()).unwrap();
    64.0 * n as f64 * f64::EPSILON * spectrum[n - 1] / spectrum[0]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn whitened_training_trials_average_to_the_identity(seed in 0_u64..1000, n in 1_usize..7) {
        let training = mixed_trials(seed, 24, n, 3);
        for whitening in WHITENINGS {
            let fitted = config(Reference::Euclidean, whitening, Scaling::None).fit(&training).unwrap();
            // The loading is part of what is averaged.
            let white = fitted.transform(&training).unwrap();
            for d in 0..3 {
                let own: Vec<usize> = (0..24).filter(|i| i % 3 == d).collect();
                let mean = mean_of(white.covariances(), &own);
                let bound = rounding_of(fitted.mean_of(d).unwrap(), n);
                let distance = distance_from_identity(&mean, n);
                prop_assert!(distance < bound, "{distance:e} against {bound:e}");
            }
        }
    }

    #[test]
    fn volts_and_microvolts_give_the_same(seed in 0_u64..1000) {
        let micro = mixed_trials(seed, 20, 5, 2);
        let volts: Vec<f64> = micro.covariances().data().iter().map(|x| x * 1e-12).collect();
        let volts = named(MatBatch::from_vec(20, 5, 5, volts).unwrap(), 2);
        for reference in REFERENCES {
            for scaling in SCALINGS {
                let config = config(reference, Whitening::Symmetric, scaling);
                let a = config.fit(&micro).unwrap().transform(&micro).unwrap();
                let b = config.fit(&volts).unwrap().transform(&volts).unwrap();
                let error = relative_error(a.covariances().data(), b.covariances().data());
                let whitener = config.fit(&micro).unwrap();
                let bound = (0..2).map(|d| rounding_of(whitener.mean_of(d).unwrap(), 5)).fold(1e-11, f64::max);
                prop_assert!(error < bound, "{reference:?} {scaling:?} {error:e} against {bound:e}");
            }
        }
    }

    /// Mixing a domain's channels by any invertible `A` leaves the whitened trials as they were, up to one rotation per
    /// domain: eigenvalues, and all products of trials up to similarity, stay.
    #[test]
    fn mixing_the_channels_changes_a_rotation_only(seed in 0_u64..1000) {
        let before = mixed_trials(seed, 20, 4, 2);
        let eye = |r: usize, c: usize| if r == c { 2.0 } else { 0.0 };
        let g = random_batch::<f64>(seed + 7, 1, 4, 4);
        let a = MatBatch::from_fn(1, 4, 4, |_, r, c| eye(r, c) + 0.4 * g.get(0, r, c));
        let after = before.with_covariances(congruence(a.view(), before.covariances().view()).unwrap()).unwrap();
        for reference in [Reference::Euclidean, Reference::Riemannian] {
            // Loading is relative to the trace, which mixing changes: without it the equivariance is exact.
            let config = Preconditioning { tikhonov: Tikhonov::None, ..config(reference, Whitening::Symmetric, Scaling::PerTrial) };
            let x = config.fit(&before).unwrap().transform(&before).unwrap();
            let y = config.fit(&after).unwrap().transform(&after).unwrap();
            let (lx, ly) = (
                stiefel_linalg::eigenvalues(x.covariances().view()).unwrap(),
                stiefel_linalg::eigenvalues(y.covariances().view()).unwrap(),
            );
            let error = relative_error(&ly, &lx);
            prop_assert!(error < 1e-8, "{reference:?} {error:e}");
        }
    }

    #[test]
    fn per_trial_scale_is_the_closest_to_the_identity(seed in 0_u64..1000, other in 0.5_f64..2.0) {
        let trials = mixed_trials(seed, 8, 4, 2);
        let fitted = Preconditioning::default().fit(&trials).unwrap();
        let y = fitted.transform(&trials).unwrap();
        let gap = |s: f64, m: &[f64]| -> f64 {
            m.iter().enumerate().map(|(at, x)| (s * x - f64::from(u8::from(at / 4 == at % 4))).powi(2)).sum()
        };
        for i in 0..8 {
            let m = y.covariances().matrix(i);
            prop_assert!(gap(1.0, m) <= gap(other, m) + 1e-12);
        }
    }
}

#[test]
fn riemannian_and_log_euclidean_means_whiten_their_own_mean() {
    let training = mixed_trials(3, 24, 5, 3);
    for whitening in WHITENINGS {
        let fitted = config(Reference::Riemannian, whitening, Scaling::None)
            .fit(&training)
            .unwrap();
        let white = fitted.transform(&training).unwrap();
        let own: Vec<usize> = (0..8).map(|j| 3 * j).collect();
        // The affine-invariant mean of the whitened trials is the identity: their logarithms
        // average to zero.
        let logs = spd::log(white.covariances().select(&own).view()).unwrap();
        let mean = mean_of(&logs, &(0..8).collect::<Vec<_>>());
        assert!(mean.iter().all(|x| x.abs() < 1e-8), "{mean:?}");
    }
    let fitted = config(Reference::LogEuclidean, Whitening::Symmetric, Scaling::None)
        .fit(&training)
        .unwrap();
    let mut own = training
        .covariances()
        .select(&[1, 4, 7, 10, 13, 16, 19, 22]);
    for i in 0..8 {
        let load = 1e-8 * own.matrix(i).iter().step_by(6).sum::<f64>() / 5.0;
        own.matrix_mut(i)
            .iter_mut()
            .step_by(6)
            .for_each(|x| *x += load);
    }
    let mean = mean_of(&spd::log(own.view()).unwrap(), &(0..8).collect::<Vec<_>>());
    let log = MatBatch::from_vec(1, 5, 5, fitted.mean_of(1).unwrap().to_vec()).unwrap();
    assert_close("log M", spd::log(log.view()).unwrap().data(), &mean, 1e-12);
}

#[test]
fn test_trials_reach_nothing_that_is_fitted() {
    let all = mixed_trials(5, 30, 4, 3);
    let train: Vec<usize> = (0..21).collect();
    let fitted = Preconditioning::default()
        .fit(&all.select(&train).unwrap())
        .unwrap();
    // Other test trials: the same training trials give the same whitener, and a test trial the same
    // result whatever is beside it.
    let mut changed = all.covariances().clone();
    for i in 21..30 {
        changed.matrix_mut(i).iter_mut().for_each(|x| *x *= 1e3);
    }
    let changed = all.with_covariances(changed).unwrap();
    let again = Preconditioning::default()
        .fit(&changed.select(&train).unwrap())
        .unwrap();
    assert_eq!(fitted, again);
    let together = fitted
        .transform(&all.select(&[21, 25, 29]).unwrap())
        .unwrap();
    let alone = fitted.transform(&all.select(&[25]).unwrap()).unwrap();
    assert_eq!(
        together.covariances().matrix(1),
        alone.covariances().matrix(0)
    );
}

#[test]
fn pooled_policy_uses_the_mean_of_domain_means_and_nothing_of_the_target() {
    let (training, unseen, _) = with_unseen(11, 4);
    let config = Preconditioning {
        tikhonov: Tikhonov::None,
        scaling: Scaling::None,
        ..Preconditioning::default()
    };
    // One domain with more trials than the other: each still counts once.
    let unbalanced = training.select(&[0, 1, 2, 4, 6, 8]).unwrap();
    let fitted = config.fit(&unbalanced).unwrap();
    assert_eq!(
        (
            fitted.trial_count(0),
            fitted.trial_count(1),
            fitted.trial_count(2)
        ),
        (5, 1, 0)
    );
    let means: Vec<f64> = (0..16)
        .map(|at| 0.5 * (fitted.mean_of(0).unwrap()[at] + fitted.mean_of(1).unwrap()[at]))
        .collect();
    assert_close("pooled mean", fitted.pooled_mean(), &means, 1e-15);
    let all = fitted.transform_new(&unseen, Adaptation::Pooled).unwrap();
    let one = fitted
        .transform_new(&unseen.select(&[3]).unwrap(), Adaptation::Pooled)
        .unwrap();
    assert_eq!(all.covariances().matrix(3), one.covariances().matrix(0));
    let mut out = vec![0.0; 16];
    let x = unseen.covariances().matrix(3);
    let none = MatBatch::zeros(0, 4, 4);
    let mut pooled = fitted.adapt(none.view(), Adaptation::Pooled).unwrap();
    pooled.transform_into(x, &mut out).unwrap();
    assert_eq!(out, one.covariances().matrix(0));
}

#[test]
fn own_mean_is_shrunk_towards_the_pooled_mean_by_the_formula() {
    let (training, unseen, _) = with_unseen(12, 4);
    let config = Preconditioning {
        tikhonov: Tikhonov::None,
        scaling: Scaling::None,
        ..Preconditioning::default()
    };
    let fitted = config.fit(&training).unwrap();
    for kappa in [0.0, 2.5, 10.0] {
        let policy = Adaptation::OwnMean { kappa };
        let found = fitted.transform_new(&unseen, policy).unwrap();
        let t = unseen.len() as f64;
        let own = mean_of(unseen.covariances(), &(0..unseen.len()).collect::<Vec<_>>());
        let mean = MatBatch::from_fn(1, 4, 4, |_, r, c| {
            (kappa * fitted.pooled_mean()[4 * r + c] + t * own[4 * r + c]) / (kappa + t)
        });
        let z = spd::inv_sqrt(mean.view()).unwrap();
        let expected = congruence(z.view(), unseen.covariances().view()).unwrap();
        assert_close(
            "own mean",
            found.covariances().data(),
            expected.data(),
            1e-12,
        );
    }
}

#[test]
fn causal_whitening_includes_the_current_trial_and_no_later_one() {
    let (training, unseen, _) = with_unseen(13, 4);
    let config = Preconditioning {
        tikhonov: Tikhonov::None,
        scaling: Scaling::None,
        ..Preconditioning::default()
    };
    let fitted = config.fit(&training).unwrap();
    let policy = Adaptation::Causal { kappa: 10.0 };
    let found = fitted.transform_new(&unseen, policy).unwrap();
    for t in 1..=unseen.len() {
        // Trial t of the causal policy is the last trial of the own-mean policy on the first t
        // trials.
        let first: Vec<usize> = (0..t).collect();
        let own = fitted
            .transform_new(
                &unseen.select(&first).unwrap(),
                Adaptation::OwnMean { kappa: 10.0 },
            )
            .unwrap();
        assert_close(
            "causal",
            found.covariances().matrix(t - 1),
            own.covariances().matrix(t - 1),
            1e-12,
        );
    }
}

#[test]
fn causal_and_own_mean_agree_for_every_reference_and_scale() {
    let (training, unseen, _) = with_unseen(14, 4);
    for reference in REFERENCES {
        for scaling in SCALINGS {
            let fitted = config(reference, Whitening::Symmetric, scaling)
                .fit(&training)
                .unwrap();
            let first = unseen.select(&[0]).unwrap();
            let causal = fitted
                .transform_new(&first, Adaptation::Causal { kappa: 3.0 })
                .unwrap();
            let own = fitted
                .transform_new(&first, Adaptation::OwnMean { kappa: 3.0 })
                .unwrap();
            // With one trial all definitions coincide, the Riemannian recursion included (the mean
            // of two is on the geodesic).
            let error = relative_error(causal.covariances().data(), own.covariances().data());
            assert!(error < 1e-8, "{reference:?} {scaling:?} {error:e}");
        }
    }
}

#[test]
fn riemannian_recursion_of_commuting_matrices_is_the_exact_mean() {
    let diagonal = |i: usize| 1.0 + (i as f64 * 0.7).sin().abs() * 3.0;
    let x = MatBatch::from_fn(
        30,
        3,
        3,
        |i, r, c| {
            if r == c { diagonal(i + 10 * r) } else { 0.0 }
        },
    );
    let all = named(x, 2);
    let of = |d: usize| (0..30).filter(|i| i % 2 == d).collect::<Vec<_>>();
    let fitted = config(Reference::Riemannian, Whitening::Symmetric, Scaling::None)
        .fit(&all.select(&of(0)).unwrap())
        .unwrap();
    let unseen = all.select(&of(1)).unwrap();
    let none = MatBatch::zeros(0, 3, 3);
    let policy = Adaptation::Causal { kappa: 5.0 };
    let mut causal = fitted.adapt(none.view(), policy).unwrap();
    for i in 0..unseen.len() {
        causal.observe(unseen.covariances().matrix(i)).unwrap();
    }
    let mean = causal.mean().unwrap();
    for r in 0..3 {
        let logs: f64 = (0..15)
            .map(|i| (unseen.covariances().get(i, r, r)).ln())
            .sum();
        let expected = ((5.0 * fitted.pooled_mean()[4 * r].ln() + logs) / 20.0).exp();
        assert!((mean[4 * r] / expected - 1.0).abs() < 1e-7);
    }
}

#[test]
fn single_trial_path_gives_the_same_bits() {
    let trials = mixed_trials(21, 12, 6, 3);
    for scaling in SCALINGS {
        let fitted = config(Reference::Euclidean, Whitening::Pca, scaling)
            .fit(&trials)
            .unwrap();
        let batch = fitted.transform(&trials).unwrap();
        let mut scratch = WhitenScratch::default();
        let mut out = vec![0.0; 36];
        for i in 0..12 {
            let x = trials.covariances().matrix(i);
            fitted
                .transform_into(i % 3, x, &mut out, &mut scratch)
                .unwrap();
            assert_eq!(out, batch.covariances().matrix(i));
        }
    }
}

#[test]
fn state_survives_json_to_the_bit() {
    let (training, unseen, _) = with_unseen(31, 5);
    let names = (0..5).map(|c| format!("E{c}")).collect();
    let training = training.with_channels(names).unwrap();
    let fitted = Preconditioning {
        unseen: Some(Adaptation::OwnMean { kappa: 10.0 }),
        scaling: Scaling::PerDomain,
        ..Preconditioning::default()
    }
    .fit(&training)
    .unwrap();
    let json = serde_json::to_string(&fitted).unwrap();
    let read = Whitener::from_json(&json).unwrap();
    assert_eq!(read, fitted);
    let policy = read.config().unseen.unwrap();
    assert_eq!(
        read.transform_new(&unseen, policy).unwrap(),
        fitted.transform_new(&unseen, policy).unwrap()
    );
    assert!(json.contains(r#""policy":"own-mean""#), "{json}");
}

#[test]
fn rank_deficient_recordings_pass_with_loading() {
    // An average reference: rows sum to zero.
    let full = mixed_trials(41, 10, 4, 1);
    let reference = MatBatch::from_fn(1, 4, 4, |_, r, c| f64::from(u8::from(r == c)) - 0.25);
    let x = congruence(reference.view(), full.covariances().view()).unwrap();
    let trials = Trials::new(
        x,
        full.classes().clone(),
        Factor::from_labels(vec!["s"; 10]),
    )
    .unwrap();
    let y = Preconditioning::default()
        .fit(&trials)
        .unwrap()
        .transform(&trials)
        .unwrap();
    stiefel_geometry::spd::check_spd(y.covariances().view()).unwrap();
}

#[test]
fn trials_seen_before_are_what_a_new_domain_is_whitened_with() {
    let trials = mixed_trials(3, 60, 5, 3);
    let part = |inside: bool| {
        let of = |&i: &usize| (i % 3 == 2) == inside;
        let at: Vec<usize> = (0..60).filter(of).collect();
        trials.select(&at).unwrap()
    };
    let (training, new) = (part(false), part(true));
    let x = new.covariances();
    let (early, late) = (
        x.select(&(0..12).collect::<Vec<_>>()),
        x.select(&(12..20).collect::<Vec<_>>()),
    );
    let none = MatBatch::zeros(0, 5, 5);
    for scaling in SCALINGS {
        let whitener = config(Reference::Euclidean, Whitening::Symmetric, scaling)
            .fit(&training)
            .unwrap();
        let after = |seen: &MatBatch<f64>, x: &MatBatch<f64>, policy| {
            whitener.transform_after(seen.view(), x.view(), policy)
        };
        let all = |policy| {
            let whitened = whitener.transform_new(&new, policy).unwrap();
            whitened.covariances().clone()
        };
        let own = Adaptation::OwnMean { kappa: 10.0 };
        let causal = Adaptation::Causal { kappa: 10.0 };
        assert_eq!(after(x, x, own).unwrap(), all(own));
        assert_eq!(after(&none, x, causal).unwrap(), all(causal));
        let pooled = Adaptation::Pooled;
        assert_eq!(after(&early, x, pooled).unwrap(), all(pooled));
        // A causal mean goes on from what it has seen.
        let rest = all(causal).select(&(12..20).collect::<Vec<_>>());
        let late_ones = after(&early, &late, causal).unwrap();
        assert_close("causal", late_ones.data(), rest.data(), 1e-12);
        // Own-mean is that of the trials seen, whatever is decided.
        let whole = after(&early, x, own).unwrap();
        let some = after(&early, &late, own).unwrap();
        assert_eq!(some, whole.select(&(12..20).collect::<Vec<_>>()));
        assert_ne!(whole, all(own));
        let mut broken = late.clone();
        broken.matrix_mut(3)[1] += 1.0;
        for error in [after(&broken, x, own), after(&early, &broken, causal)] {
            assert!(error.unwrap_err().to_string().contains("trial 3"));
        }
        let narrow = MatBatch::identity(1, 4);
        assert!(after(&narrow, x, own).is_err() && after(x, &narrow, own).is_err());
    }
}
