//! The preset `recommended` on EEGMMIDB: `recommended FOLDER [--channels 64|22|13] [--subjects 27-53] [--seeds 3]`, where FOLDER holds
//! `handsfeet_s001-s053_cov.npz`. Five cross-domain folds per seed, the seed drawing the folds; the head with and without weights of
//! each subject's own.

#[path = "../recordings.rs"]
mod recordings;

use rayon::prelude::*;
use recordings::{Failure, load, mean, option};
use std::path::Path;
use std::time::Instant;
use stiefel_data::split::{Fold, cross_domain_folds};
use stiefel_model::pooled::{HeadConfig, PooledConfig, PooledModel};
use stiefel_model::{Measure, Trials};

const USAGE: &str =
    "usage: recommended FOLDER [--channels 64|22|13] [--subjects 27-53] [--seeds 3]";

/// One fit: its time in seconds and the figures of its report.
struct Run {
    seconds: f64,
    accuracy: f64,
    proxy: Option<f64>,
    permuted: Option<f64>,
    c: f64,
}

fn run(trials: &Trials, fold: &Fold, config: &PooledConfig, seed: u64) -> Result<Run, Failure> {
    let [training, validation, test] = fold.of(trials)?;
    let start = Instant::now();
    let model = PooledModel::fit(&training, &validation, config)?;
    let seconds = start.elapsed().as_secs_f64();
    let report = model.report(&test, seed)?;
    let accuracy = report.scores.balanced_accuracy;
    Ok(Run {
        seconds,
        accuracy: accuracy.value().ok_or("an empty test set")?,
        proxy: report.proxy_accuracy.value(),
        permuted: report.controls.map(|c| c.permuted),
        c: model.head().c(),
    })
}

fn spread(values: &[f64]) -> Measure {
    if values.len() < 2 {
        return Measure::undefined("one fold");
    }
    let centre = mean(values.iter().copied());
    let squares: f64 = values.iter().map(|v| (v - centre).powi(2)).sum();
    Measure::Value((squares / (values.len() - 1) as f64).sqrt())
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = Path::new(arguments.first().ok_or(USAGE)?);
    let channels: usize = option(&arguments, "--channels")?.unwrap_or("64").parse()?;
    let subjects = option(&arguments, "--subjects")?.unwrap_or("27-53");
    let (first, last) = subjects.split_once('-').ok_or(USAGE)?;
    let seeds: u64 = option(&arguments, "--seeds")?.unwrap_or("3").parse()?;
    let trials = load(folder, channels, first.parse()?..=last.parse()?)?;
    println!(
        "{channels} channels, subjects {subjects}, {} trials, five folds × {seeds} seeds",
        trials.len()
    );
    let (labels, domains) = (trials.classes().indices(), trials.domains().indices());
    let mut units = Vec::new();
    for seed in 0..seeds {
        let folds = cross_domain_folds(labels, domains, seed)?;
        units.extend(folds.into_iter().map(|fold| (seed, fold)));
    }
    let shared = PooledConfig {
        head: HeadConfig::shared(),
        ..PooledConfig::default()
    };
    let train_only = PooledConfig {
        refit: false,
        ..PooledConfig::default()
    };
    for (name, config) in [
        ("recommended", PooledConfig::default()),
        ("recommended, training trials only", train_only),
        ("one head for everybody", shared),
    ] {
        let runs: Result<Vec<Run>, Failure> = (units.par_iter())
            .map(|(seed, fold)| run(&trials, fold, &config, *seed))
            .collect();
        let runs = runs?;
        let accuracies: Vec<f64> = runs.iter().map(|r| r.accuracy).collect();
        println!(
            "{name:<24} {:.4} ± {:.4}   {:.2} s per fit",
            mean(accuracies.iter().copied()),
            spread(&accuracies).value().unwrap_or(0.0),
            mean(runs.iter().map(|r| r.seconds)),
        );
        for (figure, values) in [
            (
                "K=1 proxy",
                runs.iter().filter_map(|r| r.proxy).collect::<Vec<_>>(),
            ),
            ("permuted", runs.iter().filter_map(|r| r.permuted).collect()),
            ("log10 C", runs.iter().map(|r| r.c.log10()).collect()),
        ] {
            if !values.is_empty() {
                println!("  {figure:<22} {:.4}", mean(values.into_iter()));
            }
        }
    }
    Ok(())
}
