//! Distances, means and tangent maps against the golden file and against 40-digit truth.

use stiefel_geometry::spd::{self, FrechetOptions, Metric};
use stiefel_linalg::{MatBatch, Scalar};
use stiefel_testkit::{Golden, assert_close};

const TRUTH: &str = include_str!("../fixtures/geometry_truth.txt");

/// One array of the fixture.
fn truth(case: &str, name: &str) -> Vec<f64> {
    let start = format!("{case} {name} ");
    let line = TRUTH
        .lines()
        .find(|l| l.starts_with(&start))
        .expect("the array");
    line[start.len()..]
        .split(' ')
        .map(|v| v.parse().expect("a number"))
        .collect()
}

/// Inputs, with the first four for the distances and singles for the maps.
fn input<T: Scalar>(case: &str) -> MatBatch<T> {
    Golden::open("ops_geometry").batch(&format!("{case}__X"))
}

#[test]
fn distances() {
    for case in ["s", "m", "ill"] {
        distances_match::<f64>(case, 1e-10);
        if case != "ill" {
            distances_match::<f32>(case, 1e-4);
        }
    }
}

fn distances_match<T: Scalar>(case: &str, tolerance: f64) {
    let x = input::<T>(case).select(&[0, 1, 2, 3]);
    for (metric, name) in [
        (Metric::AffineInvariant, "airm"),
        (Metric::BuresWasserstein, "bures"),
        (Metric::LogEuclidean, "logeuclid"),
    ] {
        let expected = truth(case, name);
        let what = format!("{} {case} {name}", T::NAME);
        let mutual = spd::mutual_distances(metric, x.view()).unwrap();
        assert_close(&what, mutual.data(), &expected, tolerance);
        // On the diagonal, rounding in place of zero.
        let pairwise = spd::pairwise_distances(metric, x.view(), x.view()).unwrap();
        assert_close(&what, pairwise.data(), &expected, tolerance);
        let row = spd::distance(metric, x.single(1).view(), x.view()).unwrap();
        assert_close(&what, &row, &expected[4..8], tolerance);
        let column = spd::distance(metric, x.view(), x.single(1).view()).unwrap();
        assert_close(&what, &column, &expected[4..8], tolerance);
    }
}

#[test]
fn golden_distances() {
    let golden = Golden::open("ops_geometry");
    for case in ["s", "m", "ill"] {
        let x = input::<f64>(case);
        let d = spd::mutual_distances(Metric::AffineInvariant, x.view()).unwrap();
        let expected = golden.vec(&format!("{case}__airm_mat"));
        // The golden distances of the ill-conditioned case are themselves 2e-9 from the 40-digit
        // truth, which `distances` meets to 1e-10.
        let limit = if case == "ill" { 1e-8 } else { 1e-10 };
        assert_close(case, d.data(), &expected, limit);
        let first = golden.scalar(&format!("{case}__airm01"));
        assert!((d.get(0, 0, 1) / first - 1.0).abs() < limit);
        if case != "ill" {
            let d = spd::mutual_distances(Metric::AffineInvariant, x.cast::<f32>().view()).unwrap();
            assert_close(case, d.data(), &expected, 1e-4);
        }
    }
}

#[test]
fn means_without_iteration() {
    let golden = Golden::open("ops_geometry");
    for case in ["s", "m", "ill"] {
        let x = input::<f64>(case);
        let euclid = golden.vec(&format!("{case}__euclid"));
        let logeuclid = golden.vec(&format!("{case}__logeuclid"));
        assert_close(
            case,
            spd::mean_euclidean(x.view(), None).unwrap().data(),
            &euclid,
            1e-14,
        );
        let mean = spd::mean_log_euclidean(x.view(), None).unwrap();
        assert_close(case, mean.data(), &logeuclid, 1e-10);
        if case != "ill" {
            let x = x.cast::<f32>();
            assert_close(
                case,
                spd::mean_euclidean(x.view(), None).unwrap().data(),
                &euclid,
                1e-6,
            );
            let mean = spd::mean_log_euclidean(x.view(), None).unwrap();
            assert_close(case, mean.data(), &logeuclid, 1e-4);
        }
    }
}

#[test]
fn frechet_mean() {
    let golden = Golden::open("ops_geometry");
    let options = FrechetOptions {
        tolerance: 1e-13,
        ..FrechetOptions::default()
    };
    for case in ["s", "m", "ill"] {
        let x = input::<f64>(case);
        let found = spd::frechet_mean(x.view(), &options).unwrap();
        assert!(found.report.converged, "{case}: {:?}", found.report);
        let most = if case == "ill" { 12 } else { 5 };
        assert!(
            found.report.iterations <= most,
            "{case}: {:?}",
            found.report
        );
        let reference = golden.vec(&format!("{case}__frechet"));
        // The golden mean of the ill-conditioned case has itself a gradient of 4.3e-7.
        let limit = if case == "ill" { 1e-6 } else { 1e-10 };
        assert_close(case, found.mean.data(), &reference, limit);
        if case != "m" {
            assert_close(case, found.mean.data(), &truth(case, "frechet"), 1e-10);
            let weights: Vec<f64> = (1..=x.count()).map(|i| i as f64).collect();
            let options = FrechetOptions {
                weights: Some(&weights),
                ..options
            };
            let found = spd::frechet_mean(x.view(), &options).unwrap();
            assert!(found.report.converged, "{case}: {:?}", found.report);
            assert_close(
                case,
                found.mean.data(),
                &truth(case, "frechet_weighted"),
                1e-10,
            );
        }
        if case != "ill" {
            let found =
                spd::frechet_mean(x.cast::<f32>().view(), &FrechetOptions::default()).unwrap();
            assert!(found.report.converged, "{case}: {:?}", found.report);
            assert_close(case, found.mean.data(), &reference, 1e-4);
        }
    }
}

#[test]
fn maps() {
    for case in ["s", "m", "ill"] {
        maps_match::<f64>(case, 1e-10);
        if case != "ill" {
            maps_match::<f32>(case, 1e-4);
        }
    }
}

fn maps_match<T: Scalar>(case: &str, tolerance: f64) {
    let x = input::<T>(case);
    let (a, b, c) = (x.single(0), x.single(1), x.single(2));
    let close = |name: &str, got: &MatBatch<T>| {
        assert_close(
            &format!("{} {case} {name}", T::NAME),
            got.data(),
            &truth(case, name),
            tolerance,
        );
    };
    close(
        "geodesic",
        &spd::geodesic(a.view(), b.view(), T::from_f64(0.25)).unwrap(),
    );
    close("log_map", &spd::log_map(a.view(), b.view()).unwrap());
    close("recentre", &spd::recentre(a.view(), b.view()).unwrap());
    close(
        "transport",
        &spd::transport(a.view(), b.view(), c.view()).unwrap(),
    );
    let fiftieth = T::from_f64(0.02);
    let velocity = MatBatch::from_fn(1, a.rows(), a.rows(), |_, r, col| {
        (b.get(0, r, col) - c.get(0, r, col)) * fiftieth
    });
    close("exp_map", &spd::exp_map(a.view(), velocity.view()).unwrap());
    if case != "ill" {
        let vectors = spd::tangent_space(a.view(), x.view()).unwrap();
        close("tangent_space", &vectors);
        let back = spd::untangent_space(a.view(), vectors.view()).unwrap();
        assert_close("untangent", back.data(), x.data(), tolerance);
    }
}
