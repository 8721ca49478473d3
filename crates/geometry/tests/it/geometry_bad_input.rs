//! Bad input at every door of distances, means and tangent maps.

use crate::support::with_spectrum;
use stiefel_geometry::spd::{self, FrechetOptions, Metric};
use stiefel_geometry::{GeometryError, Result};
use stiefel_linalg::{LinalgError, MatBatch};
use stiefel_testkit::{random_spd, random_symmetric};

const METRICS: [Metric; 4] = [
    Metric::AffineInvariant,
    Metric::LogEuclidean,
    Metric::Euclidean,
    Metric::BuresWasserstein,
];

/// Every two-argument door, with its name.
fn doors(a: &MatBatch<f64>, b: &MatBatch<f64>) -> Vec<(String, Result<()>)> {
    let (a, b) = (a.view(), b.view());
    let mut all: Vec<(String, Result<()>)> = METRICS
        .iter()
        .map(|m| (format!("{m:?}"), spd::distance(*m, a, b).map(|_| ())))
        .collect();
    all.push(("geodesic".into(), spd::geodesic(a, b, 0.5).map(|_| ())));
    all.push(("log_map".into(), spd::log_map(a, b).map(|_| ())));
    all.push(("transport".into(), spd::transport(a, b, b).map(|_| ())));
    all.push(("squared".into(), spd::squared_distance(a, b).map(|_| ())));
    all.push(("tangent_space".into(), spd::tangent_space(a, b).map(|_| ())));
    all.push(("exp_map".into(), spd::exp_map(a, b).map(|_| ())));
    all.push(("recentre".into(), spd::recentre(a, b).map(|_| ())));
    all.push((
        "inner_product".into(),
        spd::inner_product(a, b, Some(b)).map(|_| ()),
    ));
    all
}

/// Every one-argument door.
fn means(x: &MatBatch<f64>) -> Vec<(&'static str, Result<()>)> {
    vec![
        (
            "frechet",
            spd::frechet_mean(x.view(), &FrechetOptions::default()).map(|_| ()),
        ),
        (
            "log-Euclidean",
            spd::mean_log_euclidean(x.view(), None).map(|_| ()),
        ),
        ("Euclidean", spd::mean_euclidean(x.view(), None).map(|_| ())),
    ]
}

#[test]
fn matrices_that_are_not_spd_are_named() {
    let good = random_spd::<f64>(1, 3, 4);
    for spectrum in [
        [0.0, 1.0, 2.0, 3.0],
        [-0.5, 1.0, 2.0, 3.0],
        [1e-18, 1e-17, 1.0, 2.0],
    ] {
        let mut bad = good.clone();
        bad.matrix_mut(2)
            .copy_from_slice(with_spectrum(2, 1, &spectrum).data());
        // These take any symmetric matrix in that place.
        let lenient = ["Euclidean", "exp_map", "recentre", "inner_product"];
        for (side, results) in [
            ("first", doors(&bad, &good)),
            ("second", doors(&good, &bad)),
        ] {
            for (name, result) in results {
                if name == "Euclidean" || (side == "second" && lenient.contains(&name.as_str())) {
                    assert!(result.is_ok(), "{name} {side}: {result:?}");
                } else {
                    let trial = matches!(result, Err(GeometryError::NotSpd { trial: 2, .. }));
                    assert!(trial, "{name} {side} {spectrum:?}: {result:?}");
                }
            }
        }
        for (name, result) in means(&bad) {
            let named = matches!(result, Err(GeometryError::NotSpd { trial: 2, .. }));
            assert!(
                named || (name == "Euclidean" && result.is_ok()),
                "{name}: {result:?}"
            );
        }
    }
}

#[test]
fn not_a_number_and_asymmetry() {
    let good = random_spd::<f64>(3, 2, 3);
    let (mut nan, mut torn) = (good.clone(), good.clone());
    nan.matrix_mut(1)[4] = f64::NAN;
    torn.matrix_mut(1)[1] += 0.1;
    for (name, result) in doors(&good, &nan).into_iter().chain(doors(&nan, &good)) {
        let error = result.unwrap_err();
        let place = matches!(
            error,
            GeometryError::Linalg(LinalgError::NotFinite {
                matrix: 1,
                row: 1,
                col: 1,
                ..
            })
        );
        assert!(place, "{name}: {error}");
    }
    for (name, result) in doors(&good, &torn).into_iter().chain(doors(&torn, &good)) {
        let error = result.unwrap_err();
        let place = matches!(
            error,
            GeometryError::Asymmetric {
                trial: 1,
                row: 1,
                col: 0,
                ..
            }
        );
        assert!(place, "{name}: {error}");
    }
    for (name, result) in means(&nan).into_iter().chain(means(&torn)) {
        assert!(result.is_err(), "{name}");
    }
}

#[test]
fn shapes() {
    let shape = |e: &GeometryError| matches!(e, GeometryError::Linalg(LinalgError::Shape { .. }));
    let good = random_spd::<f64>(4, 3, 3);
    for bad in [
        random_spd::<f64>(5, 2, 3),
        random_spd::<f64>(5, 3, 4),
        MatBatch::zeros(3, 3, 2),
    ] {
        for (name, result) in doors(&good, &bad).into_iter().chain(doors(&bad, &good)) {
            let error = result.unwrap_err();
            assert!(shape(&error), "{name}: {error}");
        }
    }
    let other = random_spd::<f64>(5, 3, 4);
    let wrong = spd::pairwise_distances(Metric::Euclidean, good.view(), other.view());
    assert!(shape(&wrong.unwrap_err()));
    let vectors = MatBatch::zeros(3, 1, 5);
    assert!(shape(
        &spd::untangent_space(good.view(), vectors.view()).unwrap_err()
    ));
    let vectors = MatBatch::zeros(3, 1, 10);
    assert!(shape(
        &spd::untangent_space(good.view(), vectors.view()).unwrap_err()
    ));
    let squared = spd::squared_distance(good.view(), good.view()).unwrap();
    assert!(shape(&squared.pull_back(&[1.0]).unwrap_err()));
    for (name, result) in means(&MatBatch::zeros(2, 3, 2)) {
        assert!(shape(&result.unwrap_err()), "{name}");
    }
}

#[test]
fn empty_batches() {
    let (one, none) = (random_spd::<f64>(6, 1, 3), MatBatch::<f64>::zeros(0, 3, 3));
    for (name, result) in doors(&one, &none).into_iter().chain(doors(&none, &one)) {
        assert!(result.is_ok(), "{name}: {result:?}");
    }
    for metric in METRICS {
        assert!(
            spd::distance(metric, one.view(), none.view())
                .unwrap()
                .is_empty()
        );
        let d = spd::pairwise_distances(metric, one.view(), none.view()).unwrap();
        assert_eq!(d.shape(), (1, 1, 0));
        let d = spd::mutual_distances(metric, none.view()).unwrap();
        assert_eq!(d.shape(), (1, 0, 0));
    }
    for (name, result) in means(&none) {
        assert!(
            matches!(result, Err(GeometryError::Empty { .. })),
            "{name}: {result:?}"
        );
    }
}

#[test]
fn parameters() {
    let x = random_spd::<f64>(7, 3, 3);
    let parameter = |e: &GeometryError| matches!(e, GeometryError::Parameter { .. });
    let bad_weights: [&[f64]; 4] = [
        &[1.0, -1.0, 1.0],
        &[0.0, 0.0, 0.0],
        &[1.0, f64::NAN, 1.0],
        &[f64::INFINITY, 1.0, 1.0],
    ];
    for weights in bad_weights {
        assert!(parameter(
            &spd::mean_euclidean(x.view(), Some(weights)).unwrap_err()
        ));
        assert!(parameter(
            &spd::mean_log_euclidean(x.view(), Some(weights)).unwrap_err()
        ));
        let options = FrechetOptions {
            weights: Some(weights),
            ..Default::default()
        };
        assert!(parameter(
            &spd::frechet_mean(x.view(), &options).unwrap_err()
        ));
    }
    let short = FrechetOptions {
        weights: Some(&[1.0][..]),
        ..Default::default()
    };
    assert!(spd::frechet_mean(x.view(), &short).is_err());
    for tolerance in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let options = FrechetOptions {
            tolerance,
            ..Default::default()
        };
        assert!(parameter(
            &spd::frechet_mean(x.view(), &options).unwrap_err()
        ));
    }
    for t in [f64::NAN, f64::INFINITY] {
        assert!(parameter(
            &spd::geodesic(x.view(), x.view(), t).unwrap_err()
        ));
    }
    // Too few iterations are reported, not hidden.
    let options = FrechetOptions {
        tolerance: 1e-13,
        max_iterations: 2,
        ..Default::default()
    };
    let wide = with_spectrum(8, 4, &[1e-3, 1.0, 1e3]);
    let report = spd::frechet_mean(wide.view(), &options).unwrap().report;
    assert!(
        !report.converged && report.iterations == 2 && report.residual > 1e-13,
        "{report:?}"
    );
    // A tolerance below rounding ends as well.
    let options = FrechetOptions {
        tolerance: 1e-30,
        ..Default::default()
    };
    let report = spd::frechet_mean(wide.view(), &options).unwrap().report;
    assert!(!report.converged && report.residual < 1e-11, "{report:?}");
}

#[test]
fn one_by_one_and_one_trial() {
    let x = random_spd::<f64>(9, 1, 4);
    let found = spd::frechet_mean(x.view(), &FrechetOptions::default()).unwrap();
    stiefel_testkit::assert_close("one trial", found.mean.data(), x.data(), 1e-13);
    let scalar = random_spd::<f64>(10, 3, 1);
    for (name, result) in doors(&scalar, &scalar) {
        assert!(result.is_ok(), "{name}: {result:?}");
    }
    let v = random_symmetric::<f64>(11, 3, 1);
    let moved = spd::exp_map(scalar.view(), v.view()).unwrap();
    for i in 0..3 {
        let (m, v) = (scalar.get(i, 0, 0), v.get(i, 0, 0));
        assert!((moved.get(i, 0, 0) / (m * (v / m).exp()) - 1.0).abs() < 1e-14);
    }
}
