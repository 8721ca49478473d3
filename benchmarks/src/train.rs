//! One training with one thread and with two: DASP on as many trials as 53 people of EEGMMIDB have,
//! 64 channels, some steps of an epoch. The parameters may not depend on the number of threads.

use crate::arguments::Arguments;
use crate::timing::{interleaved, tenth_percentile};
use stiefel_model::net::{DaspConfig, DaspNet, Network, Sizes};
use stiefel_model::train::Stepper;
use stiefel_model::{AdamConfig, Prepared};
use stiefel_testkit::{random_batch, random_spd};

const TRIALS: usize = 2385;
const CHANNELS: usize = 64;
const PEOPLE: usize = 53;
const ENCODED: usize = 40;
const BATCH: usize = 32;
/// Steps of one timing.
const STEPS: usize = 8;

fn pool(threads: usize) -> Result<rayon::ThreadPool, String> {
    let built = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    built.map_err(|error| error.to_string())
}

/// The command `train`.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let rounds = arguments.number("--rounds")?.unwrap_or(20);
    let sizes = Sizes {
        channels: CHANNELS,
        classes: 2,
        domains: PEOPLE,
        encoded: ENCODED,
        views: 1,
    };
    let config = DaspConfig {
        filters: 32,
        experts: 16,
        decoupled_keys: true,
        ..DaspConfig::default()
    };
    let (experts, filters) = (config.experts, config.filters);
    let network = DaspNet::new(sizes, config).map_err(|error| error.to_string())?;
    let data = Prepared::<f32>::from_parts(
        random_spd(1, TRIALS, CHANNELS),
        random_batch(2, TRIALS, 1, ENCODED),
        (0..TRIALS).map(|i| i % 2).collect(),
        (0..TRIALS).map(|i| i % PEOPLE).collect(),
    )
    .map_err(|error| error.to_string())?;
    let pools = [pool(1)?, pool(2)?];
    let mut steppers = Vec::new();
    for _ in &pools {
        let start = Network::<f32>::initial(&network, 3);
        let stepper = Stepper::new(AdamConfig::default(), start);
        steppers.push(stepper.map_err(|error| error.to_string())?);
    }
    let (first, second) = steppers.split_at_mut(1);
    let steps = |stepper: &mut Stepper<f32>, at: &mut usize| {
        let batch = |at: usize| {
            let indices = (0..BATCH).map(|i| (at * BATCH + i * 71) % TRIALS);
            data.batch(indices.collect::<Vec<_>>())
        };
        let batches: Vec<_> = (*at..*at + STEPS).map(batch).collect();
        stepper.steps(&network, &batches).expect("finite steps");
        *at += STEPS;
    };
    let (mut at_first, mut at_second) = (0, 0);
    let times = interleaved(
        rounds,
        [
            &mut || pools[0].install(|| steps(&mut first[0], &mut at_first)),
            &mut || pools[1].install(|| steps(&mut second[0], &mut at_second)),
        ],
    );
    let [one, two] = times.map(|times| 1e3 * tenth_percentile(&times) / STEPS as f64);
    if first[0].parameters != second[0].parameters {
        return Err("the trained parameters depend on the number of threads".into());
    }
    println!(
        "\none training of DASP, {TRIALS} trials, {CHANNELS} channels, k = {filters}, K = \
         {experts}, batch {BATCH}, f32: milliseconds per step; same parameters to the bit"
    );
    println!("one thread  two threads  speed-up");
    println!("{:>10.3} {:>12.3} {:>8.2}x", one, two, one / two);
    Ok(())
}
