//! The geometries besides the affine-invariant one: laws of their distances, geodesics, maps and
//! transports, against naive references.

use crate::support::{dot, with_spectrum};
use proptest::prelude::*;
use stiefel_geometry::spd::{self, CholeskyChart, Metric};
use stiefel_geometry::{GeometryError, Result};
use stiefel_linalg::{MatBatch, MatView, Op, cholesky, congruence, product};
use stiefel_testkit::{assert_close, random_batch, random_spd, random_symmetric};

const CHARTS: [CholeskyChart; 2] = [CholeskyChart::Factor, CholeskyChart::LogFactor];

type Geodesic = fn(MatView<'_, f64>, MatView<'_, f64>, &[f64]) -> Result<MatBatch<f64>>;

/// Geodesics with the distance they belong to.
const GEODESICS: [(Metric, Geodesic); 4] = [
    (Metric::Cholesky, |a, b, t| {
        spd::geodesic_cholesky(CholeskyChart::Factor, a, b, t)
    }),
    (Metric::LogCholesky, |a, b, t| {
        spd::geodesic_cholesky(CholeskyChart::LogFactor, a, b, t)
    }),
    (Metric::BuresWasserstein, spd::geodesic_wasserstein),
    (Metric::Thompson, spd::geodesic_thompson),
];

fn d(metric: Metric, a: &MatBatch<f64>, b: &MatBatch<f64>) -> f64 {
    spd::distance(metric, a.view(), b.view()).unwrap()[0]
}

/// Not symmetric, well conditioned.
fn mixing(seed: u64, n: usize) -> MatBatch<f64> {
    let noise = random_batch::<f64>(seed, 1, n, n);
    MatBatch::from_fn(1, n, n, |_, r, c| {
        f64::from(u8::from(r == c)) + 0.3 * noise.get(0, r, c) / (n as f64).sqrt()
    })
}

/// `φ` entry by entry.
fn naive_coordinates(chart: CholeskyChart, x: &MatBatch<f64>) -> MatBatch<f64> {
    let l = cholesky(x.view()).unwrap();
    MatBatch::from_fn(x.count(), x.rows(), x.rows(), |i, r, c| {
        let value = l.get(i, r, c);
        if r == c && chart == CholeskyChart::LogFactor {
            value.ln()
        } else {
            value
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn distances_against_their_definitions(seed in 0..10_000_u64, n in 1..7_usize) {
        let (a, b) = (random_spd::<f64>(seed, 1, n), random_spd::<f64>(seed + 1, 1, n));
        for (chart, metric) in CHARTS.into_iter().zip([Metric::Cholesky, Metric::LogCholesky]) {
            let (x, y) = (naive_coordinates(chart, &a), naive_coordinates(chart, &b));
            let gap: f64 = x.data().iter().zip(y.data()).map(|(x, y)| (x - y) * (x - y)).sum();
            prop_assert!((d(metric, &a, &b) - gap.sqrt()).abs() < 1e-13);
        }
        // The spectral norm of the logarithm of the whitened matrix.
        let log = spd::log(spd::recentre(a.view(), b.view()).unwrap().view()).unwrap();
        let values = stiefel_linalg::eigenvalues(log.view()).unwrap();
        let largest = values.iter().fold(0.0_f64, |m, l| m.max(l.abs()));
        prop_assert!((d(Metric::Thompson, &a, &b) - largest).abs() < 1e-11 * (1.0 + largest));
    }

    #[test]
    fn the_new_distances_are_metrics(seed in 0..10_000_u64, n in 1..7_usize) {
        let x = random_spd::<f64>(seed, 3, n);
        for metric in [Metric::Cholesky, Metric::LogCholesky, Metric::Thompson] {
            let d = spd::pairwise_distances(metric, x.view(), x.view()).unwrap();
            for i in 0..3 {
                prop_assert!(d.get(0, i, i) < 1e-13, "{metric:?}");
                for j in 0..3 {
                    prop_assert!((d.get(0, i, j) - d.get(0, j, i)).abs() < 1e-12);
                    for k in 0..3 {
                        prop_assert!(d.get(0, i, k) <= d.get(0, i, j) + d.get(0, j, k) + 1e-12);
                    }
                }
            }
        }
    }

    #[test]
    fn the_thompson_distance_is_invariant_to_mixing_and_inversion(seed in 0..10_000_u64, n in 1..7_usize) {
        let (a, b) = (random_spd::<f64>(seed, 1, n), random_spd::<f64>(seed + 1, 1, n));
        let w = mixing(seed + 2, n);
        let mixed = |x: &MatBatch<f64>| congruence(w.view(), x.view()).unwrap();
        let inverse = |x: &MatBatch<f64>| spd::power(x.view(), -1.0).unwrap();
        let expected = d(Metric::Thompson, &a, &b);
        prop_assert!((d(Metric::Thompson, &mixed(&a), &mixed(&b)) - expected).abs() < 1e-11);
        prop_assert!((d(Metric::Thompson, &inverse(&a), &inverse(&b)) - expected).abs() < 1e-11);
    }

    #[test]
    fn geodesics_join_their_ends_at_constant_speed(seed in 0..10_000_u64, n in 1..7_usize, t in 0.0..1.0_f64) {
        let (a, b) = (random_spd::<f64>(seed, 1, n), random_spd::<f64>(seed + 1, 1, n));
        for (metric, geodesic) in GEODESICS {
            let at = |t: f64| geodesic(a.view(), b.view(), &[t]).unwrap();
            assert_close("start", at(0.0).data(), a.data(), 1e-11);
            assert_close("end", at(1.0).data(), b.data(), 1e-11);
            let back = geodesic(b.view(), a.view(), &[1.0 - t]).unwrap();
            assert_close("back", back.data(), at(t).data(), 1e-10);
            let (whole, part) = (d(metric, &a, &b), d(metric, &a, &at(t)));
            prop_assert!((part - t * whole).abs() < 1e-7 * (1.0 + whole), "{metric:?}: {part} {}", t * whole);
        }
    }

    #[test]
    fn geodesics_take_one_position_for_all_or_one_for_each(seed in 0..10_000_u64, n in 1..5_usize) {
        // More than one part of a stack, one single operand.
        let (a, b) = (random_spd::<f64>(seed, 1100, n), random_spd::<f64>(seed + 1, 1, n));
        let t: Vec<f64> = (0..1100).map(|i| f64::from(i) / 1100.0).collect();
        let all: [Geodesic; 4] = [
            |a, b, t| spd::geodesic_cholesky(CholeskyChart::Factor, a, b, t),
            |a, b, t| spd::geodesic_cholesky(CholeskyChart::LogFactor, a, b, t),
            spd::geodesic_wasserstein,
            spd::geodesic_thompson,
        ];
        for geodesic in all {
            let each = geodesic(a.view(), b.view(), &t).unwrap();
            for i in [0, 513, 1099] {
                let alone = geodesic(a.single(i).view(), b.view(), &[t[i]]).unwrap();
                prop_assert_eq!(alone.data(), each.matrix(i));
            }
            prop_assert!(geodesic(a.view(), b.view(), &t[..7]).is_err());
            prop_assert!(geodesic(a.view(), b.view(), &[f64::NAN]).is_err());
        }
    }

    #[test]
    fn thompson_geodesics_of_two_channels_are_the_affine_invariant_ones(seed in 0..10_000_u64, t in 0.0..1.0_f64) {
        let (a, b) = (random_spd::<f64>(seed, 1, 2), random_spd::<f64>(seed + 1, 1, 2));
        let found = spd::geodesic_thompson(a.view(), b.view(), &[t]).unwrap();
        assert_close("n = 2", found.data(), spd::geodesic(a.view(), b.view(), t).unwrap().data(), 1e-11);
    }

    #[test]
    fn maps_are_inverse_to_each_other(seed in 0..10_000_u64, n in 1..7_usize, count in 1..4_usize) {
        let x = random_spd::<f64>(seed, count, n);
        for foot in [random_spd::<f64>(seed + 1, 1, n), random_spd::<f64>(seed + 1, count, n)] {
            let v = spd::log_map_log_cholesky(foot.view(), x.view()).unwrap();
            let back = spd::exp_map_log_cholesky(foot.view(), v.view()).unwrap();
            assert_close("log-Cholesky", back.data(), x.data(), 1e-10);
            let v = spd::log_map_wasserstein(foot.view(), x.view()).unwrap();
            let back = spd::exp_map_wasserstein(foot.view(), v.view()).unwrap();
            assert_close("Bures–Wasserstein", back.data(), x.data(), 1e-9);
        }
    }

    /// The derivative of the chart by central differences, and its inverse.
    #[test]
    fn log_cholesky_coordinates_are_the_derivative_of_the_chart(seed in 0..10_000_u64, n in 1..6_usize) {
        let (c, v) = (random_spd::<f64>(seed, 1, n), random_symmetric::<f64>(seed + 1, 1, n));
        let h = 1e-5;
        let moved = |s: f64| {
            let x = MatBatch::from_fn(1, n, n, |_, r, k| c.get(0, r, k) + s * v.get(0, r, k));
            naive_coordinates(CholeskyChart::LogFactor, &x)
        };
        let (ahead, behind) = (moved(h), moved(-h));
        let slope = MatBatch::from_fn(1, n, n, |_, r, k| (ahead.get(0, r, k) - behind.get(0, r, k)) / (2.0 * h));
        let w = spd::to_log_cholesky(c.view(), v.view()).unwrap();
        assert_close("derivative", w.data(), slope.data(), 1e-4);
        assert_close("inverse", spd::from_log_cholesky(c.view(), w.view()).unwrap().data(), v.data(), 1e-11);
        // The length of the tangent vector to X is the distance.
        let x = random_spd::<f64>(seed + 2, 1, n);
        let to_x = spd::log_map_log_cholesky(c.view(), x.view()).unwrap();
        let w = spd::to_log_cholesky(c.view(), to_x.view()).unwrap();
        prop_assert!((dot(w.data(), w.data()).sqrt() - d(Metric::LogCholesky, &c, &x)).abs() < 1e-10);
        // Transport keeps inner products.
        let there = spd::from_log_cholesky(x.view(), spd::to_log_cholesky(c.view(), v.view()).unwrap().view()).unwrap();
        let (before, after) = (spd::to_log_cholesky(c.view(), v.view()).unwrap(), spd::to_log_cholesky(x.view(), there.view()).unwrap());
        prop_assert!((dot(before.data(), before.data()) - dot(after.data(), after.data())).abs() < 1e-9 * dot(before.data(), before.data()));
    }

    /// The speed of a Bures–Wasserstein geodesic is its logarithm: `d/dt γ_t` at 0 by central differences.
    #[test]
    fn bures_wasserstein_logarithms_are_velocities(seed in 0..10_000_u64, n in 1..6_usize) {
        let (a, b) = (random_spd::<f64>(seed, 1, n), random_spd::<f64>(seed + 1, 1, n));
        let at = |t: f64| spd::geodesic_wasserstein(a.view(), b.view(), &[t]).unwrap();
        let h = 1e-4;
        let (ahead, behind) = (at(h), at(-h));
        let slope = MatBatch::from_fn(1, n, n, |_, r, c| (ahead.get(0, r, c) - behind.get(0, r, c)) / (2.0 * h));
        let log = spd::log_map_wasserstein(a.view(), b.view()).unwrap();
        assert_close("velocity", log.data(), slope.data(), 1e-7);
    }

    #[test]
    fn the_nearest_spd_matrix_is_nearer_than_others(seed in 0..10_000_u64, n in 1..6_usize) {
        let x = random_symmetric::<f64>(seed, 1, n);
        let found = spd::nearest_spd(x.view(), 1e-9).unwrap();
        spd::check_spd(found.view()).unwrap();
        let far = |y: &MatBatch<f64>| y.data().iter().zip(x.data()).map(|(y, x)| (y - x) * (y - x)).sum::<f64>().sqrt();
        for s in 0..5 {
            let other = random_spd::<f64>(seed + 1 + s, 1, n);
            for t in [1.0, 0.3, 0.01] {
                let y = MatBatch::from_fn(1, n, n, |_, r, c| (1.0 - t) * found.get(0, r, c) + t * other.get(0, r, c));
                prop_assert!(far(&found) <= far(&y) + 1e-8);
            }
        }
        let spd_already = random_spd::<f64>(seed, 1, n);
        assert_close("stays", spd::nearest_spd(spd_already.view(), 1e-12).unwrap().data(), spd_already.data(), 1e-12);
    }

    #[test]
    fn mahalanobis_against_its_definition(seed in 0..10_000_u64, n in 1..6_usize, m in 1..9_usize) {
        let (c, x) = (random_spd::<f64>(seed, 1, n), random_batch::<f64>(seed + 1, 2, n, m));
        let solved = product(spd::power(c.view(), -1.0).unwrap().view(), Op::N, x.view(), Op::N).unwrap();
        let found = spd::mahalanobis(c.view(), x.view()).unwrap();
        for i in 0..2 {
            for k in 0..m {
                let square: f64 = (0..n).map(|r| x.get(i, r, k) * solved.get(i, r, k)).sum();
                prop_assert!((found.get(i, 0, k) - square.sqrt()).abs() < 1e-10 * (1.0 + square.sqrt()));
            }
        }
    }
}

/// `u` and `l` equal, or nearly: the quotients of the textbook have no digits there.
#[test]
fn thompson_geodesics_of_proportional_matrices() {
    let a = random_spd::<f64>(1, 1, 4);
    for gap in [0.0, 1e-15, 1e-10] {
        let b = MatBatch::from_fn(1, 4, 4, |_, r, c| {
            3.0 * a.get(0, r, c) * (1.0 + if r == 0 && c == 0 { gap } else { 0.0 })
        });
        let found = spd::geodesic_thompson(a.view(), b.view(), &[0.5]).unwrap();
        let expected: Vec<f64> = a.data().iter().map(|x| x * 3.0_f64.sqrt()).collect();
        assert_close("middle", found.data(), &expected, 1e-9);
    }
}

/// A good matrix seen from a bad one: the product of the condition numbers is beyond rounding, and
/// neither is refused.
#[test]
fn ill_conditioned_matrices_have_optimal_maps() {
    let a = with_spectrum(1, 1, &[1e-9, 1.0, 10.0]);
    let b = with_spectrum(2, 1, &[1e-9, 2.0, 20.0]);
    let end = spd::geodesic_wasserstein(a.view(), b.view(), &[1.0]).unwrap();
    assert_close("end", end.data(), b.data(), 1e-6);
}

#[test]
fn what_is_wrong_is_said() {
    let mut x = random_spd::<f64>(5, 900, 4);
    x.matrix_mut(861).fill(1.0);
    let one = MatBatch::<f64>::identity(1, 4);
    let named = |error: Option<GeometryError>| {
        matches!(error, Some(GeometryError::NotSpd { trial: 861, .. }))
    };
    for (metric, geodesic) in GEODESICS {
        assert!(
            named(spd::distance(metric, x.view(), one.view()).err()),
            "{metric:?}"
        );
        assert!(
            named(geodesic(one.view(), x.view(), &[0.5]).err()),
            "{metric:?}"
        );
        assert!(
            named(geodesic(x.view(), one.view(), &[0.5]).err()),
            "{metric:?}"
        );
    }
    assert!(named(spd::log_map_wasserstein(one.view(), x.view()).err()));
    assert!(named(spd::exp_map_wasserstein(x.view(), one.view()).err()));
    assert!(named(spd::log_map_log_cholesky(one.view(), x.view()).err()));
    assert!(named(spd::to_log_cholesky(x.view(), one.view()).err()));
    // Coordinates above the diagonal belong to nothing.
    assert!(spd::from_log_cholesky(one.view(), x.view()).is_err());
    assert!(spd::nearest_spd(one.view(), 0.0).is_err());
    assert!(spd::mahalanobis(one.view(), random_batch::<f64>(1, 1, 3, 2).view()).is_err());
}
