//! Models of networks that were trained elsewhere: the same decisions as the model they come from,
//! and bad input.

use stiefel_linalg::MatBatch;
use stiefel_model::fitted::{Named, initial};
use stiefel_model::net::{DaspConfig, LossWeights, Routing, Sizes};
use stiefel_model::train::{Silent, TrainConfig};
use stiefel_model::{
    Architecture, DspConfig, Factor, FittedModel, Model, ModelConfig, NetworkSettings, Precision,
    Preconditioning, Trials, diagnostics,
};
use stiefel_testkit::random_spd;

const CHANNELS: usize = 4;

fn trials() -> Trials {
    let x = random_spd::<f64>(5, 24, CHANNELS);
    let class = (0..24).map(|i| if i % 2 == 0 { "hand" } else { "feet" });
    let domain = (0..24).map(|i| ["s1", "s2", "s3"][i % 3]);
    let (class, domain): (Vec<_>, Vec<_>) = (class.collect(), domain.collect());
    Trials::new(x, Factor::from_labels(class), Factor::from_labels(domain)).expect("trials")
}

fn config() -> ModelConfig {
    ModelConfig {
        preconditioning: Preconditioning::default(),
        encoder: Some(DspConfig {
            rank: 3,
            ..DspConfig::default()
        }),
        architecture: Architecture::Dasp(DaspConfig {
            filters: 3,
            experts: 2,
            embedding: 4,
            losses: LossWeights::default(),
            ..DaspConfig::default()
        }),
        training: TrainConfig {
            epochs: 2,
            ..TrainConfig::default()
        },
        frechet_means: false,
    }
}

fn fitted() -> FittedModel {
    let spec = NetworkSettings::new(config(), Precision::F64).into();
    FittedModel::fit(&trials(), &trials(), &spec, &mut Silent).expect("fits")
}

fn learnt(model: &FittedModel) -> Named<f64> {
    let network = model.get::<Model<f64>>().expect("a network");
    let named = network.parameters().iter();
    named
        .map(|p| (p.name.to_owned(), p.value.clone()))
        .collect()
}

#[test]
fn parameters_of_a_model_make_the_same_model() {
    let (model, trials) = (fitted(), trials());
    let encoder = model
        .get::<Model<f64>>()
        .and_then(|m| m.frontend().encoder.clone());
    let again = FittedModel::assemble(&trials, &config(), encoder, learnt(&model)).expect("fits");
    let (a, b) = (model.decide(&trials, None), again.decide(&trials, None));
    assert_eq!(a.expect("decides"), b.expect("decides"));
    let bytes = again.to_bytes().expect("written");
    let read = FittedModel::from_bytes(&bytes).expect("read");
    assert_eq!(
        read.decide(&trials, None).expect("decides"),
        again.decide(&trials, None).expect("decides")
    );
    // What is familiar to one is familiar to the other.
    assert!(read.distances().is_some());
    assert_eq!(read.distances(), model.distances());
    // It knows the trials: none is a test of it.
    assert!(read.judge(&trials, None).expect("judged").new.is_none());
}

#[test]
fn what_does_not_fit_is_refused() {
    let (model, trials) = (fitted(), trials());
    let encoder = || {
        model
            .get::<Model<f64>>()
            .and_then(|m| m.frontend().encoder.clone())
    };
    let refused = |config: &ModelConfig, encoder, values: Named<f64>| {
        let found = FittedModel::assemble(&trials, config, encoder, values);
        found.expect_err("refused").to_string()
    };
    let whole = learnt(&model);
    let without = whole[1..].to_vec();
    assert!(
        refused(&config(), encoder(), without).contains("no value for the parameter \"embedding\"")
    );
    let mut unknown = whole.clone();
    unknown.push(("extra".into(), MatBatch::zeros(1, 1, 1)));
    assert!(refused(&config(), encoder(), unknown).contains("extra"));
    let mut crooked = whole.clone();
    for (name, value) in &mut crooked {
        if name == "experts" {
            value.data_mut()[0] += 0.5;
        }
    }
    assert!(refused(&config(), encoder(), crooked).contains("Stiefel"));
    let mut endless = whole.clone();
    endless[0].1.data_mut()[0] = f64::NAN;
    assert!(refused(&config(), encoder(), endless).contains("NaN"));
    assert!(refused(&config(), None, whole).contains("encoder"));
}

#[test]
fn first_values_are_those_of_training() {
    let sizes = Sizes {
        channels: CHANNELS,
        classes: 2,
        domains: 3,
        encoded: 3,
        views: 1,
    };
    let first = initial::<f64>(&config().architecture, sizes, 9).expect("valid");
    let network = (config().architecture.network::<f64>(sizes)).expect("valid");
    assert_eq!(first, network.initial(9));
}

#[test]
fn a_report_of_decisions_from_elsewhere_is_the_report_of_the_model() {
    let (model, trials) = (fitted(), trials());
    let network = model.get::<Model<f64>>().expect("a network");
    let prepared = network.frontend().prepare::<f64>(&trials).expect("ready");
    let expected = model.report(&trials, None, 3).expect("report");
    let decide = |routing: Routing<'_, f64>| {
        let of = (network.network(), network.parameters());
        let found = stiefel_model::train::evaluate(of.0, of.1, &prepared, routing)?;
        Ok((found.probabilities, found.alpha))
    };
    let alpha = decide(Routing::Learnt).expect("decides").1.expect("routed");
    let mut means = std::collections::BTreeMap::new();
    for d in 0..3 {
        let own: Vec<usize> = (0..24)
            .filter(|i| trials.domains().indices()[*i] == d)
            .collect();
        let mean = |j| own.iter().map(|&i| alpha.get(0, i, j)).sum::<f64>() / own.len() as f64;
        means.insert(d, (0..2).map(mean).collect());
    }
    let experts = model.filters().expect("points");
    let labels = (trials.classes().indices(), trials.domains().indices());
    let report = diagnostics::report_of(labels, &means, experts.as_ref(), 3, decide);
    let report = report.expect("report");
    assert_eq!(report.controls, expected.controls);
    assert_eq!(report.proxy_gap, expected.proxy_gap);
    let short = (labels.0, &labels.1[1..]);
    assert!(diagnostics::report_of(short, &means, None, 3, decide).is_err());
}
