//! Pull-backs of the maps on St(n, k) against central differences.

use proptest::prelude::*;
use std::slice::from_ref;
use stiefel_autodiff::{Result, Tape, Var, gradient_error};
use stiefel_geometry::stiefel::{orthonormal_factor, orthonormality_defect};
use stiefel_linalg::{MatBatch, Op, eigh, product};
use stiefel_testkit::{assert_close, random_batch};

const TOLERANCE: f64 = 1e-7;

type Binary = for<'t> fn(Var<'t, f64>, Var<'t, f64>) -> Result<Var<'t, f64>>;

fn point(seed: u64, count: usize, n: usize, k: usize) -> MatBatch<f64> {
    orthonormal_factor(random_batch(seed, count, n, k).view())
        .unwrap()
        .q
}

/// The least eigenvalue of `(W + Δ)ᵀ(W + Δ)`, of all pairs.
fn least_eigenvalue_of_gram(w: &MatBatch<f64>, delta: &MatBatch<f64>) -> f64 {
    let of = |x: &MatBatch<f64>, i: usize, r, c| x.get(if x.count() == 1 { 0 } else { i }, r, c);
    let (_, n, k) = w.shape();
    let count = w.count().max(delta.count());
    let sum = MatBatch::from_fn(count, n, k, |i, r, c| of(w, i, r, c) + of(delta, i, r, c));
    let gram = product(sum.view(), Op::T, sum.view(), Op::N).unwrap();
    let values = eigh(gram.view()).unwrap().values;
    values.into_iter().fold(f64::INFINITY, f64::min)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn projection_and_retractions(
        b in 1..4_usize, one_w: bool, one_z: bool, n in 2..6_usize, k in 1..3_usize, seed in 0..1000_u64,
    ) {
        let (w, z) = (point(seed, if one_w { 1 } else { b }, n, k), random_batch::<f64>(seed + 1, if one_z { 1 } else { b }, n, k));
        let ops: [(&str, Binary); 3] = [
            ("project", |w, z| w.project_tangent(z)), ("qr", |w, d| w.retract_qr(d)), ("polar", |w, d| w.retract_polar(d)),
        ];
        let delta = MatBatch::from_fn(z.count(), n, k, |i, r, c| 0.5 * z.get(i, r, c));
        // A retraction has a derivative where W + Δ has full rank, and one that differences see where it is not close to losing it.
        prop_assume!(least_eigenvalue_of_gram(&w, &delta) > 0.04);
        for (name, op) in ops {
            let error = gradient_error(&[w.clone(), delta.clone()], |v| op(v[0], v[1]))?;
            prop_assert!(error < TOLERANCE, "{name} {:?} {:?}: {error:e}", w.shape(), z.shape());
        }
    }

    #[test]
    fn factors(b in 1..4_usize, n in 2..6_usize, k in 1..3_usize, seed in 0..1000_u64) {
        let w = point(seed, b, n, k);
        let z = random_batch::<f64>(seed + 1, b, n, k);
        let a = MatBatch::from_fn(b, n, k, |i, r, c| w.get(i, r, c) + 0.3 * z.get(i, r, c));
        let error = gradient_error(from_ref(&a), |v| v[0].orthonormal_factor())?;
        prop_assert!(error < TOLERANCE, "{error:e}");
    }

    #[test]
    fn cayley_parametrisation(b in 1..4_usize, n in 2..6_usize, k in 1..3_usize, seed in 0..1000_u64) {
        let base = point(seed, 1, n, n);
        let x = random_batch(seed + 1, b, n, k);
        let error = gradient_error(from_ref(&x), |v| v[0].cayley_parametrisation(v[0].tape().constant(&base)))?;
        prop_assert!(error < TOLERANCE, "{error:e}");
        let tape = Tape::<f64>::new();
        let w = tape.constant(&x).cayley_parametrisation(tape.parameter(&base))?;
        prop_assert!(!w.wants_gradient());
        let defects = orthonormality_defect(w.value()).unwrap();
        prop_assert!(defects.iter().all(|&d| d < 1e-13), "{defects:?}");
    }
}

#[test]
fn the_projection_equals_the_expression_it_stands_for() {
    let tape = Tape::<f64>::new();
    let (w, z) = (
        tape.parameter(&point(1, 1, 5, 2)),
        tape.parameter(&random_batch(2, 3, 5, 2)),
    );
    let fused = w.project_tangent(z).unwrap();
    let sym = w.matmul_tn(z).unwrap().symmetrise().unwrap();
    let plain = z.sub(w.matmul(sym).unwrap()).unwrap();
    assert_close(
        "projection",
        fused.value().data(),
        plain.value().data(),
        1e-14,
    );
    let loss = |y: Var<'_, f64>| {
        let loss = y.exp().unwrap().sum(stiefel_autodiff::Axis::All).unwrap();
        let g = tape.backward(loss).unwrap();
        [w, z].map(|v| g.get(v).unwrap().to_owned())
    };
    for (a, b) in loss(fused).iter().zip(&loss(plain)) {
        assert_close("gradient", a.data(), b.data(), 1e-13);
    }
}

#[test]
fn bad_input_is_refused_with_the_operation_and_the_matrix() {
    let tape = Tape::<f64>::new();
    let of = |b, r, c| tape.parameter(&random_batch(1, b, r, c));
    let (w, other, wide) = (of(2, 4, 2), of(3, 4, 2), of(2, 2, 4));
    for (result, op) in [
        (w.project_tangent(other), "project_tangent"),
        (w.retract_qr(other), "retract_qr"),
        (w.retract_polar(wide), "retract_polar"),
        (wide.orthonormal_factor(), "orthonormal_factor"),
        (w.cayley_parametrisation(wide), "cayley_parametrisation"),
    ] {
        let text = result.unwrap_err().to_string();
        assert!(
            text.starts_with(&format!("{op} (")) && text.contains("needs"),
            "{text}"
        );
    }
    let mut dependent = random_batch::<f64>(2, 3, 4, 2);
    for r in 0..4 {
        dependent.matrix_mut(1)[2 * r + 1] = 2.0 * dependent.matrix(1)[2 * r];
    }
    let dependent = tape.parameter(&dependent);
    let text = dependent.orthonormal_factor().unwrap_err().to_string();
    assert!(text.contains("matrix 1"), "{text}");
}
