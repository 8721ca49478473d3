//! Baseline and DASP on the EEGMMIDB hands-versus-feet covariances, with given splits, set beside
//! stored scores.
//!
//! `eegmmidb FOLDER [--seeds 3] [--double] [--cayley] [--norm]`, where FOLDER holds
//! `handsfeet_s001-s053_cov.npz` and `splits_64ch_s001-s040.json`. With `--norm`, the baseline with
//! batch normalisation instead.

#[path = "../recordings.rs"]
mod recordings;

use rayon::prelude::*;
use recordings::{Failure, load, mean, option};
use std::path::Path;
use std::time::Instant;
use stiefel_data::Trials;
use stiefel_model::net::{BatchNormConfig, DaspConfig, Orthogonality, SpdNetConfig};
use stiefel_model::train::{Silent, TrainConfig};
use stiefel_model::{
    Architecture, DspConfig, FittedModel, ModelConfig, ModelSpec, NetworkSettings, Precision,
    Preconditioning,
};

/// Test balanced accuracy, and the figures of the routing report by name.
struct Score {
    accuracy: f64,
    figures: Vec<(&'static str, f64)>,
}

fn run(trials: &Trials, fold: &serde_json::Value, config: &ModelSpec) -> Result<Score, Failure> {
    let part = |key: &str| -> Result<Trials, Failure> {
        let indices: Vec<usize> = serde_json::from_value(fold[key].clone())?;
        Ok(trials.select(&indices)?)
    };
    let (training, validation, test) = (part("train")?, part("val")?, part("test")?);
    let model = FittedModel::fit(&training, &validation, config, &mut Silent)?;
    let seed = config.setting("seed").and_then(serde_json::Value::as_u64);
    let report = model.report(&test, None, seed.unwrap_or(0))?;
    let accuracy = report
        .scores
        .balanced_accuracy
        .value()
        .ok_or("an empty test set")?;
    let mut figures = Vec::new();
    if let Some(stats) = &report.stats {
        figures.push(("H", stats.entropy.value()));
        figures.push(("r_d", stats.domain_alignment.value()));
    }
    if let Some(controls) = &report.controls {
        figures.push(("K=1 proxy", report.proxy_accuracy.value()));
        figures.push(("permuted", Some(controls.permuted)));
        figures.push(("domain mean", Some(controls.domain_mean)));
        figures.push(("hard top-1", Some(controls.hard_top1)));
    }
    let figures = figures
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    Ok(Score {
        accuracy,
        figures: figures.collect(),
    })
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = Path::new(
        arguments
            .first()
            .ok_or("usage: eegmmidb FOLDER [--seeds N] [--double] [--cayley] [--norm]")?,
    );
    let flag = |name: &str| arguments.iter().any(|a| a == name);
    let seeds: u64 = option(&arguments, "--seeds")?.unwrap_or("3").parse()?;
    let orthogonality = if flag("--cayley") {
        Orthogonality::Cayley
    } else {
        Orthogonality::Riemannian
    };
    let trials = load(folder, 64, 1..=53)?;
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
    // With --norm, batch normalisation behind the filter; its folds are set beside the baseline's.
    let normalised = Architecture::Spdnet(SpdNetConfig {
        orthogonality,
        batch_norm: Some(BatchNormConfig::default()),
        ..SpdNetConfig::default()
    });
    let networks = if flag("--norm") {
        vec![("spdnet+bn", normalised, None, &splits["baseline"])]
    } else {
        vec![
            ("baseline", baseline, None, &splits["baseline"]),
            ("dasp", dasp, Some(DspConfig::default()), &splits["dasp"]),
        ]
    };
    for (name, architecture, encoder, stored) in networks {
        let start = Instant::now();
        let units: Vec<(usize, u64)> = (0..seeds)
            .flat_map(|s| (0..folds.len()).map(move |f| (f, s)))
            .collect();
        let scores: Result<Vec<Score>, Failure> = units
            .par_iter()
            .map(|&(fold, seed)| {
                let model = ModelConfig {
                    preconditioning: Preconditioning::default(),
                    encoder,
                    architecture,
                    training: TrainConfig {
                        seed,
                        ..TrainConfig::default()
                    },
                    frechet_means: false,
                };
                let precision = if flag("--double") {
                    Precision::F64
                } else {
                    Precision::F32
                };
                let spec = NetworkSettings::new(model, precision).into();
                run(&trials, &folds[fold], &spec)
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
            "  mean {:.4}, stored {:.4}, difference {:+.4}",
            mean(ours.iter().copied()),
            mean(theirs.iter().copied()),
            mean(ours.iter().zip(&theirs).map(|(a, b)| a - b)),
        );
        for (at, (name, _)) in scores[0].figures.iter().enumerate() {
            println!(
                "  {name:<12} {:.3}",
                mean(scores.iter().filter_map(|s| Some(s.figures.get(at)?.1)))
            );
        }
    }
    Ok(())
}
