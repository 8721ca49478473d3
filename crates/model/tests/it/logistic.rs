//! Logistic regression against scikit-learn, against the conditions of its minimum, and under bad
//! input.

use crate::peers::{cases, whitened_rows};
use proptest::prelude::*;
use stiefel_model::ModelError;
use stiefel_model::peers::C_GRID;
use stiefel_model::peers::logistic::{Logistic, LogisticModel};
use stiefel_testkit::{normal, rng};

#[test]
fn scikit_learn_agrees_on_decision_values() {
    for case in cases() {
        let (training, labels, test) = whitened_rows(&case);
        let problem = Logistic::new(training, 36, &labels, case.classes).unwrap();
        let models = problem.fit(&C_GRID).unwrap();
        for (model, expected) in models.iter().zip(&case.decisions) {
            let found = model.decisions(&test).unwrap();
            assert_eq!(found.len(), expected.len());
            let gap = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
            let gap = gap.fold(0.0, f64::max);
            assert!(gap < 1e-8, "C = {}: {gap:e}", model.c);
        }
    }
}

/// Random features with a little of the class in the first one.
fn random_problem(
    seed: u64,
    rows: usize,
    features: usize,
    classes: usize,
) -> (Vec<f64>, Vec<usize>) {
    let mut rng = rng(seed);
    let labels: Vec<usize> = (0..rows).map(|i| i % classes).collect();
    let mut x: Vec<f64> = (0..rows * features).map(|_| normal(&mut rng)).collect();
    for (i, &y) in labels.iter().enumerate() {
        x[i * features] += y as f64;
    }
    (x, labels)
}

/// The gradient of `½‖W‖² + C Σ loss` written down as it is, and its norm at `W = 0`, `b = 0`.
fn naive_gradient(m: &LogisticModel, x: &[f64], labels: &[usize], classes: usize) -> (f64, f64) {
    let rows = m.intercepts.len();
    let p = m.weights.len() / rows;
    let norm = |weights: &[f64], intercepts: &[f64]| {
        let mut g = weights.to_vec();
        let mut g_b = vec![0.0; rows];
        for (x, &y) in x.chunks(p).zip(labels) {
            let z: Vec<f64> = (0..rows)
                .map(|c| {
                    let w = &weights[c * p..(c + 1) * p];
                    intercepts[c] + w.iter().zip(x).map(|(w, x)| w * x).sum::<f64>()
                })
                .collect();
            for c in 0..rows {
                let residual = if rows == 1 {
                    1.0 / (1.0 + (-z[0]).exp()) - y as f64
                } else {
                    let sum: f64 = z.iter().map(|z| z.exp()).sum();
                    z[c].exp() / sum - f64::from(u8::from(c == y))
                };
                g_b[c] += m.c * residual;
                for (g, x) in g[c * p..(c + 1) * p].iter_mut().zip(x) {
                    *g += m.c * residual * x;
                }
            }
        }
        g.iter().chain(&g_b).map(|g| g * g).sum::<f64>().sqrt()
    };
    assert_eq!(rows, if classes == 2 { 1 } else { classes });
    (
        norm(&m.weights, &m.intercepts),
        norm(&vec![0.0; rows * p], &vec![0.0; rows]),
    )
}

#[test]
fn the_gradient_vanishes_with_and_without_a_factor() {
    // Many more features than trials (factored), about as many, and few; with one thread's work and
    // with several's.
    for (rows, features, classes) in [
        (30, 300, 2),
        (60, 40, 3),
        (300, 5, 2),
        (400, 450, 4),
        (2000, 80, 2),
    ] {
        let (x, labels) = random_problem(7, rows, features, classes);
        let problem = Logistic::new(x.clone(), features, &labels, classes).unwrap();
        for model in problem.fit(&[1e-3, 1.0, 100.0]).unwrap() {
            let (at, zero) = naive_gradient(&model, &x, &labels, classes);
            assert!(
                at <= 1e-10 * zero,
                "{rows} × {features}, C = {}: {:e}",
                model.c,
                at / zero
            );
            assert!(model.steps <= 20, "{} steps", model.steps);
        }
    }
}

#[test]
fn equal_trials_are_no_obstacle() {
    // Ten trials, each five times: the Gram matrix has rank ten.
    let (x, labels) = random_problem(5, 10, 120, 2);
    let (x5, labels5) = (x.repeat(5), labels.repeat(5));
    let repeated = Logistic::new(x5, 120, &labels5, 2).unwrap();
    let once = Logistic::new(x.clone(), 120, &labels, 2).unwrap();
    let found = repeated.fit(&[0.1]).unwrap()[0].decisions(&x).unwrap();
    let expected = once.fit(&[0.5]).unwrap()[0].decisions(&x).unwrap();
    for (a, b) in found.iter().zip(&expected) {
        assert!((a - b).abs() < 1e-10, "{a} {b}");
    }
}

#[test]
fn separable_classes_and_large_features_converge() {
    let x = vec![-3e3, -1e3, 1e3, 5e3];
    let problem = Logistic::new(x, 1, &[0, 0, 1, 1], 2).unwrap();
    for model in problem.fit(&[1e-3, 1.0, 1e3]).unwrap() {
        assert_eq!(model.decide(&[-1.0e3, 1.0e3]).unwrap(), [0, 1]);
        assert!(model.gradient <= 1e-10);
    }
    // Features that say nothing: the intercept is the share of the class.
    let problem = Logistic::new(vec![0.0; 5], 1, &[0, 1, 1, 1, 1], 2).unwrap();
    let p = problem.fit(&[1.0]).unwrap()[0]
        .probabilities(&[0.0])
        .unwrap();
    assert!((p[1] - 0.8).abs() < 1e-12, "{p:?}");
}

#[test]
fn results_do_not_depend_on_threads() {
    let (x, labels) = random_problem(3, 500, 600, 3);
    let fit = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| {
            let problem = Logistic::new(x.clone(), 600, &labels, 3).unwrap();
            problem.fit(&[0.1]).unwrap()
        })
    };
    assert_eq!(fit(1), fit(3));
}

#[test]
fn bad_input_is_an_error() {
    let make = |x: Vec<f64>, p, labels: &[usize], classes| Logistic::new(x, p, labels, classes);
    let error = make(vec![0.0; 5], 2, &[0, 1], 2).unwrap_err();
    assert!(matches!(error, ModelError::Count { .. }), "{error}");
    let error = make(vec![], 0, &[0, 1], 2).unwrap_err();
    assert!(matches!(error, ModelError::Count { .. }), "{error}");
    let error = make(vec![0.0; 6], 2, &[0, 1], 2).unwrap_err();
    assert!(
        matches!(
            error,
            ModelError::Count {
                expected: 4,
                found: 6,
                ..
            }
        ),
        "{error}"
    );
    let error = make(vec![0.0, f64::NAN], 1, &[0, 1], 2).unwrap_err();
    assert!(
        matches!(error, ModelError::NotFinite { trial: 1, .. }),
        "{error}"
    );
    let error = make(vec![0.0; 2], 1, &[0, 2], 2).unwrap_err();
    assert!(
        matches!(
            error,
            ModelError::IndexOutOfRange {
                trial: 1,
                index: 2,
                ..
            }
        ),
        "{error}"
    );
    for (labels, classes, missing) in [(&[0, 0][..], 2, 1), (&[0, 1], 3, 2), (&[0, 0], 1, 1)] {
        let error = make(vec![0.0; 2], 1, labels, classes).unwrap_err();
        assert!(
            error
                .to_string()
                .contains(&format!("class {missing} has no trials")),
            "{error}"
        );
    }
    let problem = make(vec![0.0, 1.0], 1, &[0, 1], 2).unwrap();
    for c in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = problem.fit(&[c]).unwrap_err();
        assert!(matches!(error, ModelError::Parameter { .. }), "{error}");
    }
    let model = &problem.fit(&[1.0]).unwrap()[0];
    assert!(model.decisions(&[f64::INFINITY]).is_err());
    assert!(model.decisions(&[]).unwrap().is_empty());
}

/// `cargo test -p stiefel-study --test it -- --ignored --nocapture seconds`
#[test]
#[ignore = "a measurement, not a check"]
fn seconds_for_64_channels() {
    let (unit, labels) = random_problem(1, 1700, 2080, 2);
    // Tangent vectors of pre-conditioned EEG have a squared norm of some tens, a Gaussian one of
    // 2080: the harder case.
    for (norm, size) in [("of EEG", 0.2), ("unit variance", 1.0)] {
        let x: Vec<f64> = unit.iter().map(|x| size * x).collect();
        for (classes, labels) in [(2, labels.clone()), (4, (0..1700).map(|i| i % 4).collect())] {
            let start = std::time::Instant::now();
            let problem = Logistic::new(x.clone(), 2080, &labels, classes).unwrap();
            let models = problem.fit(&C_GRID).unwrap();
            let steps: Vec<_> = models.iter().map(|m| m.steps).collect();
            println!(
                "features {norm}, {classes} classes: {:?}, steps {steps:?}",
                start.elapsed()
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn probabilities_are_probabilities(seed in 0_u64..1000, classes in 2_usize..5, c in 1e-4_f64..10.0) {
        let (x, labels) = random_problem(seed, 24, 6, classes);
        let problem = Logistic::new(x.clone(), 6, &labels, classes).unwrap();
        let model = &problem.fit(&[c]).unwrap()[0];
        let p = model.probabilities(&x).unwrap();
        let decided = model.decide(&x).unwrap();
        for (row, decided) in p.chunks(classes).zip(decided) {
            prop_assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            prop_assert!(row.iter().all(|p| (0.0..=1.0).contains(p) && *p <= row[decided]));
        }
        let (at, zero) = naive_gradient(model, &x, &labels, classes);
        prop_assert!(at <= 1e-10 * zero);
        // The free intercept makes mean probabilities equal the shares of the classes.
        for class in 0..classes {
            let mean = p.iter().skip(class).step_by(classes).sum::<f64>();
            let share = labels.iter().filter(|&&l| l == class).count() as f64;
            prop_assert!((mean - share).abs() < 1e-7);
        }
    }
}
