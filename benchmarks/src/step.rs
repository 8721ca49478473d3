//! One training step (forward, backward, Adam, retraction; batch of 32, one thread) in units of the
//! time faer takes to decompose that batch's `k × k` matrices one by one, interleaved in the same
//! run. As JSON, for the comparison with PyTorch, whose steps follow each other as in a training:
//! the steps alone, one after the other.

use crate::arguments::Arguments;
use crate::eigen::FaerEigen;
use crate::timing::{interleaved, tenth_percentile};
use faer::traits::RealField;
use serde_json::{Value, json};
use stiefel_linalg::Scalar;
use stiefel_model::net::{DaspConfig, DaspNet, LossWeights, Network, Sizes};
use stiefel_model::train::Stepper;
use stiefel_model::{AdamConfig, Prepared};
use stiefel_testkit::{random_batch, random_spd};

const BATCH: usize = 32;

/// A geometry of the paper, with the ratios a hand-written prototype reached in f32 and f64.
struct Case {
    name: &'static str,
    n: usize,
    k: usize,
    experts: usize,
    domains: usize,
    encoded: Option<usize>,
    prototype: (f64, f64),
}

const CASES: [Case; 3] = [
    Case {
        name: "Weibo2014",
        n: 60,
        k: 30,
        experts: 8,
        domains: 9,
        encoded: Some(40),
        prototype: (1.25, 1.5),
    },
    Case {
        name: "BNCI2014001",
        n: 22,
        k: 20,
        experts: 8,
        domains: 9,
        encoded: None,
        prototype: (1.1, 1.25),
    },
    Case {
        name: "BNCI2015001",
        n: 13,
        k: 12,
        experts: 16,
        domains: 28,
        encoded: None,
        prototype: (1.6, 1.8),
    },
];

/// The network of a geometry and one batch for it.
fn problem<T: Scalar>(case: &Case) -> (DaspNet, Prepared<T>) {
    let encoded = case.encoded.unwrap_or(case.n * (case.n + 1) / 2);
    let sizes = Sizes {
        channels: case.n,
        classes: 2,
        domains: case.domains,
        encoded,
        views: 1,
    };
    let high = case.encoded.is_some();
    let config = DaspConfig {
        filters: case.k,
        experts: case.experts,
        decoupled_keys: high,
        losses: LossWeights {
            alignment: if high { 0.05 } else { 0.0 },
            ..LossWeights::default()
        },
        ..DaspConfig::default()
    };
    let net = DaspNet::new(sizes, config).expect("a valid network");
    let data = Prepared::from_parts(
        random_spd(1, BATCH, case.n),
        random_batch(2, BATCH, 1, encoded),
        (0..BATCH).map(|i| i % 2).collect(),
        (0..BATCH).map(|i| i % case.domains).collect(),
    )
    .expect("matching sizes");
    (net, data)
}

/// Seconds of every step and, where wanted, of every run of faer's decompositions in between.
fn times<T: Scalar + RealField>(case: &Case, rounds: usize, between: bool) -> [Vec<f64>; 2] {
    let (net, data) = problem::<T>(case);
    let mut stepper = Stepper::new(AdamConfig::default(), net.initial(3)).expect("Adam");
    let batch = data.all();
    let mut step = || {
        stepper.step(&net, &batch).expect("a finite step");
    };
    if !between {
        let [steps] = interleaved(rounds, [&mut step]);
        return [steps, Vec::new()];
    }
    let mut faer = FaerEigen::new(random_spd::<T>(4, BATCH, case.k));
    interleaved(rounds, [&mut step, &mut || faer.run()])
}

/// Floating-point operations of a step, every product counted with what symmetry and triangles
/// leave of it, the decomposition as in [`crate::eigen::flops`]: those of the samples' filters and
/// tails, and of what is done once for every point on the manifold, `K` experts and the anchor. The
/// query and the head, a fiftieth of that at 60 channels, are not counted.
fn flops(n: usize, k: usize, experts: usize) -> f64 {
    let (n, k, experts) = (n as f64, k as f64, experts as f64);
    // Mixture and its two gradients, of the weights and of the experts; Gram matrix, W, Y, then the
    // gradient of the filter in two products; X W; the logarithm, four products of its
    // derivative, and three for R.
    let mixed = 6.0 * experts * n * k;
    let sample = 7.0 * n * k * k + 2.0 * n * n * k + 10.0 * k * k * k;
    // A projection is WᵀZ and W S, its pull-back twice that; Adam projects three times and makes
    // columns orthonormal: a Gram matrix, its factor and its inverse, and a product.
    let projection = 4.0 * n * k * k;
    let tangents = 3.0 * experts * projection;
    let moved = (experts + 1.0) * (3.0 * projection + 2.0 * n * k * k + 2.0 / 3.0 * k * k * k);
    BATCH as f64 * (mixed + sample + crate::eigen::flops(k as usize)) + tangents + moved
}

fn table_row<T: Scalar>(case: &Case, [step, unit]: [&[f64]; 2], prototype: f64) {
    let (step, unit) = (tenth_percentile(step), tenth_percentile(unit));
    let share = flops(case.n, case.k, case.experts) / crate::peak::flops(T::NAME) / step;
    println!(
        "{:>12} {:>4} {:>4} {:>4} {:>4} {:>10.3} {:>10.3} {:>8.2} {:>10.2} {:>6.0}%",
        case.name,
        T::NAME,
        case.n,
        case.k,
        case.experts,
        step * 1e3,
        unit * 1e3,
        step / unit,
        prototype,
        100.0 * share
    );
}

fn json_row<T: Scalar>(case: &Case, step: &[f64]) -> Value {
    json!({
        "geometry": case.name, "type": T::NAME, "batch": BATCH,
        "n": case.n, "k": case.k, "experts": case.experts,
        "domains": case.domains, "encoded": case.encoded,
        "seconds": tenth_percentile(step), "times": step,
    })
}

fn row<T: Scalar + RealField>(
    case: &Case,
    prototype: f64,
    rounds: Option<usize>,
    json: Option<&mut Vec<Value>>,
) {
    let rounds = rounds.unwrap_or(if case.n > 40 { 150 } else { 600 });
    let [step, unit] = times::<T>(case, rounds, json.is_none());
    match json {
        Some(rows) => rows.push(json_row::<T>(case, &step)),
        None => table_row::<T>(case, [&step, &unit], prototype),
    }
}

/// The command `step`.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let rounds = arguments.number("--rounds")?;
    let mut json = arguments.has("--json").then(Vec::new);
    if json.is_none() {
        println!(
            "\ntraining step of DASP, batch {BATCH}, one thread, milliseconds; ratio to faer's \
             decompositions (lower is faster); share of what fused multiply-adds alone would allow"
        );
        println!(
            "    geometry type    n    k    K       step       faer    ratio  prototype   share"
        );
    }
    for case in &CASES {
        row::<f32>(case, case.prototype.0, rounds, json.as_mut());
        row::<f64>(case, case.prototype.1, rounds, json.as_mut());
    }
    if let Some(rows) = json {
        println!("{}", Value::Array(rows));
    }
    Ok(())
}
