//! Means and medians that are found step by step: they minimise what they say, agree where matrices
//! commute, and refuse what they have no place for.

use proptest::prelude::*;
use stiefel_geometry::spd::{
    self, CholeskyChart, FrechetMean, FrechetOptions, Metric, RecursiveMean,
};
use stiefel_geometry::{GeometryError, Result};
use stiefel_linalg::{MatBatch, MatView, congruence};
use stiefel_testkit::{assert_close, random_batch, random_spd, random_symmetric};

const RECURSIVE: [RecursiveMean; 3] =
    [RecursiveMean::Alm, RecursiveMean::Bmp, RecursiveMean::Cheap];

fn options(weights: Option<&[f64]>) -> FrechetOptions<'_, f64> {
    FrechetOptions {
        weights,
        tolerance: 1e-12,
        max_iterations: 2000,
        start: None,
    }
}

fn converged(found: Result<FrechetMean<f64>>) -> MatBatch<f64> {
    let found = found.unwrap();
    assert!(found.report.converged, "{:?}", found.report);
    found.mean
}

/// `Σ w_i d(M, X_i)^power`.
fn spread(metric: Metric, m: &MatBatch<f64>, x: &MatBatch<f64>, w: &[f64], power: i32) -> f64 {
    let d = spd::distance(metric, m.view(), x.view()).unwrap();
    d.iter().zip(w).map(|(d, w)| w * d.powi(power)).sum()
}

/// No step in a random direction brings the sum down.
#[track_caller]
fn is_minimum(what: &str, seed: u64, m: &MatBatch<f64>, f: impl Fn(&MatBatch<f64>) -> f64) {
    let here = f(m);
    for s in 0..4 {
        let v = random_symmetric::<f64>(seed + s, 1, m.rows());
        for h in [1e-2, -1e-2, 1e-3, -1e-3] {
            let step = MatBatch::from_fn(1, m.rows(), m.rows(), |_, r, c| h * v.get(0, r, c));
            let there = f(&spd::coloured_exp(m.view(), step.view()).unwrap());
            assert!(
                there >= here - 1e-10 * here.abs(),
                "{what}: {there} below {here} at {h}"
            );
        }
    }
}

/// Matrices with common eigenvectors: `Q diag(λ_i) Qᵀ`.
fn commuting(seed: u64, count: usize, n: usize) -> (MatBatch<f64>, MatBatch<f64>, Vec<Vec<f64>>) {
    let q = crate::support::points(seed, 1, n, n);
    let values = random_batch::<f64>(seed + 1, count, 1, n);
    let values: Vec<Vec<f64>> = (0..count)
        .map(|i| values.matrix(i).iter().map(|v| v.exp()).collect())
        .collect();
    let diagonal = MatBatch::from_fn(
        count,
        n,
        n,
        |i, r, c| if r == c { values[i][r] } else { 0.0 },
    );
    let x = congruence(q.transposed().view(), diagonal.view()).unwrap();
    (x, q, values)
}

fn with_values(q: &MatBatch<f64>, values: &[f64]) -> MatBatch<f64> {
    let n = values.len();
    let diagonal = MatBatch::from_fn(1, n, n, |_, r, c| if r == c { values[r] } else { 0.0 });
    congruence(q.transposed().view(), diagonal.view()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn means_minimise_the_sum_of_squared_distances(seed in 0..10_000_u64, n in 1..6_usize) {
        let x = random_spd::<f64>(seed, 5, n);
        let w = [0.1, 0.3, 0.2, 0.25, 0.15];
        let o = options(Some(&w));
        for (metric, mean) in [
            (Metric::BuresWasserstein, converged(spd::mean_wasserstein(x.view(), &o))),
            (Metric::LogDet, converged(spd::mean_log_det(x.view(), &o))),
            (Metric::Cholesky, spd::mean_cholesky(CholeskyChart::Factor, x.view(), Some(&w)).unwrap()),
            (Metric::LogCholesky, spd::mean_cholesky(CholeskyChart::LogFactor, x.view(), Some(&w)).unwrap()),
        ] {
            is_minimum(&format!("{metric:?}"), seed, &mean, |m| spread(metric, m, &x, &w, 2));
        }
    }

    #[test]
    fn medians_minimise_the_sum_of_distances(seed in 0..10_000_u64, n in 1..5_usize) {
        let x = random_spd::<f64>(seed, 6, n);
        let w = [0.1, 0.3, 0.2, 0.1, 0.15, 0.15];
        let o = FrechetOptions { tolerance: 1e-9, max_iterations: 20_000, ..options(Some(&w)) };
        let m = spd::median_affine_invariant(x.view(), 1.0, &o).unwrap().mean;
        is_minimum("affine-invariant", seed, &m, |m| spread(Metric::AffineInvariant, m, &x, &w, 1) * (1.0 + 1e-7));
        let m = spd::median_euclidean(x.view(), &o).unwrap().mean;
        is_minimum("Euclidean", seed, &m, |m| spread(Metric::Euclidean, m, &x, &w, 1) * (1.0 + 1e-7));
    }

    /// The equation `M = Σ w_i M #_p X_i`, for both signs.
    #[test]
    fn power_means_solve_their_equation(seed in 0..10_000_u64, n in 1..6_usize, p in 0.05..0.95_f64) {
        let x = random_spd::<f64>(seed, 4, n);
        let w = [0.1, 0.2, 0.3, 0.4];
        for p in [p, -p] {
            let m = converged(spd::mean_power(x.view(), p, &options(Some(&w))));
            let points = spd::geodesic(m.view(), x.view(), p).unwrap();
            let sum = spd::mean_euclidean(points.view(), Some(&w)).unwrap();
            // The inverse-power equation is that of the inverses; both hold with #_p of either sign.
            assert_close(&format!("p = {p}"), sum.data(), m.data(), 1e-9);
        }
    }

    #[test]
    fn power_means_lie_between_the_named_ones(seed in 0..10_000_u64, n in 1..5_usize) {
        let x = random_spd::<f64>(seed, 4, n);
        let o = options(None);
        let arithmetic = spd::mean_euclidean(x.view(), None).unwrap();
        assert_close("1", spd::mean_power(x.view(), 1.0, &o).unwrap().mean.data(), arithmetic.data(), 1e-9);
        let inverse = spd::power(x.view(), -1.0).unwrap();
        let harmonic = spd::power(spd::mean_euclidean(inverse.view(), None).unwrap().view(), -1.0).unwrap();
        assert_close("-1", spd::mean_power(x.view(), -1.0, &o).unwrap().mean.data(), harmonic.data(), 1e-9);
        let geometric = spd::frechet_mean(x.view(), &o).unwrap().mean;
        assert_close("0", spd::mean_power(x.view(), 0.0, &o).unwrap().mean.data(), geometric.data(), 1e-12);
        let close = converged(spd::mean_power(x.view(), 1e-4, &o));
        assert_close("to 0", close.data(), geometric.data(), 1e-2);
    }

    /// Where matrices commute, every mean is that of their eigenvalues.
    #[test]
    fn means_of_commuting_matrices(seed in 0..10_000_u64, n in 1..5_usize) {
        let (x, q, values) = commuting(seed, 3, n);
        let of = |f: &dyn Fn(f64) -> f64, g: &dyn Fn(f64) -> f64| {
            let means: Vec<f64> = (0..n).map(|r| g(values.iter().map(|v| f(v[r])).sum::<f64>() / 3.0)).collect();
            with_values(&q, &means)
        };
        let o = options(None);
        let geometric = of(&f64::ln, &f64::exp);
        for kind in RECURSIVE {
            assert_close(&format!("{kind:?}"), converged(spd::mean_recursive(kind, x.view(), &o)).data(), geometric.data(), 1e-9);
        }
        assert_close("ALE", converged(spd::mean_joint(x.view(), &o)).data(), geometric.data(), 1e-9);
        let root = of(&f64::sqrt, &|v: f64| v * v);
        assert_close("Wasserstein", converged(spd::mean_wasserstein(x.view(), &o)).data(), root.data(), 1e-9);
        assert_close("power", converged(spd::mean_power(x.view(), 0.5, &o)).data(), root.data(), 1e-9);
    }

    /// Close to the Fréchet mean, and moved by mixing as it is.
    #[test]
    fn recursive_means_are_geometric(seed in 0..10_000_u64, n in 1..4_usize) {
        let noise = random_symmetric::<f64>(seed, 4, n);
        let small = MatBatch::from_fn(4, n, n, |i, r, c| 0.2 * noise.get(i, r, c));
        let x = spd::exp(small.view()).unwrap();
        let o = options(None);
        let frechet = spd::frechet_mean(x.view(), &o).unwrap().mean;
        let w = random_spd::<f64>(seed + 1, 1, n);
        let mixed = congruence(w.view(), x.view()).unwrap();
        for kind in RECURSIVE {
            let mean = converged(spd::mean_recursive(kind, x.view(), &o));
            assert_close(&format!("{kind:?}"), mean.data(), frechet.data(), 5e-3);
            let there = converged(spd::mean_recursive(kind, mixed.view(), &o));
            assert_close("mixed", there.data(), congruence(w.view(), mean.view()).unwrap().data(), 1e-8);
        }
        assert_close("ALE", converged(spd::mean_joint(x.view(), &o)).data(), frechet.data(), 5e-3);
    }

    #[test]
    fn masked_means(seed in 0..10_000_u64) {
        let n = 4;
        let x = random_spd::<f64>(seed, 6, n);
        let w = [0.1, 0.2, 0.3, 0.1, 0.2, 0.1];
        let o = FrechetOptions { tolerance: 1e-10, max_iterations: 3000, ..options(Some(&w)) };
        // All known: the Fréchet mean.
        let whole = vec![MatBatch::identity(1, n); 6];
        let frechet = spd::frechet_mean(x.view(), &options(Some(&w))).unwrap().mean;
        assert_close("whole", converged(spd::masked_mean(x.view(), &whole, &o)).data(), frechet.data(), 1e-8);
        // Each lacks one channel, two of them none.
        let masks: Vec<MatBatch<f64>> = (0..6).map(|i| {
            let kept: Vec<usize> = (0..n).filter(|&r| i >= n || r != i).collect();
            MatBatch::from_fn(1, n, kept.len(), |_, r, c| f64::from(u8::from(kept[c] == r)))
        }).collect();
        let m = converged(spd::masked_mean(x.view(), &masks, &o));
        is_minimum("masked", seed, &m, |m| {
            (0..6).map(|i| {
                let part = |y: MatView<'_, f64>| congruence(masks[i].view(), y).unwrap();
                let (a, b) = (part(m.view()), part(x.single(i).view()));
                let d = spd::distance(Metric::AffineInvariant, a.view(), b.view()).unwrap()[0];
                w[i] * d * d
            }).sum()
        });
    }
}

#[test]
fn the_inductive_mean_of_thompson_has_no_weights_and_says_that_it_is_slow() {
    let x = random_spd::<f64>(1, 4, 3);
    let o = FrechetOptions {
        max_iterations: 50,
        tolerance: 1e-6,
        ..options(None)
    };
    let found = spd::mean_thompson(x.view(), &o).unwrap();
    assert!(!found.report.converged && found.report.iterations == 50);
    let same = MatBatch::from_fn(3, 3, 3, |_, r, c| x.get(0, r, c));
    assert_close(
        "equal ones",
        converged(spd::mean_thompson(same.view(), &o)).data(),
        x.matrix(0),
        1e-13,
    );
    let w = [0.25; 4];
    let weighted = options(Some(&w));
    assert!(matches!(
        spd::mean_thompson(x.view(), &weighted),
        Err(GeometryError::NoWeights { .. })
    ));
    for kind in RECURSIVE {
        assert!(matches!(
            spd::mean_recursive(kind, x.view(), &weighted),
            Err(GeometryError::NoWeights { .. })
        ));
        let first = MatView::new(1, x.rows(), x.rows(), x.matrix(0)).unwrap();
        let started = FrechetOptions {
            start: Some(first),
            ..options(None)
        };
        assert!(matches!(
            spd::mean_recursive(kind, x.view(), &started),
            Err(GeometryError::NoStart { .. })
        ));
    }
}

#[test]
fn a_start_is_used_and_checked() {
    let x = random_spd::<f64>(3, 5, 3);
    let frechet = spd::frechet_mean(x.view(), &options(None)).unwrap();
    let with = |start: &MatBatch<f64>| {
        spd::frechet_mean(
            x.view(),
            &FrechetOptions {
                start: Some(start.view()),
                ..options(None)
            },
        )
    };
    let again = with(&frechet.mean).unwrap();
    assert!(
        again.report.iterations < frechet.report.iterations,
        "{:?}",
        again.report
    );
    assert_close("same", again.mean.data(), frechet.mean.data(), 1e-11);
    assert!(with(&MatBatch::identity(1, 2)).is_err());
    let bad = MatBatch::from_fn(1, 3, 3, |_, _, _| 1.0);
    assert!(with(&bad).is_err());
    let o = FrechetOptions {
        start: Some(bad.view()),
        ..options(None)
    };
    assert!(spd::mean_wasserstein(x.view(), &o).is_err());
    assert!(spd::median_affine_invariant(x.view(), 1.0, &o).is_err());
}

/// A mean of a stack.
type Mean = fn(MatView<'_, f64>, &FrechetOptions<'_, f64>) -> Result<FrechetMean<f64>>;

#[test]
fn what_is_wrong_is_said() {
    let x = random_spd::<f64>(3, 5, 3);
    let o = options(None);
    assert!(
        spd::mean_power(x.view(), 1.5, &o).is_err()
            && spd::mean_power(x.view(), f64::NAN, &o).is_err()
    );
    assert!(spd::median_affine_invariant(x.view(), 0.0, &o).is_err());
    let whole = vec![MatBatch::identity(1, 3); 5];
    assert!(spd::masked_mean(x.view(), &whole[..4], &o).is_err());
    // A channel that no matrix knows.
    let blind = vec![MatBatch::from_fn(1, 3, 2, |_, r, c| f64::from(u8::from(r == c))); 5];
    let error = spd::masked_mean(x.view(), &blind, &o)
        .unwrap_err()
        .to_string();
    assert!(error.contains("unknown"), "{error}");
    let long = vec![MatBatch::from_fn(1, 3, 2, |_, r, c| 2.0 * f64::from(u8::from(r == c))); 5];
    assert!(matches!(
        spd::masked_mean(x.view(), &long, &o),
        Err(GeometryError::NotOrthonormal { .. })
    ));
    let mut bad = x.clone();
    bad.matrix_mut(2).fill(1.0);
    let all: [Mean; 6] = [
        spd::mean_wasserstein,
        spd::mean_log_det,
        spd::mean_thompson,
        spd::mean_joint,
        |x, o| spd::mean_power(x, -0.5, o),
        |x, o| spd::mean_recursive(RecursiveMean::Bmp, x, o),
    ];
    for (at, mean) in all.into_iter().enumerate() {
        let error = mean(bad.view(), &o).err();
        assert!(
            matches!(error, Some(GeometryError::NotSpd { trial: 2, .. })),
            "{at}: {error:?}"
        );
        assert!(
            mean(
                x.view(),
                &FrechetOptions {
                    tolerance: -1.0,
                    ..o
                }
            )
            .is_err()
        );
        let none = FrechetOptions {
            max_iterations: 0,
            ..o
        };
        assert!(!mean(x.view(), &none).unwrap().report.converged, "{at}");
    }
}
