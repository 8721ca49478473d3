//! What several test files share.

use stiefel_linalg::{MatBatch, Op, product, qr, symmetrise};
use stiefel_testkit::{central_difference, random_batch, random_symmetric};

/// `⟨a, b⟩`.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// A random orthogonal matrix per trial.
pub(crate) fn random_orthogonal(seed: u64, count: usize, n: usize) -> MatBatch<f64> {
    qr(random_batch(seed, count, n, n).view()).unwrap().q
}

/// `U diag(λ) Uᵀ` with a random orthogonal `U` and the same eigenvalues in each trial.
pub(crate) fn with_spectrum(seed: u64, count: usize, lambda: &[f64]) -> MatBatch<f64> {
    let u = random_orthogonal(seed, count, lambda.len());
    let scaled = MatBatch::from_fn(count, lambda.len(), lambda.len(), |i, r, c| {
        u.get(i, r, c) * lambda[c]
    });
    let mut x = product(scaled.view(), Op::N, u.view(), Op::T).unwrap();
    symmetrise(&mut x.view_mut()).unwrap();
    x
}

/// Compares `⟨gradient, direction⟩` with central differences of `x ↦ ⟨cotangent, f(x)⟩` along three random
/// directions, symmetric ones where `symmetric` asks for it. The error is relative to `‖gradient‖·‖direction‖`.
#[track_caller]
pub(crate) fn check_gradient(
    what: &str,
    x: &MatBatch<f64>,
    gradient: &MatBatch<f64>,
    cotangent: &MatBatch<f64>,
    symmetric: bool,
    (step, tolerance): (f64, f64),
    f: impl Fn(&MatBatch<f64>) -> MatBatch<f64>,
) {
    let (count, rows, cols) = x.shape();
    assert_eq!(gradient.shape(), x.shape(), "{what}");
    for seed in 0..3 {
        let direction = if symmetric {
            random_symmetric::<f64>(900 + seed, count, rows)
        } else {
            random_batch::<f64>(900 + seed, count, rows, cols)
        };
        let difference = central_difference(x.data(), direction.data(), step, |moved| {
            let moved = MatBatch::from_vec(count, rows, cols, moved.to_vec()).unwrap();
            dot(f(&moved).data(), cotangent.data())
        });
        let exact = dot(gradient.data(), direction.data());
        let norm = |v: &[f64]| dot(v, v).sqrt();
        let scale = (norm(gradient.data()) * norm(direction.data())).max(1e-300);
        let error = (exact - difference).abs() / scale;
        assert!(
            error <= tolerance,
            "{what}: {exact:e} against {difference:e}, error {error:e} above {tolerance:e}"
        );
    }
}
