//! What every map of the Stiefel manifold must satisfy, over random points.

use crate::support::{dot, points, tangent};
use proptest::prelude::*;
use stiefel_geometry::stiefel;
use stiefel_linalg::{MatBatch, Op, product};
use stiefel_testkit::{assert_close, random_batch, rng};

fn scaled(x: &MatBatch<f64>, s: f64) -> MatBatch<f64> {
    MatBatch::from_fn(x.count(), x.rows(), x.cols(), |i, r, c| s * x.get(i, r, c))
}

type Retraction = fn(&MatBatch<f64>, &MatBatch<f64>) -> MatBatch<f64>;
const RETRACTIONS: [(&str, Retraction); 2] = [
    ("qr", |w, d| {
        stiefel::retract_qr(w.view(), d.view()).unwrap().q
    }),
    ("polar", |w, d| {
        stiefel::retract_polar(w.view(), d.view()).unwrap().q
    }),
];

fn defect(w: &MatBatch<f64>) -> f64 {
    stiefel::orthonormality_defect(w.view())
        .unwrap()
        .into_iter()
        .fold(0.0, f64::max)
}

fn sizes() -> impl Strategy<Value = (usize, usize)> {
    (1..9_usize).prop_flat_map(|n| (Just(n), 1..=n))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn retraction_at_zero_is_the_point((n, k) in sizes(), seed in 0..10_000_u64) {
        let w = points(seed, 2, n, k);
        for (name, retract) in RETRACTIONS {
            assert_close(name, retract(&w, &MatBatch::zeros(1, n, k)).data(), w.data(), 1e-14);
        }
    }

    #[test]
    fn retraction_stays_on_the_manifold(
        (n, k) in sizes(), seed in 0..10_000_u64, size in prop_oneof![0.0..2.0_f64, 2.0..1e4_f64],
    ) {
        let w = points(seed, 2, n, k);
        let delta = scaled(&tangent(seed + 1, &w), size);
        for (name, retract) in RETRACTIONS {
            let d = defect(&retract(&w, &delta));
            let limit = 1e-15 * (n as f64 + 10.0);
            prop_assert!(d < limit, "{name}, size {size}: {d:e}");
        }
    }

    /// `R_W(tΔ) = W + tΔ + O(t²)`.
    #[test]
    fn retraction_starts_along_the_tangent((n, k) in sizes(), seed in 0..10_000_u64) {
        let w = points(seed, 1, n, k);
        let delta = tangent(seed + 1, &w);
        let t = 1e-5;
        for (name, retract) in RETRACTIONS {
            let (ahead, behind) = (retract(&w, &scaled(&delta, t)), retract(&w, &scaled(&delta, -t)));
            for ((a, b), d) in ahead.data().iter().zip(behind.data()).zip(delta.data()) {
                prop_assert!(((a - b) / (2.0 * t) - d).abs() < 1e-6, "{name}");
            }
        }
    }

    #[test]
    fn projection_is_idempotent_tangent_and_orthogonal((n, k) in sizes(), seed in 0..10_000_u64) {
        let w = points(seed, 2, n, k);
        let z = random_batch::<f64>(seed + 1, 2, n, k);
        let t = stiefel::project(w.view(), z.view()).unwrap();
        let again = stiefel::project(w.view(), t.view()).unwrap();
        for (a, b) in again.data().iter().zip(t.data()) {
            prop_assert!((a - b).abs() < 1e-13);
        }
        // Tangent: WᵀT is skew.
        let c = product(w.view(), Op::T, t.view(), Op::N).unwrap();
        for (a, b) in c.data().iter().zip(c.transposed().data()) {
            prop_assert!((a + b).abs() < 1e-13);
        }
        // Orthogonal: Z − P(Z) ⊥ every tangent vector.
        let other = tangent(seed + 2, &w);
        let rest: Vec<f64> = z.data().iter().zip(t.data()).map(|(z, t)| z - t).collect();
        prop_assert!(dot(&rest, other.data()).abs() < 1e-12);
    }

    /// The polar retraction is the nearest point: no other retraction of the same step is nearer to `W + Δ`.
    #[test]
    fn polar_is_nearest((n, k) in sizes(), seed in 0..10_000_u64) {
        let w = points(seed, 1, n, k);
        let delta = tangent(seed + 1, &w);
        let distance = |retract: Retraction| {
            let q = retract(&w, &delta);
            let gaps = q.data().iter().zip(w.data().iter().zip(delta.data()));
            gaps.map(|(q, (w, d))| (q - w - d).powi(2)).sum::<f64>().sqrt()
        };
        let polar = distance(RETRACTIONS[1].1);
        prop_assert!(polar <= distance(RETRACTIONS[0].1) + 1e-12);
    }

    /// The naive n × n Cayley transform: `(I − A/2)W = base(I + A/2)` in the basis of `base`.
    #[test]
    fn cayley_solves_its_equation((n, k) in sizes(), seed in 0..10_000_u64) {
        let base = points(seed, 1, n, n);
        let x = random_batch::<f64>(seed + 1, 1, n, k);
        let w = stiefel::cayley_parametrisation(base.view(), x.view()).unwrap().w;
        prop_assert!(defect(&w) < 1e-13);
        let entry = |r: usize, c: usize| if r > c && c < k { x.get(0, r, c) } else { 0.0 };
        let half = |s: f64| MatBatch::from_fn(1, n, n, |_, r, c| {
            f64::from(u8::from(r == c)) + s * 0.5 * (entry(r, c) - entry(c, r))
        });
        let y = product(base.view(), Op::T, w.view(), Op::N).unwrap();
        let left = product(half(-1.0).view(), Op::N, y.view(), Op::N).unwrap();
        let plus = half(1.0);
        for r in 0..n {
            for c in 0..k {
                prop_assert!((left.get(0, r, c) - plus.get(0, r, c)).abs() < 1e-12);
            }
        }
    }


    #[test]
    fn angles_know_only_the_subspaces((n, k) in sizes(), seed in 0..10_000_u64) {
        let (v, w) = (points(seed, 1, n, k), points(seed + 1, 1, n, k));
        let angles = stiefel::principal_angles(v.view(), w.view()).unwrap();
        let swapped = stiefel::principal_angles(w.view(), v.view()).unwrap();
        let turned = product(w.view(), Op::N, points(seed + 2, 1, k, k).view(), Op::N).unwrap();
        let turned = stiefel::principal_angles(v.view(), turned.view()).unwrap();
        let mut last = 0.0;
        for ((a, s), t) in angles.data().iter().zip(swapped.data()).zip(turned.data()) {
            prop_assert!((a - s).abs() < 1e-13 && (a - t).abs() < 1e-13);
            prop_assert!(*a >= last && *a <= std::f64::consts::FRAC_PI_2 + 1e-15);
            last = *a;
        }
        // At most n − k angles are not zero.
        for a in &angles.data()[..k.saturating_sub(n - k)] {
            prop_assert!(*a < 1e-14);
        }
    }

    /// Angles chosen beforehand, from 1e-13 to just below 90°, come back.
    #[test]
    fn known_angles_come_back(exponents in proptest::collection::vec(-13.0..0.19_f64, 3), seed in 0..10_000_u64) {
        let mut theta: Vec<f64> = exponents.iter().map(|e| 10.0_f64.powf(*e)).collect();
        theta.sort_by(f64::total_cmp);
        let basis = points(seed, 1, 6, 6);
        let v = MatBatch::from_fn(1, 6, 3, |_, r, c| basis.get(0, r, c));
        let w = MatBatch::from_fn(1, 6, 3, |_, r, c| {
            theta[c].cos() * basis.get(0, r, c) + theta[c].sin() * basis.get(0, r, c + 3)
        });
        let got = stiefel::principal_angles(v.view(), w.view()).unwrap();
        for (a, t) in got.data().iter().zip(&theta) {
            prop_assert!((a - t).abs() < 1e-15 + 1e-14 * t, "{a:e} {t:e}");
        }
    }

    #[test]
    fn barycenter_of_one_point_is_that_point((n, k) in sizes(), seed in 0..10_000_u64) {
        let w = points(seed, 1, n, k);
        let b = stiefel::barycenter(w.select(&[0, 0, 0]).view(), None).unwrap();
        assert_close("barycenter", b.data(), w.data(), 1e-13);
        let several = points(seed + 1, 3, n, k);
        let b = stiefel::barycenter(several.view(), None).unwrap();
        prop_assert!(defect(&b) < 1e-13);
        let weighted = stiefel::barycenter(several.view(), Some(&[1.0 / 3.0; 3])).unwrap();
        assert_close("uniform weights", weighted.data(), b.data(), 1e-13);
        let first = stiefel::barycenter(several.view(), Some(&[1.0, 0.0, 0.0])).unwrap();
        assert_close("all on the first", first.data(), several.matrix(0), 1e-13);
    }
}

#[test]
fn random_points_are_uniform_and_reproducible() {
    let draw = |seed| stiefel::random_points::<f64, _>(&mut rng(seed), 4000, 3, 2).unwrap();
    let w = draw(1);
    assert_eq!(w, draw(1));
    assert_ne!(w, draw(2));
    assert!(defect(&w) < 1e-14);
    // Every entry has mean 0 and mean square 1/n; the QR sign convention must not show.
    for (r, c) in [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)] {
        let mean = (0..4000).map(|i| w.get(i, r, c)).sum::<f64>() / 4000.0;
        let square = (0..4000).map(|i| w.get(i, r, c).powi(2)).sum::<f64>() / 4000.0;
        assert!(mean.abs() < 0.04, "{mean}");
        assert!((square - 1.0 / 3.0).abs() < 0.02, "{square}");
    }
    let single = stiefel::random_points::<f32, _>(&mut rng(1), 4000, 3, 2).unwrap();
    assert_eq!(single, w.cast::<f32>());
}

/// A matrix's result does not depend on its neighbours, whichever path they take.
#[test]
fn neighbours_do_not_matter() {
    let good = points(1, 3, 5, 3);
    let mut a = good.clone();
    for (at, x) in a.matrix_mut(1).iter_mut().enumerate() {
        *x *= [1.0, 1e-9, 1.0][at % 3];
    }
    let zero = MatBatch::zeros(1, 5, 3);
    let all = stiefel::retract_qr(a.view(), zero.view()).unwrap();
    for i in 0..3 {
        let alone = stiefel::retract_qr(a.single(i).view(), zero.view()).unwrap();
        assert_eq!(alone.q.data(), all.q.matrix(i));
    }
    assert!(defect(&all.q) < 1e-14);
}
