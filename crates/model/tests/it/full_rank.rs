//! Experts that are not orthonormal: what they equal, that they keep their rank, and that all doors
//! know them.

use crate::models::{dasp, fit, full_rank, through_file, trials};
use stiefel_autodiff::{Axis, gradient_error};
use stiefel_linalg::{MatBatch, Op, product};
use stiefel_model::net::{
    Anchor, BarrierKind, DaspConfig, DaspNet, ExpertKind, Network, Retraction, Routing, Sizes,
    barrier,
};
use stiefel_model::routing_stats::filter_rank;
use stiefel_model::train::{Silent, TrainConfig, evaluate, train};
use stiefel_model::{FittedModel, Model, Prepared};
use stiefel_testkit::random_batch;

/// A routed network on seven channels with this kind of expert.
fn network(kind: ExpertKind) -> DaspNet {
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
        experts_kind: kind,
        ..DaspConfig::default()
    };
    DaspNet::new(sizes, config).unwrap()
}

/// Trials as they were recorded: nothing whitened, domains of very different amplitude.
fn raw() -> Prepared<f64> {
    let trials = trials();
    let x = MatBatch::from_fn(trials.len(), 7, 7, |i, r, c| {
        let amplitude = [0.1, 1.0, 4.0, 20.0][trials.domains().indices()[i]];
        amplitude * trials.covariances().get(i, r, c)
    });
    Prepared::new(&trials.with_covariances(x).unwrap(), None).unwrap()
}

#[test]
fn without_scales_polar_experts_are_stiefel_experts() {
    let data = raw();
    let (stiefel, polar) = (network(ExpertKind::Stiefel), network(ExpertKind::Polar));
    let of = |net: &DaspNet, routing| {
        let parameters = Network::<f64>::initial(net, 3);
        evaluate(net, &parameters, &data, routing)
            .unwrap()
            .probabilities
    };
    for routing in [Routing::Learnt, Routing::Uniform, Routing::HardTop1] {
        let (a, b) = (of(&stiefel, routing), of(&polar, routing));
        for (a, b) in a.data().iter().zip(b.data()) {
            assert!((a - b).abs() < 1e-13, "{a} {b}");
        }
    }
}

#[test]
fn the_proxy_of_polar_experts_has_the_log_euclidean_mean_scale() {
    let net = network(ExpertKind::Polar);
    let mut parameters = Network::<f64>::initial(&net, 3);
    parameters.set("scales", random_batch(8, 3, 4, 4)).unwrap();
    // One expert with the mean scale and the same columns at every place gives the same as K with
    // their own.
    let scales = &parameters.get("scales").unwrap().value;
    let l = MatBatch::from_fn(3, 4, 4, |j, r, c| match r.cmp(&c) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => scales.get(j, r, c).exp(),
        std::cmp::Ordering::Greater => scales.get(j, r, c),
    });
    let p = product(l.view(), Op::N, l.view(), Op::T).unwrap();
    let mean = stiefel_geometry::spd::mean_log_euclidean(p.view(), None).unwrap();
    let factor = stiefel_linalg::cholesky(mean.view()).unwrap();
    let mut pooled = parameters.clone();
    let same = MatBatch::from_fn(3, 4, 4, |_, r, c| {
        let x = factor.get(0, r, c);
        if r == c { x.ln() } else { x }
    });
    pooled.set("scales", same).unwrap();
    let data = raw();
    let uniform = |p| evaluate(&net, p, &data, Routing::Uniform).unwrap();
    let (a, b) = (uniform(&parameters), uniform(&pooled));
    for (a, b) in a.probabilities.data().iter().zip(b.probabilities.data()) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }
}

#[test]
fn the_barrier_has_its_gradient_and_its_minimum() {
    let w = random_batch::<f64>(4, 3, 6, 3);
    for kind in [BarrierKind::Paper, BarrierKind::Bounded] {
        let error = gradient_error(std::slice::from_ref(&w), |v| {
            let value = barrier(kind, v[0]).expect("full rank");
            value.sum(Axis::All)
        });
        assert!(error.unwrap() < 1e-7, "{kind:?}");
    }
    let at = |kind, w: &MatBatch<f64>| {
        let tape = stiefel_autodiff::Tape::new();
        barrier(kind, tape.constant(w)).unwrap().item().unwrap()
    };
    let q = stiefel_geometry::stiefel::orthonormal_factor(w.view())
        .unwrap()
        .q;
    let scaled = |s: f64| MatBatch::from_fn(3, 6, 3, |j, r, c| s * q.get(j, r, c));
    assert!(at(BarrierKind::Bounded, &q).abs() < 1e-13);
    for s in [0.5_f64, 0.9, 1.1, 3.0] {
        // Σ_j [k s² − k − 2 k log s].
        let expected = 9.0 * (s * s - 1.0 - 2.0 * s.ln());
        assert!((at(BarrierKind::Bounded, &scaled(s)) - expected).abs() < 1e-12);
        assert!((at(BarrierKind::Paper, &scaled(s)) + 18.0 * s.ln()).abs() < 1e-12);
    }
    let flat = MatBatch::from_fn(1, 4, 2, |_, r, _| r as f64);
    let tape = stiefel_autodiff::Tape::new();
    let error = barrier(BarrierKind::Bounded, tape.constant(&flat)).unwrap_err();
    assert!(error.to_string().contains("log_det"), "{error}");
}

#[test]
fn rank_stays_full_through_training() {
    let data = raw();
    let config = TrainConfig {
        epochs: 30,
        patience: 30,
        batch: 16,
        seed: 2,
        ..TrainConfig::default()
    };
    let barrier = |kind| ExpertKind::Barrier { kind };
    for kind in [
        barrier(BarrierKind::Bounded),
        barrier(BarrierKind::Paper),
        ExpertKind::Polar,
    ] {
        let net = network(kind);
        let fitted = train(&net, &data, &data, &config, &mut Silent).unwrap();
        assert_eq!(fitted.history.len(), 30);
        for record in &fitted.history {
            let experts = record.expert_singular.as_ref().unwrap();
            assert_eq!(experts.len(), 3);
            let smallest = experts.iter().copied().fold(f64::INFINITY, f64::min);
            assert!(smallest > 0.05, "{kind:?} {}: {experts:?}", record.epoch);
            // The barrier is on the experts; a mixture of them may come closer to losing a
            // direction, but does not lose it.
            let routed = record.routed_singular.unwrap();
            let bound = if kind == ExpertKind::Polar {
                0.05
            } else {
                1e-6
            };
            assert!(
                routed > bound,
                "{kind:?} {}: routed {routed:e}",
                record.epoch
            );
        }
    }
}

#[test]
fn a_nearly_lost_column_comes_back() {
    let data = raw();
    let net = network(ExpertKind::Barrier {
        kind: BarrierKind::Bounded,
    });
    let mut parameters = Network::<f64>::initial(&net, 3);
    let mut experts = parameters.get("experts").unwrap().value.clone();
    for row in experts.matrix_mut(1).chunks_exact_mut(4) {
        row[3] = row[2] + 1e-3 * row[3];
    }
    parameters.set("experts", experts).unwrap();
    let smallest = |p: &_| {
        let alpha = MatBatch::from_fn(1, 1, 3, |_, _, _| 1.0 / 3.0);
        filter_rank::<f64>(&net, p, &alpha)
            .unwrap()
            .unwrap()
            .experts[1]
    };
    let before = smallest(&parameters);
    let adam = stiefel_model::AdamConfig::default();
    let mut stepper = stiefel_model::train::Stepper::new(adam, parameters).unwrap();
    for _ in 0..60 {
        stepper.step(&net, &data.all()).unwrap();
    }
    let after = smallest(&stepper.parameters);
    assert!(before < 1.1e-3 && after > 0.1, "{before:e} {after:e}");
}

#[test]
fn smallest_singular_values_are_those_of_the_filters() {
    let data = raw();
    for kind in [
        ExpertKind::Polar,
        ExpertKind::Barrier {
            kind: BarrierKind::Bounded,
        },
    ] {
        let net = network(kind);
        let mut parameters = Network::<f64>::initial(&net, 3);
        if kind == ExpertKind::Polar {
            parameters.set("scales", random_batch(8, 3, 4, 4)).unwrap();
        }
        let tape = stiefel_autodiff::Tape::new();
        let bound = net.bind_frozen(&tape, &parameters).unwrap();
        let out = net
            .forward(&tape, &bound, &data.all(), Routing::Learnt)
            .unwrap();
        let r = out.routed.unwrap();
        let w = r.filters.unwrap().value().to_owned();
        let gram = product(w.view(), Op::T, w.view(), Op::N).unwrap();
        let alpha = r.alpha.value().to_owned();
        let rank = filter_rank(&net, &parameters, &alpha).unwrap().unwrap();
        let values = stiefel_linalg::eigenvalues(gram.view()).unwrap();
        for (sigma, values) in rank.routed.iter().zip(values.chunks_exact(4)) {
            assert!((sigma - values[0].sqrt()).abs() < 1e-10 * values[3].sqrt());
        }
    }
    let net = network(ExpertKind::Stiefel);
    let stiefel = Network::<f64>::initial(&net, 3);
    let alpha = MatBatch::zeros(1, 1, 3);
    assert_eq!(filter_rank(&net, &stiefel, &alpha).unwrap(), None);
}

#[test]
fn reports_and_files_know_every_kind() {
    for config in full_rank() {
        let (fitted, loaded) = through_file(fit::<f64>(&trials(), &config));
        let report = fitted.report(&trials(), None, 1).unwrap();
        let rank = report.rank.as_ref().unwrap();
        assert_eq!((rank.experts.len(), rank.routed.len()), (3, 60));
        assert!(rank.smallest_expert() > 0.1 && rank.smallest_routed() > 0.0);
        let angle = report.diversity.as_ref().unwrap().mean_angle.value();
        assert!(angle.unwrap() > 1.0);
        assert!(report.to_string().contains("smallest σ"), "{report}");
        assert_eq!(loaded.report(&trials(), None, 1).unwrap(), report);
        let network = |model| FittedModel::get::<Model<f64>>(model).unwrap();
        let (model, again) = (network(&fitted), network(&loaded));
        assert_eq!(again.parameters(), model.parameters());
        assert_eq!(again.record(), model.record());
        let (a, b) = (model.evaluate(&trials()), again.evaluate(&trials()));
        assert_eq!(a.unwrap(), b.unwrap());
    }
    // Orthonormal experts have no such report.
    let config = dasp(Anchor::Dedicated, Retraction::Qr, true, true);
    let model = FittedModel::from(fit::<f64>(&trials(), &config));
    assert!(model.report(&trials(), None, 1).unwrap().rank.is_none());
    let model = model.get::<Model<f64>>().unwrap();
    assert!(model.record().history[0].expert_singular.is_none());
}
