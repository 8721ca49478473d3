//! Transductive adaptation: one row moves, nothing else, and no label is read.

use crate::models::{dasp, decide_all, fit, of_domain, spdnet, trials};
use stiefel_linalg::{MatBatch, MatView};
use stiefel_model::adapt::{StartRow, TransductiveConfig, Unlabelled, adapt_embedding};
use stiefel_model::decoder::{Decoder, Domain};
use stiefel_model::net::{Anchor, Orthogonality, Retraction, Routing};
use stiefel_model::precondition::Adaptation;
use stiefel_model::routing_stats::routing_stats;
use stiefel_model::train::evaluate;
use stiefel_model::{
    AdaptEmbedding, AdaptPolicy, Architecture, Factor, Model, ModelError, Prepared, Trials,
};
use stiefel_testkit::assert_close;

const OWN: Adaptation = Adaptation::OwnMean { kappa: 10.0 };

/// A model of three domains, and the trials of a fourth.
fn model_and_new() -> (Model<f64>, Trials) {
    let all = trials();
    let config = dasp(Anchor::Dedicated, Retraction::Qr, true, true);
    let names = (0..3).map(|d| format!("s{d}")).collect();
    let known = of_domain(&all, 3, false);
    let three = Factor::new("domain", names, known.domains().indices().to_vec()).unwrap();
    let known = Trials::new(known.covariances().clone(), known.classes().clone(), three);
    let known = known
        .unwrap()
        .with_channels(all.channels().unwrap().to_vec());
    (fit(&known.unwrap(), &config), of_domain(&all, 3, true))
}

/// What the network itself makes of `whitened` under `row`, and its normalised entropy of routing.
fn evaluated(model: &Model<f64>, whitened: &MatBatch<f64>, row: &[f64]) -> (Vec<f64>, f64) {
    let mut parameters = model.parameters().clone();
    let mut table = parameters.get("embedding").unwrap().value.clone();
    table.data_mut()[..5].copy_from_slice(row);
    parameters.set("embedding", table).unwrap();
    let count = whitened.count();
    let first = Factor::new("domain", model.domains().to_vec(), vec![0; count]).unwrap();
    let classes = Factor::new("class", model.classes().to_vec(), vec![0; count]).unwrap();
    let trials = Trials::new(whitened.clone(), classes, first).unwrap();
    let data = Prepared::new(&trials, model.frontend().encoder.as_ref()).unwrap();
    let out = evaluate(model.network(), &parameters, &data, Routing::Learnt).unwrap();
    let stats = routing_stats(out.alpha.unwrap().view(), data.domains()).unwrap();
    (out.probabilities.into_vec(), stats.entropy.value().unwrap())
}

fn entropy(model: &Model<f64>, whitened: &MatBatch<f64>, row: &[f64]) -> f64 {
    evaluated(model, whitened, row).1
}

#[test]
fn entropy_falls_and_is_the_network_s_own() {
    let (model, new) = model_and_new();
    let whitener = &model.frontend().whitener;
    let whitened = whitener.transform_new(&new, OWN).unwrap();
    let encoder = model.frontend().encoder.as_ref();
    let unlabelled = Unlabelled::new(whitened.covariances().view(), encoder).unwrap();
    let mut last = f64::INFINITY;
    for steps in [0, 1, 5, 40] {
        let config = TransductiveConfig {
            steps,
            ..TransductiveConfig::default()
        };
        let found =
            adapt_embedding(model.network(), model.parameters(), &unlabelled, &config).unwrap();
        let naive = |row: &[f64]| entropy(&model, whitened.covariances(), row);
        assert!((found.entropy_before - naive(&[0.0; 5])).abs() < 1e-12);
        assert!((found.entropy_after - naive(&found.row)).abs() < 1e-12);
        assert!(found.entropy_after < last, "{steps} steps");
        last = found.entropy_after;
        if steps == 0 {
            assert_eq!(found.row, [0.0; 5]);
        }
    }
    // The first step of Adam is η against the sign of the gradient: check it against finite
    // differences.
    let one = TransductiveConfig {
        steps: 1,
        learning_rate: 1e-4,
        start: StartRow::Row(1),
    };
    let found = adapt_embedding(model.network(), model.parameters(), &unlabelled, &one).unwrap();
    let table = model.parameters().get("embedding").unwrap().value.data();
    let start = &table[5..10];
    for j in 0..5 {
        let at = |h: f64| {
            let mut row = start.to_vec();
            row[j] += h;
            entropy(&model, whitened.covariances(), &row)
        };
        let slope = at(1e-5) - at(-1e-5);
        let moved = found.row[j] - start[j];
        assert!(moved * slope < 0.0 && (moved.abs() - 1e-4).abs() < 1e-6);
    }
}

#[test]
fn an_adapted_domain_is_decided_under_its_own_row_alone() {
    let (model, new) = model_and_new();
    let old = of_domain(&trials(), 1, true);
    let mut decoder = Decoder::new(model_and_new().0).unwrap();
    let mut decided =
        |x: &MatBatch<f64>, domain: Domain<'_, f64>| decide_all(&mut decoder, x, domain);
    let before = decided(old.covariances(), Domain::Known(1));
    for policy in [OWN, Adaptation::Pooled] {
        let unseen = AdaptPolicy {
            whitening: policy,
            embedding: AdaptEmbedding::Transductive(TransductiveConfig::default()),
        };
        let adapting = Decoder::new(model_and_new().0).unwrap();
        let x = new.covariances();
        let mut handle = adapting.adapt_domain("s3", x.view(), &unseen).unwrap();
        let row = handle.adapted().unwrap().row.clone();
        assert_ne!(row, [0.0; 5]);
        let found = decided(x, Domain::New(&mut handle));
        let whitened = model.frontend().whitener.transform_new(&new, policy);
        let expected = evaluated(&model, whitened.unwrap().covariances(), &row).0;
        assert_close("decoder", &found, &expected, 1e-11);
        // Known domains are decided as before, to the bit.
        assert_eq!(decided(old.covariances(), Domain::Known(1)), before);
    }
}

#[test]
fn labels_are_never_read() {
    let (model, new) = model_and_new();
    let whitener = &model.frontend().whitener;
    let encoder = model.frontend().encoder.as_ref();
    let row = |trials: &Trials| {
        let whitened = whitener.transform_new(trials, OWN).unwrap();
        let prepared = Prepared::<f64>::new(&whitened, encoder).unwrap();
        let config = TransductiveConfig::default();
        adapt_embedding(
            model.network(),
            model.parameters(),
            &Unlabelled::from(&prepared),
            &config,
        )
        .unwrap()
    };
    let scrambled = (0..new.len()).map(|i| (i * i / 3) % 2).collect();
    let classes = Factor::new("class", new.classes().names().to_vec(), scrambled).unwrap();
    assert_ne!(classes.indices(), new.classes().indices());
    let other = Trials::new(new.covariances().clone(), classes, new.domains().clone());
    let other = other
        .unwrap()
        .with_channels(new.channels().unwrap().to_vec());
    assert_eq!(row(&new), row(&other.unwrap()));
}

#[test]
fn what_cannot_be_adapted_is_refused() {
    let (model, new) = model_and_new();
    let x = new.covariances();
    let config = TransductiveConfig::default();
    let none = MatBatch::<f64>::zeros(0, 7, 7);
    let encoder = model.frontend().encoder.as_ref();
    let decoder = Decoder::new(model_and_new().0).unwrap();
    let adapt = |trials: MatView<'_, f64>, config| {
        let unseen = AdaptPolicy {
            whitening: OWN,
            embedding: AdaptEmbedding::Transductive(config),
        };
        decoder.adapt_domain("s3", trials, &unseen).unwrap_err()
    };
    assert!(matches!(
        adapt(none.view(), config),
        ModelError::Empty { .. }
    ));
    for bad in [
        TransductiveConfig {
            learning_rate: -1.0,
            ..config
        },
        TransductiveConfig {
            learning_rate: f64::NAN,
            ..config
        },
        TransductiveConfig {
            start: StartRow::Row(3),
            ..config
        },
    ] {
        let good = Unlabelled::<f64>::new(x.view(), encoder).unwrap();
        let found = adapt_embedding(model.network(), model.parameters(), &good, &bad);
        assert!(found.is_err(), "{bad:?}");
    }
    let mut spoilt = x.clone();
    spoilt.matrix_mut(2)[0] = f64::NAN;
    let error = adapt(spoilt.view(), config).to_string();
    assert!(
        error.contains("matrix 2") || error.contains("trial 2"),
        "{error}"
    );
    adapt(MatBatch::<f64>::identity(3, 6).view(), config);
    let unlabelled = Unlabelled::<f64>::new(x.view(), None).unwrap();
    let error =
        adapt_embedding(model.network(), model.parameters(), &unlabelled, &config).unwrap_err();
    assert!(error.to_string().contains("inputs of the query"), "{error}");
    let mut single = dasp(Anchor::Dedicated, Retraction::Qr, true, true);
    if let Architecture::Dasp(config) = &mut single.architecture {
        config.experts = 1;
    }
    let without = dasp(Anchor::Dedicated, Retraction::Qr, false, true);
    for (other, why) in [
        (spdnet(Orthogonality::Riemannian), "no domain embedding"),
        (without, "no domain embedding"),
        (single, "one expert"),
    ] {
        let model = fit::<f64>(&of_domain(&trials(), 3, false), &other);
        let decoder = Decoder::new(model).unwrap();
        let unseen = AdaptPolicy {
            whitening: OWN,
            embedding: AdaptEmbedding::Transductive(config),
        };
        let error = decoder.adapt_domain("new", x.view(), &unseen).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
}
