//! Batch normalisation in the place of whitening, on domains with mixings of their own.

use stiefel_linalg::MatBatch;
use stiefel_model::net::{BatchNormConfig, NormPosition, SpdNetConfig};
use stiefel_model::precondition::{Scaling, Whitening};
use stiefel_model::train::{Silent, TrainConfig};
use stiefel_model::{Architecture, FittedModel, Model, ModelConfig, Preconditioning};
use stiefel_testkit::random_batch;

use crate::support::mixed_trials;

const N: usize = 4;
const DOMAINS: usize = 3;

#[test]
fn it_takes_the_place_of_whitening() {
    // Domains with mixings of their own and classes that differ in the first source's power.
    let source = mixed_trials(9, 240, N, 1);
    let mixing = random_batch::<f64>(33, DOMAINS, N, N);
    let x = MatBatch::from_fn(240, N, N, |i, r, c| {
        let m = mixing.matrix(i % DOMAINS);
        let a = |r: usize, s: usize| if r == s { 2.0 } else { 0.0 } + 0.3 * m[r * N + s];
        let class = (i / DOMAINS) % 2;
        let power = |s: usize| -> f64 { if s == 0 && class == 1 { 6.0 } else { 1.0 } };
        let mut sum = 0.0;
        for s in 0..N {
            for t in 0..N {
                let v = source.covariances().get(i, s, t) * (power(s) * power(t)).sqrt();
                sum += a(r, s) * v * a(c, t);
            }
        }
        50.0 * sum
    });
    let trials = crate::support::named(x, DOMAINS);
    let part = |from: usize| {
        let at: Vec<usize> = (0..240)
            .filter(|i| (i / (2 * DOMAINS)) % 4 == from)
            .collect();
        trials.select(&at).expect("in range")
    };
    let rest: Vec<usize> = (0..240).filter(|i| (i / (2 * DOMAINS)) % 4 > 1).collect();
    let training = trials.select(&rest).expect("in range");
    let config = ModelConfig {
        preconditioning: Preconditioning {
            whitening: Whitening::None,
            scaling: Scaling::None,
            ..Preconditioning::default()
        },
        encoder: None,
        architecture: Architecture::Spdnet(SpdNetConfig {
            filters: 3,
            batch_norm: Some(BatchNormConfig {
                position: NormPosition::Before,
                ..BatchNormConfig::default()
            }),
            ..SpdNetConfig::default()
        }),
        training: TrainConfig {
            epochs: 25,
            batch: 16,
            ..TrainConfig::default()
        },
        frechet_means: false,
    };
    let model = Model::<f32>::fit(&training, &part(0), &config, &mut Silent).expect("fitted");
    let model = FittedModel::from(model);
    let report = model.report(&part(1), None, 1).expect("a report");
    let accuracy = report.scores.balanced_accuracy.value().expect("trials");
    assert!(accuracy > 0.8, "{accuracy}");
}
