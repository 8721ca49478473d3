//! The Fréchet mean of covariances, one thread: `M` with `‖mean_i log(M^{-1/2} X_i M^{-1/2})‖_F` at
//! most a tolerance.

use crate::arguments::Arguments;
use crate::data;
use crate::timing::{interleaved, tenth_percentile};
use serde_json::json;
use std::path::Path;
use stiefel_geometry::spd::{FrechetMean, FrechetOptions, frechet_mean};
use stiefel_linalg::MatBatch;

const TOLERANCE: f64 = 1e-8;
const ROUNDS: usize = 30;

fn mean(x: &MatBatch<f64>, tolerance: f64) -> Result<FrechetMean<f64>, String> {
    let options = FrechetOptions {
        // The library's tolerance is per √n.
        tolerance: tolerance / (x.rows() as f64).sqrt(),
        ..FrechetOptions::default()
    };
    frechet_mean(x.view(), &options).map_err(|error| error.to_string())
}

/// The command `frechet`.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let x = match &arguments.file {
        Some(path) => data::read(path)?,
        None => data::covariances(0, data::TRIALS, data::CHANNELS),
    };
    let tolerance = arguments.number("--tolerance")?.unwrap_or(TOLERANCE);
    let rounds = arguments.number("--rounds")?.unwrap_or(ROUNDS);
    let found = mean(&x, tolerance)?;
    let [times] = interleaved(
        rounds,
        [&mut || {
            std::hint::black_box(mean(&x, tolerance)).ok();
        }],
    );
    let seconds = tenth_percentile(&times);
    let residual = found.report.residual * (x.rows() as f64).sqrt();
    if arguments.has("--json") {
        let figures = json!({
            "seconds": seconds,
            "iterations": found.report.iterations,
            "residual": residual,
            "converged": found.report.converged,
            "times": times,
        });
        println!("{figures}");
    } else {
        println!(
            "\nFréchet mean of {} matrices {} × {}, one thread, residual at most {tolerance:e}",
            x.count(),
            x.rows(),
            x.cols()
        );
        println!("milliseconds  evaluations   residual");
        println!(
            "{:>12.2} {:>12} {residual:>10.1e}",
            seconds * 1e3,
            found.report.iterations
        );
    }
    arguments
        .text("--mean")
        .map_or(Ok(()), |path| data::write_npy(Path::new(path), &found.mean))
}
