//! Networks against an independent implementation: outputs, losses, every gradient, and 15 steps of
//! Adam.

use stiefel_autodiff::Tape;
use stiefel_linalg::MatBatch;
use stiefel_model::net::{
    Anchor, BarrierKind, DaspConfig, DaspNet, ExpertKind, LossWeights, Network, Retraction,
    Routing, Sizes, SpdNet, SpdNetConfig,
};
use stiefel_model::train::{Stepper, evaluate};
use stiefel_model::{AdamConfig, Manifold, Parameters, Prepared};
use stiefel_testkit::{Golden, assert_close};

const TOLERANCE: f64 = 1e-9;

/// The configuration a golden file was made with, from its JSON side-car.
fn config(name: &str) -> serde_json::Value {
    let path = format!("{}/../../golden/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("a side-car");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    json["conventions"]["config"].clone()
}

fn number(c: &serde_json::Value, key: &str) -> usize {
    c[key].as_u64().unwrap_or_else(|| panic!("{key}")) as usize
}

fn dasp(c: &serde_json::Value, encoded: usize) -> DaspNet {
    let weight = |key: &str| c[key].as_f64().expect("a weight");
    let config = DaspConfig {
        filters: number(c, "k"),
        experts: number(c, "K"),
        embedding: number(c, "m"),
        anchor: match c["anchor"].as_str() {
            Some("dedicated") => Anchor::Dedicated,
            Some("w1") => Anchor::First,
            Some("bary") => Anchor::Barycenter,
            Some("bary_alpha") => Anchor::RoutedBarycenter,
            other => panic!("anchor {other:?}"),
        },
        retraction: match c["retraction"].as_str() {
            Some("qr") => Retraction::Qr,
            Some("polar") => Retraction::Polar,
            other => panic!("retraction {other:?}"),
        },
        domain_embedding: c["use_emb"].as_bool().expect("use_emb"),
        decoupled_keys: c["decouple"].as_bool().expect("decouple"),
        losses: LossWeights {
            alignment: weight("lam_align"),
            balance: weight("lam_lb"),
            entropy: weight("lam_ent"),
            barrier: weight("lam_barrier"),
            ..LossWeights::default()
        },
        epsilon: weight("thr"),
        experts_kind: match c["variant"].as_str() {
            Some("stiefel") => ExpertKind::Stiefel,
            Some("polar") => ExpertKind::Polar,
            Some("barrier") => ExpertKind::Barrier {
                kind: BarrierKind::Paper,
            },
            other => panic!("variant {other:?}"),
        },
        ..DaspConfig::default()
    };
    let sizes = Sizes {
        channels: number(c, "n"),
        classes: number(c, "C"),
        domains: number(c, "D"),
        encoded,
        views: 1,
    };
    DaspNet::new(sizes, config).expect("a valid configuration")
}

/// Their names for our parameters.
const NAMES: [(&str, &str); 11] = [
    ("query.w1", "w1"),
    ("query.b1", "b1"),
    ("query.w2", "w2"),
    ("query.b2", "b2"),
    ("embedding", "emb"),
    ("keys", "E"),
    ("experts", "W"),
    ("anchor", "W_base"),
    ("scales", "Lraw"),
    ("head.w", "wc"),
    ("head.b", "bc"),
];

fn prepared(golden: &Golden, encoded: &str) -> Prepared<f64> {
    let x = golden.batch::<f64>("X");
    let rows = golden.batch::<f64>(encoded);
    let (count, width) = (x.count(), rows.cols());
    let rows = MatBatch::from_vec(count, 1, width, rows.into_vec()).expect("a row per sample");
    Prepared::from_parts(x, rows, golden.indices("y"), golden.indices("d")).expect("matching sizes")
}

fn fill(parameters: &mut Parameters<f64>, golden: &Golden, names: &[(&str, &str)]) {
    for (ours, theirs) in names {
        if parameters.get(ours).is_some() {
            let value = golden.batch(&format!("p_{theirs}"));
            parameters
                .set(ours, value)
                .unwrap_or_else(|e| panic!("{ours}: {e}"));
        }
    }
}

fn routed(name: &str) {
    let golden = Golden::open(name);
    let c = config(name);
    let data = prepared(&golden, "xt");
    let net = dasp(&c, data.encoded().cols());
    let mut parameters = Network::<f64>::initial(&net, 1);
    fill(&mut parameters, &golden, &NAMES);

    let tape = Tape::new();
    let bound = net.bind(&tape, &parameters).expect("bound");
    let outputs = net
        .forward(&tape, &bound, &data.all(), Routing::Learnt)
        .expect("forward");
    let losses = net.losses(&outputs, data.labels()).expect("losses");
    let r = outputs.routed.expect("a router");
    let close = |key: &str, actual: &[f64]| {
        assert_close(
            &format!("{name} {key}"),
            actual,
            &golden.vec(key),
            TOLERANCE,
        );
    };
    close("out_q", r.query.value().data());
    close("out_alpha", r.alpha.value().data());
    close("out_logits", outputs.logits.value().data());
    if let Some(filters) = r.filters {
        close("out_W", filters.value().data());
    }
    for (term, key) in [
        ("cross-entropy", "loss_ce"),
        ("alignment", "loss_align"),
        ("balance", "loss_lb"),
        ("entropy", "loss_ent"),
        ("barrier", "loss_barrier"),
    ] {
        if let Some((_, value)) = losses.terms.iter().find(|(n, _)| *n == term) {
            close(key, value.value().data());
        }
    }
    close("loss_total", losses.total.value().data());

    let gradients = tape.backward(losses.total).expect("finite");
    for (i, parameter) in parameters.iter().enumerate() {
        let theirs = NAMES
            .iter()
            .find(|(ours, _)| *ours == parameter.name)
            .expect("known")
            .1;
        let key = format!("g_{theirs}");
        match gradients.get(bound.leaves[i]) {
            Some(g) => close(&key, g.data()),
            None => assert!(
                golden.vec(&key).iter().all(|x| *x == 0.0),
                "{name} {key} is not reached"
            ),
        }
    }

    let proxy = evaluate(&net, &parameters, &data, Routing::Uniform).expect("proxy");
    let logits = golden.batch::<f64>("k1_logits");
    let softmax = |row: &[f64]| {
        let sum: f64 = row.iter().map(|x| x.exp()).sum();
        row.iter().map(|x| x.exp() / sum).collect::<Vec<_>>()
    };
    let expected: Vec<f64> = logits
        .data()
        .chunks(logits.cols())
        .flat_map(softmax)
        .collect();
    assert_close(
        &format!("{name} K=1 proxy"),
        proxy.probabilities.data(),
        &expected,
        TOLERANCE,
    );
}

#[test]
fn routed_networks_match() {
    for name in [
        "small_dasp_full",
        "small_ded_nodsp",
        "small_naive_w1",
        "small_naive_bary",
        "small_naive_bary_alpha",
        "small_noemb",
        "small_all_losses",
        "small_4class",
        "small_polar_retr",
        "small_polar",
        "small_barrier",
        "medium_polar",
        "medium_dasp_full",
        "medium_ded_nodsp",
        "medium_naive_w1",
        "bnci2014001_ded",
        "weibo_dasp_full",
    ] {
        routed(name);
    }
}

#[test]
fn baselines_match() {
    for name in ["baseline_small", "baseline_medium"] {
        let golden = Golden::open(name);
        let x = golden.batch::<f64>("X");
        let (count, n) = (x.count(), x.rows());
        let data = Prepared::from_parts(
            x,
            MatBatch::zeros(count, 1, 1),
            golden.indices("y"),
            vec![0; count],
        )
        .expect("matching sizes");
        let wc = golden.batch::<f64>("p_wc");
        let k = golden.batch::<f64>("p_W").cols();
        let sizes = Sizes {
            channels: n,
            classes: wc.rows(),
            domains: 1,
            encoded: 1,
            views: 1,
        };
        let net = SpdNet::new(
            sizes,
            SpdNetConfig {
                filters: k,
                ..SpdNetConfig::default()
            },
        )
        .expect("valid");
        let mut parameters = Network::<f64>::initial(&net, 0);
        let names = [("filter", "W"), ("head.w", "wc"), ("head.b", "bc")];
        fill(&mut parameters, &golden, &names);
        let tape = Tape::new();
        let bound = net.bind(&tape, &parameters).expect("bound");
        let outputs = net
            .forward(&tape, &bound, &data.all(), Routing::Learnt)
            .expect("forward");
        let losses = net.losses(&outputs, data.labels()).expect("losses");
        assert_close(
            "logits",
            outputs.logits.value().data(),
            &golden.vec("out_logits"),
            TOLERANCE,
        );
        assert_close(
            "loss",
            losses.total.value().data(),
            &golden.vec("loss_total"),
            TOLERANCE,
        );
        let gradients = tape.backward(losses.total).expect("finite");
        for (i, (_, theirs)) in names.iter().enumerate() {
            let g = gradients.get(bound.leaves[i]).expect("reached");
            assert_close(
                theirs,
                g.data(),
                &golden.vec(&format!("g_{theirs}")),
                TOLERANCE,
            );
        }
    }
}

fn trajectory(name: &str) {
    let golden = Golden::open(name);
    let c = config(name);
    let data = prepared(&golden, "xt");
    let mut parameters = Network::<f64>::initial(&dasp(&c, data.encoded().cols()), 0);
    let net = dasp(&c, data.encoded().cols());
    let names = [
        ("query.w1", "lin1_weight"),
        ("query.b1", "lin1_bias"),
        ("query.w2", "lin2_weight"),
        ("query.b2", "lin2_bias"),
        ("embedding", "emb_weight"),
        ("keys", "E"),
        ("head.w", "cls_weight"),
        ("head.b", "cls_bias"),
        ("experts", "experts_parametrizations_weight_original"),
        ("anchor", "base_parametrizations_weight_original"),
    ];
    for (ours, theirs) in names {
        if parameters.get(ours).is_some() {
            parameters
                .set(ours, golden.batch(&format!("init_{theirs}")))
                .expect("same shape");
        }
    }
    for parameter in &mut parameters {
        let base = match parameter.name {
            "experts" => "init_experts_base",
            "anchor" => "init_base_base",
            _ => continue,
        };
        parameter.manifold = Manifold::Cayley {
            base: golden.batch(base),
        };
    }
    let mut stepper = Stepper::new(AdamConfig::default(), parameters).expect("Adam");
    let losses: Vec<f64> = (0..15)
        .map(|_| stepper.step(&net, &data.all()).expect("a step"))
        .collect();
    assert_close("losses", &losses, &golden.vec("losses"), 1e-7);
    for (ours, theirs) in names {
        let key = format!("final_{theirs}");
        if let Some(p) = stepper.parameters.get(ours) {
            assert_close(&key, p.value.data(), &golden.vec(&key), 1e-7);
        }
    }
    let experts = stepper
        .parameters
        .get("experts")
        .expect("experts")
        .point()
        .expect("a point");
    assert_close("final_W", experts.data(), &golden.vec("final_W"), 1e-7);
}

#[test]
fn trajectories_are_followed() {
    trajectory("traj_cayley");
    trajectory("traj_naive_cayley");
}
