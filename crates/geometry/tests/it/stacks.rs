//! The fast ways over whole stacks against the careful functions, over random matrices and over those the short formulas must leave alone.

use crate::support::with_spectrum;
use proptest::prelude::*;
use stiefel_geometry::spd::{self, Metric, SpectralFn, stacks};
use stiefel_geometry::{GeometryError, Result};
use stiefel_linalg::{MatBatch, MatView, congruence, sums};
use stiefel_testkit::{assert_close, random_spd, random_symmetric};

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

/// One function both ways: of a foot point or a second stack, and of a stack.
type Both = fn(MatView<'_, f64>, MatView<'_, f64>) -> Result<MatBatch<f64>>;

/// Fast, careful, and whether the second argument is a tangent vector.
const MAPS: [(Both, Both, bool); 8] = [
    (
        |m, x| stacks::geodesic(m, x, -0.3),
        |m, x| spd::geodesic(m, x, -0.3),
        false,
    ),
    (stacks::log_map, spd::log_map, false),
    (stacks::exp_map, spd::exp_map, true),
    (stacks::exp_map_wasserstein, spd::exp_map_wasserstein, true),
    (stacks::recentre, spd::recentre, false),
    (stacks::tangent_space, spd::tangent_space, false),
    (
        stacks::whitened_log,
        |m, x| spd::log(spd::recentre(m, x)?.view()),
        false,
    ),
    (
        stacks::coloured_exp,
        |m, v| Ok(congruence(spd::sqrt(m)?.view(), spd::exp(v)?.view())?),
        true,
    ),
];

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
                prop_assert!(near || stacks::short_distance(metric, a, b).is_some(), "{metric:?}");
                let fast = stacks::distance(metric, a, b).unwrap();
                assert_close(&format!("{metric:?}"), &fast, &spd::distance(metric, a, b).unwrap(), 1e-11);
            }
            let fast = stacks::pairwise_distances(metric, a.view(), b.view()).unwrap();
            let careful = spd::pairwise_distances(metric, a.view(), b.view()).unwrap();
            assert_close("pairwise", fast.data(), careful.data(), 1e-11);
            let fast = stacks::mutual_distances(metric, a.view()).unwrap();
            let careful = spd::mutual_distances(metric, a.view()).unwrap();
            assert_close("mutual", fast.data(), careful.data(), 1e-11);
        }
    }

    #[test]
    fn functions_of_eigenvalues(seed in 0..10_000_u64, n in 1..9_usize, count in 1..40_usize) {
        let x = random_spd::<f64>(seed, count, n);
        let c = random_spd::<f64>(seed + 1, 1, n);
        for f in [SpectralFn::Log, SpectralFn::Sqrt, SpectralFn::InvSqrt, SpectralFn::Pow(0.3), SpectralFn::ReEig(0.7)] {
            let careful = spd::spectral_map(f, x.view()).unwrap();
            assert_close(f.name(), stacks::spectral(f, x.view()).unwrap().data(), careful.value.data(), 1e-12);
            // One point for all directions, and one for each.
            let directions = random_symmetric::<f64>(seed + 2, count, n);
            let each = stacks::differential(f, x.view(), directions.view()).unwrap();
            assert_close("derivative", each.data(), careful.pull_back(directions.view()).unwrap().data(), 1e-12);
            let at_one = stacks::differential(f, c.view(), directions.view()).unwrap();
            let same = MatBatch::from_fn(count, n, n, |_, r, s| c.get(0, r, s));
            let spread = stacks::differential(f, same.view(), directions.view()).unwrap();
            assert_close("derivative at one point", at_one.data(), spread.data(), 1e-11);
        }
        let mean = stacks::mean_log_euclidean(x.view(), None).unwrap();
        assert_close("mean", mean.data(), spd::mean_log_euclidean(x.view(), None).unwrap().data(), 1e-12);
        let arithmetic = spd::mean_euclidean(x.view(), None).unwrap();
        assert_close("mean", sums::mean(x.view()).data(), arithmetic.data(), 1e-13);
        let inverses = stacks::inverses(x.view()).unwrap();
        assert_close("inverses", inverses.data(), spd::power(x.view(), -1.0).unwrap().data(), 1e-10);
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
                let fast = stacks::inner_product(foot.view(), u, v).unwrap();
                let careful = spd::inner_product(foot.view(), u, v.unwrap_or(u)).unwrap();
                assert_close("inner product", &fast, &careful, 1e-10);
            }
            let vectors = spd::upper(v.view()).unwrap();
            let fast = stacks::untangent_space(foot.view(), vectors.view()).unwrap();
            assert_close("untangent", fast.data(), spd::untangent_space(foot.view(), vectors.view()).unwrap().data(), 1e-11);
            let there = stacks::log_map_log_euclidean(foot.view(), x.view()).unwrap();
            let back = stacks::exp_map_log_euclidean(foot.view(), there.view()).unwrap();
            assert_close("log-Euclidean maps", back.data(), x.data(), 1e-10);
        }
    }
}

#[test]
fn badly_conditioned_stacks_take_the_careful_way() {
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
        assert_eq!(stacks::short_distance(metric, a, b), None, "{metric:?}");
        assert_eq!(
            stacks::distance(metric, a, b),
            spd::distance(metric, a, b),
            "{metric:?}"
        );
    }
    // The divergence of Gaussians with known spectra: tr(B⁻¹A) − n + ln det B − ln det A, halved, with B the identity.
    let one = MatBatch::<f64>::identity(1, 4);
    let found = stacks::distance(Metric::KullbackLeibler, bad.view(), one.view()).unwrap();
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
    assert!(named(stacks::spectral(SpectralFn::Log, x.view()).err()));
    for metric in METRICS.into_iter().filter(|&m| m != Metric::Euclidean) {
        assert!(
            named(stacks::distance(metric, x.view(), one.view()).err()),
            "{metric:?}"
        );
    }
    assert!(named(stacks::log_map(one.view(), x.view()).err()));
    assert!(named(
        stacks::log_map_log_euclidean(one.view(), x.view()).err()
    ));
    x.matrix_mut(61)[1] = 9.0;
    let skew = stacks::differential(SpectralFn::Log, one.view(), x.view()).unwrap_err();
    assert!(matches!(skew, GeometryError::Asymmetric { trial: 61, .. }));
    assert!(stacks::sandwich(one.view(), x.view()).is_none());
    let three = random_spd::<f64>(6, 3, 4);
    assert!(stacks::differential(SpectralFn::Log, x.view(), three.view()).is_err());
    assert!(stacks::spectral(SpectralFn::Pow(f64::NAN), three.view()).is_err());
}

#[test]
fn a_matrix_has_the_same_result_alone_and_among_others() {
    let (x, one) = (random_spd::<f64>(7, 300, 12), random_spd::<f64>(8, 1, 12));
    let all = stacks::distance(Metric::AffineInvariant, x.view(), one.view()).unwrap();
    for i in [0, 17, 299] {
        let alone = stacks::distance(Metric::AffineInvariant, x.single(i).view(), one.view());
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
                    let error = stacks::inner_product(foot.view(), u, v).unwrap_err();
                    assert!(
                        error.to_string().contains("63"),
                        "{error} for {value} at {r}, {c}"
                    );
                }
            }
        }
    }
    let three = random_spd::<f64>(6, 3, n);
    assert!(stacks::inner_product(three.view(), u.view(), None).is_err());
    let singular = MatBatch::zeros(1, n, n);
    assert!(stacks::inner_product(singular.view(), u.view(), None).is_err());
}
