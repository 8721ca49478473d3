//! Top-p routing: what must be exact, and that gradients go straight through.

use crate::models::{all, dasp, fit, trials};
use stiefel_autodiff::Tape;
use stiefel_model::decoder::{Decoder, Domain};
use stiefel_model::net::{
    Anchor, DaspConfig, DaspNet, Network, Retraction, Routing, RoutingRule, Sizes,
};
use stiefel_model::train::{Evaluation, Silent, evaluate};
use stiefel_model::{
    Architecture, FittedModel, Model, ModelConfig, NetworkSettings, Parameters, Precision, Prepared,
};

fn with_rule(config: &ModelConfig, routing: RoutingRule) -> ModelConfig {
    let mut config = *config;
    if let Architecture::Dasp(dasp) = &mut config.architecture {
        dasp.routing = routing;
    }
    config
}

fn bits(parameters: &Parameters<f64>) -> Vec<u64> {
    (parameters.iter())
        .flat_map(|p| p.value.data().iter().map(|x| x.to_bits()))
        .collect()
}

/// The network of a model under another rule, on its own trials.
fn evaluation(model: &Model<f64>, rule: RoutingRule, routing: Routing<'_, f64>) -> Evaluation {
    let Architecture::Dasp(config) = model.config().architecture else {
        panic!("a routed model");
    };
    let net = DaspNet::new(
        *model.sizes(),
        DaspConfig {
            routing: rule,
            ..config
        },
    )
    .unwrap();
    let data: Prepared<f64> = model.frontend().prepare(&trials()).unwrap();
    evaluate(&net, model.parameters(), &data, routing).unwrap()
}

#[test]
fn all_experts_kept_is_soft_routing_to_the_bit() {
    for config in all() {
        if let Architecture::Dasp(_) = config.architecture {
            let soft = fit::<f64>(&trials(), &with_rule(&config, RoutingRule::Soft));
            let kept = fit::<f64>(&trials(), &with_rule(&config, RoutingRule::TopP { p: 3 }));
            assert!(bits(soft.parameters()) == bits(kept.parameters()));
            assert_eq!(soft.record(), kept.record());
        }
    }
}

#[test]
fn one_expert_kept_is_the_hard_control_and_the_proxy_is_unmasked() {
    let config = dasp(Anchor::Dedicated, Retraction::Qr, true, true);
    let model = fit::<f64>(&trials(), &config);
    let one = evaluation(&model, RoutingRule::TopP { p: 1 }, Routing::Learnt);
    let hard = evaluation(&model, RoutingRule::Soft, Routing::HardTop1);
    assert_eq!(one.probabilities, hard.probabilities);
    assert_eq!(one.alpha, hard.alpha);
    let uniform = |rule| evaluation(&model, rule, Routing::Uniform);
    assert_eq!(
        uniform(RoutingRule::TopP { p: 2 }),
        uniform(RoutingRule::Soft)
    );
    let two = evaluation(&model, RoutingRule::TopP { p: 2 }, Routing::Learnt);
    for row in two.alpha.unwrap().data().chunks_exact(3) {
        assert_eq!(row.iter().filter(|a| **a == 0.0).count(), 1);
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-15);
    }
}

#[test]
fn gradients_go_straight_through() {
    let model = fit::<f64>(
        &trials(),
        &dasp(Anchor::Dedicated, Retraction::Qr, true, true),
    );
    let Architecture::Dasp(config) = model.config().architecture else {
        panic!("a routed model");
    };
    let rule = RoutingRule::TopP { p: 2 };
    let net = DaspNet::new(
        *model.sizes(),
        DaspConfig {
            routing: rule,
            ..config
        },
    )
    .unwrap();
    let data: Prepared<f64> = model.frontend().prepare(&trials()).unwrap();
    let tape = Tape::new();
    let bound = net.bind(&tape, model.parameters()).unwrap();
    let out = Network::<f64>::forward(&net, &tape, &bound, &data.all(), Routing::Learnt).unwrap();
    let r = out.routed.unwrap();
    let (scores, soft, alpha) = (
        r.scores.keep_gradient(),
        r.soft.keep_gradient(),
        r.alpha.keep_gradient(),
    );
    let ce = out.logits.cross_entropy(data.labels(), None).unwrap();
    let g = tape.backward(ce).unwrap();
    // The softmax's gradient is the mask's, entry by entry, and the masked expert's is not zero.
    assert_eq!(g.get(soft).unwrap().data(), g.get(alpha).unwrap().data());
    let (a, dz) = (alpha.value().data(), g.get(scores).unwrap().data());
    assert!((a.iter().zip(dz)).any(|(a, g)| *a == 0.0 && g.abs() > 1e-8));
    // ∂L/∂z_j = α_j (g_j − Σ_l α_l g_l) with the soft α.
    let (s, ds) = (soft.value().data(), g.get(soft).unwrap().data());
    for ((s, ds), dz) in (s.chunks(3).zip(ds.chunks(3))).zip(dz.chunks(3)) {
        let mean: f64 = s.iter().zip(ds).map(|(s, d)| s * d).sum();
        for j in 0..3 {
            assert!((dz[j] - s[j] * (ds[j] - mean)).abs() < 1e-15);
        }
    }
}

#[test]
fn the_decoder_routes_as_the_network_does() {
    let config = dasp(Anchor::Dedicated, Retraction::Qr, true, true);
    for p in [1, 2] {
        let config = with_rule(&config, RoutingRule::TopP { p });
        let model = fit::<f64>(&trials(), &config);
        let expected = model.evaluate(&trials()).unwrap();
        let alpha = expected.alpha.unwrap();
        let mut decoder = Decoder::new(model).unwrap();
        for i in 0..trials().len() {
            let domain = Domain::Known(trials().domains().indices()[i]);
            let decision = decoder.decide(trials().covariances().matrix(i), domain);
            let routing = decision.unwrap().routing.unwrap();
            let row = &alpha.data()[3 * i..3 * i + 3];
            for (a, b) in routing.iter().zip(row) {
                // Zeros, and the one of p = 1, are the same bits; a softmax of two has the rounding
                // of its scores.
                let exact = p == 1 || *a == 0.0;
                assert!(
                    if exact { a == b } else { (a - b).abs() < 1e-13 },
                    "{a} {b}"
                );
            }
        }
    }
}

#[test]
fn the_retrained_control_has_one_expert_whatever_the_rule() {
    let config = dasp(Anchor::Dedicated, Retraction::Qr, true, true);
    let of = |rule| {
        let config = with_rule(&config, rule);
        let config = NetworkSettings::new(config, Precision::F64).into();
        let all = trials();
        let model = FittedModel::fit(&all, &all, &config, &mut Silent).unwrap();
        model
            .retrain_single((&all, &all, &all), None, &mut Silent)
            .unwrap()
    };
    let soft = of(RoutingRule::Soft);
    assert!(soft.is_some());
    assert_eq!(of(RoutingRule::TopP { p: 2 }), soft);
}

#[test]
fn a_rule_that_does_not_fit_is_refused() {
    let sizes = Sizes {
        channels: 5,
        classes: 2,
        domains: 2,
        encoded: 15,
        views: 1,
    };
    for p in [0, 4] {
        let config = DaspConfig {
            filters: 2,
            experts: 3,
            routing: RoutingRule::TopP { p },
            ..DaspConfig::default()
        };
        let error = DaspNet::new(sizes, config).unwrap_err().to_string();
        assert!(error.contains("top-p"), "{error}");
    }
    // Configurations written before the rule existed are soft.
    let mut json = serde_json::to_value(DaspConfig::default()).unwrap();
    json.as_object_mut().unwrap().remove("routing");
    let read: DaspConfig = serde_json::from_value(json).unwrap();
    assert_eq!(read, DaspConfig::default());
}
