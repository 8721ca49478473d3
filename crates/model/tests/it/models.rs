//! Small fitted models of every kind.

use crate::support::mixed_trials;
use stiefel_linalg::{MatBatch, Scalar};
use stiefel_model::decoder::{Decoder, Domain};
use stiefel_model::net::{
    Anchor, BarrierKind, DaspConfig, ExpertKind, Orthogonality, Retraction, RoutingRule,
    SpdNetConfig,
};
use stiefel_model::train::{Silent, TrainConfig};
use stiefel_model::{
    Architecture, DspConfig, FittedModel, Model, ModelConfig, Preconditioning, Trials,
};

/// Sixty trials of four domains and seven channels; the last domain is for those who leave it out.
pub(crate) fn trials() -> Trials {
    let names = (0..7).map(|c| format!("C{c}")).collect();
    mixed_trials(5, 60, 7, 4).with_channels(names).unwrap()
}

/// The trials of a domain, or those of all others.
pub(crate) fn of_domain(trials: &Trials, domain: usize, inside: bool) -> Trials {
    let at: Vec<usize> = (0..trials.len())
        .filter(|&i| (trials.domains().indices()[i] == domain) == inside)
        .collect();
    trials.select(&at).unwrap()
}

/// The probabilities of raw covariances of one domain, decided one by one.
pub(crate) fn decide_all(
    decoder: &mut Decoder<f64>,
    x: &MatBatch<f64>,
    mut domain: Domain<'_, f64>,
) -> Vec<f64> {
    let mut all = Vec::new();
    for i in 0..x.count() {
        let domain = match &mut domain {
            Domain::Known(d) => Domain::Known(*d),
            Domain::Named(name) => Domain::Named(name),
            Domain::New(handle) => Domain::New(handle),
        };
        let decision = decoder.decide(x.matrix(i), domain).unwrap();
        all.extend_from_slice(decision.probabilities);
    }
    all
}

/// A routed network with these options; five epochs move every parameter off its first value.
pub(crate) fn dasp(
    anchor: Anchor,
    retraction: Retraction,
    domain_embedding: bool,
    encoded: bool,
) -> ModelConfig {
    let config = DaspConfig {
        filters: 4,
        experts: 3,
        embedding: 5,
        anchor,
        retraction,
        domain_embedding,
        ..DaspConfig::default()
    };
    with(Architecture::Dasp(config), encoded)
}

/// The baseline.
pub(crate) fn spdnet(orthogonality: Orthogonality) -> ModelConfig {
    let config = SpdNetConfig {
        filters: 4,
        orthogonality,
        ..SpdNetConfig::default()
    };
    with(Architecture::Spdnet(config), false)
}

fn with(architecture: Architecture, encoded: bool) -> ModelConfig {
    ModelConfig {
        preconditioning: Preconditioning::default(),
        encoder: encoded.then_some(DspConfig {
            rank: 6,
            ..DspConfig::default()
        }),
        architecture,
        training: TrainConfig {
            epochs: 5,
            batch: 16,
            seed: 3,
            ..TrainConfig::default()
        },
        frechet_means: false,
    }
}

/// Every kind of model.
pub(crate) fn all() -> Vec<ModelConfig> {
    let mut all = vec![
        spdnet(Orthogonality::Riemannian),
        spdnet(Orthogonality::Cayley),
    ];
    for anchor in [
        Anchor::Dedicated,
        Anchor::First,
        Anchor::Barycenter,
        Anchor::RoutedBarycenter,
    ] {
        for retraction in [Retraction::Qr, Retraction::Polar] {
            for embedding in [true, false] {
                for encoded in [true, false] {
                    all.push(dasp(anchor, retraction, embedding, encoded));
                }
            }
        }
    }
    let mut cayley = dasp(Anchor::Dedicated, Retraction::Qr, true, true);
    if let Architecture::Dasp(config) = &mut cayley.architecture {
        config.orthogonality = Orthogonality::Cayley;
    }
    all.push(cayley);
    for (anchor, p) in [
        (Anchor::Dedicated, 1),
        (Anchor::RoutedBarycenter, 1),
        (Anchor::Dedicated, 2),
    ] {
        let mut sparse = dasp(anchor, Retraction::Qr, true, true);
        if let Architecture::Dasp(config) = &mut sparse.architecture {
            config.routing = RoutingRule::TopP { p };
        }
        all.push(sparse);
    }
    all.extend(full_rank());
    all
}

/// Models whose experts are not orthonormal.
pub(crate) fn full_rank() -> Vec<ModelConfig> {
    let barrier = |kind| ExpertKind::Barrier { kind };
    let soft = RoutingRule::Soft;
    [
        (ExpertKind::Polar, Anchor::Dedicated, Retraction::Qr, soft),
        (ExpertKind::Polar, Anchor::First, Retraction::Polar, soft),
        (
            ExpertKind::Polar,
            Anchor::RoutedBarycenter,
            Retraction::Qr,
            RoutingRule::TopP { p: 1 },
        ),
        (
            barrier(BarrierKind::Bounded),
            Anchor::Dedicated,
            Retraction::Qr,
            soft,
        ),
        (
            barrier(BarrierKind::Paper),
            Anchor::Dedicated,
            Retraction::Qr,
            RoutingRule::TopP { p: 2 },
        ),
    ]
    .into_iter()
    .map(|(kind, anchor, retraction, routing)| {
        let mut config = dasp(anchor, retraction, true, true);
        if let Architecture::Dasp(dasp) = &mut config.architecture {
            dasp.experts_kind = kind;
            dasp.routing = routing;
        }
        config
    })
    .collect()
}

/// A model, and what comes back of it from a file.
pub(crate) fn through_file(model: impl Into<FittedModel>) -> (FittedModel, FittedModel) {
    let model = model.into();
    let bytes = model.to_bytes().unwrap();
    (model, FittedModel::from_bytes(&bytes).unwrap())
}

/// Fits on the given trials.
pub(crate) fn fit<T: Scalar>(training: &Trials, config: &ModelConfig) -> Model<T> {
    Model::fit(training, training, config, &mut Silent).unwrap()
}
