//! The laws of the affine-invariant geometry, over random matrices.

use crate::support::{check_gradient, with_spectrum};
use proptest::prelude::*;
use stiefel_geometry::spd::{self, FrechetOptions, Metric};
use stiefel_linalg::{MatBatch, congruence};
use stiefel_testkit::{assert_close, random_batch, random_spd, random_symmetric};

const METRICS: [Metric; 4] = [
    Metric::AffineInvariant,
    Metric::LogEuclidean,
    Metric::Euclidean,
    Metric::BuresWasserstein,
];

fn airm(a: &MatBatch<f64>, b: &MatBatch<f64>) -> Vec<f64> {
    spd::distance(Metric::AffineInvariant, a.view(), b.view()).unwrap()
}

/// A well-conditioned invertible matrix, not symmetric.
fn mixing(seed: u64, n: usize) -> MatBatch<f64> {
    let noise = random_batch::<f64>(seed, 1, n, n);
    MatBatch::from_fn(1, n, n, |_, r, c| {
        f64::from(u8::from(r == c)) + 0.3 * noise.get(0, r, c) / (n as f64).sqrt()
    })
}

fn mean_of(x: &MatBatch<f64>) -> MatBatch<f64> {
    let options = FrechetOptions {
        tolerance: 1e-13,
        ..FrechetOptions::default()
    };
    let found = spd::frechet_mean(x.view(), &options).unwrap();
    assert!(found.report.converged, "{:?}", found.report);
    found.mean
}

fn near(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_metric_is_one(seed in 0..10_000_u64, n in 1..7_usize) {
        let x = random_spd::<f64>(seed, 3, n);
        for metric in METRICS {
            let d = spd::pairwise_distances(metric, x.view(), x.view()).unwrap();
            for i in 0..3 {
                prop_assert!(d.get(0, i, i) < 1e-13, "{metric:?}: {:e}", d.get(0, i, i));
                for j in 0..3 {
                    prop_assert!((d.get(0, i, j) - d.get(0, j, i)).abs() < 1e-12);
                    prop_assert!(i == j || d.get(0, i, j) > 1e-6);
                    for k in 0..3 {
                        prop_assert!(d.get(0, i, k) <= d.get(0, i, j) + d.get(0, j, k) + 1e-12);
                    }
                }
            }
        }
    }

    #[test]
    fn the_distance_is_invariant_to_mixing_and_inversion(seed in 0..10_000_u64, n in 1..7_usize) {
        let (a, b) = (random_spd::<f64>(seed, 2, n), random_spd::<f64>(seed + 1, 2, n));
        let d = airm(&a, &b);
        let w = mixing(seed + 2, n);
        let mixed = |x: &MatBatch<f64>| congruence(w.view(), x.view()).unwrap();
        prop_assert!(near(&airm(&mixed(&a), &mixed(&b)), &d, 1e-11));
        let inverse = |x: &MatBatch<f64>| spd::power(x.view(), -1.0).unwrap();
        prop_assert!(near(&airm(&inverse(&a), &inverse(&b)), &d, 1e-11));
    }

    #[test]
    fn geodesics_join_their_ends(seed in 0..10_000_u64, n in 1..7_usize, t in -0.5..1.5_f64) {
        let (a, b) = (random_spd::<f64>(seed, 2, n), random_spd::<f64>(seed + 1, 2, n));
        let at = |t: f64| spd::geodesic(a.view(), b.view(), t).unwrap();
        assert_close("start", at(0.0).data(), a.data(), 1e-13);
        assert_close("end", at(1.0).data(), b.data(), 1e-13);
        let reverse = spd::geodesic(b.view(), a.view(), 1.0 - t).unwrap();
        assert_close("reverse", reverse.data(), at(t).data(), 1e-12);
        // Constant speed.
        let (d, part) = (airm(&a, &b), airm(&a, &at(t)));
        for (d, part) in d.iter().zip(part) {
            prop_assert!((part - t.abs() * d).abs() < 1e-11);
        }
        let middle = at(0.5);
        prop_assert!(near(&airm(&a, &middle), &airm(&middle, &b), 1e-11));
    }

    #[test]
    fn log_and_exp_maps_are_inverse(seed in 0..10_000_u64, n in 1..7_usize) {
        let (m, x) = (random_spd::<f64>(seed, 1, n), random_spd::<f64>(seed + 1, 3, n));
        let v = spd::log_map(m.view(), x.view()).unwrap();
        let back = spd::exp_map(m.view(), v.view()).unwrap();
        assert_close("exp log", back.data(), x.data(), 1e-12);
        let v = random_symmetric::<f64>(seed + 2, 3, n);
        let again = spd::log_map(m.view(), spd::exp_map(m.view(), v.view()).unwrap().view()).unwrap();
        assert_close("log exp", again.data(), v.data(), 1e-8);
        // The length of the tangent vector is the distance.
        let v = spd::log_map(m.view(), x.view()).unwrap();
        let squares = spd::inner_product(m.view(), v.view(), Some(v.view())).unwrap();
        let lengths: Vec<f64> = squares.into_iter().map(f64::sqrt).collect();
        prop_assert!(near(&lengths, &airm(&m, &x), 1e-11));
    }

    #[test]
    fn tangent_vectors_are_isometric_and_invertible(seed in 0..10_000_u64, n in 1..7_usize) {
        let (m, x) = (random_spd::<f64>(seed, 1, n), random_spd::<f64>(seed + 1, 3, n));
        let v = spd::tangent_space(m.view(), x.view()).unwrap();
        let lengths: Vec<f64> = (0..3).map(|i| v.matrix(i).iter().map(|x| x * x).sum::<f64>().sqrt()).collect();
        prop_assert!(near(&lengths, &airm(&m, &x), 1e-11));
        let back = spd::untangent_space(m.view(), v.view()).unwrap();
        assert_close("untangent", back.data(), x.data(), 1e-12);
    }

    #[test]
    fn transport_is_an_isometry(seed in 0..10_000_u64, n in 1..7_usize) {
        let (a, b) = (random_spd::<f64>(seed, 1, n), random_spd::<f64>(seed + 1, 1, n));
        let (u, v) = (random_symmetric::<f64>(seed + 2, 2, n), random_symmetric::<f64>(seed + 3, 2, n));
        let carry = |x: &MatBatch<f64>| spd::transport(a.view(), b.view(), x.view()).unwrap();
        let before = spd::inner_product(a.view(), u.view(), Some(v.view())).unwrap();
        let after = spd::inner_product(b.view(), carry(&u).view(), Some(carry(&v).view())).unwrap();
        prop_assert!(near(&before, &after, 1e-10 * (n * n) as f64));
        let back = spd::transport(b.view(), a.view(), carry(&u).view()).unwrap();
        assert_close("there and back", back.data(), u.data(), 1e-11);
        // The velocity of the geodesic stays the velocity of the geodesic.
        let start = spd::log_map(a.view(), b.view()).unwrap();
        let end = spd::log_map(b.view(), a.view()).unwrap();
        prop_assert!(carry(&start).data().iter().zip(end.data()).all(|(x, y)| (x + y).abs() < 1e-10));
    }

    #[test]
    fn recentring_moves_the_mean_to_the_identity(seed in 0..10_000_u64, n in 1..6_usize) {
        let x = random_spd::<f64>(seed, 5, n);
        let moved = spd::recentre(mean_of(&x).view(), x.view()).unwrap();
        assert_close("identity", mean_of(&moved).data(), MatBatch::<f64>::identity(1, n).data(), 1e-11);
        prop_assert!(near(
            spd::mutual_distances(Metric::AffineInvariant, moved.view()).unwrap().data(),
            spd::mutual_distances(Metric::AffineInvariant, x.view()).unwrap().data(),
            1e-10,
        ));
    }

    #[test]
    fn the_frechet_mean_is_invariant(seed in 0..10_000_u64, n in 1..6_usize) {
        let x = random_spd::<f64>(seed, 5, n);
        let mean = mean_of(&x);
        assert_close("permuted", mean_of(&x.select(&[3, 0, 4, 1, 2])).data(), mean.data(), 1e-11);
        let w = mixing(seed + 1, n);
        let mixed = mean_of(&congruence(w.view(), x.view()).unwrap());
        assert_close("mixed", mixed.data(), congruence(w.view(), mean.view()).unwrap().data(), 1e-11);
        let inverse = spd::power(mean_of(&spd::power(x.view(), -1.0).unwrap()).view(), -1.0).unwrap();
        assert_close("inverted", inverse.data(), mean.data(), 1e-11);
        // det of the mean is the geometric mean of the dets.
        let log_det = |x: &MatBatch<f64>| {
            stiefel_linalg::trace(spd::log(x.view()).unwrap().view()).unwrap()
        };
        let expected = log_det(&x).iter().sum::<f64>() / 5.0;
        prop_assert!((log_det(&mean)[0] - expected).abs() < 1e-11);
    }

    /// The mean of two matrices is the middle of their geodesic, and weights move along it.
    #[test]
    fn the_mean_of_two_lies_on_their_geodesic(seed in 0..10_000_u64, n in 1..6_usize, t in 0.05..0.95_f64) {
        let x = random_spd::<f64>(seed, 2, n);
        let options = FrechetOptions { weights: Some(&[2.0 * (1.0 - t), 2.0 * t]), tolerance: 1e-13, ..Default::default() };
        let found = spd::frechet_mean(x.view(), &options).unwrap();
        let expected = spd::geodesic(x.single(0).view(), x.single(1).view(), t).unwrap();
        assert_close("geodesic", found.mean.data(), expected.data(), 1e-11);
    }

    #[test]
    fn far_apart_matrices_converge(seed in 0..10_000_u64, count in 2..8_usize) {
        // Eigenvalues over 1e-4 … 1e4 in unrelated bases.
        let x = with_spectrum(seed, count, &[1e-4, 3e-2, 1.0, 2e2, 1e4]);
        let found = spd::frechet_mean(x.view(), &FrechetOptions::default()).unwrap();
        prop_assert!(found.report.converged, "{:?}", found.report);
        prop_assert!(found.report.iterations <= 15, "{:?}", found.report);
    }
}

#[test]
fn commuting_matrices_have_the_geometric_mean() {
    let u = with_spectrum(1, 1, &[1.0, 2.0, 3.0]);
    let x = MatBatch::from_fn(3, 3, 3, |_, _, _| 0.0);
    let mut x = x;
    for (i, p) in [-1.0, 0.5, 2.0].into_iter().enumerate() {
        x.matrix_mut(i)
            .copy_from_slice(spd::power(u.view(), p).unwrap().data());
    }
    let expected = spd::power(u.view(), 0.5).unwrap();
    assert_close("Fréchet", mean_of(&x).data(), expected.data(), 1e-13);
    let log = spd::mean_log_euclidean(x.view(), None).unwrap();
    assert_close("log-Euclidean", log.data(), expected.data(), 1e-13);
}

#[test]
fn squared_distance_in_both_arguments() {
    for (count_a, count_b, n) in [(2, 2, 4), (1, 3, 3), (3, 1, 3), (2, 2, 1)] {
        let a = random_spd::<f64>(1, count_a, n);
        let b = random_spd::<f64>(2, count_b, n);
        let count = count_a.max(count_b);
        let g = random_batch::<f64>(3, 1, 1, count);
        let squared = spd::squared_distance(a.view(), b.view()).unwrap();
        let expected: Vec<f64> = airm(&a, &b).iter().map(|d| d * d).collect();
        assert_close("value", &squared.value, &expected, 1e-13);
        let (in_a, in_b) = squared.pull_back(g.data()).unwrap();
        let value = |a: &MatBatch<f64>, b: &MatBatch<f64>| {
            let d = spd::squared_distance(a.view(), b.view()).unwrap().value;
            MatBatch::from_vec(1, 1, count, d).unwrap()
        };
        check_gradient("in A", &a, &in_a, &g, true, (1e-3, 1e-9), |a| value(a, &b));
        check_gradient("in B", &b, &in_b, &g, true, (1e-3, 1e-9), |b| value(&a, b));
    }
}

/// Nearby matrices: the Bures–Wasserstein distance keeps its digits where the textbook formula has
/// none.
#[test]
fn bures_wasserstein_of_nearby_matrices() {
    for gap in [1e-3, 1e-6, 1e-9, 1e-12_f64] {
        let a = MatBatch::from_fn(1, 2, 2, |_, r, c| if r == c { 4.0 } else { 0.0 });
        let b = MatBatch::from_fn(1, 2, 2, |_, r, c| {
            if r != c {
                0.0
            } else if r == 0 {
                (2.0 + gap) * (2.0 + gap)
            } else {
                4.0
            }
        });
        // Of commuting matrices it is the distance of their roots.
        let d = spd::distance(Metric::BuresWasserstein, a.view(), b.view()).unwrap()[0];
        assert!((d - gap).abs() < 3e-15, "{d:e} {gap:e}");
    }
    // Condition numbers whose product is beyond rounding still give a distance.
    let a = with_spectrum(1, 2, &[1e-9, 1.0, 10.0]);
    let b = with_spectrum(2, 2, &[1e-9, 2.0, 20.0]);
    for d in spd::distance(Metric::BuresWasserstein, a.view(), b.view()).unwrap() {
        assert!(d > 0.1 && d < 10.0, "{d}");
    }
}
