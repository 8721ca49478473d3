//! Pull-backs on SPD matrices and triangular factors against central differences and against closed forms.

use proptest::prelude::*;
use std::slice::from_ref;
use stiefel_autodiff::{Result, Tape, Var, gradient_error, gradient_error_along};
use stiefel_linalg::{MatBatch, symmetrise};
use stiefel_testkit::{assert_close, random_batch, random_spd, random_symmetric};

const TOLERANCE: f64 = 1e-7;

type Unary = for<'t> fn(Var<'t, f64>) -> Result<Var<'t, f64>>;

fn symmetric(_: usize, direction: &mut MatBatch<f64>) {
    symmetrise(&mut direction.view_mut()).unwrap();
}

/// Lower-triangular matrices with a diagonal away from zero.
fn random_lower(seed: u64, count: usize, n: usize) -> MatBatch<f64> {
    let g = random_batch::<f64>(seed, count, n, n);
    MatBatch::from_fn(count, n, n, |i, r, c| match r.cmp(&c) {
        std::cmp::Ordering::Greater => 0.3 * g.get(i, r, c),
        std::cmp::Ordering::Equal => 0.7 + g.get(i, r, c).abs(),
        std::cmp::Ordering::Less => 0.0,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn spectral(count in 1..4_usize, n in 1..6_usize, seed in 0..1000_u64) {
        let ops: [(&str, Unary); 8] = [
            ("log", |x| x.spd_log()), ("exp", |x| x.spd_exp()), ("sqrt", |x| x.spd_sqrt()),
            ("inv_sqrt", |x| x.spd_inv_sqrt()), ("power", |x| x.spd_power(0.3)),
            ("reeig", |x| x.reeig(1e-4)), ("reeig_log", |x| x.reeig_log(1e-4)), ("upper", |x| x.upper()),
        ];
        let x = random_spd(seed, count, n);
        for (name, op) in ops {
            let error = gradient_error_along(from_ref(&x), symmetric, |v| op(v[0]))?;
            prop_assert!(error < TOLERANCE, "{name} {count} × {n}: {error:e}");
        }
    }

    #[test]
    fn vectors_and_back(count in 1..4_usize, n in 1..6_usize, seed in 0..1000_u64) {
        let v = random_batch(seed, count, 1, n * (n + 1) / 2);
        let error = gradient_error(from_ref(&v), |v| v[0].from_upper())?;
        prop_assert!(error < TOLERANCE, "{error:e}");
        let tape = Tape::<f64>::new();
        let back = tape.constant(&v).from_upper()?.upper()?;
        assert_close("there and back", back.value().data(), v.data(), 1e-15);
    }

    #[test]
    fn cholesky(count in 1..4_usize, n in 1..6_usize, seed in 0..1000_u64) {
        let x = random_spd(seed, count, n);
        for op in [(|x| x.cholesky()) as Unary, |x| x.log_det()] {
            let error = gradient_error_along(from_ref(&x), symmetric, |v| op(v[0]))?;
            prop_assert!(error < TOLERANCE, "{error:e}");
        }
        // Two roads to the same determinant and its gradient.
        let tape = Tape::new();
        let x = tape.parameter(&x);
        let (a, b) = (x.log_det()?, x.spd_log()?.trace()?);
        assert_close("log det", a.value().data(), b.value().data(), 1e-11);
        let (a, b) = (a.sum(stiefel_autodiff::Axis::All)?, b.sum(stiefel_autodiff::Axis::All)?);
        let (a, b) = (tape.backward(a)?, tape.backward(b)?);
        assert_close("inverse", a.get(x).unwrap().data(), b.get(x).unwrap().data(), 1e-12);
    }

    #[test]
    fn triangular(count in 1..4_usize, n in 1..5_usize, p in 1..4_usize, seed in 0..1000_u64) {
        let l = random_lower(seed, count, n);
        let b = random_batch(seed + 1, count, n, p);
        let lower = |j: usize, d: &mut MatBatch<f64>| if j == 0 {
            let (count, n, _) = d.shape();
            *d = MatBatch::from_fn(count, n, n, |i, r, c| if c <= r { d.get(i, r, c) } else { 0.0 });
        };
        for error in [
            gradient_error_along(&[l.clone(), b.clone()], lower, |v| v[0].solve_lower(v[1]))?,
            gradient_error_along(&[l.clone(), b.clone()], lower, |v| v[0].solve_lower_transposed(v[1]))?,
            gradient_error_along(from_ref(&l), lower, |v| v[0].invert_lower())?,
        ] {
            prop_assert!(error < TOLERANCE, "{error:e}");
        }
    }

    #[test]
    fn a_layer_of_the_three(n in 2..5_usize, k in 1..3_usize, seed in 0..1000_u64) {
        let (x, w) = (random_spd(seed, 3, n), random_batch(seed, 1, n, k));
        let error = gradient_error(&[w], |v| {
            let y = v[0].matmul_tn(v[0].tape().constant(&x).matmul(v[0])?)?.symmetrise()?;
            y.reeig_log(1e-4)?.upper()?.softmax()
        })?;
        prop_assert!(error < TOLERANCE, "{error:e}");
    }
}

#[test]
fn equal_eigenvalues_have_finite_gradients() {
    let x = MatBatch::from_fn(2, 3, 3, |i, r, c| if r == c { 1.0 + i as f64 } else { 0.0 });
    let ops: [Unary; 4] = [
        |x| x.spd_log(),
        |x| x.spd_exp(),
        |x| x.spd_inv_sqrt(),
        |x| x.reeig_log(1e-4),
    ];
    for op in ops {
        let error = gradient_error_along(from_ref(&x), symmetric, |v| op(v[0])).unwrap();
        assert!(error < TOLERANCE, "{error:e}");
    }
}

#[test]
fn symmetric_input_of_any_sign_for_the_exponential() {
    let x = random_symmetric(5, 2, 4);
    let error = gradient_error_along(&[x], symmetric, |v| v[0].spd_exp()).unwrap();
    assert!(error < TOLERANCE, "{error:e}");
}
