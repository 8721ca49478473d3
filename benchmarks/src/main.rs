//! Side-by-side timings, printed as ratios: machines differ and are noisy, ratios in one run are
//! not.

mod arguments;
mod clock;
mod data;
mod decision;
mod eigen;
mod frechet;
mod growth;
mod peak;
mod products;
mod step;
mod timing;
mod train;
mod units;
mod views;

use arguments::{Accepted, Arguments};
use std::process::ExitCode;

const HELP: &str = "\
stiefel-bench [command]     without a command: eigen, step, train, decision, frechet, units and \
                    views

  eigen                     symmetric eigen-decomposition against faer's
  products                  products of batches against faer's
  step [options]            one training step in units of faer's decompositions, and its share of \
                    what the core can do
    --rounds N              steps timed (default 600, 150 for the largest)
    --json                  all times, as JSON
  frechet [FILE.npy] [...]  Fréchet mean of covariances, count × n × n float64 (default: those of \
                    `data`)
    --tolerance T           largest ‖mean log(M^-1/2 X M^-1/2)‖_F accepted (default 1e-8)
    --rounds N              calls timed (default 30)
    --mean OUT.npy          where to write the mean
    --json                  all times, as JSON
  decision                  one decision, covariance to probabilities, in units of faer's \
                    decompositions
  train [--rounds N]        one training with one thread and with two
  units [--rounds N]        ten short trainings with one thread and with two
  growth                    time and memory of a fit over trials, people and channels, with the \
                    exponents (minutes)
    --point MODEL           one fit, choir or dasp: its seconds, and the largest resident set in \
                    bytes
    --trials, --people, --channels N
  views [--rounds N]        fit, calibration and decision of CHOIR with ten views
    --json                  all times, as JSON
  data FILE.npy             writes the 500 covariances, 22 × 22, of `frechet`
";

fn dispatch(command: &str, words: std::env::Args) -> Result<(), String> {
    let (file, flags, options): (_, &[&str], &[&str]) = match command {
        "eigen" | "products" | "decision" => (false, &[], &[]),
        "step" | "views" => (false, &["--json"], &["--rounds"]),
        "frechet" => (true, &["--json"], &["--tolerance", "--rounds", "--mean"]),
        "units" | "train" => (false, &[], &["--rounds"]),
        "growth" => (
            false,
            &[],
            &["--point", "--trials", "--people", "--channels"],
        ),
        "data" => (true, &[], &[]),
        _ => return Err(format!("there is no command {command:?}")),
    };
    let arguments = Arguments::read(
        words,
        &Accepted {
            file,
            flags,
            options,
        },
    )?;
    match command {
        "eigen" => {
            clock();
            eigen::run();
        }
        "products" => products::run(),
        "step" => step::run(&arguments)?,
        "decision" => decision::run(),
        "frechet" => frechet::run(&arguments)?,
        "units" => units::run(&arguments)?,
        "growth" => growth::run(&arguments)?,
        "train" => train::run(&arguments)?,
        "views" => views::run(&arguments)?,
        _ => data::write(&arguments)?,
    }
    Ok(())
}

fn all() -> Result<(), String> {
    let defaults = Arguments::default();
    clock();
    eigen::run();
    step::run(&defaults)?;
    train::run(&defaults)?;
    decision::run();
    frechet::run(&defaults)?;
    units::run(&defaults)?;
    views::run(&defaults)
}

fn clock() {
    let clock = clock::gigahertz();
    println!(
        "clock while measuring: {clock:.2} GHz (a chain of dependent additions, one per cycle); \
         at most {:.0} (f32) and {:.0} (f64) Gflop/s\n",
        peak::flops("f32") / 1e9,
        peak::flops("f64") / 1e9
    );
}

fn main() -> ExitCode {
    let mut words = std::env::args();
    let command = words.nth(1);
    // Large batches spread over the threads of the current pool: one thread unless a benchmark says
    // otherwise.
    match stiefel_linalg::instruction_set() {
        Ok(set) => eprintln!("instruction set: {set}"),
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    }
    let done = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build_global()
        .map_err(|error| error.to_string())
        .and_then(|()| match command.as_deref() {
            None => all(),
            Some(command) => dispatch(command, words),
        });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprint!("{error}\n\n{HELP}");
            ExitCode::from(2)
        }
    }
}
