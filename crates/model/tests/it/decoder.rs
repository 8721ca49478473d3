//! The decoder against the tape, and its doors.

use crate::choir::trial;
use crate::models::{all, dasp, decide_all, fit, of_domain, spdnet, trials};
use stiefel_linalg::{MatBatch, Scalar};
use stiefel_model::decoder::{Decoder, Domain};
use stiefel_model::net::{Anchor, Orthogonality, Retraction, Routing};
use stiefel_model::precondition::{Adaptation, Scaling};
use stiefel_model::train::evaluate;
use stiefel_model::{
    AdaptEmbedding, AdaptPolicy, Factor, Model, ModelConfig, ModelError, Prepared, Trials,
};

/// The largest difference, relative to the larger of the two values.
fn gap(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    (a.iter().zip(b))
        .filter(|(a, b)| a != b)
        .map(|(a, b)| (a - b).abs() / a.abs().max(b.abs()))
        .fold(0.0, f64::max)
}

/// Every decision equals the tape's to `tolerance`.
pub(crate) fn agrees<T: Scalar>(trials: &Trials, config: &ModelConfig, tolerance: f64) {
    let model = fit::<T>(trials, config);
    let expected = model.evaluate(trials).unwrap();
    let (classes, predictions) = (expected.probabilities.cols(), expected.predictions());
    let mut decoder = Decoder::new(model).unwrap();
    for i in 0..trials.len() {
        let domain = trials.domains().indices()[i];
        let x = trial(trials, i);
        let decision = decoder.decide(&x, Domain::Known(domain)).unwrap();
        let p = &expected.probabilities.data()[i * classes..][..classes];
        let far = gap(decision.probabilities, p);
        assert!(far <= tolerance, "{config:?} trial {i}: {far:e}");
        assert_eq!(decision.class, predictions[i]);
        match (&expected.alpha, decision.routing) {
            (Some(alpha), Some(routing)) => {
                let k = alpha.cols();
                let far = gap(routing, &alpha.data()[i * k..][..k]);
                assert!(far <= tolerance, "{config:?} routing of {i}: {far:e}");
            }
            (None, None) => {}
            other => panic!("routing on one side only: {other:?}"),
        }
    }
}

#[test]
fn equals_the_tape_in_double_precision() {
    for config in all() {
        agrees::<f64>(&trials(), &config, 1e-12);
    }
}

#[test]
fn equals_the_tape_in_single_precision() {
    for config in all() {
        agrees::<f32>(&trials(), &config, 1e-5);
    }
}

#[test]
fn names_and_numbers_agree() {
    let trials = trials();
    let config = dasp(Anchor::Dedicated, Retraction::Qr, true, true);
    let mut decoder = Decoder::new(fit::<f64>(&trials, &config)).unwrap();
    let own = of_domain(&trials, 2, true);
    for i in 0..own.len() {
        let x = own.covariances().matrix(i);
        let decision = decoder.decide(x, Domain::Known(2)).unwrap();
        let p = decision.probabilities.to_vec();
        let alpha = decision.routing.map(<[f64]>::to_vec);
        let named = decoder.decide(x, Domain::Named("s2")).unwrap();
        assert_eq!(named.probabilities, p);
        assert_eq!(named.routing, alpha.as_deref());
    }
}

/// What the tape says about whitened trials whose embedding is `row`.
fn tape(model: &Model<f64>, whitened: &Trials, row: &[f64]) -> Vec<f64> {
    let mut parameters = model.parameters().clone();
    let mut table = parameters.get("embedding").unwrap().value.clone();
    let width = table.cols();
    table.data_mut()[..width].copy_from_slice(row);
    parameters.set("embedding", table).unwrap();
    let first = Factor::new("domain", model.domains().to_vec(), vec![0; whitened.len()]).unwrap();
    let as_first = Trials::new(
        whitened.covariances().clone(),
        whitened.classes().clone(),
        first,
    );
    let encoder = model.frontend().encoder.as_ref();
    let data = Prepared::new(&as_first.unwrap(), encoder).unwrap();
    let result = evaluate(model.network(), &parameters, &data, Routing::Learnt).unwrap();
    result.probabilities.data().to_vec()
}

/// The naive reading of "nearest": mean tangent vectors, or brute force over the affine-invariant
/// distance of Fréchet means.
fn naive_nearest(model: &Model<f64>, training: &Trials, new: &Trials, riemannian: bool) -> usize {
    use stiefel_geometry::spd;
    let centre = |x: &MatBatch<f64>| {
        if riemannian {
            let options = spd::FrechetOptions::default();
            return spd::frechet_mean(x.view(), &options).unwrap().mean;
        }
        let tangent = spd::log(x.view()).unwrap();
        spd::mean_euclidean(tangent.view(), None).unwrap()
    };
    let target = centre(new.covariances());
    let whitened = model.frontend().whitener.transform(training).unwrap();
    let metric = if riemannian {
        spd::Metric::AffineInvariant
    } else {
        spd::Metric::Euclidean
    };
    let far = |d: usize| {
        let own = centre(of_domain(&whitened, d, true).covariances());
        if riemannian {
            return spd::distance(metric, target.view(), own.view()).unwrap()[0];
        }
        let difference = own.data().iter().zip(target.data());
        difference
            .map(|(a, b)| (a - b) * (a - b))
            .sum::<f64>()
            .sqrt()
    };
    (0..3).min_by(|&a, &b| far(a).total_cmp(&far(b))).unwrap()
}

#[test]
fn new_domains_equal_the_tape_under_every_policy() {
    let all = trials();
    let (training, new) = (of_domain(&all, 3, false), of_domain(&all, 3, true));
    for scaling in [Scaling::PerTrial, Scaling::PerDomain] {
        let mut config = dasp(Anchor::Dedicated, Retraction::Qr, true, true);
        config.preconditioning.scaling = scaling;
        config.frechet_means = true;
        let mut decoder = Decoder::new(fit::<f64>(&training, &config)).unwrap();
        let embedding = decoder
            .model()
            .parameters()
            .get("embedding")
            .unwrap()
            .value
            .clone();
        let row = |d: usize| embedding.data()[5 * d..5 * d + 5].to_vec();
        for policy in [
            Adaptation::Pooled,
            Adaptation::OwnMean { kappa: 4.0 },
            Adaptation::Causal { kappa: 4.0 },
        ] {
            let model = decoder.model();
            let whitened = model
                .frontend()
                .whitener
                .transform_new(&new, policy)
                .unwrap();
            let near = |riemannian| naive_nearest(model, &training, &whitened, riemannian);
            let (tangent, riemannian) = (near(false), near(true));
            for (stand_in, expected) in [
                (AdaptEmbedding::Zero, vec![0.0; 5]),
                (AdaptEmbedding::Initial, row(3)),
                (AdaptEmbedding::NearestTangent, row(tangent)),
                (AdaptEmbedding::NearestRiemannian, row(riemannian)),
            ] {
                let expected = tape(decoder.model(), &whitened, &expected);
                let causal = matches!(policy, Adaptation::Causal { .. });
                if causal && stand_in.uses_target_data() {
                    continue; // below: these trials have been taken in already
                }
                // A causal whitener takes the trials in as they are decided.
                let x = new.covariances();
                let calibration = if causal {
                    MatBatch::zeros(0, 7, 7)
                } else {
                    x.clone()
                };
                let unseen = AdaptPolicy {
                    whitening: policy,
                    embedding: stand_in,
                };
                let mut handle = decoder
                    .adapt_domain("s3", calibration.view(), &unseen)
                    .unwrap();
                let p = decide_all(&mut decoder, x, Domain::New(&mut handle));
                let far = gap(&p, &expected);
                assert!(far < 1e-11, "{policy} {stand_in:?}: {far:e}");
            }
        }
    }
}

#[test]
fn a_causal_handle_goes_on_from_its_calibration() {
    let all = trials();
    let (training, new) = (of_domain(&all, 3, false), of_domain(&all, 3, true));
    let mut config = dasp(Anchor::First, Retraction::Qr, true, false);
    config.frechet_means = true;
    let mut decoder = Decoder::new(fit::<f64>(&training, &config)).unwrap();
    let (early, late) = (
        new.select(&[0, 1, 2, 3]).unwrap(),
        new.covariances().matrix(4),
    );
    let policy = Adaptation::Causal { kappa: 10.0 };
    let unseen = AdaptPolicy {
        whitening: policy,
        embedding: AdaptEmbedding::NearestRiemannian,
    };
    let mut handle = decoder
        .adapt_domain("s3", early.covariances().view(), &unseen)
        .unwrap();
    let nearest = handle.nearest().unwrap();
    let smallest = nearest.distances.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    assert_eq!(smallest.unwrap().0, nearest.domain);
    assert_eq!(nearest.distances.len(), 3);
    let row = nearest.domain;
    let p = decoder.decide(late, Domain::New(&mut handle)).unwrap();
    let p = p.probabilities.to_vec();
    let five = new.select(&[0, 1, 2, 3, 4]).unwrap();
    let model = decoder.model();
    let whitened = model
        .frontend()
        .whitener
        .transform_new(&five, policy)
        .unwrap();
    let table = &model.parameters().get("embedding").unwrap().value;
    let row = table.data()[5 * row..5 * row + 5].to_vec();
    let expected = tape(model, &whitened, &row);
    assert!(gap(&p, &expected[8..]) < 1e-11);
}

#[test]
fn policies_that_do_not_fit_the_network_are_refused() {
    let all = trials();
    let training = of_domain(&all, 3, false);
    let none = MatBatch::<f64>::zeros(0, 7, 7);
    let with = dasp(Anchor::Dedicated, Retraction::Qr, true, true);
    let mut decoder = Decoder::new(fit::<f64>(&training, &with)).unwrap();
    let named = |decoder: &Decoder<f64>, name, whitening, embedding| {
        let unseen = AdaptPolicy {
            whitening,
            embedding,
        };
        decoder.adapt_domain(name, none.view(), &unseen)
    };
    let adapt =
        |decoder: &Decoder<f64>, embedding| named(decoder, "new", Adaptation::Pooled, embedding);
    let error = adapt(&decoder, AdaptEmbedding::InputOnly).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("trained with a domain embedding")
    );
    // The untrained row is that of the name.
    let initial = |name| {
        let initial = AdaptEmbedding::Initial;
        named(&decoder, name, Adaptation::Pooled, initial)
    };
    assert!(initial("s3").is_ok());
    let error = initial("s1").unwrap_err();
    assert!(matches!(error, ModelError::KnownDomain { trials: 15, .. }));
    let error = initial("s4").unwrap_err();
    assert!(matches!(error, ModelError::UnknownName { .. }));
    assert!(error.to_string().contains("\"s4\""), "{error}");
    let error = adapt(&decoder, AdaptEmbedding::NearestTangent).unwrap_err();
    assert!(matches!(error, ModelError::Empty { .. }));
    let own = Adaptation::OwnMean { kappa: 1.0 };
    let error = named(&decoder, "new", own, AdaptEmbedding::Zero);
    assert!(matches!(error.unwrap_err(), ModelError::Empty { .. }));
    let bad = Adaptation::Causal { kappa: -1.0 };
    assert!(named(&decoder, "new", bad, AdaptEmbedding::Zero).is_err());

    for config in [
        dasp(Anchor::Dedicated, Retraction::Qr, false, true),
        spdnet(Orthogonality::Riemannian),
    ] {
        let mut without = Decoder::new(fit::<f64>(&training, &config)).unwrap();
        let error = adapt(&without, AdaptEmbedding::Zero).unwrap_err();
        assert!(error.to_string().contains("no domain embedding"));
        let mut handle = adapt(&without, AdaptEmbedding::InputOnly).unwrap();
        let x = all.covariances().matrix(3);
        without.decide(x, Domain::New(&mut handle)).unwrap();
        // A handle of another network is refused, not misread.
        let error = decoder.decide(x, Domain::New(&mut handle)).unwrap_err();
        assert!(error.to_string().contains("another network"), "{error}");
    }
}

#[test]
fn bad_input_is_named() {
    let all = trials();
    let config = dasp(Anchor::Dedicated, Retraction::Qr, true, true);
    let mut decoder = Decoder::new(fit::<f64>(&of_domain(&all, 3, false), &config)).unwrap();
    let good = all.covariances().matrix(0).to_vec();
    let error = decoder.decide(&good, Domain::Known(3)).unwrap_err();
    assert!(matches!(
        error,
        ModelError::UntrainedDomain { domain: 3, .. }
    ));
    let error = decoder.decide(&good, Domain::Known(9)).unwrap_err();
    assert!(matches!(error, ModelError::NoSuchDomain { domain: 9, .. }));
    let error = decoder.decide(&good, Domain::Named("nobody")).unwrap_err();
    assert!(error.to_string().contains("s0, s1, s2, s3"), "{error}");
    let error = decoder.decide(&good[1..], Domain::Known(0)).unwrap_err();
    assert!(matches!(
        error,
        ModelError::Count {
            expected: 49,
            found: 48,
            ..
        }
    ));
    for (at, value) in [(3, f64::NAN), (9, f64::INFINITY), (1, 1e9)] {
        let mut bad = good.clone();
        bad[at] = value;
        assert!(decoder.decide(&bad, Domain::Known(0)).is_err());
    }
    assert!(decoder.decide(&[0.0; 49], Domain::Known(0)).is_err());
    // After all that, decisions are as before.
    let first = decoder.decide(&good, Domain::Known(0)).unwrap().class;
    assert!(first < 2);
}
