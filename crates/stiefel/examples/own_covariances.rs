//! Own covariances to a model in a file: `cargo run --release -p stiefel --example
//! own_covariances`.
//!
//! Whatever makes covariances (another toolbox, a simulation), [`Trials`] takes them with the class
//! and the person of each.

use stiefel::linalg::{Op, product};
use stiefel::prelude::*;

/// Covariances of 4 channels and 40 samples, from a fixed sequence of numbers; the classes differ
/// in the power of one channel, and the second person's amplifier has another gain on every
/// channel.
fn covariances(count: usize, person: usize) -> Result<MatBatch<f64>, Box<dyn std::error::Error>> {
    let mut state = 1 + person as u64;
    let mut noise = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    let signals = MatBatch::from_fn(count, 4, 40, |trial, channel, _| {
        let imagery = if channel == trial % 2 { 0.5 } else { 1.0 };
        let gain = 1.0 + (person * channel) as f64;
        imagery * gain * noise()
    });
    Ok(product(signals.view(), Op::N, signals.view(), Op::T)?)
}

/// The example.
pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Two people, forty trials each, imagining left and right in turn.
    let mut matrices = covariances(40, 0)?.data().to_vec();
    matrices.extend_from_slice(covariances(40, 1)?.data());
    let x = MatBatch::from_vec(80, 4, 4, matrices)?;
    let classes = Factor::from_labels((0..80).map(|i| ["left", "right"][i % 2]));
    let people = Factor::from_labels((0..80).map(|i| ["anna", "boris"][i / 40]));
    let trials = Trials::new(x, classes, people)?
        .with_channels(["C3", "C4", "Cz", "Pz"].map(String::from).to_vec())?;

    // 70 % train, 15 % choose the penalty, 15 % are never seen.
    let (classes, people) = (trials.classes().indices(), trials.domains().indices());
    let split = holdout(classes, people, 0.15, 0.15, 0)?;
    let [training, validation, test] = split.of(&trials)?;
    let model = FittedModel::fit(&training, &validation, &ModelSpec::default(), &mut Silent)?;

    // A file that needs nothing beside it.
    let file = std::env::temp_dir().join(format!("own-{}.stiefel", std::process::id()));
    model.save(&file, true)?;
    let model = FittedModel::load(&file)?;
    std::fs::remove_file(&file)?;

    // Judging all trials scores the new ones apart from those the model has seen.
    let judged = model.judge(&trials, None)?;
    println!("{judged}");
    let new = judged.new.ok_or("some trials are new")?;
    assert_eq!(new.scores.trials, test.len());

    // One decision at a time, as a device does.
    let mut session = model.session("anna", None, &[])?;
    let p = session.decide(test.covariances().matrix(0))?;
    println!("{:?}: {:.2?}", model.classes(), p.probabilities);
    Ok(())
}
