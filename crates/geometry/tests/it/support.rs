//! What several test files share.

use stiefel_geometry::stiefel;
use stiefel_linalg::{MatBatch, Op, Scalar, product, symmetrise};
use stiefel_testkit::{central_difference, random_batch, random_symmetric, rng};

/// `⟨a, b⟩`.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// `U diag(λ) Uᵀ` with a random orthogonal `U` and the same eigenvalues in each trial.
pub(crate) fn with_spectrum(seed: u64, count: usize, lambda: &[f64]) -> MatBatch<f64> {
    let u = points(seed, count, lambda.len(), lambda.len());
    let scaled = MatBatch::from_fn(count, lambda.len(), lambda.len(), |i, r, c| {
        u.get(i, r, c) * lambda[c]
    });
    let mut x = product(scaled.view(), Op::N, u.view(), Op::T).unwrap();
    symmetrise(&mut x.view_mut()).unwrap();
    x
}

/// Points of St(n, k), drawn uniformly.
pub(crate) fn points(seed: u64, count: usize, n: usize, k: usize) -> MatBatch<f64> {
    stiefel::random_points(&mut rng(seed), count, n, k).unwrap()
}

/// A random tangent vector at each point.
pub(crate) fn tangent(seed: u64, w: &MatBatch<f64>) -> MatBatch<f64> {
    let (count, n, k) = w.shape();
    let z = random_batch::<f64>(seed, count, n, k);
    stiefel::project(w.view(), z.view()).unwrap()
}

/// Compares `⟨gradient, direction⟩` with central differences of `x ↦ ⟨cotangent, f(x)⟩` along three
/// random directions, symmetric ones where `symmetric` asks for it. The error is relative to
/// `‖gradient‖·‖direction‖`.
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
        // A gradient of zero has rounding noise in proportion to the cotangent.
        let size = norm(gradient.data()).max(1e-3 * norm(cotangent.data()));
        let scale = size * norm(direction.data());
        let error = (exact - difference).abs() / scale;
        assert!(
            error <= tolerance,
            "{what}: {exact:e} against {difference:e}, error {error:e} above {tolerance:e}"
        );
    }
}

/// Returns the gradients of `⟨G, P_W(Z)⟩` in `W` and `Z`, summed where one was broadcast.
pub(crate) fn project_pull_back<T: Scalar>(
    w: &MatBatch<T>,
    z: &MatBatch<T>,
    g: &MatBatch<T>,
) -> (MatBatch<T>, MatBatch<T>) {
    let (count, n, k) = g.shape();
    let mut kept = MatBatch::from_fn(count, n, k, |i, r, c| z.get(i.min(z.count() - 1), r, c));
    let mut s = MatBatch::zeros(count, k, k);
    stiefel::project_keeping(w.view(), &mut kept.view_mut(), &mut s.view_mut()).unwrap();
    let mut in_w = MatBatch::zeros(w.count(), n, k);
    let mut in_z = MatBatch::zeros(z.count(), n, k);
    let wanted = (Some(in_w.view_mut()), Some((in_z.view_mut(), false)));
    stiefel::project_pull_back((w.view(), z.view(), s.view()), g.view(), wanted).unwrap();
    (in_w, in_z)
}
