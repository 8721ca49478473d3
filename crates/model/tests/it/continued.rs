//! Training that goes on from a fitted model.

use crate::models::{all, fit, trials};
use crate::support::mixed_trials;
use stiefel_model::precondition::Scaling;
use stiefel_model::train::{Silent, TrainConfig, orthonormality_defect};
use stiefel_model::{Architecture, Factor, Model, ModelConfig, Trials};

fn loss<T: stiefel_linalg::Scalar>(model: &Model<T>) -> f64 {
    let first = &model.record().history[0];
    first.losses.iter().map(|(_, value)| value).sum()
}

#[test]
fn every_kind_goes_on_from_where_it_was() {
    let data = trials();
    for config in all() {
        let one = ModelConfig {
            training: TrainConfig {
                epochs: 1,
                ..config.training
            },
            ..config
        };
        let first = fit::<f64>(&data, &one);
        let second = first.fit_on(&data, &data, &one, &mut Silent).unwrap();
        assert!(loss(&second) < loss(&first), "{config:?}");
        assert_eq!(second.frontend(), first.frontend());
        assert!(orthonormality_defect(second.parameters()).unwrap() < 1e-12);
        let again = first.fit_on(&data, &data, &one, &mut Silent).unwrap();
        assert_eq!(again.parameters(), second.parameters());
        // A start of its own is where the first one came from.
        assert_eq!(fit::<f64>(&data, &one).parameters(), first.parameters());
    }
}

#[test]
fn other_trials_have_their_own_whitening_and_the_same_encoder() {
    let (data, other) = (trials(), mixed_trials(8, 40, 7, 4));
    let config = all().into_iter().find(|c| c.encoder.is_some()).unwrap();
    let first = fit::<f32>(&data, &config);
    let second = first.fit_on(&other, &other, &config, &mut Silent).unwrap();
    assert_eq!(first.frontend().encoder, second.frontend().encoder);
    let fresh = config.preconditioning.fit(&other).unwrap();
    assert_eq!(second.frontend().whitener, fresh);
}

#[test]
fn what_differs_is_named() {
    let data = trials();
    let routed = |c: &ModelConfig| matches!(c.architecture, Architecture::Dasp(_));
    let config = all().into_iter().find(routed).unwrap();
    let model = fit::<f64>(&data, &config);
    let refused = |trials: &Trials, config: &ModelConfig| {
        let error = model.fit_on(trials, trials, config, &mut Silent);
        error.unwrap_err().to_string()
    };
    let narrow = refused(&mixed_trials(5, 60, 6, 4), &config);
    assert!(
        narrow.contains("7 channels, but the trials have 6"),
        "{narrow}"
    );
    let fewer = refused(&mixed_trials(5, 60, 7, 3), &config);
    assert!(fewer.contains("domains"), "{fewer}");
    let renamed = Factor::from_labels((0..data.len()).map(|i| ["left", "right"][(i / 4) % 2]));
    let renamed = Trials::new(data.covariances().clone(), renamed, data.domains().clone()).unwrap();
    let renamed = refused(&renamed, &config);
    assert!(
        renamed.contains("classes [\"hand\", \"feet\"]"),
        "{renamed}"
    );
    let mut wider = config;
    if let Architecture::Dasp(network) = &mut wider.architecture {
        network.experts = 5;
    }
    let wider = refused(&data, &wider);
    assert!(
        wider.contains("architecture.experts is 5 now and was 3"),
        "{wider}"
    );
    let mut unscaled = config;
    unscaled.preconditioning.scaling = Scaling::None;
    let unscaled = refused(&data, &unscaled);
    assert!(unscaled.contains("preconditioning.scaling"), "{unscaled}");
    // How long and how fast is not part of the shape.
    let mut longer = config;
    longer.training.epochs = 7;
    longer.training.adam.learning_rate = 0.002;
    assert!(model.fit_on(&data, &data, &longer, &mut Silent).is_ok());
}
