//! Networks of several views: gradients, the decoder against the tape, the file, new domains,
//! controls, and what is refused.

use crate::choir::{several, trial};
use crate::decoder::agrees;
use crate::gradients::worst_gradient;
use crate::models::{dasp, spdnet, through_file};
use stiefel_linalg::{MatBatch, Scalar};
use stiefel_model::decoder::{Decoder, Domain};
use stiefel_model::net::{
    Anchor, BatchNormConfig, DaspConfig, DaspNet, ExpertKind, HeadKind, InitialAnchor,
    InitialExperts, LossWeights, Network, Orthogonality, Retraction, Routing, RoutingRule, Sizes,
    SpdNet, SpdNetConfig, ViewRouting,
};
use stiefel_model::precondition::Adaptation;
use stiefel_model::routing_stats::routing_stats;
use stiefel_model::train::{Silent, evaluate};
use stiefel_model::{
    AdaptEmbedding, AdaptPolicy, Architecture, FittedModel, Model, ModelConfig, ModelSpec,
    NetworkSettings, Precision, Prepared, Trials,
};

const SIZES: Sizes = Sizes {
    channels: 5,
    classes: 2,
    domains: 3,
    encoded: 15,
    views: 3,
};

fn pool(view_routing: ViewRouting) -> DaspConfig {
    DaspConfig {
        filters: 3,
        experts: 2,
        embedding: 4,
        view_routing,
        ..DaspConfig::default()
    }
}

fn trials() -> Trials {
    several(11, 36, 3, 3)
}

/// Every kind of network of three views.
fn all() -> Vec<ModelConfig> {
    let mut all = vec![
        spdnet(Orthogonality::Riemannian),
        spdnet(Orthogonality::Cayley),
    ];
    for view_routing in [ViewRouting::Trial, ViewRouting::View] {
        for anchor in [Anchor::Dedicated, Anchor::First, Anchor::RoutedBarycenter] {
            for routing in [RoutingRule::Soft, RoutingRule::TopP { p: 1 }] {
                let mut one = dasp(anchor, Retraction::Qr, true, true);
                if let Architecture::Dasp(c) = &mut one.architecture {
                    (c.view_routing, c.routing) = (view_routing, routing);
                }
                all.push(one);
            }
        }
    }
    all
}

fn fit<T: Scalar>(trials: &Trials, config: &ModelConfig) -> Model<T> {
    Model::fit(trials, trials, config, &mut Silent).unwrap()
}

#[test]
fn gradients_are_those_of_the_loss() {
    let data: Prepared<f64> = Prepared::new(&trials(), None).unwrap();
    assert_eq!(data.views(), 3);
    let mut nets: Vec<Box<dyn Network<f64>>> = vec![Box::new(
        SpdNet::new(
            SIZES,
            SpdNetConfig {
                filters: 3,
                ..SpdNetConfig::default()
            },
        )
        .unwrap(),
    )];
    for view_routing in [ViewRouting::Trial, ViewRouting::View] {
        let losses = LossWeights {
            balance: 0.3,
            entropy: 0.2,
            shrink: 0.1,
            ..LossWeights::default()
        };
        let config = DaspConfig {
            // Keys that learn from the cross-entropy, and no stop in the gradient.
            decoupled_keys: false,
            losses,
            ..pool(view_routing)
        };
        nets.push(Box::new(DaspNet::new(SIZES, config).unwrap()));
    }
    for net in nets {
        let parameters = net.initial(4);
        let (error, name) = worst_gradient(&*net, &parameters, &data);
        assert!(error < 1e-7, "{} {name}: {error:e}", net.name());
    }
}

#[test]
fn the_first_values_of_the_broad_view_are_those_of_one_view() {
    let one = Sizes { views: 1, ..SIZES };
    let config = SpdNetConfig {
        filters: 3,
        ..SpdNetConfig::default()
    };
    let few: stiefel_model::Parameters<f64> = SpdNet::new(one, config).unwrap().initial(7);
    let many = Network::<f64>::initial(&SpdNet::new(SIZES, config).unwrap(), 7);
    let filter = |p: &stiefel_model::Parameters<f64>| p.get("filter").unwrap().value.clone();
    assert_eq!(filter(&few).data(), filter(&many).single(0).data());
    // With the weights of the further views at zero, both say the same.
    let mut joined = many.clone();
    let head = &few.get("head.w").unwrap().value;
    let wide = MatBatch::from_fn(
        1,
        2,
        18,
        |_, c, f| if f < 6 { head.get(0, c, f) } else { 0.0 },
    );
    joined.set("head.w", wide).unwrap();
    joined
        .set("head.b", few.get("head.b").unwrap().value.clone())
        .unwrap();
    let trials = trials();
    let broad = Prepared::new(&trials.pick_views(&[0]).unwrap(), None).unwrap();
    let all = Prepared::new(&trials, None).unwrap();
    let of = |sizes, p, data: &Prepared<f64>| {
        let net = SpdNet::new(sizes, config).unwrap();
        evaluate(&net, p, data, Routing::Learnt)
            .unwrap()
            .probabilities
    };
    let (a, b) = (of(one, &few, &broad), of(SIZES, &joined, &all));
    for (a, b) in a.data().iter().zip(b.data()) {
        assert!((a - b).abs() < 1e-14, "{a} {b}");
    }
    // And the batch must have the views of the network.
    let net = SpdNet::new(SIZES, config).unwrap();
    let error = evaluate(&net, &many, &broad, Routing::Learnt).unwrap_err();
    assert!(error.to_string().contains('3'), "{error}");
}

#[test]
fn the_decoder_says_what_the_tape_says() {
    let trials = trials();
    for config in all() {
        agrees::<f64>(&trials, &config, 1e-12);
        agrees::<f32>(&trials, &config, 1e-5);
    }
}

#[test]
fn one_view_of_several_is_not_enough() {
    let trials = trials();
    let mut decoder = Decoder::new(fit::<f64>(&trials, &all()[0])).unwrap();
    // One view is not enough.
    let error = decoder
        .decide(&trials.covariances().data()[..25], Domain::Known(0))
        .unwrap_err();
    assert!(error.to_string().contains("75"), "{error}");
}

#[test]
fn models_of_several_views_survive_their_file() {
    let trials = trials();
    for config in all() {
        for precision in [Precision::F32, Precision::F64] {
            let fit = NetworkSettings::new(config, precision).into();
            let model = FittedModel::fit(&trials, &trials, &fit, &mut Silent).unwrap();
            assert_eq!(model.view_count(), 3);
            let (model, again) = through_file(model);
            assert_eq!(again.view_count(), 3);
            let (a, b) = (
                model.decide(&trials, None).unwrap(),
                again.decide(&trials, None).unwrap(),
            );
            assert_eq!(a, b);
            assert_eq!(model.to_bytes().unwrap(), again.to_bytes().unwrap());
        }
    }
}

#[test]
fn somebody_new_is_whitened_in_every_view() {
    let all = trials();
    let known: Vec<usize> = (0..36).filter(|i| i % 3 != 2).collect();
    let new: Vec<usize> = (0..36).filter(|i| i % 3 == 2).collect();
    let (training, new) = (all.select(&known).unwrap(), all.select(&new).unwrap());
    let config = ModelSpec::from(dasp(Anchor::Dedicated, Retraction::Qr, true, true));
    let model = FittedModel::fit(&training, &training, &config, &mut Silent).unwrap();
    let decided = |trials: &Trials, whitening| {
        let unseen = AdaptPolicy {
            whitening,
            embedding: AdaptEmbedding::Zero,
        };
        model.decide(trials, Some(&unseen)).unwrap().probabilities
    };
    let own = Adaptation::OwnMean { kappa: 0.0 };
    // A factor of the amplifier in one of the views goes away with that view's own mean, and does
    // not with everybody's.
    let louder = |trials: &Trials| {
        let x = trials.view(1);
        let loud = MatBatch::from_fn(x.count(), 5, 5, |i, r, c| {
            let gain = |c: usize| 1.0 + c as f64;
            gain(r) * gain(c) * x.get(i, r, c)
        });
        let first = trials.pick_views(&[0]).unwrap();
        first
            .with_view(loud)
            .unwrap()
            .with_view(trials.view(2).clone())
            .unwrap()
    };
    let gap = |a: MatBatch<f64>, b: MatBatch<f64>| {
        a.data()
            .iter()
            .zip(b.data())
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max)
    };
    let pooled = gap(
        decided(&new, Adaptation::Pooled),
        decided(&louder(&new), Adaptation::Pooled),
    );
    let with_own = gap(decided(&new, own), decided(&louder(&new), own));
    assert!(with_own < 0.5 * pooled, "{with_own} {pooled}");
    // Causal means of every view go on, and stay when frozen.
    let causal = AdaptPolicy {
        whitening: Adaptation::Causal { kappa: 2.0 },
        embedding: AdaptEmbedding::Zero,
    };
    let mut session = model.session("s9", Some(&causal), &[]).unwrap();
    let first = session
        .decide(&trial(&new, 0))
        .unwrap()
        .probabilities
        .to_vec();
    let moved = session
        .decide(&trial(&new, 0))
        .unwrap()
        .probabilities
        .to_vec();
    assert_ne!(first, moved);
    session.freeze(true);
    let still = session
        .decide(&trial(&new, 1))
        .unwrap()
        .probabilities
        .to_vec();
    assert_eq!(
        still,
        session.decide(&trial(&new, 1)).unwrap().probabilities
    );
    // Batches of some views are no batches of all.
    let some = new.matrices();
    assert!(model.session("s9", Some(&causal), &some[..2]).is_err());
    // A row is adapted by one routing.
    let mut per_view = dasp(Anchor::Dedicated, Retraction::Qr, true, true);
    if let Architecture::Dasp(c) = &mut per_view.architecture {
        c.view_routing = ViewRouting::View;
    }
    let model = FittedModel::fit(
        &training,
        &training,
        &ModelSpec::from(per_view),
        &mut Silent,
    )
    .unwrap();
    let adapted = AdaptPolicy {
        whitening: Adaptation::OwnMean { kappa: 2.0 },
        embedding: AdaptEmbedding::Transductive(stiefel_model::TransductiveConfig::default()),
    };
    let error = model.decide(&new, Some(&adapted)).unwrap_err();
    assert!(
        error.to_string().contains("every view has its own"),
        "{error}"
    );
}

#[test]
fn controls_and_statistics_know_one_routing_per_view() {
    let trials = trials();
    for view_routing in [ViewRouting::Trial, ViewRouting::View] {
        let mut config = dasp(Anchor::Dedicated, Retraction::Qr, true, true);
        if let Architecture::Dasp(c) = &mut config.architecture {
            c.view_routing = view_routing;
        }
        let model =
            FittedModel::fit(&trials, &trials, &ModelSpec::from(config), &mut Silent).unwrap();
        let weights = if view_routing == ViewRouting::Trial {
            3
        } else {
            9
        };
        assert_eq!(model.expert_count(), Some(weights));
        let (report, decided) = model.examine(&trials, None, 1).unwrap();
        assert_eq!(decided.routing.as_ref().unwrap().cols(), weights);
        let entropy = report.stats.as_ref().unwrap().entropy.value().unwrap();
        assert!((0.0..=1.0).contains(&entropy));
        // The experts of the broad view are compared with each other, not with those of another
        // view.
        assert_eq!(model.filters().unwrap().unwrap().count(), 3);
        // Given weights are obeyed: those the router found give what it said.
        let again = model.decide(&trials, None).unwrap();
        assert_eq!(again.routing, decided.routing);
    }
    // Two routings side by side: the mean of their entropies, and sums of two.
    let rows = MatBatch::from_vec(1, 2, 4, vec![1.0, 0.0, 0.5, 0.5, 0.0, 1.0, 0.5, 0.5]).unwrap();
    let stats = routing_stats(rows.view(), &[0, 1]).unwrap();
    assert_eq!(stats.entropy.value(), Some(0.5));
    let odd = MatBatch::from_vec(1, 1, 3, vec![1.0, 0.5, 0.5]).unwrap();
    assert!(routing_stats(odd.view(), &[0]).is_err());
}

#[test]
fn options_of_one_view_are_refused_with_several() {
    let bad = [
        DaspConfig {
            batch_norm: Some(BatchNormConfig::default()),
            ..pool(ViewRouting::Trial)
        },
        DaspConfig {
            experts_kind: ExpertKind::Polar,
            ..pool(ViewRouting::Trial)
        },
        DaspConfig {
            initial_anchor: InitialAnchor::Discriminative,
            ..pool(ViewRouting::Trial)
        },
        DaspConfig {
            initial_experts: InitialExperts::NearAnchor { noise: 0.1 },
            ..pool(ViewRouting::Trial)
        },
        DaspConfig {
            losses: LossWeights {
                csp: 0.1,
                ..LossWeights::default()
            },
            ..pool(ViewRouting::Trial)
        },
        DaspConfig {
            head: HeadKind::Routed { ridge: 0.1 },
            ..pool(ViewRouting::View)
        },
    ];
    for config in bad {
        assert!(DaspNet::new(SIZES, config).is_err(), "{config:?}");
    }
    let one = Sizes { views: 1, ..SIZES };
    let error = DaspNet::new(one, pool(ViewRouting::View)).unwrap_err();
    assert!(error.to_string().contains("one view"), "{error}");
    assert!(DaspNet::new(Sizes { views: 0, ..SIZES }, pool(ViewRouting::Trial)).is_err());
    let norm = SpdNetConfig {
        filters: 3,
        batch_norm: Some(BatchNormConfig::default()),
        ..SpdNetConfig::default()
    };
    let error = SpdNet::new(SIZES, norm).unwrap_err();
    assert!(error.to_string().contains("these have 3"), "{error}");
    // A model of three views does not go on with two, nor learn a domain more, nor is it judged on
    // one.
    let trials = trials();
    let config = spdnet(Orthogonality::Riemannian);
    let model = fit::<f64>(&trials, &config);
    let two = trials.pick_views(&[0, 1]).unwrap();
    let error = model.fit_on(&two, &two, &config, &mut Silent).unwrap_err();
    assert!(error.to_string().contains("3 views"), "{error}");
    let fitted = FittedModel::from(model);
    let error = fitted.decide(&two, None).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the trials have 2 views, but the model takes 3"),
        "{error}"
    );
    let error = FittedModel::fit(&trials, &two, &ModelSpec::from(config), &mut Silent).unwrap_err();
    assert!(
        error.to_string().contains("views of the validation trials"),
        "{error}"
    );
}
