//! The fast ways against the careful formulas, over random matrices and over badly conditioned
//! ones.

use super::{sum_inverses, sum_spectral};
use crate::batch::broadcast;
use crate::spd::distance::careful_distance;
use crate::spd::whiten::{colour, factor, whiten};
use crate::spd::{self, Metric, SpectralFn, pair_spectrum};
use crate::stiefel::random_points;
use crate::{GeometryError, Result};
use proptest::prelude::*;
use stiefel_linalg::{Eigen, MatBatch, MatView, Op, congruence, product, sums};
use stiefel_testkit::{assert_close, random_spd, random_symmetric, rng};

const METRICS: [Metric; 11] = [
    Metric::AffineInvariant,
    Metric::LogEuclidean,
    Metric::Euclidean,
    Metric::BuresWasserstein,
    Metric::Harmonic,
    Metric::KullbackLeibler,
    Metric::SymmetrisedKullbackLeibler,
    Metric::LogDet,
    Metric::Cholesky,
    Metric::LogCholesky,
    Metric::Thompson,
];

type Map = fn(MatView<'_, f64>, MatView<'_, f64>) -> Result<MatBatch<f64>>;

/// A function of a foot point and a matrix, its careful formula, and whether it takes tangent
/// vectors.
const MAPS: [(Map, Map, bool); 8] = [
    (
        |m, x| spd::geodesic(m, x, -0.3),
        |m, x| pair_spectrum(m, x)?.geodesic(-0.3),
        false,
    ),
    (spd::log_map, |m, x| pair_spectrum(m, x)?.log_map(), false),
    (
        spd::exp_map,
        |m, v| {
            let at = factor("", m)?;
            colour(&at, eigen(SpectralFn::Exp, whiten(&at, v)?.view())?.view())
        },
        true,
    ),
    (
        spd::exp_map_wasserstein,
        |m, v| spd::exp_map_wasserstein(spread(m, v.count()).view(), v),
        true,
    ),
    (spd::recentre, recentred, false),
    (
        spd::tangent_space,
        |m, x| spd::log_vectors(recentred(m, x)?.view()),
        false,
    ),
    (
        spd::whitened_log,
        |m, x| eigen(SpectralFn::Log, recentred(m, x)?.view()),
        false,
    ),
    (
        spd::coloured_exp,
        |m, v| {
            let root = eigen(SpectralFn::Sqrt, m)?;
            Ok(congruence(root.view(), eigen(SpectralFn::Exp, v)?.view())?)
        },
        true,
    ),
];

/// `f(X)` by its decomposition.
fn eigen(f: SpectralFn<f64>, x: MatView<'_, f64>) -> Result<MatBatch<f64>> {
    Ok(spd::spectral_map(f, x)?.value)
}

fn recentred(m: MatView<'_, f64>, x: MatView<'_, f64>) -> Result<MatBatch<f64>> {
    Ok(congruence(eigen(SpectralFn::InvSqrt, m)?.view(), x)?)
}

/// A single matrix `count` times, for which no fast way at one point is taken.
fn spread(m: MatView<'_, f64>, count: usize) -> MatBatch<f64> {
    let n = m.rows();
    MatBatch::from_fn(count, n, n, |i, r, c| broadcast(m, i)[r * n + c])
}

/// `U diag(λ) Uᵀ` with a random orthogonal `U` and the same eigenvalues in each trial.
fn with_spectrum(seed: u64, count: usize, lambda: &[f64]) -> MatBatch<f64> {
    let n = lambda.len();
    let u = random_points::<f64, _>(&mut rng(seed), count, n, n).unwrap();
    let values = lambda.repeat(count);
    Eigen { values, vectors: u }.map(|l| l).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn distances(seed in 0..10_000_u64, n in 1..9_usize, count in 1..40_usize) {
        let (a, b) = (random_spd::<f64>(seed, count, n), random_spd::<f64>(seed + 1, count, n));
        let one = b.single(0);
        for metric in METRICS {
            for (a, b) in [(&a, &b), (&a, &one), (&one, &a)] {
                let (a, b) = (a.view(), b.view());
                // Of a matrix and itself, or nearly, the traces leave no digits.
                let near = metric == Metric::BuresWasserstein;
                prop_assert!(near || spd::short_distance(metric, a, b).is_some(), "{metric:?}");
                let fast = spd::distance(metric, a, b).unwrap();
                assert_close(&format!("{metric:?}"), &fast, &careful_distance(metric, a, b).unwrap(), 1e-11);
            }
            let all = spd::pairwise_distances(metric, a.view(), b.view()).unwrap();
            let row = careful_distance(metric, a.single(count - 1).view(), b.view()).unwrap();
            assert_close("pairwise", &all.data()[(count - 1) * count..], &row, 1e-11);
            let all = spd::mutual_distances(metric, a.view()).unwrap();
            let row = careful_distance(metric, a.single(0).view(), a.view()).unwrap();
            assert_close("mutual", &all.data()[1..count], &row[1..], 1e-11);
        }
    }

    #[test]
    fn functions_of_eigenvalues(seed in 0..10_000_u64, n in 1..9_usize, count in 1..40_usize) {
        let x = random_spd::<f64>(seed, count, n);
        let c = random_spd::<f64>(seed + 1, 1, n);
        for f in [SpectralFn::Log, SpectralFn::Sqrt, SpectralFn::InvSqrt, SpectralFn::Pow(0.3), SpectralFn::ReEig(0.7)] {
            let careful = spd::spectral_map(f, x.view()).unwrap();
            assert_close(f.name(), spd::map(f, x.view()).unwrap().data(), careful.value.data(), 1e-12);
            // One point for all directions, and one for each.
            let directions = random_symmetric::<f64>(seed + 2, count, n);
            let each = spd::differential(f, x.view(), directions.view()).unwrap();
            assert_close("derivative", each.data(), careful.pull_back(directions.view()).unwrap().data(), 1e-12);
            let at_one = spd::differential(f, c.view(), directions.view()).unwrap();
            let same = MatBatch::from_fn(count, n, n, |_, r, s| c.get(0, r, s));
            let spread = spd::differential(f, same.view(), directions.view()).unwrap();
            assert_close("derivative at one point", at_one.data(), spread.data(), 1e-11);
        }
        let mean = spd::mean_log_euclidean(x.view(), None).unwrap();
        let logs = eigen(SpectralFn::Log, x.view()).unwrap();
        let of_logs = eigen(SpectralFn::Exp, sums::mean(logs.view()).view()).unwrap();
        assert_close("mean", mean.data(), of_logs.data(), 1e-12);
        let arithmetic = spd::mean_euclidean(x.view(), None).unwrap();
        assert_close("mean", sums::mean(x.view()).data(), arithmetic.data(), 1e-13);
        let inverses = spd::inverses(x.view()).unwrap();
        assert_close("inverses", inverses.data(), eigen(SpectralFn::Pow(-1.0), x.view()).unwrap().data(), 1e-10);
    }

    #[test]
    fn maps(seed in 0..10_000_u64, n in 1..9_usize, count in 1..40_usize) {
        let (x, v) = (random_spd::<f64>(seed, count, n), random_symmetric::<f64>(seed + 1, count, n));
        for foot in [random_spd::<f64>(seed + 2, 1, n), random_spd::<f64>(seed + 2, count, n)] {
            for (at, (fast, careful, tangent)) in MAPS.into_iter().enumerate() {
                let x = if tangent { v.view() } else { x.view() };
                let (fast, careful) = (fast(foot.view(), x).unwrap(), careful(foot.view(), x).unwrap());
                assert_close(&format!("map {at}"), fast.data(), careful.data(), 1e-9);
            }
            for (u, v) in [(&v, Some(&x)), (&v, None), (&v.single(0), Some(&x))] {
                let (u, v) = (u.view(), v.map(MatBatch::view));
                let fast = spd::inner_product(foot.view(), u, v).unwrap();
                // tr((M⁻¹U)(M⁻¹V)), by a product for each.
                let inverse = eigen(SpectralFn::Pow(-1.0), foot.view()).unwrap();
                let [u, v] = [u, v.unwrap_or(u)].map(|x| product(inverse.view(), Op::N, x, Op::N).unwrap());
                let naive = |i: usize| (0..n * n).map(|k| broadcast(u.view(), i)[k] * v.matrix(i)[k % n * n + k / n]).sum();
                let naive: Vec<f64> = (0..count).map(naive).collect();
                assert_close("inner product", &fast, &naive, 1e-9);
            }
            let vectors = spd::upper(v.view()).unwrap();
            let fast = spd::untangent_space(foot.view(), vectors.view()).unwrap();
            assert_close("untangent", fast.data(), spd::coloured_exp(foot.view(), v.view()).unwrap().data(), 1e-11);
            let there = spd::log_map_log_euclidean(foot.view(), x.view()).unwrap();
            let back = spd::exp_map_log_euclidean(foot.view(), there.view()).unwrap();
            assert_close("log-Euclidean maps", back.data(), x.data(), 1e-10);
        }
    }

    #[test]
    fn sums(seed in 0..10_000_u64, n in 1..6_usize) {
        // More than one part.
        let x = random_spd::<f64>(seed, 1100, n);
        let w: Vec<f64> = (0..1100).map(|i| f64::from(i) / 1e5).collect();
        let r = random_spd::<f64>(seed + 1, 1, n);
        let seen = congruence(r.view(), x.view()).unwrap();
        for f in [SpectralFn::Log, SpectralFn::Sqrt, SpectralFn::Pow(0.3)] {
            let each = eigen(f, seen.view()).unwrap();
            let mut naive = vec![0.0; n * n];
            for (i, w) in w.iter().enumerate() {
                for (s, v) in naive.iter_mut().zip(each.matrix(i)) {
                    *s += w * v;
                }
            }
            let found = sum_spectral(Some(r.view()), x.view(), f, &w).unwrap();
            assert_close(f.name(), found.data(), &naive, 1e-11);
        }
        let ones = vec![1.0; 1100];
        let found = sum_inverses(x.view(), None, &ones).unwrap();
        let each = spd::power(x.view(), -1.0).unwrap();
        let naive: Vec<f64> = (0..n * n).map(|k| (0..1100).map(|i| each.matrix(i)[k]).sum()).collect();
        assert_close("inverses", found.data(), &naive, 1e-9);
    }
}

#[test]
fn badly_conditioned_matrices_take_the_careful_way() {
    let bad = with_spectrum(3, 20, &[1e-9, 0.5, 1.0, 2.0]);
    let good = random_spd::<f64>(4, 20, 4);
    // Of the last three the short way is the careful one without its inverse.
    let same = [
        Metric::Euclidean,
        Metric::LogEuclidean,
        Metric::Cholesky,
        Metric::LogCholesky,
    ];
    for metric in METRICS.into_iter().filter(|m| !same.contains(m)) {
        let (a, b) = (bad.view(), good.view());
        assert_eq!(spd::short_distance(metric, a, b), None, "{metric:?}");
        assert_eq!(
            spd::distance(metric, a, b),
            careful_distance(metric, a, b),
            "{metric:?}"
        );
    }
    // The divergence of Gaussians with known spectra: tr(B⁻¹A) − n + ln det B − ln det A, halved,
    // with B the identity.
    let one = MatBatch::<f64>::identity(1, 4);
    let found = spd::distance(Metric::KullbackLeibler, bad.view(), one.view()).unwrap();
    let exact = 0.5 * (3.5 + 1e-9 - 4.0 - 1e-9_f64.ln());
    // A relative error ε of the matrix moves ln det by ε·cond.
    assert!(
        found
            .iter()
            .all(|d| (d - exact).abs() < 1e9 * 4.0 * f64::EPSILON),
        "{found:?}"
    );
}

#[test]
fn what_is_wrong_is_said_far_into_a_stack() {
    let mut x = random_spd::<f64>(5, 75, 4);
    x.matrix_mut(61).fill(1.0);
    let one = MatBatch::<f64>::identity(1, 4);
    let named = |error: Option<GeometryError>| {
        matches!(error, Some(GeometryError::NotSpd { trial: 61, .. }))
    };
    assert!(named(spd::map(SpectralFn::Log, x.view()).err()));
    for metric in METRICS.into_iter().filter(|&m| m != Metric::Euclidean) {
        assert!(
            named(spd::distance(metric, x.view(), one.view()).err()),
            "{metric:?}"
        );
    }
    assert!(named(spd::log_map(one.view(), x.view()).err()));
    assert!(named(
        spd::log_map_log_euclidean(one.view(), x.view()).err()
    ));
    x.matrix_mut(61)[1] = 9.0;
    let skew = spd::differential(SpectralFn::Log, one.view(), x.view()).unwrap_err();
    assert!(matches!(skew, GeometryError::Asymmetric { trial: 61, .. }));
    assert!(spd::sandwich(one.view(), x.view()).is_none());
    let three = random_spd::<f64>(6, 3, 4);
    assert!(spd::differential(SpectralFn::Log, x.view(), three.view()).is_err());
    assert!(spd::map(SpectralFn::Pow(f64::NAN), three.view()).is_err());
}

#[test]
fn a_matrix_has_the_same_result_alone_and_among_others() {
    let (x, one) = (random_spd::<f64>(7, 300, 12), random_spd::<f64>(8, 1, 12));
    let all = spd::distance(Metric::AffineInvariant, x.view(), one.view()).unwrap();
    for i in [0, 17, 299] {
        let alone = spd::distance(Metric::AffineInvariant, x.single(i).view(), one.view());
        assert_eq!(alone.unwrap()[0], all[i]);
    }
}

#[test]
fn an_inner_product_names_the_vector_that_is_not_finite_wherever_the_entry_is() {
    let (u, n) = (random_symmetric::<f64>(9, 80, 5), 5);
    // Zeros of a foot point hide nothing.
    for foot in [random_spd::<f64>(10, 1, n), MatBatch::identity(1, n)] {
        for (r, c) in (0..n).flat_map(|r| (0..=r).map(move |c| (r, c))) {
            for value in [f64::NAN, f64::INFINITY] {
                let mut bad = u.clone();
                bad.matrix_mut(63)[r * n + c] = value;
                bad.matrix_mut(63)[c * n + r] = value;
                for (u, v) in [(&bad, None), (&bad, Some(&u)), (&u, Some(&bad))] {
                    let (u, v) = (u.view(), v.map(MatBatch::view));
                    let error = spd::inner_product(foot.view(), u, v).unwrap_err();
                    assert!(
                        error.to_string().contains("63"),
                        "{error} for {value} at {r}, {c}"
                    );
                }
            }
        }
    }
    let three = random_spd::<f64>(6, 3, n);
    assert!(spd::inner_product(three.view(), u.view(), None).is_err());
    let singular = MatBatch::zeros(1, n, n);
    assert!(spd::inner_product(singular.view(), u.view(), None).is_err());
}
