//! How time and memory grow: one size at a time from a small set of trials to a large one, the
//! others fixed.
//!
//! ```text
//! seconds ∝ size^e,   e = slope of log(seconds) over log(size), least squares over the upper half of the sizes
//! memory  = largest resident set of the process / bytes of its covariances
//! ```
//!
//! Every point is a process of its own, which makes its trials, fits once, and prints what it took:
//! a peak of memory cannot be taken back. Trial `i` is `D_i B_i D_i`, with `B_i` from a fixed list
//! of covariances and a diagonal `D_i` drawn by person, class and trial.

use crate::arguments::Arguments;
use crate::data;
use std::process::Command;
use std::time::Instant;
use stiefel_linalg::MatBatch;
use stiefel_model::scaling::ScalingRule;
use stiefel_model::train::{Silent, TrainConfig};
use stiefel_model::{Factor, FittedModel, ModelConfig, ModelError, ModelSpec, Trials};
use stiefel_testkit::{normal, rng};

/// How many trials of how many people, and how large.
#[derive(Debug, Clone, Copy)]
struct Size {
    trials: usize,
    people: usize,
    channels: usize,
}

/// What is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// CHOIR.
    Choir,
    /// The routed network with the experts of the scaling rule, for one epoch.
    Dasp,
}

impl Fit {
    const ALL: [Self; 2] = [Self::Choir, Self::Dasp];

    fn name(self) -> &'static str {
        match self {
            Self::Choir => "choir",
            Self::Dasp => "dasp",
        }
    }
}

/// What a point took.
struct Taken {
    seconds: f64,
    /// Bytes resident at most, where the system tells.
    peak: Option<f64>,
}

/// Matrices that the trials are made of.
const SOURCES: usize = 200;

fn trials(size: Size, seed: u64) -> Result<Trials, ModelError> {
    let n = size.channels;
    let sources = data::covariances(0, SOURCES, n);
    let mut rng = rng(seed);
    let of_people = MatBatch::from_fn(size.people, 2, n, |_, _, _| 0.3 * normal(&mut rng));
    let mut all = Vec::with_capacity(size.trials * n * n);
    for trial in 0..size.trials {
        let (person, class) = (trial % size.people, trial / size.people % 2);
        let own = &of_people.matrix(person)[class * n..][..n];
        let scale: Vec<f64> = own
            .iter()
            .map(|s| (s + 0.2 * normal(&mut rng)).exp())
            .collect();
        for (row, left) in sources.matrix(trial % SOURCES).chunks_exact(n).zip(&scale) {
            all.extend(row.iter().zip(&scale).map(|(x, right)| left * x * right));
        }
    }
    let labels = |of: &dyn Fn(usize) -> String| Factor::from_labels((0..size.trials).map(of));
    Ok(Trials::new(
        MatBatch::from_vec(size.trials, n, n, all)?,
        labels(&|t| format!("class {}", t / size.people % 2)),
        labels(&|t| format!("person {}", t % size.people)),
    )?)
}

/// One point: makes the trials, fits, and says what that took.
fn point(fit: Fit, size: Size) -> Result<Taken, ModelError> {
    let training = trials(size, 1)?;
    let held_out = Size {
        trials: (size.trials / 5).max(2 * size.people),
        ..size
    };
    let validation = trials(held_out, 2)?;
    let config = match fit {
        Fit::Choir => ModelSpec::default(),
        Fit::Dasp => {
            let rule = ScalingRule::default().recommend(size.channels, size.people)?;
            let training = TrainConfig {
                epochs: 1,
                ..TrainConfig::default()
            };
            ModelSpec::from(ModelConfig::sized(&rule, training))
        }
    };
    let start = Instant::now();
    FittedModel::fit(&training, &validation, &config, &mut Silent)?;
    Ok(Taken {
        seconds: start.elapsed().as_secs_f64(),
        peak: peak(),
    })
}

/// The largest resident set of this process so far, in bytes.
fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(1024.0 * kilobytes)
}

/// Bytes of the covariances that a point holds.
fn bytes(size: Size) -> f64 {
    let held_out = (size.trials / 5).max(2 * size.people);
    ((size.trials + held_out) * size.channels * size.channels * size_of::<f64>()) as f64
}

/// The same point in a process of its own.
fn apart(fit: Fit, size: Size) -> Result<Taken, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(own)
        .args(["growth", "--point", fit.name()])
        .args(["--trials", &size.trials.to_string()])
        .args(["--people", &size.people.to_string()])
        .args(["--channels", &size.channels.to_string()])
        .output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut words = text.split_whitespace().map(str::parse::<f64>);
    match words.next() {
        Some(Ok(seconds)) if output.status.success() => Ok(Taken {
            seconds,
            peak: words.next().and_then(Result::ok),
        }),
        _ => Err(format!(
            "{size:?}: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )),
    }
}

/// The slope of the logarithms, over the upper half of the points: small ones are all overhead.
fn exponent(points: &[(f64, f64)]) -> f64 {
    let upper = &points[points.len() / 2..];
    let count = upper.len() as f64;
    let logs: Vec<(f64, f64)> = upper.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let (mx, my) = logs
        .iter()
        .fold((0.0, 0.0), |(a, b), (x, y)| (a + x / count, b + y / count));
    let (mut over, mut under) = (0.0, 0.0);
    for (x, y) in logs {
        over += (x - mx) * (y - my);
        under += (x - mx).powi(2);
    }
    over / under
}

const BASE: Size = Size {
    trials: 4_000,
    people: 25,
    channels: 22,
};

fn axis(fit: Fit, name: &str, sizes: &[(usize, Size)]) -> Result<(), String> {
    println!("\n{} over {name}", fit.name());
    println!(
        "{name:>10} {:>9} {:>8} {:>9} {:>10} {:>12}",
        "trials", "people", "channels", "seconds", "× the data"
    );
    let mut points = Vec::new();
    for &(at, size) in sizes {
        let taken = apart(fit, size)?;
        let memory = taken
            .peak
            .map_or_else(|| "not told".into(), |p| format!("{:.2}", p / bytes(size)));
        println!(
            "{at:>10} {:>9} {:>8} {:>9} {:>10.3} {memory:>12}",
            size.trials, size.people, size.channels, taken.seconds
        );
        points.push((at as f64, taken.seconds));
    }
    println!("seconds grow as {name}^{:.2}", exponent(&points));
    Ok(())
}

/// The command `growth`.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let size = Size {
        trials: arguments.number("--trials")?.unwrap_or(BASE.trials),
        people: arguments.number("--people")?.unwrap_or(BASE.people),
        channels: arguments.number("--channels")?.unwrap_or(BASE.channels),
    };
    if let Some(name) = arguments.text("--point") {
        let fit = Fit::ALL.into_iter().find(|f| f.name() == name);
        let fit = fit.ok_or_else(|| format!("--point: there is no model {name:?}"))?;
        let taken = point(fit, size).map_err(|error| error.to_string())?;
        let peak = taken.peak.map_or_else(String::new, |p| format!(" {p}"));
        println!("{}{peak}", taken.seconds);
        return Ok(());
    }
    let of = |sizes: &[usize], change: fn(usize) -> Size| -> Vec<(usize, Size)> {
        sizes.iter().map(|&s| (s, change(s))).collect()
    };
    let by_trials = |trials| Size { trials, ..BASE };
    let by_people = |people| Size {
        trials: 45 * people,
        people,
        ..BASE
    };
    let by_channels = |channels| Size { channels, ..BASE };
    let trials = of(&[1_000, 3_000, 10_000, 30_000, 100_000], by_trials);
    axis(Fit::Choir, "trials", &trials)?;
    let people = of(&[25, 100, 400, 1_600], by_people);
    axis(Fit::Choir, "people", &people)?;
    let channels = of(&[8, 16, 32, 64, 128], by_channels);
    axis(Fit::Choir, "channels", &channels)?;
    axis(Fit::Dasp, "people", &of(&[25, 50, 100, 200], by_people))
}

#[cfg(test)]
mod tests {
    use super::exponent;

    #[test]
    fn the_exponent_of_a_power_is_the_power() {
        let cubes: Vec<(f64, f64)> = (1..9)
            .map(f64::from)
            .map(|x| (x, 5.0 * x.powi(3)))
            .collect();
        assert!((exponent(&cubes) - 3.0).abs() < 1e-12);
    }
}
