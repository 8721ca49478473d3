//! Training: what must be exact, what must stay on the manifold, what must be refused.

use std::any::Any;
use stiefel_autodiff::Tape;
use stiefel_linalg::{MatBatch, Op, Scalar, product};
use stiefel_model::net::{
    Anchor, DaspConfig, DaspNet, LossWeights, Network, Orthogonality, Routing, Sizes, SpdNet,
    SpdNetConfig,
};
use stiefel_model::train::{
    Checkpoint, Ended, EpochRecord, Flow, Observer, Silent, Stepper, TrainConfig, evaluate,
    orthonormality_defect, resume, train,
};
use stiefel_model::{
    AdamConfig, Architecture, DspConfig, Factor, FittedModel, Model, ModelConfig, Parameters,
    Preconditioning, Prepared, Trials,
};
use stiefel_testkit::{assert_close, random_batch, random_spd, rng};

const N: usize = 6;
const DOMAINS: usize = 3;

/// Trials whose classes differ along a direction of their domain.
fn trials(count: usize, seed: u64) -> Trials {
    let base = random_spd::<f64>(seed, count, N);
    let directions = random_batch::<f64>(99, DOMAINS, N, 1);
    let outer = product(directions.view(), Op::N, directions.view(), Op::T).expect("fits");
    let (class, domain) = (|i: usize| (i / DOMAINS) % 2, |i: usize| i % DOMAINS);
    let x = MatBatch::from_fn(count, N, N, |i, r, c| {
        base.get(i, r, c) + 0.6 * class(i) as f64 * outer.get(domain(i), r, c)
    });
    Trials::new(
        x,
        Factor::new(
            "classes",
            vec!["a".into(), "b".into()],
            (0..count).map(class).collect(),
        )
        .expect("two classes"),
        Factor::new(
            "domains",
            (0..DOMAINS).map(|d| format!("s{d}")).collect(),
            (0..count).map(domain).collect(),
        )
        .expect("three domains"),
    )
    .expect("valid trials")
}

fn network(experts: usize, anchor: Anchor, orthogonality: Orthogonality) -> DaspNet {
    let sizes = Sizes {
        channels: N,
        classes: 2,
        domains: DOMAINS,
        encoded: N * (N + 1) / 2,
        views: 1,
    };
    let config = DaspConfig {
        filters: 3,
        experts,
        embedding: 4,
        anchor,
        orthogonality,
        losses: LossWeights {
            alignment: 0.05,
            balance: 0.01,
            entropy: 0.1,
            ..LossWeights::default()
        },
        ..DaspConfig::default()
    };
    DaspNet::new(sizes, config).expect("valid")
}

fn prepared<T: Scalar>(count: usize, seed: u64) -> Prepared<T> {
    Prepared::new(&trials(count, seed), None).expect("SPD")
}

fn config(epochs: usize) -> TrainConfig {
    TrainConfig {
        epochs,
        batch: 8,
        seed: 5,
        ..TrainConfig::default()
    }
}

fn bits(parameters: &Parameters<f64>) -> Vec<u64> {
    parameters
        .iter()
        .flat_map(|p| p.value.data().iter().map(|x| x.to_bits()))
        .collect()
}

/// Steps of a network so large that filters, projections and Adam are all handed to threads.
#[test]
fn steps_have_the_same_bits_on_any_number_of_threads() {
    let (channels, filters, domains, encoded, batch) = (64, 32, 5, 40, 33);
    let sizes = Sizes {
        channels,
        classes: 2,
        domains,
        encoded,
        views: 1,
    };
    let data = Prepared::<f32>::from_parts(
        random_spd(1, batch, channels),
        random_batch(2, batch, 1, encoded),
        (0..batch).map(|i| i % 2).collect(),
        (0..batch).map(|i| i % domains).collect(),
    )
    .expect("SPD");
    // Experts that fill registers, and experts that leave a lane for the anchor.
    for experts in [16, 17] {
        let config = DaspConfig {
            filters,
            experts,
            ..DaspConfig::default()
        };
        let net = DaspNet::new(sizes, config).expect("valid");
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let start = Network::<f32>::initial(&net, 3);
            let mut stepper = Stepper::new(AdamConfig::default(), start).expect("Adam");
            pool.expect("a pool").install(|| {
                for _ in 0..3 {
                    let batch = data.batch((0..batch).collect::<Vec<_>>());
                    stepper.step(&net, &batch).expect("a finite step");
                }
            });
            stepper.parameters
        };
        let one = run(1);
        assert!([2, 3].into_iter().all(|threads| run(threads) == one));
    }
}

#[test]
fn same_seed_same_bits_whatever_the_threads() {
    let net = network(4, Anchor::Dedicated, Orthogonality::Riemannian);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool");
        pool.install(|| {
            let (a, b) = (prepared::<f64>(60, 1), prepared(24, 2));
            train(&net, &a, &b, &config(4), &mut Silent).expect("trained")
        })
    };
    let one = run(1);
    for threads in [2, 4] {
        let many = run(threads);
        assert_eq!(bits(&one.parameters), bits(&many.parameters));
        assert_eq!(one.history, many.history);
    }
    let (a, b) = (prepared::<f64>(60, 1), prepared(24, 2));
    let other = train(
        &net,
        &a,
        &b,
        &TrainConfig {
            seed: 6,
            ..config(4)
        },
        &mut Silent,
    );
    assert_ne!(
        bits(&one.parameters),
        bits(&other.expect("trained").parameters)
    );
}

/// Keeps the state after some epoch and stops there, or stops in the middle of one.
struct StopAt {
    epoch: usize,
    steps: Option<usize>,
    kept: Option<Checkpoint<f64>>,
}

impl Observer for StopAt {
    fn step(&mut self, epoch: usize) -> Flow {
        match &mut self.steps {
            Some(left) if epoch == self.epoch => {
                *left -= 1;
                if *left == 0 {
                    Flow::Stop
                } else {
                    Flow::Continue
                }
            }
            _ => Flow::Continue,
        }
    }

    fn epoch(&mut self, record: &EpochRecord, state: &dyn Any) -> Flow {
        self.kept = state.downcast_ref::<Checkpoint<f64>>().cloned();
        if self.steps.is_none() && record.epoch == self.epoch {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }
}

#[test]
fn a_resumed_run_ends_in_the_same_bits() {
    let net = network(4, Anchor::Dedicated, Orthogonality::Riemannian);
    let (a, b) = (prepared::<f64>(60, 1), prepared(24, 2));
    let whole = train(&net, &a, &b, &config(6), &mut Silent).expect("trained");
    for steps in [None, Some(3)] {
        let mut stop = StopAt {
            epoch: 2,
            steps,
            kept: None,
        };
        let half = train(&net, &a, &b, &config(6), &mut stop).expect("stopped");
        assert_eq!(half.ended, Ended::Cancelled);
        let state = stop.kept.expect("a checkpoint");
        let rest = resume(&net, &a, &b, &config(6), state, &mut Silent).expect("resumed");
        assert_eq!(bits(&whole.parameters), bits(&rest.parameters));
        assert_eq!(whole.history, rest.history);
        assert_eq!(whole.ended, rest.ended);
    }
}

#[test]
fn early_stopping_restores_the_best_epoch() {
    let net = network(3, Anchor::Dedicated, Orthogonality::Riemannian);
    let (a, b) = (prepared::<f64>(60, 1), prepared(24, 2));
    let settings = TrainConfig {
        epochs: 60,
        patience: 3,
        ..config(60)
    };
    let fitted = train(&net, &a, &b, &settings, &mut Silent).expect("trained");
    assert_eq!(fitted.ended, Ended::EarlyStop);
    assert_eq!(fitted.history.len(), fitted.best_epoch + 1 + 3);
    let best = &fitted.history[fitted.best_epoch];
    assert!(fitted.history.iter().all(|r| !r.better_than(best)));
    let again = evaluate(&net, &fitted.parameters, &b, Routing::Learnt).expect("evaluated");
    assert_eq!(
        again.cross_entropy.to_bits(),
        best.validation_loss.to_bits()
    );
}

#[test]
fn uniform_routing_has_no_proxy_gap() {
    for anchor in [
        Anchor::Dedicated,
        Anchor::First,
        Anchor::Barycenter,
        Anchor::RoutedBarycenter,
    ] {
        let net = network(3, anchor, Orthogonality::Riemannian);
        let b = prepared::<f64>(24, 2);
        let mut parameters = Network::<f64>::initial(&net, 1);
        // Keys that are all zero give equal scores: α = 1/K to the bit.
        parameters
            .set("keys", MatBatch::zeros(1, 3, 4))
            .expect("same shape");
        let learnt = evaluate(&net, &parameters, &b, Routing::Learnt).expect("evaluated");
        let proxy = evaluate(&net, &parameters, &b, Routing::Uniform).expect("evaluated");
        assert_eq!(learnt.probabilities, proxy.probabilities, "{anchor:?}");
    }
}

#[test]
fn identical_experts_give_no_routing_gradient() {
    let net = network(5, Anchor::Dedicated, Orthogonality::Riemannian);
    let net = DaspNet::new(
        *net.sizes(),
        DaspConfig {
            losses: LossWeights::default(),
            decoupled_keys: false,
            ..*net.config()
        },
    )
    .expect("valid");
    let data = prepared::<f64>(24, 3);
    let mut parameters = Network::<f64>::initial(&net, 1);
    let experts = parameters.get("experts").expect("experts").value.clone();
    parameters
        .set("experts", experts.select(&[2, 2, 2, 2, 2]))
        .expect("same shape");
    let tape = Tape::new();
    let bound = net.bind(&tape, &parameters).expect("bound");
    let outputs = net
        .forward(&tape, &bound, &data.all(), Routing::Learnt)
        .expect("forward");
    let scores = outputs.routed.expect("a router").scores.keep_gradient();
    let total = net.losses(&outputs, data.labels()).expect("losses").total;
    let gradients = tape.backward(total).expect("finite");
    let g = gradients.get(scores).expect("kept");
    assert!(g.data().iter().all(|x| *x == 0.0), "{:?}", g.data());
}

#[test]
fn experts_can_be_renumbered() {
    let net = network(4, Anchor::Dedicated, Orthogonality::Riemannian);
    let data = prepared::<f64>(24, 3);
    let parameters = Network::<f64>::initial(&net, 1);
    let order = [2, 0, 3, 1];
    let mut moved = parameters.clone();
    moved
        .set(
            "experts",
            parameters
                .get("experts")
                .expect("experts")
                .value
                .select(&order),
        )
        .expect("same");
    let keys = &parameters.get("keys").expect("keys").value;
    moved
        .set(
            "keys",
            MatBatch::from_fn(1, 4, 4, |_, r, c| keys.get(0, order[r], c)),
        )
        .expect("same");
    let one = evaluate(&net, &parameters, &data, Routing::Learnt).expect("evaluated");
    let two = evaluate(&net, &moved, &data, Routing::Learnt).expect("evaluated");
    assert_close(
        "probabilities",
        one.probabilities.data(),
        two.probabilities.data(),
        1e-13,
    );
}

/// 10,000 steps of Adam under noise gradients, the worst case for drift.
fn long_walk<T: Scalar>(orthogonality: Orthogonality, bound: f64) {
    let net = network(2, Anchor::Dedicated, orthogonality);
    let mut parameters = Network::<T>::initial(&net, 1);
    let shapes: Vec<_> = parameters.iter().map(|p| p.value.shape()).collect();
    let mut adam =
        stiefel_model::optim::Adam::new(AdamConfig::default(), &parameters).expect("Adam");
    let mut noise = rng(4);
    let mut worst = 0.0_f64;
    for step in 0..10_000 {
        let gradients: Vec<MatBatch<T>> = shapes
            .iter()
            .map(|&(a, b, c)| {
                MatBatch::from_fn(a, b, c, |_, _, _| {
                    T::from_f64(stiefel_testkit::normal(&mut noise))
                })
            })
            .collect();
        adam.step(&mut parameters, |i| Some(gradients[i].view()))
            .expect("a step");
        if step % 500 == 499 {
            worst = worst.max(orthonormality_defect(&parameters).expect("points"));
        }
    }
    assert!(
        worst <= bound,
        "{orthogonality:?} in {}: {worst:e}",
        T::NAME
    );
}

#[test]
fn filters_stay_orthonormal_over_ten_thousand_steps() {
    for orthogonality in [Orthogonality::Riemannian, Orthogonality::Cayley] {
        long_walk::<f64>(orthogonality, 1e-10);
        long_walk::<f32>(orthogonality, 5e-6);
    }
}

#[test]
fn learns_what_is_there_to_learn() {
    let (a, b, test) = (trials(180, 1), trials(60, 2), trials(120, 3));
    let settings = |architecture, encoder| ModelConfig {
        preconditioning: Preconditioning::default(),
        encoder,
        architecture,
        training: config(20),
        frechet_means: false,
    };
    let dasp = DaspConfig {
        filters: 4,
        experts: 3,
        embedding: 8,
        ..DaspConfig::default()
    };
    for (architecture, encoder) in [
        (Architecture::Dasp(dasp), Some(DspConfig::default())),
        (Architecture::Dasp(dasp), None),
        (
            Architecture::Spdnet(SpdNetConfig {
                filters: 4,
                ..SpdNetConfig::default()
            }),
            None,
        ),
    ] {
        let config = settings(architecture, encoder).into();
        let model = FittedModel::fit(&a, &b, &config, &mut Silent).expect("fitted");
        let report = model.report(&test, None, 1).expect("a report");
        let accuracy = report.scores.balanced_accuracy.value().expect("trials");
        assert!(accuracy > 0.75, "{architecture:?}: {accuracy}");
        let retrained =
            (model.retrain_single((&a, &b, &test), None, &mut Silent)).expect("retrained");
        let report = report.with_retrained(retrained);
        let text = report.to_string();
        assert_eq!(
            text.contains("retrained K=1"),
            matches!(architecture, Architecture::Dasp(_)),
            "{text}"
        );
    }
}

#[test]
fn small_and_odd_sizes_work_or_are_refused() {
    let data = prepared::<f64>(12, 3);
    // K = 1, k = n, one domain, more classes than two.
    for (filters, experts, domains) in [
        (N, 4, DOMAINS),
        (3, 1, DOMAINS),
        (1, 2, DOMAINS),
        (N, 1, DOMAINS),
    ] {
        let sizes = Sizes {
            channels: N,
            classes: 2,
            domains,
            encoded: N * (N + 1) / 2,
            views: 1,
        };
        let config = DaspConfig {
            filters,
            experts,
            embedding: 4,
            ..DaspConfig::default()
        };
        let net = DaspNet::new(sizes, config).expect("valid");
        let fitted = train(
            &net,
            &data,
            &data,
            &TrainConfig {
                epochs: 2,
                ..TrainConfig::default()
            },
            &mut Silent,
        )
        .expect("trained");
        let decided = evaluate(&net, &fitted.parameters, &data, Routing::Learnt);
        let weights = decided.expect("evaluated").alpha.expect("routed");
        assert_eq!(weights.cols(), experts);
    }
    let sizes = Sizes {
        channels: N,
        classes: 2,
        domains: DOMAINS,
        encoded: 21,
        views: 1,
    };
    for bad in [
        DaspConfig {
            filters: 0,
            ..DaspConfig::default()
        },
        DaspConfig {
            filters: N + 1,
            ..DaspConfig::default()
        },
        DaspConfig {
            filters: 3,
            experts: 0,
            ..DaspConfig::default()
        },
        DaspConfig {
            filters: 3,
            embedding: 0,
            ..DaspConfig::default()
        },
        DaspConfig {
            filters: 3,
            epsilon: 0.0,
            ..DaspConfig::default()
        },
        DaspConfig {
            filters: 3,
            losses: LossWeights {
                alignment: f64::NAN,
                ..LossWeights::default()
            },
            ..DaspConfig::default()
        },
    ] {
        assert!(DaspNet::new(sizes, bad).is_err(), "{bad:?}");
    }
    assert!(
        SpdNet::new(
            Sizes {
                classes: 1,
                ..sizes
            },
            SpdNetConfig {
                filters: 3,
                ..SpdNetConfig::default()
            }
        )
        .is_err()
    );
    let net = network(2, Anchor::Dedicated, Orthogonality::Riemannian);
    for bad in [
        TrainConfig {
            batch: 0,
            ..TrainConfig::default()
        },
        TrainConfig {
            epochs: 0,
            ..TrainConfig::default()
        },
        TrainConfig {
            adam: AdamConfig {
                learning_rate: -1.0,
                ..AdamConfig::default()
            },
            ..TrainConfig::default()
        },
    ] {
        assert!(
            train(&net, &data, &data, &bad, &mut Silent).is_err(),
            "{bad:?}"
        );
    }
}

#[test]
fn bad_data_is_refused_with_the_reason() {
    let all = trials(36, 1);
    let only_a: Vec<usize> = (0..36)
        .filter(|i| (i / DOMAINS).is_multiple_of(2))
        .collect();
    let config = ModelConfig {
        preconditioning: Preconditioning::default(),
        encoder: None,
        architecture: Architecture::Spdnet(SpdNetConfig {
            filters: 3,
            ..SpdNetConfig::default()
        }),
        training: config(1),
        frechet_means: false,
    };
    let fit = |a: &Trials, b: &Trials| Model::<f64>::fit(a, b, &config, &mut Silent).map(|_| ());
    let error = fit(&all.select(&only_a).expect("in range"), &all).expect_err("a class is missing");
    assert!(
        error.to_string().contains("class \"b\" has no trial"),
        "{error}"
    );
    let error = fit(&all, &all.select(&[]).expect("empty")).expect_err("no validation");
    assert!(
        error.to_string().contains("validation set is empty"),
        "{error}"
    );
    let first: Vec<usize> = (0..36).filter(|i| i % DOMAINS != 2).collect();
    let error = fit(&all.select(&first).expect("in range"), &all).expect_err("an unseen domain");
    assert!(error.to_string().contains("s2"), "{error}");
    let mut x = all.covariances().clone();
    x.matrix_mut(4)[7] = f64::NAN;
    assert!(all.with_covariances(x).is_err());
}

#[test]
fn a_step_reports_its_loss() {
    let net = network(2, Anchor::Dedicated, Orthogonality::Cayley);
    let data = prepared::<f64>(32, 1);
    let mut stepper =
        Stepper::new(AdamConfig::default(), Network::<f64>::initial(&net, 1)).expect("Adam");
    let losses: Vec<f64> = (0..40)
        .map(|_| stepper.step(&net, &data.all()).expect("a step"))
        .collect();
    assert!(losses[39] < losses[0], "{losses:?}");
}
