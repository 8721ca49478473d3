//! Against `golden/ops_precond_dsp`: 40 trials of 6 channels, 4 domains, 28 of them for training,
//! absolute loading.

use stiefel_linalg::MatBatch;
use stiefel_model::precondition::{Preconditioning, Scaling, Tikhonov, Whitening};
use stiefel_model::{Factor, Trials};
use stiefel_testkit::{Golden, assert_close};

const TOLERANCE: f64 = 1e-12;

fn golden_trials(golden: &Golden) -> (Trials, Vec<usize>) {
    let domains = golden.indices("d");
    let count = domains.len();
    let names = (0..4).map(|d| format!("s{d}")).collect();
    let trials = Trials::new(
        golden.batch("X"),
        Factor::from_labels(vec!["any"; count]),
        Factor::new("domain", names, domains).unwrap(),
    )
    .unwrap();
    let flags = golden.indices("train");
    let train = (0..count).filter(|&i| flags[i] == 1).collect();
    (trials, train)
}

fn compare(prefix: &str, whitening: Whitening) {
    let golden = Golden::open("ops_precond_dsp");
    let (trials, train) = golden_trials(&golden);
    for (suffix, scaling) in [
        ("per_matrix", Scaling::PerTrial),
        ("global", Scaling::PerDomain),
        ("none", Scaling::None),
    ] {
        let config = Preconditioning {
            tikhonov: Tikhonov::Absolute(1e-8),
            whitening,
            scaling,
            ..Preconditioning::default()
        };
        let whitener = config.fit(&trials.select(&train).unwrap()).unwrap();
        let expected_z: MatBatch<f64> = golden.batch(&format!("{prefix}_Z"));
        let mut signs = Vec::new();
        for d in 0..4 {
            let found = whitener.matrix_of(d).unwrap();
            // Rows of the principal-component form are given up to their sign.
            let row_sign = |r: usize| {
                let dot: f64 = (0..6)
                    .map(|c| found[r * 6 + c] * expected_z.get(d, r, c))
                    .sum();
                dot.signum()
            };
            let sign: Vec<f64> = match whitening {
                Whitening::Symmetric | Whitening::None => vec![1.0; 6],
                Whitening::Pca => (0..6).map(row_sign).collect(),
            };
            let signed: Vec<f64> = (0..36).map(|at| found[at] * sign[at / 6]).collect();
            assert_close("Z", &signed, expected_z.matrix(d), TOLERANCE);
            signs.push(sign);
        }
        let out = whitener.transform(&trials).unwrap();
        let expected: MatBatch<f64> = golden.batch(&format!("{prefix}_{suffix}"));
        for (i, &d) in trials.domains().indices().iter().enumerate() {
            let sign = &signs[d];
            let found: Vec<f64> = (0..36)
                .map(|at| out.covariances().matrix(i)[at] * sign[at / 6] * sign[at % 6])
                .collect();
            let what = format!("{prefix}_{suffix}, trial {i}");
            assert_close(&what, &found, expected.matrix(i), TOLERANCE);
        }
    }
}

#[test]
fn symmetric_whitening() {
    compare("sym", Whitening::Symmetric);
}

#[test]
fn principal_component_whitening() {
    compare("pca", Whitening::Pca);
}
