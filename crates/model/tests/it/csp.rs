//! CSP targets: against SciPy, their gradient, their memory, and what training does with them.

use crate::models::trials;
use serde_json::Value;
use std::any::Any;
use stiefel_autodiff::{Tape, gradient_error};
use stiefel_geometry::stiefel::orthonormal_factor;
use stiefel_linalg::{MatBatch, Op, product};
use stiefel_model::csp::{CspConfig, CspState, csp_basis, csp_loss, generalised_eigen};
use stiefel_model::net::{
    BarrierKind, DaspConfig, DaspNet, ExpertKind, LossWeights, Network, Retraction, Routing, Sizes,
};
use stiefel_model::train::{
    Checkpoint, EpochRecord, Flow, Observer, Silent, Stepper, TrainConfig, resume, train,
};
use stiefel_model::{Parameters, Prepared};
use stiefel_testkit::{assert_close, random_batch, random_spd};

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap();
    list.iter().map(|x| x.as_f64().unwrap()).collect()
}

#[test]
fn filters_are_those_of_scipy() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("../fixtures/csp.json")).unwrap();
    assert_eq!(cases.len(), 4);
    for case in cases {
        let size = |key: &str| case[key].as_u64().unwrap() as usize;
        let (classes, n, s) = (size("classes"), size("n"), size("s"));
        let means = MatBatch::from_vec(classes, n, n, numbers(&case["means"])).unwrap();
        for (c, expected) in case["eigenvalues"].as_array().unwrap().iter().enumerate() {
            let rest = MatBatch::from_fn(1, n, n, |_, row, col| {
                let others = (0..classes).filter(|k| *k != c);
                others.map(|k| means.get(k, row, col)).sum::<f64>() / (classes - 1) as f64
            });
            let own = means.single(c);
            let (values, vectors) = generalised_eigen(own.view(), rest.view()).unwrap();
            assert_close("eigenvalues", &values, &numbers(expected), 1e-12);
            // A w = λ (A + B) w, and wᵀ(A + B)w = 1.
            let sum = MatBatch::from_fn(1, n, n, |_, r, c| own.get(0, r, c) + rest.get(0, r, c));
            let (a, b) = (
                product(own.view(), Op::N, vectors.view(), Op::N).unwrap(),
                product(sum.view(), Op::N, vectors.view(), Op::N).unwrap(),
            );
            for (at, (a, b)) in a.data().iter().zip(b.data()).enumerate() {
                assert!((a - values[at % n] * b).abs() < 1e-12);
            }
            let unit = product(vectors.view(), Op::T, b.view(), Op::N).unwrap();
            assert_close(
                "unit",
                unit.data(),
                MatBatch::<f64>::identity(1, n).data(),
                1e-12,
            );
        }
        let basis = csp_basis(&means, s).unwrap();
        let gram = product(basis.view(), Op::T, basis.view(), Op::N).unwrap();
        assert_close(
            "orthonormal",
            gram.data(),
            MatBatch::<f64>::identity(1, s).data(),
            1e-13,
        );
        let projector = product(basis.view(), Op::N, basis.view(), Op::T).unwrap();
        assert_close(
            "projector",
            projector.data(),
            &numbers(&case["projector"]),
            1e-10,
        );
    }
}

#[test]
fn what_has_no_filters_is_refused() {
    let means = random_spd::<f64>(1, 2, 4);
    for s in [0, 5] {
        assert!(csp_basis(&means, s).is_err());
    }
    assert!(csp_basis(&means.single(0), 1).is_err());
    assert!(csp_basis(&MatBatch::zeros(2, 4, 4), 1).is_err());
    let other = random_spd::<f64>(1, 1, 3);
    assert!(generalised_eigen(means.single(0).view(), other.view()).is_err());
    // Classes that do not differ have a basis all the same.
    let same = means.select(&[0, 0]);
    assert_eq!(csp_basis(&same, 2).unwrap().shape(), (1, 4, 2));
}

#[test]
fn the_loss_is_the_share_of_the_target_that_is_lost() {
    let w = orthonormal_factor(random_batch::<f64>(3, 5, 6, 3).view())
        .unwrap()
        .q;
    let u = orthonormal_factor(random_batch::<f64>(4, 5, 6, 2).view())
        .unwrap()
        .q;
    let tape = Tape::new();
    let value = |w: &MatBatch<f64>, u| csp_loss(tape.constant(w), u).unwrap().item().unwrap();
    // 1 − ‖WᵀU‖²/s for orthonormal W.
    let inner = product(w.view(), Op::T, u.view(), Op::N).unwrap();
    let kept: f64 = inner.data().iter().map(|x| x * x).sum::<f64>() / 10.0;
    assert!((value(&w, &u) - (1.0 - kept)).abs() < 1e-14);
    // Targets inside the filters are not lost at all.
    let inside = MatBatch::from_fn(5, 6, 2, |i, r, c| w.get(i, r, c));
    assert!(value(&w, &inside) < 1e-28);
    let error = gradient_error(&[w], |v| Ok(csp_loss(v[0], &u).expect("shapes fit")));
    assert!(error.unwrap() < 1e-8);
}

fn network(kind: ExpertKind, retraction: Retraction, weight: f64) -> DaspNet {
    let sizes = Sizes {
        channels: 7,
        classes: 2,
        domains: 4,
        encoded: 28,
        views: 1,
    };
    let config = DaspConfig {
        filters: 4,
        experts: 3,
        embedding: 5,
        retraction,
        experts_kind: kind,
        losses: LossWeights {
            csp: weight,
            ..LossWeights::default()
        },
        csp: CspConfig {
            filters: 2,
            momentum: 0.3,
        },
        ..DaspConfig::default()
    };
    DaspNet::new(sizes, config).unwrap()
}

fn data() -> Prepared<f64> {
    Prepared::new(&trials(), None).unwrap()
}

const BARRIER: ExpertKind = ExpertKind::Barrier {
    kind: BarrierKind::Bounded,
};

/// The loss of the whole network under given parameters, its targets those of the whole set.
fn total(net: &DaspNet, parameters: &Parameters<f64>, data: &Prepared<f64>) -> f64 {
    let adam = stiefel_model::AdamConfig::default();
    let mut stepper = Stepper::new(adam, parameters.clone()).unwrap();
    stepper.step(net, &data.all()).unwrap()
}

#[test]
fn its_gradient_reaches_every_parameter_of_the_filters() {
    let data = data();
    let batch = data.all();
    for (kind, retraction) in [
        (ExpertKind::Stiefel, Retraction::Qr),
        (ExpertKind::Stiefel, Retraction::Polar),
        (ExpertKind::Polar, Retraction::Qr),
        (BARRIER, Retraction::Qr),
    ] {
        let net = network(kind, retraction, 0.7);
        let mut parameters = Network::<f64>::initial(&net, 3);
        if kind == ExpertKind::Polar {
            parameters.set("scales", random_batch(8, 3, 4, 4)).unwrap();
        }
        // The term by the definition: W W⁺ projects on the columns of W whatever their lengths.
        let tape = Tape::new();
        let bound = net.bind(&tape, &parameters).unwrap();
        let out = net.forward(&tape, &bound, &batch, Routing::Learnt).unwrap();
        let r = out.routed.unwrap();
        let w = orthonormal_factor(r.filters.unwrap().value()).unwrap().q;
        let mut state = CspState::new(*net.sizes());
        state.observe(&batch, 0.3).unwrap();
        let targets: Vec<f64> = (data.domains().iter())
            .flat_map(|&d| state.target(d, 2).unwrap().unwrap().into_vec())
            .collect();
        let targets = MatBatch::from_vec(60, 7, 2, targets).unwrap();
        let term = csp_loss(tape.constant(&w), &targets)
            .unwrap()
            .item()
            .unwrap();
        let without = net.losses(&out, data.labels()).unwrap().total;
        let whole = total(&net, &parameters, &data);
        assert!((whole - without.item().unwrap() - 0.7 * term).abs() < 1e-12);
        // Finite differences of the whole objective, along random directions of the filters'
        // parameters.
        let loss = without
            .add(
                csp_loss(r.directions.unwrap(), &targets)
                    .unwrap()
                    .scale(0.7)
                    .unwrap(),
            )
            .unwrap();
        let gradients = tape.backward(loss).unwrap();
        for (i, parameter) in parameters.iter().enumerate() {
            if !["experts", "anchor", "scales", "query.w2"].contains(&parameter.name) {
                continue;
            }
            let (a, b, c) = parameter.value.shape();
            let direction = random_batch::<f64>(17 + i as u64, a, b, c);
            let along = |h: f64| {
                let mut moved = parameters.clone();
                let value = MatBatch::from_fn(a, b, c, |i, r, k| {
                    parameter.value.get(i, r, k) + h * direction.get(i, r, k)
                });
                moved.set(parameter.name, value).unwrap();
                total(&net, &moved, &data)
            };
            let h = 1e-5;
            let numeric = (along(h) - along(-h)) / (2.0 * h);
            let g = gradients.get(bound.leaves[i]).unwrap();
            let exact: f64 = g
                .data()
                .iter()
                .zip(direction.data())
                .map(|(g, d)| g * d)
                .sum();
            let far = (numeric - exact).abs() / exact.abs().max(1e-3);
            assert!(far < 1e-6, "{kind:?} {}: {numeric} {exact}", parameter.name);
        }
    }
}

#[test]
fn running_means_are_running_means() {
    let data = data();
    let mut state = CspState::new(*network(ExpertKind::Stiefel, Retraction::Qr, 1.0).sizes());
    assert!(state.target(0, 2).unwrap().is_none());
    // Trials 0, 4, … are of domain 0; its classes alternate.
    let of = |i: usize| data.covariances().matrix(i).to_vec();
    state.observe(&data.batch(vec![0]), 0.25).unwrap();
    assert_eq!(state.mean(0, 0), Some(&of(0)[..]));
    assert!(state.mean(0, 1).is_none() && state.target(0, 2).unwrap().is_none());
    state.observe(&data.batch(vec![8, 16, 4]), 0.25).unwrap();
    let (a, b, c) = (of(0), of(8), of(16));
    let expected: Vec<f64> = (0..49)
        .map(|e| 0.75 * a[e] + 0.25 * (b[e] + c[e]) / 2.0)
        .collect();
    assert_close("mean", state.mean(0, 0).unwrap(), &expected, 1e-15);
    assert_eq!(state.mean(0, 1), Some(&of(4)[..]));
    assert!(state.target(0, 2).unwrap().is_some() && state.target(1, 2).unwrap().is_none());
    assert!(state.mean(9, 9).is_none());
    let small = Sizes {
        domains: 2,
        ..*network(ExpertKind::Stiefel, Retraction::Qr, 1.0).sizes()
    };
    let error = CspState::new(small).observe(&data.all(), 0.1).unwrap_err();
    assert!(
        error.to_string().contains("trial 2 is of domain 2"),
        "{error}"
    );
}

fn config(epochs: usize) -> TrainConfig {
    TrainConfig {
        epochs,
        patience: epochs,
        batch: 16,
        seed: 5,
        ..TrainConfig::default()
    }
}

/// Keeps the state after an epoch and stops, or stops half-way through the next.
struct Keep {
    after: usize,
    half_way: bool,
    steps: usize,
    kept: Option<Checkpoint<f64>>,
}

impl Observer for Keep {
    fn step(&mut self, epoch: usize) -> Flow {
        self.steps += usize::from(epoch == self.after);
        if self.half_way && self.steps == 2 {
            return Flow::Stop;
        }
        Flow::Continue
    }

    fn epoch(&mut self, record: &EpochRecord, state: &dyn Any) -> Flow {
        self.kept = state.downcast_ref::<Checkpoint<f64>>().cloned();
        if !self.half_way && record.epoch + 1 == self.after {
            return Flow::Stop;
        }
        Flow::Continue
    }
}

#[test]
fn a_resumed_run_ends_in_the_same_bits() {
    let data = data();
    let net = network(ExpertKind::Stiefel, Retraction::Qr, 0.5);
    let whole = train(&net, &data, &data, &config(6), &mut Silent).unwrap();
    let names: Vec<&str> = (whole.history[0].losses.iter())
        .map(|l| l.0.as_str())
        .collect();
    assert_eq!(names.last(), Some(&"csp"));
    for half_way in [false, true] {
        let mut keep = Keep {
            after: 3,
            half_way,
            steps: 0,
            kept: None,
        };
        train(&net, &data, &data, &config(6), &mut keep).unwrap();
        let state = keep.kept.unwrap();
        assert!(state.csp.is_some() && state.history.len() == 3);
        let mut forgetful = state.clone();
        forgetful.csp = None;
        let go_on = |state| resume(&net, &data, &data, &config(6), state, &mut Silent).unwrap();
        assert!(go_on(state) == whole);
        assert!(go_on(forgetful) != whole);
    }
}

#[test]
fn filters_come_closer_to_their_targets() {
    let data = data();
    let lost = |weight: f64| {
        let net = network(ExpertKind::Stiefel, Retraction::Qr, weight);
        let fitted = train(&net, &data, &data, &config(20), &mut Silent).unwrap();
        let last = fitted.history.last().unwrap();
        let (_, term) = last.losses.iter().find(|l| l.0 == "csp").unwrap();
        term / weight
    };
    let (free, drawn) = (lost(1e-9), lost(2.0));
    assert!(drawn < 0.7 * free, "{drawn} {free}");
}

#[test]
fn settings_out_of_range_are_refused() {
    let good = *network(ExpertKind::Stiefel, Retraction::Qr, 1.0).config();
    let sizes = *network(ExpertKind::Stiefel, Retraction::Qr, 1.0).sizes();
    let with = |filters, momentum| DaspConfig {
        csp: CspConfig { filters, momentum },
        ..good
    };
    for bad in [
        with(0, 0.1),
        with(5, 0.1),
        with(2, 0.0),
        with(2, 1.5),
        with(2, f64::NAN),
    ] {
        assert!(DaspNet::new(sizes, bad).is_err(), "{bad:?}");
    }
    let mut json = serde_json::to_value(DaspConfig::default()).unwrap();
    json.as_object_mut().unwrap().remove("csp");
    json["losses"].as_object_mut().unwrap().remove("csp");
    let read: DaspConfig = serde_json::from_value(json).unwrap();
    assert_eq!(read, DaspConfig::default());
}
