//! Covariances from EDF files against those that SciPy made of the same recordings.
//!
//! `check_eegmmidb FOLDER` reads `FOLDER/edf/*.edf` (PhysioNet EEG Motor Movement/Imagery),
//! band-passes 8–32 Hz without phase, cuts 0.5–3.5 s after each cue, estimates the sample
//! covariance `C` of each trial and compares it with the matrix `R` of the same subject, run and
//! place in `FOLDER/s001_s007_cov_f64.npz`. The error of a trial is `max |C − R| / max |R|`; labels
//! and channel names must agree too. Exit code 1 where anything differs by more than [`TOLERANCE`].

mod eegmmidb;

use std::path::Path;
use std::process::ExitCode;

use eegmmidb::{Run, runs};
use stiefel_data::Trials;
use stiefel_eeg::Result;
use stiefel_eeg::io::read;
use stiefel_eeg::recipe::Preparing;

/// The largest relative error that passes.
const TOLERANCE: f64 = 1e-8;

/// What came of one file.
struct Outcome {
    trials: usize,
    expected: usize,
    /// The worst relative error; not finite counts as a mismatch.
    worst: f64,
    wrong_labels: usize,
    channels_agree: bool,
}

impl Outcome {
    fn passes(&self) -> bool {
        self.trials == self.expected
            && self.trials > 0
            && self.worst <= TOLERANCE
            && self.wrong_labels == 0
            && self.channels_agree
    }
}

fn covariances(run: &Run) -> Result<Trials> {
    let recipe = run.recipe()?;
    let mut preparing = Preparing::new(&recipe)?;
    preparing.add(
        stiefel_formats::read(&run.path)?.into_recording()?,
        &run.subject.to_string(),
        Some(&run.number.to_string()),
    )?;
    Ok(preparing.finish()?.trials)
}

fn relative_error(got: &[f64], want: &[f64]) -> f64 {
    let scale = want.iter().fold(0.0, |m: f64, w| m.max(w.abs()));
    let difference = got.iter().zip(want).map(|(g, w)| (g - w).abs());
    // `f64::max` would forget a difference that is not a number.
    difference.fold(
        0.0,
        |m: f64, d| if d.is_nan() { f64::INFINITY } else { m.max(d) },
    ) / scale
}

fn compare(run: &Run, reference: &Trials) -> Result<Outcome> {
    let got = covariances(run)?;
    let (subject, number) = (run.subject.to_string(), run.number.to_string());
    let run = |i: usize| reference.runs().map(|runs| runs.label(i));
    let places: Vec<usize> = (0..reference.len())
        .filter(|&i| reference.domains().label(i) == subject && run(i) == Some(&number))
        .collect();
    let mut outcome = Outcome {
        trials: got.len(),
        expected: places.len(),
        worst: 0.0,
        wrong_labels: 0,
        channels_agree: (got.channel_names().iter())
            .map(|name| name.to_ascii_lowercase())
            .eq((reference.channel_names().iter()).map(|name| name.to_ascii_lowercase())),
    };
    for (trial, &place) in places.iter().enumerate().take(got.len()) {
        let error = relative_error(
            got.covariances().matrix(trial),
            reference.covariances().matrix(place),
        );
        outcome.worst = outcome.worst.max(error);
        outcome.wrong_labels +=
            usize::from(got.classes().label(trial) != reference.classes().label(place));
    }
    Ok(outcome)
}

/// Prints the table; whether every file agrees.
fn check(folder: &Path) -> Result<bool> {
    let file = folder.join("s001_s007_cov_f64.npz");
    let reference = read(&file)?.into_trials()?;
    println!("file           trials  expected  worst error  wrong labels  channels  verdict");
    let (mut trials, mut all) = (0, true);
    for run in runs(folder)? {
        let outcome = compare(&run, &reference)?;
        let name = run.path.file_name().unwrap_or_default().to_string_lossy();
        println!(
            "{name:<14} {:>6}  {:>8}  {:>11.2e}  {:>12}  {:<8}  {}",
            outcome.trials,
            outcome.expected,
            outcome.worst,
            outcome.wrong_labels,
            if outcome.channels_agree {
                "agree"
            } else {
                "DIFFER"
            },
            if outcome.passes() { "ok" } else { "MISMATCH" }
        );
        trials += outcome.trials;
        all &= outcome.passes();
    }
    println!("{trials} trials, tolerance {TOLERANCE:e}");
    Ok(all)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder] = arguments.as_slice() else {
        eprintln!("call check_eegmmidb FOLDER");
        return ExitCode::from(2);
    };
    match check(Path::new(folder)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
