//! How long reading, filtering, cutting and reducing recordings to covariances takes, file by file.
//!
//! `eeg_speed FOLDER [ROUNDS]` goes over `FOLDER/edf` and prints one line of JSON: for each file
//! the 10th percentile of its seconds over the rounds (`files`), their sum (`seconds`), the trials,
//! and the sum of all covariances (`checksum`).

mod eegmmidb;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use eegmmidb::{Run, invalid, runs};
use stiefel_eeg::Result;
use stiefel_eeg::recipe::{PipelineOutput, Preparing};
use stiefel_formats::read;

const ROUNDS: usize = 20;

fn reduce(run: &Run) -> Result<PipelineOutput> {
    let recipe = run.recipe()?;
    let mut preparing = Preparing::new(&recipe)?;
    let domain = format!("S{:03}", run.subject);
    preparing.add(
        read(&run.path)?.into_recording()?,
        &domain,
        Some(&run.number.to_string()),
    )?;
    preparing.finish()
}

/// What the machine can do when left alone.
fn tenth_percentile(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 10]
}

fn measure(folder: &Path, rounds: usize) -> Result<serde_json::Value> {
    let runs = runs(folder)?;
    let (mut trials, mut checksum) = (0, 0.0);
    for run in &runs {
        let prepared = reduce(run)?;
        trials += prepared.trials.len();
        checksum += prepared.trials.covariances().data().iter().sum::<f64>();
    }
    let mut files = vec![Vec::with_capacity(rounds); runs.len()];
    for _ in 0..rounds {
        for (run, seconds) in runs.iter().zip(&mut files) {
            let start = Instant::now();
            std::hint::black_box(reduce(run)?);
            seconds.push(start.elapsed().as_secs_f64());
        }
    }
    let files: Vec<f64> = files.into_iter().map(tenth_percentile).collect();
    let name = |run: &Run| {
        run.path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let named: serde_json::Map<_, _> = runs
        .iter()
        .map(name)
        .zip(files.iter().map(|&s| s.into()))
        .collect();
    Ok(serde_json::json!({
        "seconds": files.iter().sum::<f64>(), "files": named, "rounds": rounds, "trials": trials, "checksum": checksum
    }))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.as_slice() {
        [folder] => measure(Path::new(folder), ROUNDS),
        [folder, rounds] => rounds
            .parse()
            .ok()
            .filter(|&rounds| rounds > 0)
            .ok_or_else(|| {
                invalid(
                    format!("the number of rounds is {rounds:?}"),
                    "give a whole number of at least 1",
                )
            })
            .and_then(|rounds| measure(Path::new(folder), rounds)),
        _ => Err(invalid(
            format!("{} arguments were given", arguments.len()),
            "call eeg_speed FOLDER [ROUNDS]",
        )),
    };
    match result {
        Ok(figures) => {
            println!("{figures}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
