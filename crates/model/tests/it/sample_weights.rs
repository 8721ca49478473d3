//! Weights of trials in the cross-entropy.

use stiefel_linalg::MatBatch;
use stiefel_model::net::{DaspConfig, LossWeights};
use stiefel_model::train::{Silent, TrainConfig};
use stiefel_model::{Architecture, Factor, Model, ModelConfig, Preconditioning, Trials};
use stiefel_testkit::random_spd;

const COUNT: usize = 24;

fn trials(classes: Vec<usize>) -> Trials {
    let names = vec!["a".into(), "b".into()];
    let domains = (0..COUNT).map(|i| ["s1", "s2"][i / 12]);
    let x: MatBatch<f64> = random_spd(3, COUNT, 4);
    let classes = Factor::new("class", names, classes).expect("two classes");
    Trials::new(x, classes, Factor::from_labels(domains)).expect("valid")
}

fn alternating() -> Vec<usize> {
    (0..COUNT).map(|i| i % 2).collect()
}

/// The trained parameters.
fn fitted(training: &Trials) -> Vec<f64> {
    let architecture = Architecture::Dasp(DaspConfig {
        filters: 2,
        experts: 2,
        embedding: 3,
        losses: LossWeights {
            alignment: 0.05,
            balance: 0.01,
            entropy: 0.1,
            ..LossWeights::default()
        },
        ..DaspConfig::default()
    });
    let config = ModelConfig {
        preconditioning: Preconditioning::default(),
        encoder: None,
        architecture,
        training: TrainConfig {
            epochs: 3,
            batch: 8,
            ..TrainConfig::default()
        },
        frechet_means: false,
    };
    let validation = trials(alternating());
    let model = Model::<f64>::fit(training, &validation, &config, &mut Silent).expect("trains");
    (model.parameters().iter())
        .flat_map(|p| p.point().expect("valid").into_vec())
        .collect()
}

#[test]
fn equal_weights_are_no_weights() {
    let plain = trials(alternating());
    let weighted = plain.clone().with_weights(vec![1.0; COUNT]).expect("valid");
    assert_eq!(fitted(&plain), fitted(&weighted));
}

#[test]
fn a_trial_without_weight_has_no_say() {
    let mut weights = vec![2.0; COUNT];
    let mut wrong = alternating();
    for i in [0, 1, 2, 3, 17] {
        weights[i] = 0.0;
        wrong[i] = 1 - wrong[i];
    }
    let right = trials(alternating())
        .with_weights(weights.clone())
        .expect("valid");
    let wrong = trials(wrong).with_weights(weights).expect("valid");
    assert_eq!(fitted(&right), fitted(&wrong));
    assert_ne!(fitted(&right), fitted(&trials(alternating())));
}

#[test]
fn a_batch_without_weight_moves_only_the_routing_terms() {
    let mut weights = vec![0.0; COUNT];
    weights[5] = 1.0;
    let training = trials(alternating()).with_weights(weights).expect("valid");
    assert!(fitted(&training).iter().all(|x| x.is_finite()));
}

#[test]
fn weights_follow_their_trials_and_are_checked() {
    let weights: Vec<f64> = (0..COUNT).map(|i| i as f64).collect();
    let weighted = trials(alternating()).with_weights(weights).expect("valid");
    let part = weighted.select(&[3, 1]).expect("inside");
    assert_eq!(part.weights(), Some(&[3.0, 1.0][..]));
    let same = part
        .with_covariances(part.covariances().clone())
        .expect("fits");
    assert_eq!(same.weights(), part.weights());
    for bad in [vec![1.0], vec![f64::NAN; COUNT], vec![-1.0; COUNT]] {
        assert!(trials(alternating()).with_weights(bad).is_err());
    }
}
