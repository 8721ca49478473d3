//! The routed head on the tape, and filters that start where the training set says.

use crate::gradients::worst_gradient;
use crate::models::through_file;
use crate::support::mixed_trials;
use stiefel_geometry::stiefel::{orthonormality_defect, principal_angles};
use stiefel_linalg::MatBatch;
use stiefel_model::anchor::discriminative_basis;
use stiefel_model::net::{
    Anchor, DaspConfig, DaspNet, HeadKind, InitialAnchor, InitialExperts, LossWeights, Network,
    Orthogonality, Routing, Sizes, SpdNet, SpdNetConfig,
};
use stiefel_model::train::{Silent, TrainConfig, evaluate};
use stiefel_model::{Architecture, Model, ModelConfig, Parameters, Preconditioning, Prepared};
use stiefel_testkit::{assert_close, random_batch};

const N: usize = 5;
const DOMAINS: usize = 3;
const EXPERTS: usize = 4;

fn config(head: HeadKind) -> DaspConfig {
    DaspConfig {
        filters: 3,
        experts: EXPERTS,
        embedding: 4,
        decoupled_keys: false,
        losses: LossWeights {
            entropy: 0.1,
            shrink: 0.3,
            ..LossWeights::default()
        },
        head,
        ..DaspConfig::default()
    }
}

fn sizes() -> Sizes {
    Sizes {
        channels: N,
        classes: 2,
        domains: DOMAINS,
        encoded: N * (N + 1) / 2,
        views: 1,
    }
}

fn data(count: usize) -> Prepared<f64> {
    Prepared::new(&mixed_trials(3, count, N, DOMAINS), None).expect("SPD")
}

/// First parameters with weights of the experts' own that are not zero.
fn stirred(net: &DaspNet) -> Parameters<f64> {
    let mut parameters = Network::<f64>::initial(net, 1);
    let shape = parameters.get("head.own").expect("routed").value.shape();
    let own = random_batch(8, shape.0, shape.1, shape.2);
    parameters.set("head.own", own).expect("same shape");
    parameters
}

#[test]
fn gradients_are_those_of_the_loss() {
    for anchor in [Anchor::Dedicated, Anchor::First, Anchor::Barycenter] {
        let routed = DaspConfig {
            anchor,
            ..config(HeadKind::Routed { ridge: 0.02 })
        };
        let net = DaspNet::new(sizes(), routed).expect("valid");
        let worst = worst_gradient(&net, &stirred(&net), &data(12));
        assert!(worst.0 < 1e-7, "{anchor:?}: {worst:?}");
    }
}

#[test]
fn experts_without_weights_of_their_own_share_the_head() {
    let routed = DaspNet::new(sizes(), config(HeadKind::Routed { ridge: 0.1 })).expect("valid");
    let shared = DaspNet::new(sizes(), config(HeadKind::Shared)).expect("valid");
    let data = data(24);
    let (a, b) = (
        Network::<f64>::initial(&routed, 5),
        Network::<f64>::initial(&shared, 5),
    );
    let by = |net: &DaspNet, p| evaluate(net, p, &data, Routing::Learnt).expect("evaluated");
    assert_eq!(by(&routed, &a).probabilities, by(&shared, &b).probabilities);
}

#[test]
fn uniform_routing_averages_the_weights() {
    let routed = DaspNet::new(sizes(), config(HeadKind::Routed { ridge: 0.1 })).expect("valid");
    let shared = DaspNet::new(sizes(), config(HeadKind::Shared)).expect("valid");
    let data = data(24);
    let own = stirred(&routed);
    let delta = &own.get("head.own").expect("routed").value;
    let w = &own.get("head.w").expect("a head").value;
    let averaged = MatBatch::from_fn(1, w.rows(), w.cols(), |_, c, j| {
        let sum: f64 = (0..EXPERTS).map(|e| delta.get(e, c, j)).sum();
        w.get(0, c, j) + sum / EXPERTS as f64
    });
    let mut plain = Network::<f64>::initial(&shared, 1);
    plain.set("head.w", averaged).expect("same shape");
    let a = evaluate(&routed, &own, &data, Routing::Uniform).expect("evaluated");
    let b = evaluate(&shared, &plain, &data, Routing::Uniform).expect("evaluated");
    assert_close(
        "probabilities",
        a.probabilities.data(),
        b.probabilities.data(),
        1e-12,
    );
}

fn model_config(architecture: Architecture) -> ModelConfig {
    ModelConfig {
        preconditioning: Preconditioning::default(),
        encoder: None,
        architecture,
        training: TrainConfig {
            epochs: 3,
            batch: 16,
            ..TrainConfig::default()
        },
        frechet_means: false,
    }
}

#[test]
fn the_decoder_and_the_file_know_the_routed_head() {
    let trials = mixed_trials(5, 60, N, DOMAINS);
    let routed = DaspConfig {
        initial_anchor: InitialAnchor::Discriminative,
        initial_experts: InitialExperts::NearAnchor { noise: 0.1 },
        ..config(HeadKind::Routed { ridge: 1e-3 })
    };
    let settings = model_config(Architecture::Dasp(routed));
    let model = Model::<f64>::fit(&trials, &trials, &settings, &mut Silent).expect("fitted");
    let own = &model.parameters().get("head.own").expect("routed").value;
    assert!(own.data().iter().any(|v| *v != 0.0), "they learnt");
    assert!(
        model.record().history[0]
            .losses
            .iter()
            .any(|l| l.0 == "head ridge")
    );
    let expected = model.evaluate(&trials).expect("evaluated").probabilities;
    let (fitted, again) = through_file(model);
    assert_eq!(again.spec().unwrap(), fitted.spec().unwrap());
    let network = again.get::<Model<f64>>().expect("double");
    assert_eq!(
        network.evaluate(&trials).expect("evaluated").probabilities,
        expected
    );
    let decided = again.decide(&trials, None).expect("decided").probabilities;
    assert_close("decided", decided.data(), expected.data(), 1e-10);
}

#[test]
fn filters_start_where_the_training_set_says() {
    let trials = mixed_trials(6, 60, N, DOMAINS);
    let prepared = Prepared::<f64>::new(&trials, None).expect("SPD");
    let domains = trials.domains().indices();
    let basis = discriminative_basis(
        trials.covariances().view(),
        trials.classes().indices(),
        domains,
    );
    let basis = basis.expect("an anchor");
    let expected = MatBatch::from_fn(1, basis.rows(), 3, |_, r, c| basis.get(0, r, c));
    for orthogonality in [Orthogonality::Riemannian, Orthogonality::Cayley] {
        for anchor in [Anchor::Dedicated, Anchor::First] {
            let noise = 0.05;
            let near = DaspConfig {
                anchor,
                orthogonality,
                initial_anchor: InitialAnchor::Discriminative,
                initial_experts: InitialExperts::NearAnchor { noise },
                ..config(HeadKind::Shared)
            };
            let net = DaspNet::new(sizes(), near).expect("valid");
            let parameters = net.initial_for(3, &prepared).expect("fitted");
            let experts = parameters
                .get("experts")
                .expect("experts")
                .point()
                .expect("points");
            if anchor == Anchor::Dedicated {
                let start = parameters
                    .get("anchor")
                    .expect("an anchor")
                    .point()
                    .expect("a point");
                assert_close("anchor", start.data(), expected.data(), 1e-12);
            }
            for j in 0..EXPERTS {
                let expert = experts.single(j);
                assert!(orthonormality_defect(expert.view()).expect("a point")[0] < 1e-12);
                let angles = principal_angles(expert.view(), expected.view()).expect("angles");
                let largest = angles.data().iter().fold(0.0_f64, |a, v| a.max(*v));
                // A tangent vector of k columns has at most the norm √k·noise.
                assert!(largest <= 1.01 * noise * 3_f64.sqrt(), "{largest}");
            }
            assert_ne!(experts.single(1), experts.single(2));
        }
        let plain = SpdNetConfig {
            filters: 3,
            orthogonality,
            initial_anchor: InitialAnchor::Discriminative,
            ..SpdNetConfig::default()
        };
        let net = SpdNet::new(sizes(), plain).expect("valid");
        let parameters = net.initial_for(3, &prepared).expect("fitted");
        let start = parameters
            .get("filter")
            .expect("a filter")
            .point()
            .expect("a point");
        assert_close("filter", start.data(), expected.data(), 1e-12);
    }
}

#[test]
fn options_out_of_range_are_refused() {
    let bad = [
        config(HeadKind::Routed { ridge: -1.0 }),
        config(HeadKind::Routed { ridge: f64::NAN }),
        DaspConfig {
            initial_experts: InitialExperts::NearAnchor { noise: -0.1 },
            ..config(HeadKind::Shared)
        },
        DaspConfig {
            anchor: Anchor::RoutedBarycenter,
            ..config(HeadKind::Shared)
        },
    ];
    for bad in bad {
        assert!(DaspNet::new(sizes(), bad).is_err(), "{bad:?}");
    }
    // A training set from which no direction can be learnt.
    let trials = mixed_trials(6, 60, N, DOMAINS);
    let one: Vec<usize> = (0..60)
        .filter(|i| (i / DOMAINS).is_multiple_of(2))
        .collect();
    let prepared =
        Prepared::<f64>::new(&trials.select(&one).expect("in range"), None).expect("SPD");
    let plain = SpdNetConfig {
        filters: 3,
        initial_anchor: InitialAnchor::Discriminative,
        ..SpdNetConfig::default()
    };
    let net = SpdNet::new(sizes(), plain).expect("valid");
    assert!(Network::<f64>::initial_for(&net, 1, &prepared).is_err());
}
