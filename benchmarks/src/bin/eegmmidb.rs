//! Baseline and DASP on the EEGMMIDB hands-versus-feet covariances, with given splits, set beside stored scores.
//!
//! `eegmmidb FOLDER [--seeds 3] [--double] [--cayley]`, where FOLDER holds `handsfeet_s001-s053_cov.npz` and
//! `splits_64ch_s001-s040.json`.

use rayon::prelude::*;
use std::path::Path;
use std::time::Instant;
use stiefel_eeg::io::{Content, read};
use stiefel_linalg::{MatBatch, Scalar};
use stiefel_model::net::{DaspConfig, Orthogonality, Routing, SpdNetConfig};
use stiefel_model::train::{Silent, TrainConfig, evaluate};
use stiefel_model::{
    Architecture, DspConfig, Factor, Model, ModelConfig, Preconditioning, Trials, metrics,
};

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn load(folder: &Path) -> Result<Trials, Failure> {
    let Content::Covariances(set) = read(folder.join("handsfeet_s001-s053_cov.npz"))? else {
        return Err("not covariances".into());
    };
    let n = set.dimension();
    let count = set.trials().len();
    let x = MatBatch::from_vec(
        count,
        n,
        n,
        (0..count).flat_map(|i| set.matrix(i).to_vec()).collect(),
    )?;
    let label = |f: fn(&stiefel_eeg::TrialInfo) -> &str| {
        Factor::from_labels(set.trials().iter().map(f).collect::<Vec<_>>())
    };
    Ok(Trials::new(x, label(|t| &t.label), label(|t| &t.domain))?)
}

/// Test balanced accuracy, entropy, and the K=1 proxy's accuracy.
struct Score {
    accuracy: f64,
    proxy: f64,
    entropy: Option<f64>,
    epochs: usize,
}

fn run<T: Scalar>(
    trials: &Trials,
    fold: &serde_json::Value,
    config: &ModelConfig,
) -> Result<Score, Failure> {
    let part = |key: &str| -> Result<Trials, Failure> {
        let indices: Vec<usize> = serde_json::from_value(fold[key].clone())?;
        Ok(trials.select(&indices)?)
    };
    let (training, validation, test) = (part("train")?, part("val")?, part("test")?);
    let model = Model::<T>::fit(&training, &validation, config, &mut Silent)?;
    let prepared = model.frontend().prepare::<T>(&test)?;
    let score = |routing| -> Result<(f64, Option<f64>), Failure> {
        let e = evaluate(model.network(), model.parameters(), &prepared, routing)?;
        let accuracy = metrics::Confusion::new(prepared.labels(), &e.predictions(), 2)?;
        let accuracy = accuracy
            .balanced_accuracy()
            .value()
            .ok_or("an empty test set")?;
        let entropy = e.alpha.as_ref().map(|a| {
            let h: f64 = a
                .data()
                .iter()
                .filter(|p| **p > 0.0)
                .map(|p| -p * p.ln())
                .sum();
            h / a.rows() as f64 / (a.cols() as f64).ln()
        });
        Ok((accuracy, entropy))
    };
    let (accuracy, entropy) = score(Routing::Learnt)?;
    let (proxy, _) = score(Routing::Uniform)?;
    Ok(Score {
        accuracy,
        proxy,
        entropy,
        epochs: model.record().history.len(),
    })
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let all: Vec<f64> = values.collect();
    all.iter().sum::<f64>() / all.len() as f64
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = Path::new(
        arguments
            .first()
            .ok_or("usage: eegmmidb FOLDER [--seeds N] [--double] [--cayley]")?,
    );
    let flag = |name: &str| arguments.iter().any(|a| a == name);
    let seeds: u64 = match arguments.iter().position(|a| a == "--seeds") {
        Some(at) => arguments.get(at + 1).ok_or("--seeds N")?.parse()?,
        None => 3,
    };
    let orthogonality = if flag("--cayley") {
        Orthogonality::Cayley
    } else {
        Orthogonality::Riemannian
    };
    let trials = load(folder)?;
    let splits: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(
        folder.join("splits_64ch_s001-s040.json"),
    )?)?;
    let folds = splits["folds"].as_array().ok_or("folds")?;
    let dasp = Architecture::Dasp(DaspConfig {
        orthogonality,
        ..DaspConfig::default()
    });
    let baseline = Architecture::Spdnet(SpdNetConfig {
        orthogonality,
        ..SpdNetConfig::default()
    });
    for (name, architecture, encoder, stored) in [
        ("baseline", baseline, None, &splits["baseline"]),
        ("dasp", dasp, Some(DspConfig::default()), &splits["dasp"]),
    ] {
        let start = Instant::now();
        let units: Vec<(usize, u64)> = (0..seeds)
            .flat_map(|s| (0..folds.len()).map(move |f| (f, s)))
            .collect();
        let scores: Result<Vec<Score>, Failure> = units
            .par_iter()
            .map(|&(fold, seed)| {
                let config = ModelConfig {
                    preconditioning: Preconditioning::default(),
                    encoder,
                    architecture,
                    training: TrainConfig {
                        seed,
                        ..TrainConfig::default()
                    },
                };
                if flag("--double") {
                    run::<f64>(&trials, &folds[fold], &config)
                } else {
                    run::<f32>(&trials, &folds[fold], &config)
                }
            })
            .collect();
        let scores = scores?;
        let seconds = start.elapsed().as_secs_f64();
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for (f, reference) in stored.as_array().ok_or("scores")?.iter().enumerate() {
            let of_fold = scores.iter().zip(&units).filter(|(_, u)| u.0 == f);
            ours.push(mean(of_fold.map(|(s, _)| s.accuracy)));
            let reference: Vec<f64> = serde_json::from_value(reference.clone())?;
            theirs.push(mean(reference.into_iter()));
        }
        println!("{name}: {seconds:.1} s for {} trainings", units.len());
        for f in 0..folds.len() {
            println!("  fold {f}: {:.3}   stored {:.3}", ours[f], theirs[f]);
        }
        println!(
            "  mean {:.4}, stored {:.4}, difference {:+.4}; proxy {:.4}; entropy {:.3}; epochs {:.1}",
            mean(ours.iter().copied()),
            mean(theirs.iter().copied()),
            mean(ours.iter().zip(&theirs).map(|(a, b)| a - b)),
            mean(scores.iter().map(|s| s.proxy)),
            mean(scores.iter().map(|s| s.entropy.unwrap_or(f64::NAN))),
            mean(scores.iter().map(|s| s.epochs as f64)),
        );
    }
    Ok(())
}
