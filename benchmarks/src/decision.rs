//! One decision (whitening, logarithm, routing, filter, tail; one trial, one thread) beside faer's
//! decomposition of one `n × n` matrix, interleaved in the same run. That is in double precision
//! for both rows: covariances are, and so is the logarithm that routes them, whatever the network's
//! precision.

use crate::eigen::FaerEigen;
use crate::timing::side_by_side;
use stiefel_linalg::{MatBatch, Scalar};
use stiefel_model::net::DaspConfig;
use stiefel_model::train::{Silent, TrainConfig};
use stiefel_model::{
    Architecture, Decoder, Domain, DspConfig, Factor, Model, ModelConfig, Preconditioning, Trials,
};
use stiefel_testkit::random_spd;

/// A geometry of the paper.
struct Case {
    name: &'static str,
    n: usize,
    k: usize,
    experts: usize,
    encoded: bool,
}

const CASES: [Case; 2] = [
    Case {
        name: "Weibo2014",
        n: 60,
        k: 30,
        experts: 8,
        encoded: true,
    },
    Case {
        name: "BNCI2014001",
        n: 22,
        k: 20,
        experts: 8,
        encoded: false,
    },
];

/// Decisions per timing: a single one is near the resolution of the clock's noise.
const REPEAT: usize = 8;

fn decoder<T: Scalar>(case: &Case, x: MatBatch<f64>) -> Decoder<T> {
    let label = |i: usize| ["left", "right"][i % 2];
    let person = |i: usize| ["a", "b", "c"][i % 3];
    let count = x.count();
    let trials = Trials::new(
        x,
        Factor::from_labels((0..count).map(label)),
        Factor::from_labels((0..count).map(person)),
    )
    .expect("covariances");
    let config = ModelConfig {
        preconditioning: Preconditioning::default(),
        encoder: case.encoded.then_some(DspConfig::default()),
        architecture: Architecture::Dasp(DaspConfig {
            filters: case.k,
            experts: case.experts,
            ..DaspConfig::default()
        }),
        training: TrainConfig {
            epochs: 1,
            ..TrainConfig::default()
        },
        frechet_means: false,
    };
    let model = Model::<T>::fit(&trials, &trials, &config, &mut Silent).expect("a model");
    Decoder::new(model).expect("a decoder")
}

fn row<T: Scalar>(case: &Case) {
    let x = random_spd::<f64>(1, 60, case.n);
    let mut decoder = decoder::<T>(case, x.clone());
    let mut faer = FaerEigen::new(random_spd::<f64>(4, REPEAT, case.n));
    let [decision, unit] = side_by_side(
        400,
        [
            &mut || {
                for i in 0..REPEAT {
                    let decision = decoder.decide(x.matrix(i), Domain::Known(i % 3));
                    std::hint::black_box(decision.expect("a decision").class);
                }
            },
            &mut || faer.run(),
        ],
    );
    let each = 1e6 / REPEAT as f64;
    println!(
        "{:>12} {:>4} {:>4} {:>4} {:>4} {:>10.1} {:>10.1} {:>8.2}",
        case.name,
        T::NAME,
        case.n,
        case.k,
        case.experts,
        decision * each,
        unit * each,
        decision / unit
    );
}

pub(crate) fn run() {
    println!(
        "\none decision of DASP from a raw covariance, one thread, microseconds; beside faer's \
         decomposition of one n × n matrix in double precision"
    );
    println!("    geometry type    n    k    K   decision       faer    ratio");
    for case in &CASES {
        row::<f32>(case);
        row::<f64>(case);
    }
}
