//! Riemannian batch normalisation: gradients, statistics, and the ways they travel.

use crate::gradients::worst_gradient;
use crate::models::through_file;
use crate::support::mixed_trials;
use std::any::Any;
use stiefel_autodiff::Tape;
use stiefel_geometry::spd::{FrechetOptions, Metric, distance, frechet_mean};
use stiefel_linalg::{MatBatch, MatView};
use stiefel_model::net::{
    Anchor, BatchNormConfig, DaspConfig, DaspNet, InitialAnchor, LossWeights, Network,
    NormPosition, Orthogonality, Routing, Sizes, SpdNet, SpdNetConfig,
};
use stiefel_model::precondition::{Adaptation, Whitening};
use stiefel_model::train::{
    Checkpoint, EpochRecord, Flow, Observer, Silent, Stepper, TrainConfig, evaluate, resume, train,
};
use stiefel_model::{
    AdamConfig, AdaptEmbedding, AdaptPolicy, Architecture, FittedModel, Model, ModelConfig,
    Parameters, Preconditioning, Prepared,
};
use stiefel_testkit::random_batch;

const N: usize = 4;
const K: usize = 3;
const DOMAINS: usize = 3;

const POSITIONS: [NormPosition; 2] = [NormPosition::Before, NormPosition::After];

fn norm(position: NormPosition) -> BatchNormConfig {
    BatchNormConfig {
        position,
        ..BatchNormConfig::default()
    }
}

fn sizes(classes: usize) -> Sizes {
    Sizes {
        channels: N,
        classes,
        domains: DOMAINS,
        encoded: N * (N + 1) / 2,
        views: 1,
    }
}

fn plain(position: NormPosition) -> SpdNetConfig {
    SpdNetConfig {
        filters: K,
        batch_norm: Some(norm(position)),
        ..SpdNetConfig::default()
    }
}

fn data(count: usize) -> Prepared<f64> {
    Prepared::new(&mixed_trials(3, count, N, DOMAINS), None).expect("SPD")
}

/// First values moved away from zero bias and unit scale.
fn stirred(net: &dyn Network<f64>, data: &Prepared<f64>) -> Parameters<f64> {
    let mut parameters = net.initial_for(1, data).expect("fitted");
    let bias = parameters.get("norm.bias").expect("a bias").value.shape();
    let mut value = random_batch::<f64>(4, bias.0, bias.1, bias.2);
    value.data_mut().iter_mut().for_each(|v| *v *= 0.2);
    parameters.set("norm.bias", value).expect("same shape");
    let scale = MatBatch::from_fn(1, 1, 1, |_, _, _| 0.3);
    parameters.set("norm.scale", scale).expect("same shape");
    parameters
}

#[test]
fn gradients_flow_through_the_statistics() {
    let data = data(13);
    for position in POSITIONS {
        // A large momentum makes the batch's own share of the statistics large.
        let batch_norm = Some(BatchNormConfig {
            momentum: 0.6,
            ..norm(position)
        });
        let config = SpdNetConfig {
            batch_norm,
            ..plain(position)
        };
        let net = SpdNet::new(sizes(2), config).expect("valid");
        let worst = worst_gradient(&net, &stirred(&net, &data), &data);
        assert!(worst.0 < 1e-7, "{position:?}: {worst:?}");
        let config = DaspConfig {
            filters: K,
            experts: 2,
            embedding: 4,
            anchor: Anchor::Dedicated,
            decoupled_keys: false,
            losses: LossWeights::default(),
            batch_norm,
            ..DaspConfig::default()
        };
        let net = DaspNet::new(sizes(2), config).expect("valid");
        let worst = worst_gradient(&net, &stirred(&net, &data), &data);
        assert!(worst.0 < 1e-7, "{position:?}, routed: {worst:?}");
    }
}

/// A network whose scores are its features: one class per feature, the identity as head.
fn transparent(position: NormPosition, filters: usize) -> (SpdNet, usize) {
    let p = filters * (filters + 1) / 2;
    let batch_norm = Some(BatchNormConfig {
        epsilon: 1e-12,
        ..norm(position)
    });
    let config = SpdNetConfig {
        filters,
        epsilon: 1e-12,
        batch_norm,
        ..SpdNetConfig::default()
    };
    (SpdNet::new(sizes(p), config).expect("valid"), p)
}

/// The features of every sample in evaluation, `N × p`.
fn features(net: &SpdNet, parameters: &Parameters<f64>, data: &Prepared<f64>) -> Vec<Vec<f64>> {
    let tape = Tape::new();
    let bound = net.bind_frozen(&tape, parameters).expect("bound");
    let outputs = net
        .forward(&tape, &bound, &data.all(), Routing::Learnt)
        .expect("forward");
    assert!(outputs.state.is_empty(), "evaluation changes no statistics");
    let (one, samples, width) = outputs.logits.shape();
    assert_eq!(
        (one, samples),
        (1, data.labels().len()),
        "logits are 1 × B × C"
    );
    outputs
        .logits
        .value()
        .data()
        .chunks_exact(width)
        .map(<[f64]>::to_vec)
        .collect()
}

fn with_identity_head(mut parameters: Parameters<f64>, p: usize) -> Parameters<f64> {
    parameters
        .set("head.w", MatBatch::identity(1, p))
        .expect("same shape");
    parameters
        .set("head.b", MatBatch::zeros(1, 1, p))
        .expect("same shape");
    parameters
}

#[test]
fn every_domain_is_centred_with_unit_dispersion() {
    let data = data(90);
    for (position, filters) in [(NormPosition::Before, N), (NormPosition::After, K)] {
        let (net, p) = transparent(position, filters);
        let parameters = with_identity_head(net.initial_for(2, &data).expect("fitted"), p);
        let z = features(&net, &parameters, &data);
        for d in 0..DOMAINS {
            let own: Vec<&Vec<f64>> = (0..data.len())
                .filter(|&i| data.domains()[i] == d)
                .map(|i| &z[i])
                .collect();
            let mean = |j: usize| own.iter().map(|z| z[j]).sum::<f64>() / own.len() as f64;
            // The mean logarithm at the Fréchet mean is zero.
            assert!(
                (0..p).all(|j| mean(j).abs() < 1e-8),
                "{position:?} domain {d}"
            );
            let square: f64 = own.iter().flat_map(|z| z.iter()).map(|v| v * v).sum();
            assert!((square / own.len() as f64 - 1.0).abs() < 1e-8);
        }
    }
    // What comes in is far from centred.
    let raw = stiefel_model::tangent_vectors::<f64>(&mixed_trials(3, 90, N, DOMAINS)).expect("SPD");
    assert!(raw.data().iter().map(|v| v.abs()).fold(0.0, f64::max) > 1.0);
}

fn exact(x: MatView<'_, f64>) -> (MatBatch<f64>, f64) {
    let mean = frechet_mean(x, &FrechetOptions::default())
        .expect("a mean")
        .mean;
    let d = distance(Metric::AffineInvariant, mean.view(), x).expect("distances");
    let dispersion = d.iter().map(|d| d * d).sum::<f64>() / d.len() as f64;
    (mean, dispersion)
}

#[test]
fn running_statistics_walk_to_the_exact_ones() {
    let data = data(45);
    let net = SpdNet::new(sizes(2), plain(NormPosition::Before)).expect("valid");
    // From the identity, not from the fitted start, and with a standstill of everything that is
    // learnt.
    let adam = AdamConfig {
        learning_rate: 1e-300,
        ..AdamConfig::default()
    };
    let mut stepper = Stepper::new(adam, Network::<f64>::initial(&net, 1)).expect("Adam");
    for _ in 0..300 {
        stepper.step(&net, &data.all()).expect("a step");
    }
    let get = |name: &str| &stepper.parameters.get(name).expect("state").value;
    for d in 0..DOMAINS {
        let own: Vec<usize> = (0..45).filter(|&i| data.domains()[i] == d).collect();
        let (mean, dispersion) = exact(data.covariances().select(&own).view());
        for (a, b) in get("norm.mean").matrix(d).iter().zip(mean.data()) {
            assert!((a - b).abs() < 1e-8, "{a} {b}");
        }
        assert!((get("norm.dispersion").matrix(d)[0] - dispersion).abs() < 1e-8);
    }
}

#[test]
fn a_batch_moves_its_own_domains_only() {
    let data = data(30);
    let net = SpdNet::new(sizes(2), plain(NormPosition::After)).expect("valid");
    let first = net.initial_for(1, &data).expect("fitted");
    let mut stepper = Stepper::new(AdamConfig::default(), first.clone()).expect("Adam");
    let of_one: Vec<usize> = (0..30)
        .filter(|&i| data.domains()[i] == 1)
        .take(4)
        .collect();
    stepper.step(&net, &data.batch(of_one)).expect("a step");
    let (old, new) = (
        &first.get("norm.mean").expect("state").value,
        &stepper.parameters.get("norm.mean").expect("state").value,
    );
    assert_eq!(old.matrix(0), new.matrix(0));
    assert_eq!(old.matrix(2), new.matrix(2));
    assert_ne!(old.matrix(1), new.matrix(1));
}

struct Keep(Option<Checkpoint<f64>>);

impl Observer for Keep {
    fn epoch(&mut self, record: &EpochRecord, state: &dyn Any) -> Flow {
        self.0 = state.downcast_ref::<Checkpoint<f64>>().cloned();
        if record.epoch == 1 {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }
}

fn bits(parameters: &Parameters<f64>) -> Vec<u64> {
    let values = parameters.iter().flat_map(|p| p.value.data());
    values.map(|x| x.to_bits()).collect()
}

#[test]
fn a_resumed_run_ends_in_the_same_bits() {
    let (a, b) = (data(45), data(18));
    let settings = TrainConfig {
        epochs: 4,
        batch: 8,
        ..TrainConfig::default()
    };
    for position in POSITIONS {
        let net = SpdNet::new(sizes(2), plain(position)).expect("valid");
        let whole = train(&net, &a, &b, &settings, &mut Silent).expect("trained");
        let mut keep = Keep(None);
        train(&net, &a, &b, &settings, &mut keep).expect("stopped");
        let state = keep.0.expect("a checkpoint");
        let rest = resume(&net, &a, &b, &settings, state, &mut Silent).expect("resumed");
        assert_eq!(bits(&whole.parameters), bits(&rest.parameters));
        assert_eq!(whole.history, rest.history);
        let again = evaluate(&net, &whole.parameters, &b, Routing::Learnt).expect("evaluated");
        assert_eq!(
            again,
            evaluate(&net, &rest.parameters, &b, Routing::Learnt).expect("evaluated")
        );
    }
}

fn fitted(architecture: Architecture, whitening: Whitening) -> (Model<f64>, stiefel_model::Trials) {
    let trials = mixed_trials(5, 60, N, DOMAINS);
    let config = ModelConfig {
        preconditioning: Preconditioning {
            whitening,
            ..Preconditioning::default()
        },
        encoder: None,
        architecture,
        training: TrainConfig {
            epochs: 3,
            batch: 16,
            ..TrainConfig::default()
        },
        frechet_means: false,
    };
    let model = Model::<f64>::fit(&trials, &trials, &config, &mut Silent).expect("fitted");
    (model, trials)
}

#[test]
fn statistics_of_another_size_are_named_as_such() {
    let data = data(12);
    let net = SpdNet::new(sizes(2), plain(NormPosition::After)).expect("net");
    let mut parameters = stirred(&net, &data);
    let mut config = plain(NormPosition::After);
    config.filters = K + 1;
    let larger = SpdNet::new(sizes(2), config).expect("net");
    let tape = Tape::new();
    let bound = (larger.bind(&tape, &stirred(&larger, &data))).expect("bound");
    let outputs = larger.forward(&tape, &bound, &data.all(), Routing::Learnt);
    let updates = outputs.expect("forward").state;
    let wrong = parameters.update(&updates).unwrap_err().to_string();
    assert!(
        wrong.contains("expected") && wrong.contains("found 4 × 4"),
        "{wrong}"
    );
}

#[test]
fn files_and_decoders_carry_the_statistics() {
    for position in POSITIONS {
        let dasp = DaspConfig {
            filters: K,
            experts: 2,
            embedding: 4,
            orthogonality: Orthogonality::Cayley,
            initial_anchor: InitialAnchor::Discriminative,
            batch_norm: Some(norm(position)),
            ..DaspConfig::default()
        };
        for (kind, architecture, embedding) in [
            (
                "plain",
                Architecture::Spdnet(plain(position)),
                AdaptEmbedding::InputOnly,
            ),
            ("routed", Architecture::Dasp(dasp), AdaptEmbedding::Zero),
        ] {
            let (model, trials) = fitted(architecture, Whitening::None);
            let expected = model.evaluate(&trials).expect("evaluated").probabilities;
            let (fitted, again) = through_file(model);
            let loaded = again.get::<Model<f64>>().expect("double");
            assert_eq!(
                loaded.evaluate(&trials).expect("evaluated").probabilities,
                expected
            );
            let all = trials.covariances().view();
            let mut sessions: Vec<_> = (again.domains().iter())
                .map(|d| again.session(d, None, &[all]).expect("frozen"))
                .collect();
            for i in 0..12 {
                let d = trials.domains().indices()[i];
                let x = trials.covariances().matrix(i);
                let decision = sessions[d].decide(x).expect("decided");
                for (c, p) in decision.probabilities.iter().enumerate() {
                    assert!(
                        (p - expected.get(0, i, c)).abs() < 1e-9,
                        "{kind} {position:?}"
                    );
                }
            }
            // A stranger: with own trials the statistics differ from the pooled ones.
            let x = mixed_trials(17, 20, N, 1);
            let mut said = Vec::new();
            for whitening in [Adaptation::Pooled, Adaptation::OwnMean { kappa: 10.0 }] {
                let unseen = AdaptPolicy {
                    whitening,
                    embedding,
                };
                let of = |model: &FittedModel| {
                    let view = x.covariances().view();
                    let session = model.session("a stranger", Some(&unseen), &[view]);
                    let mut session = session.expect("adapted");
                    let one = session.decide(x.covariances().matrix(0));
                    one.expect("decided").probabilities[0]
                };
                said.push(of(&fitted));
                assert_eq!(of(&again), of(&fitted));
            }
            assert_ne!(said[0], said[1]);
        }
    }
}

#[test]
fn options_out_of_range_are_refused() {
    for (momentum, epsilon) in [
        (0.0, 1e-5),
        (1.5, 1e-5),
        (f64::NAN, 1e-5),
        (0.1, 0.0),
        (0.1, f64::NAN),
    ] {
        let bad = BatchNormConfig {
            momentum,
            epsilon,
            ..BatchNormConfig::default()
        };
        let config = SpdNetConfig {
            filters: K,
            batch_norm: Some(bad),
            ..SpdNetConfig::default()
        };
        assert!(SpdNet::new(sizes(2), config).is_err());
        let config = DaspConfig {
            filters: K,
            batch_norm: Some(bad),
            ..DaspConfig::default()
        };
        assert!(DaspNet::new(sizes(2), config).is_err());
    }
}
