//! CHOIR with ten views: one fit (53 people of 31 trials, 64 channels) and one decision, one
//! thread.

use crate::arguments::Arguments;
use crate::timing::tenth_percentile;
use std::time::Instant;
use stiefel_linalg::MatBatch;
use stiefel_model::choir::{Choir, ChoirConfig};
use stiefel_model::{Factor, Trials};
use stiefel_testkit::random_spd;

const PEOPLE: usize = 53;
const EACH: usize = 31;
const CHANNELS: usize = 64;
const VIEWS: usize = 10;

/// Trials whose classes differ in one channel; every view leans to a channel of its own.
fn trials() -> Trials {
    let count = PEOPLE * EACH;
    let base = random_spd::<f64>(1, count, CHANNELS);
    let view = |v: usize| {
        let mut x = base.clone();
        for i in 0..count {
            let more = if i % 2 == 0 { 1.5 } else { 2.0 };
            x.matrix_mut(i)[v * (CHANNELS + 1)] *= more;
        }
        x
    };
    let classes = Factor::from_labels((0..count).map(|i| ["hands", "feet"][i % 2]));
    let people = Factor::from_labels((0..count).map(|i| format!("S{:02}", i / EACH)));
    let mut trials = Trials::new(view(0), classes, people).expect("covariances");
    for v in 1..VIEWS {
        trials = trials.with_view(view(v)).expect("as many");
    }
    trials
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let rounds = arguments.number("--rounds")?.unwrap_or(3_usize);
    let trials = trials();
    let config = ChoirConfig::default();
    let mut model = Choir::fit(&trials, &config).map_err(|e| e.to_string())?;
    let mut fits = Vec::new();
    for _ in 0..rounds.max(1) {
        let start = Instant::now();
        model = Choir::fit(&trials, &config).map_err(|e| e.to_string())?;
        fits.push(start.elapsed().as_secs_f64());
    }
    let trial: Vec<f64> = (0..VIEWS)
        .flat_map(|v| trials.view(v).matrix(7).to_vec())
        .collect();
    let mut decisions = Vec::new();
    for _ in 0..500 {
        let start = Instant::now();
        let p = model.decide(0, &trial).map_err(|e| e.to_string())?;
        std::hint::black_box(p);
        decisions.push(start.elapsed().as_secs_f64());
    }
    let few = first(&trials, EACH)?;
    let start = Instant::now();
    let met = model.calibrate(&few).map_err(|e| e.to_string())?;
    let calibration = start.elapsed().as_secs_f64();
    std::hint::black_box(met);
    let (fit, decision) = (tenth_percentile(&fits), tenth_percentile(&decisions));
    let features = model.shared().cols();
    if arguments.has("--json") {
        let value = serde_json::json!({
            "fit": fit, "decision": decision, "calibration": calibration, "trials": trials.len(), "features": features,
        });
        println!("{value}");
        return Ok(());
    }
    println!(
        "\nCHOIR with {VIEWS} views, {PEOPLE} people, {} trials of {CHANNELS} channels, \
         {features} features, one thread",
        trials.len()
    );
    println!(
        "fit {fit:.3} s, calibration with 8 trials {:.1} ms, decision {:.0} µs",
        1e3 * calibration,
        1e6 * decision
    );
    Ok(())
}

/// Eight trials of somebody new: those of a person, a little louder.
fn first(trials: &Trials, from: usize) -> Result<Trials, String> {
    let at: Vec<usize> = (from..from + 8).collect();
    let some = trials.select(&at).map_err(|e| e.to_string())?;
    let louder = |x: &MatBatch<f64>| {
        let data = x.data().iter().map(|v| 1.1 * v).collect();
        MatBatch::from_vec(x.count(), x.rows(), x.cols(), data).map_err(|e| e.to_string())
    };
    let classes = some.classes().clone();
    let mut new = Trials::new(
        louder(some.view(0))?,
        classes,
        Factor::from_labels(["new"; 8]),
    )
    .map_err(|e| e.to_string())?;
    for v in 1..some.views() {
        new = new
            .with_view(louder(some.view(v))?)
            .map_err(|e| e.to_string())?;
    }
    Ok(new)
}
