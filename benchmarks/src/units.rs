//! Throughput of a study: ten units (fold and seed), each preparing its split and training for
//! three epochs, with one thread and with two. A unit's result may not depend on the number of
//! threads.
//!
//! On a busy machine the wall clock says how many cores were free, not how well two threads share
//! the work. On Linux the time all threads spent on a core is printed too: twice that of one thread
//! over that of two is the speed-up on two idle cores.

use crate::arguments::Arguments;
use crate::data;
use crate::timing::tenth_percentile;
use rayon::ThreadPool;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use stiefel_model::net::{DaspConfig, DaspNet, LossWeights, Sizes};
use stiefel_model::precondition::Preconditioning;
use stiefel_model::train::{Fitted, Silent, TrainConfig, train};
use stiefel_model::{Factor, ModelError, Prepared, Trials};

const UNITS: usize = 10;
const TRIALS: usize = 400;
const EPOCHS: usize = 3;
const ROUNDS: usize = 10;

/// Trials of a synthetic study, two classes in every domain.
fn trials() -> Result<Trials, ModelError> {
    let covariances = data::covariances(0, TRIALS, data::CHANNELS);
    let name = |prefix: &'static str| move |i: usize| format!("{prefix} {i}");
    let classes = (0..TRIALS)
        .map(|t| t / data::SUBJECTS % 2)
        .map(name("class"));
    let domains = (0..TRIALS).map(|t| t % data::SUBJECTS).map(name("subject"));
    Ok(Trials::new(
        covariances,
        Factor::from_labels(classes),
        Factor::from_labels(domains),
    )?)
}

/// One unit: every fifth trial, counted from the unit's number, validates; the others train.
fn unit(trials: &Trials, number: usize) -> Result<Fitted<f32>, ModelError> {
    let (validation, training): (Vec<usize>, Vec<usize>) =
        (0..trials.len()).partition(|t| (t / 18 + number).is_multiple_of(5));
    let (training, validation) = (trials.select(&training)?, trials.select(&validation)?);
    let whitener = Preconditioning::default().fit(&training)?;
    let training = Prepared::<f32>::new(&whitener.transform(&training)?, None)?;
    let validation = Prepared::<f32>::new(&whitener.transform(&validation)?, None)?;
    let n = data::CHANNELS;
    let sizes = Sizes {
        channels: n,
        classes: 2,
        domains: data::SUBJECTS,
        encoded: n * (n + 1) / 2,
        views: 1,
    };
    let config = DaspConfig {
        filters: 20,
        experts: 8,
        decoupled_keys: false,
        losses: LossWeights::default(),
        ..DaspConfig::default()
    };
    let protocol = TrainConfig {
        epochs: EPOCHS,
        seed: number as u64,
        ..TrainConfig::default()
    };
    let network = DaspNet::new(sizes, config)?;
    train(&network, &training, &validation, &protocol, &mut Silent)
}

fn pools(count: usize) -> Result<Vec<ThreadPool>, String> {
    let pool = |_| {
        let built = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        built.map_err(|error| error.to_string())
    };
    (0..count).map(pool).collect()
}

/// All units, as many at a time as there are pools, each of them on one thread: as a study spreads
/// them.
fn study(pools: &[ThreadPool], trials: &Trials) -> Result<Vec<Fitted<f32>>, String> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= UNITS {
                return done;
            }
            done.push((number, unit(trials, number)));
        }
    };
    let mut fitted = std::thread::scope(|scope| {
        let threads: Vec<_> = (pools.iter())
            .map(|pool| scope.spawn(move || pool.install(work)))
            .collect();
        let joined = threads
            .into_iter()
            .flat_map(std::thread::ScopedJoinHandle::join);
        joined.flatten().collect::<Vec<_>>()
    });
    fitted.sort_by_key(|(number, _)| *number);
    let results = fitted.into_iter().map(|(_, fitted)| fitted);
    results
        .map(|fitted| fitted.map_err(|error| error.to_string()))
        .collect()
}

/// Seconds that the threads of this process have spent on a core, where the system tells.
fn on_core() -> Option<f64> {
    let threads = std::fs::read_dir("/proc/self/task").ok()?;
    let nanoseconds = threads.flatten().map(|thread| {
        let figures = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        figures.split(' ').next()?.parse::<f64>().ok()
    });
    Some(nanoseconds.sum::<Option<f64>>()? / 1e9)
}

/// Seconds by the wall clock and on a core, of every round.
#[derive(Default)]
struct Times {
    wall: Vec<f64>,
    core: Vec<f64>,
}

impl Times {
    fn add(&mut self, pools: &[ThreadPool], trials: &Trials) -> Result<(), String> {
        let (core, start) = (on_core(), Instant::now());
        study(pools, trials)?;
        self.wall.push(start.elapsed().as_secs_f64());
        let spent = on_core().zip(core).map(|(after, before)| after - before);
        self.core.extend(spent);
        Ok(())
    }
}

fn print_row(clock: &str, one: &[f64], two: &[f64], ideal: f64) {
    if one.is_empty() || one.len() != two.len() {
        println!("{clock:<22} not told by this system");
        return;
    }
    let (one, two) = (tenth_percentile(one), tenth_percentile(two));
    println!(
        "{clock:<22} {:>10.1} {:>12.1} {:>9.2}x",
        one * 1e3,
        two * 1e3,
        ideal * one / two
    );
}

/// The command `units`.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let rounds = arguments.number("--rounds")?.unwrap_or(ROUNDS);
    let trials = trials().map_err(|error| error.to_string())?;
    let (one, two) = (pools(1)?, pools(2)?);
    if study(&one, &trials)? != study(&two, &trials)? {
        return Err("the fitted models depend on the number of threads".into());
    }
    let (mut alone, mut shared) = (Times::default(), Times::default());
    for _ in 0..rounds.max(1) {
        alone.add(&one, &trials)?;
        shared.add(&two, &trials)?;
    }
    println!(
        "\n{UNITS} trainings ({TRIALS} trials, {} channels, {EPOCHS} epochs), milliseconds; same \
         models to the bit",
        data::CHANNELS
    );
    println!("                       one thread  two threads  speed-up");
    print_row("wall clock", &alone.wall, &shared.wall, 1.0);
    print_row("on a core, all threads", &alone.core, &shared.core, 2.0);
    Ok(())
}
