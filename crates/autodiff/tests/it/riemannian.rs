//! Pull-backs on SPD matrices against central differences and against closed forms.

use proptest::prelude::*;
use std::slice::from_ref;
use stiefel_autodiff::{Result, Tape, Var, gradient_error, gradient_error_along};
use stiefel_geometry::spd::SpectralFn;
use stiefel_linalg::{MatBatch, symmetrise};
use stiefel_testkit::{assert_close, random_batch, random_spd, random_symmetric};

const TOLERANCE: f64 = 1e-7;

type Unary = for<'t> fn(Var<'t, f64>) -> Result<Var<'t, f64>>;

fn symmetric(_: usize, direction: &mut MatBatch<f64>) {
    symmetrise(&mut direction.view_mut()).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn spectral(count in 1..4_usize, n in 1..6_usize, seed in 0..1000_u64) {
        let ops: [(&str, Unary); 8] = [
            ("log", |x| x.spd_log()), ("exp", |x| x.spd_exp()), ("sqrt", |x| x.spectral(SpectralFn::Sqrt)),
            ("inv_sqrt", |x| x.spd_inv_sqrt()), ("power", |x| x.spectral(SpectralFn::Pow(0.3))),
            ("reeig", |x| x.spectral(SpectralFn::ReEig(1e-4))), ("reeig_log", |x| x.reeig_log(1e-4)), ("upper", |x| x.upper()),
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
    fn log_det(count in 1..4_usize, n in 1..6_usize, seed in 0..1000_u64) {
        let x = random_spd(seed, count, n);
        let error = gradient_error_along(from_ref(&x), symmetric, |v| v[0].log_det())?;
        prop_assert!(error < TOLERANCE, "{error:e}");
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
