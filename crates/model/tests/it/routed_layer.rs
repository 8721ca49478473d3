//! The routed layer by itself: its values are the network's, its gradients central differences in
//! everything it takes, and what it refuses.

use stiefel_autodiff::Arena;
use stiefel_geometry::{spd, stiefel};
use stiefel_linalg::{MatBatch, MatView};
use stiefel_model::net::{
    Anchor, BarrierKind, DaspConfig, DaspNet, ExpertKind, LayerInput, LayerOutput, LossWeights,
    Network, Retraction, RoutedLayer, Routing, Sizes,
};
use stiefel_testkit::{random_batch, random_spd};

const B: usize = 5;
const N: usize = 4;
const K: usize = 3;
const SIZES: Sizes = Sizes {
    channels: N,
    classes: 2,
    domains: 2,
    encoded: 6,
    views: 1,
};
/// The third trial is somebody new's.
const DOMAINS: [Option<usize>; B] = [Some(0), Some(1), None, Some(1), Some(0)];

fn options() -> Vec<DaspConfig> {
    let all = DaspConfig {
        filters: 2,
        experts: K,
        embedding: 3,
        losses: LossWeights {
            alignment: 0.3,
            balance: 0.2,
            entropy: 0.4,
            shrink: 0.1,
            ..LossWeights::default()
        },
        decoupled_keys: false,
        ..DaspConfig::default()
    };
    vec![
        all,
        DaspConfig {
            anchor: Anchor::RoutedBarycenter,
            domain_embedding: false,
            // Every sample has an anchor of its own there: nothing to draw experts to.
            losses: LossWeights {
                shrink: 0.0,
                ..all.losses
            },
            ..all
        },
        DaspConfig {
            anchor: Anchor::Barycenter,
            retraction: Retraction::Polar,
            ..all
        },
        DaspConfig {
            experts_kind: ExpertKind::Polar,
            ..all
        },
        DaspConfig {
            experts_kind: ExpertKind::Barrier {
                kind: BarrierKind::Bounded,
            },
            ..all
        },
    ]
}

/// Parameters, rows and covariances, the last two at the end.
fn inputs(layer: &RoutedLayer, config: DaspConfig) -> Vec<MatBatch<f64>> {
    let net = DaspNet::new(SIZES, config).expect("valid");
    let start = Network::<f64>::initial(&net, 3);
    let own = layer.parameters().iter();
    let mut all: Vec<_> = own
        .map(|(name, _)| start.get(name).expect("one of its own").value.clone())
        .collect();
    all.push(random_batch(1, 1, B, SIZES.encoded));
    all.push(random_spd(2, B, N));
    all
}

fn passed(layer: &RoutedLayer, all: &[MatBatch<f64>], features: bool) -> LayerOutput<f64> {
    with(layer, all, features, |layer, input| {
        layer.forward(input, &Arena::new()).expect("valid").0
    })
}

fn with<R>(
    layer: &RoutedLayer,
    all: &[MatBatch<f64>],
    features: bool,
    f: impl FnOnce(&RoutedLayer, &LayerInput<'_, f64>) -> R,
) -> R {
    let (own, rest) = all.split_at(all.len() - 2);
    let own: Vec<(MatView<'_, f64>, bool)> = own.iter().map(|x| (x.view(), true)).collect();
    let input = LayerInput {
        parameters: &own,
        rows: (rest[0].view(), true),
        domains: &DOMAINS,
        covariances: features.then(|| (rest[1].view(), true)),
        routing: Routing::Learnt,
    };
    f(layer, &input)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn gradients_are_central_differences() {
    for mut config in options() {
        // The query is detached in the alignment loss, and has no central difference there.
        config.losses.alignment = 0.0;
        let layer = RoutedLayer::new(SIZES, config).expect("valid");
        let all = inputs(&layer, config);
        for features in [true, false] {
            let first = passed(&layer, &all, features);
            let (count, rows, cols) = first.value.shape();
            let g = random_batch::<f64>(5, count, rows, cols);
            let h = random_batch::<f64>(6, 1, B, K);
            let score = |all: &[MatBatch<f64>]| {
                let out = passed(&layer, all, features);
                dot(out.value.data(), g.data()) + dot(out.weights.data(), h.data()) + 2.0 * out.loss
            };
            let found = with(&layer, &all, features, |layer, input| {
                let recorded = layer.forward(input, &Arena::new()).expect("valid").1;
                let two = MatBatch::from_vec(1, 1, 1, vec![2.0]).expect("one number");
                let (g, h) = (Some(g.view()), Some(h.view()));
                recorded.pull_back(g, h, Some(two.view())).expect("finite")
            });
            assert_eq!(found.len(), all.len() - usize::from(!features));
            for (at, gradient) in found.iter().enumerate() {
                let (count, rows, cols) = all[at].shape();
                let mut direction = random_batch::<f64>(20 + at as u64, count, rows, cols);
                if at == all.len() - 1 {
                    stiefel_linalg::symmetrise(&mut direction.view_mut()).expect("square");
                }
                let moved = |t: f64| {
                    let mut all = all.clone();
                    let step = all[at].data_mut().iter_mut().zip(direction.data());
                    step.for_each(|(x, d)| *x += t * d);
                    score(&all)
                };
                let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                let exact = gradient
                    .as_ref()
                    .map_or(0.0, |x| dot(x.data(), direction.data()));
                let error = (exact - slope).abs() / slope.abs().max(1.0);
                assert!(error < 1e-7, "{config:?}, input {at}: {exact} for {slope}");
            }
        }
    }
}

#[test]
fn features_are_those_of_its_filters() {
    for config in options() {
        let layer = RoutedLayer::new(SIZES, config).expect("valid");
        let all = inputs(&layer, config);
        let (features, filters) = (passed(&layer, &all, true), passed(&layer, &all, false));
        assert_eq!(features.weights, filters.weights);
        if config.experts_kind == ExpertKind::Stiefel {
            stiefel::check_orthonormal("filters", filters.value.view()).expect("points");
        }
        let x = &all[all.len() - 1];
        let y = stiefel_linalg::congruence(filters.value.view(), x.view());
        let y = y.expect("shapes fit");
        let log = spd::map(spd::SpectralFn::ReLog(config.epsilon), y.view()).expect("symmetric");
        let z = spd::upper(log.view()).expect("square");
        for (a, b) in z.data().iter().zip(features.value.data()) {
            assert!((a - b).abs() < 1e-11, "{config:?}: {a} for {b}");
        }
    }
}

#[test]
fn what_it_refuses() {
    let config = options()[0];
    let layer = RoutedLayer::new(SIZES, config).expect("valid");
    let all = inputs(&layer, config);
    let refusal = |change: &dyn Fn(&mut LayerInput<'_, f64>)| {
        with(&layer, &all, true, |layer, input| {
            let mut input = *input;
            change(&mut input);
            let refused = layer.forward(&input, &Arena::new());
            refused.expect_err("bad input").to_string()
        })
    };
    let weights = MatBatch::<f64>::zeros(1, B, K + 1);
    let asymmetric = MatBatch::from_fn(B, N, N, |_, r, c| if r <= c { 1.0 } else { 0.0 });
    for (text, expected) in [
        (
            refusal(&|x| x.parameters = &x.parameters[1..]),
            "parameters",
        ),
        (refusal(&|x| x.domains = &[Some(0); 2]), "query"),
        (refusal(&|x| x.domains = &[Some(7); B]), "out of range"),
        (
            refusal(&|x| x.covariances = None.or(Some((x.rows.0, false)))),
            "covariances",
        ),
    ] {
        assert!(text.contains(expected), "{text}");
    }
    let with_weights = with(&layer, &all, true, |layer, input| {
        let input = LayerInput {
            routing: Routing::Given(&weights),
            ..*input
        };
        layer
            .forward(&input, &Arena::new())
            .expect_err("four weights")
            .to_string()
    });
    assert!(with_weights.contains("weights"), "{with_weights}");
    let skewed = with(&layer, &all, true, |layer, input| {
        let input = LayerInput {
            covariances: Some((asymmetric.view(), false)),
            ..*input
        };
        layer
            .forward(&input, &Arena::new())
            .expect_err("not symmetric")
            .to_string()
    });
    assert!(skewed.contains("symmetric"), "{skewed}");
}
