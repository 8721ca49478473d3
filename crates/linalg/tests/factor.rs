//! Cholesky, triangular inverses and QR against naive definitions, and their errors.

use proptest::prelude::*;
use stiefel_linalg::{
    CholeskyScratch, LinalgError, MatBatch, Op, Scalar, cholesky, cholesky_qr, congruence,
    frobenius_norm, inverse_cholesky, invert_lower, matmul, product, qr, solve_lower,
    symmetric_inverse_into, trace,
};
use stiefel_testkit::{assert_close, random_batch, random_spd};

fn naive_product(a: &MatBatch<f64>, b: &MatBatch<f64>) -> MatBatch<f64> {
    let count = a.count().max(b.count());
    MatBatch::from_fn(count, a.rows(), b.cols(), |i, r, c| {
        let (i, j) = (i.min(a.count() - 1), i.min(b.count() - 1));
        (0..a.cols()).map(|k| a.get(i, r, k) * b.get(j, k, c)).sum()
    })
}

fn lower<T: Scalar>(x: &MatBatch<T>) -> bool {
    (0..x.count())
        .all(|i| (0..x.rows()).all(|r| (r + 1..x.cols()).all(|c| x.get(i, r, c) == T::ZERO)))
}

#[test]
fn products_in_every_orientation() {
    for (count_a, count_b) in [(4, 4), (1, 4), (4, 1), (1, 1)] {
        let (a, b) = (
            random_batch::<f64>(1, count_a, 5, 3),
            random_batch::<f64>(2, count_b, 3, 7),
        );
        let truth = naive_product(&a, &b);
        let (at, bt) = (a.transposed(), b.transposed());
        for (x, op_x) in [(&a, Op::N), (&at, Op::T)] {
            for (y, op_y) in [(&b, Op::N), (&bt, Op::T)] {
                let p = product(x.view(), op_x, y.view(), op_y).expect("shapes fit");
                assert_close("product", p.data(), truth.data(), 1e-15);
            }
        }
    }
    let a = random_batch::<f64>(1, 2, 3, 3);
    assert!(matmul(a.view(), random_batch::<f64>(1, 3, 3, 3).view()).is_err());
    assert!(matmul(a.view(), random_batch::<f64>(1, 2, 4, 3).view()).is_err());
    assert_eq!(
        matmul(a.view(), MatBatch::zeros(2, 3, 0).view())
            .expect("empty")
            .shape(),
        (2, 3, 0)
    );
}

#[test]
fn reductions() {
    let x = MatBatch::from_vec(2, 2, 2, vec![1.0, 2.0, 3.0, 4.0, 0.0, 3.0, 4.0, 0.0])
        .expect("8 values");
    assert_eq!(trace(x.view()).expect("square"), [5.0, 0.0]);
    assert_eq!(frobenius_norm(x.view()), [30.0_f64.sqrt(), 5.0]);
    assert!(trace(MatBatch::<f64>::zeros(1, 2, 3).view()).is_err());
}

#[test]
fn not_positive_definite_is_named() {
    let mut x = random_spd::<f64>(3, 11, 6);
    for k in 0..6 {
        x.matrix_mut(7)[3 * 6 + k] = 0.0;
        x.matrix_mut(7)[k * 6 + 3] = 0.0;
    }
    let error = cholesky(x.view()).expect_err("a zero pivot");
    assert!(
        matches!(
            error,
            LinalgError::NotPositiveDefinite {
                matrix: 7,
                pivot: 3,
                ..
            }
        ),
        "{error}"
    );
    x.matrix_mut(7)[3 * 6 + 3] = f64::NAN;
    assert!(matches!(
        cholesky(x.view()),
        Err(LinalgError::NotPositiveDefinite { matrix: 7, .. })
    ));
    let singular = MatBatch::<f64>::zeros(2, 3, 3);
    assert!(matches!(
        invert_lower(singular.view()),
        Err(LinalgError::Singular { matrix: 0, .. })
    ));
    let b = MatBatch::zeros(2, 3, 1);
    assert!(matches!(
        solve_lower(singular.view(), Op::N, b.view()),
        Err(LinalgError::Singular { .. })
    ));
}

fn check_factor<T: Scalar>(seed: u64, count: usize, n: usize) -> Result<(), TestCaseError> {
    let x = random_spd::<T>(seed, count, n);
    let eps = 40.0 * T::EPSILON.to_f64() * (n as f64 + 1.0);
    let factor = cholesky(x.view()).expect("SPD");
    prop_assert!(lower(&factor));
    let back = product(factor.view(), Op::N, factor.view(), Op::T).expect("square");
    assert_close("L Lᵀ", back.data(), x.data(), eps);
    for inverse in [
        inverse_cholesky(x.view()).expect("SPD"),
        invert_lower(factor.view()).expect("regular"),
    ] {
        prop_assert!(lower(&inverse));
        let eye = matmul(factor.view(), inverse.view()).expect("square");
        assert_close(
            "L L⁻¹",
            eye.data(),
            MatBatch::<T>::identity(count, n).data(),
            eps,
        );
    }
    let mut inverse = MatBatch::zeros(count, n, n);
    let scratch = &mut CholeskyScratch::default();
    symmetric_inverse_into(x.view(), inverse.view_mut(), scratch).expect("SPD");
    prop_assert_eq!(&inverse.transposed(), &inverse);
    let l_inv = inverse_cholesky(x.view()).expect("SPD");
    let expected = product(l_inv.view(), Op::T, l_inv.view(), Op::N).expect("square");
    assert_close("X⁻¹", inverse.data(), expected.data(), eps);
    let alone = cholesky(x.single(count - 1).view()).expect("SPD");
    prop_assert!(
        alone
            .data()
            .iter()
            .zip(factor.matrix(count - 1))
            .all(|(a, b)| a.to_f64().to_bits() == b.to_f64().to_bits())
    );
    let b = random_batch::<T>(seed + 1, count, n, 3);
    for op in [Op::N, Op::T] {
        let solved = solve_lower(factor.view(), op, b.view()).expect("regular");
        let back = product(factor.view(), op, solved.view(), Op::N).expect("fits");
        assert_close("solve", back.data(), b.data(), eps);
    }
    Ok(())
}

fn check_qr<T: Scalar>(seed: u64, count: usize, n: usize, k: usize) -> Result<(), TestCaseError> {
    let a = random_batch::<T>(seed, count, n, k);
    let f = qr(a.view()).expect("full rank");
    let eps = 40.0 * T::EPSILON.to_f64() * n as f64;
    assert_close(
        "Q R",
        matmul(f.q.view(), f.r.view()).expect("fits").data(),
        a.data(),
        eps,
    );
    let gram = product(f.q.view(), Op::T, f.q.view(), Op::N).expect("fits");
    assert_close(
        "QᵀQ",
        gram.data(),
        MatBatch::<T>::identity(count, k).data(),
        eps,
    );
    for i in 0..count {
        for r in 0..k {
            prop_assert!(f.r.get(i, r, r) > T::ZERO);
            prop_assert!((0..r).all(|c| f.r.get(i, r, c) == T::ZERO));
        }
    }
    // A point on the manifold plus a step: the case CholeskyQR is for.
    let step = random_batch::<T>(seed + 2, count, n, k);
    let near = MatBatch::from_fn(count, n, k, |i, r, c| {
        f.q.get(i, r, c) + T::from_f64(0.1) * step.get(i, r, c)
    });
    let (fast, slow) = (
        cholesky_qr(near.view()).expect("full rank"),
        qr(near.view()).expect("full rank"),
    );
    let conditioned = 1e3 * eps;
    assert_close("CholeskyQR", fast.q.data(), slow.q.data(), conditioned);
    let eye = product(slow.r.view(), Op::N, fast.l_inv.view(), Op::T).expect("square");
    assert_close(
        "R R⁻¹",
        eye.data(),
        MatBatch::<T>::identity(count, k).data(),
        conditioned,
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn cholesky_laws(seed in 0_u64..1_000_000, count in 1_usize..11, n in 1_usize..20) {
        check_factor::<f64>(seed, count, n)?;
        check_factor::<f32>(seed, count, n)?;
    }

    #[test]
    fn qr_laws(seed in 0_u64..1_000_000, count in 1_usize..6, n in 1_usize..16, less in 0_usize..8) {
        let k = n.saturating_sub(less).max(1);
        // Square Gaussian matrices can be nearly singular; what is tested is the factorisation, not them.
        check_qr::<f64>(seed, count, n + 4, k)?;
    }

    #[test]
    fn congruence_is_symmetric(seed in 0_u64..1_000_000, n in 1_usize..12, k in 1_usize..6) {
        let (x, w) = (random_spd::<f64>(seed, 3, n), random_batch::<f64>(seed + 1, 1, n, k));
        let y = congruence(w.view(), x.view()).expect("fits");
        let truth = naive_product(&naive_product(&w.transposed(), &x), &w);
        assert_close("WᵀXW", y.data(), truth.data(), 1e-14);
        for i in 0..3 {
            for r in 0..k {
                for c in 0..k {
                    prop_assert_eq!(y.get(i, r, c).to_bits(), y.get(i, c, r).to_bits());
                }
            }
        }
    }
}
