//! Thresholds of means, distances and maps on manifolds, each with its reason.

use stiefel_linalg::Scalar;

/// SPD check by the bound `1/(tr X · tr X⁻¹) ≤ λ_min/λ_max`: below five times
/// [`noise`](stiefel_linalg::tolerance::noise) the bound settles nothing, and eigenvalues are
/// taken. The factor covers the rounding of the Cholesky factor and of its inverse.
pub fn trace_bound<T: Scalar>(n: usize) -> T {
    T::EPSILON * T::from_f64(5.0 * n as f64)
}

/// Fréchet mean: the iteration stops when the norm of the Riemannian gradient per √n falls below
/// this.
pub const FRECHET_TOLERANCE: f64 = 1e-9;

/// [`FRECHET_TOLERANCE`], or what the rounding of the scalar type lets a gradient reach (about 100
/// ε) where that is more.
pub fn frechet<T: Scalar>() -> T {
    Scalar::max(
        T::from_f64(FRECHET_TOLERANCE),
        T::EPSILON * T::from_f64(100.0),
    )
}

/// Fréchet mean: the smallest tolerance worth asking for. In f32 a gradient below this sees
/// rounding only; f64 reaches what is asked.
pub fn frechet_floor<T: Scalar>() -> T {
    T::from_f64(if T::NAME == "f32" { 1e-5 } else { 0.0 })
}

/// Fréchet mean: the fraction of the tolerance that the last step's conjugate gradients leave.
pub const ENOUGH_OF_TOLERANCE: f64 = 0.3;

/// Fréchet mean: where this fraction of the usual precision of a step's conjugate gradients is
/// enough for the tolerance, the step goes that far.
pub const ENOUGH_IS_NEAR: f64 = 0.1;

/// Fréchet mean: from this many matrices on, the way to its neighbourhood is gone in f32; fewer do
/// not fill its registers.
pub const COARSE_FEWEST: usize = 32;

/// Fréchet mean: in f32 up to this residual. One more step of Newton's method leaves a fraction of
/// its square, and f32 could not tell it from its rounding (1e-5 where eigenvalues spread over
/// three decades).
pub const COARSE_RESIDUAL: f32 = 0.03;

/// Fréchet mean: below this ratio of smallest to largest eigenvalue f32 leaves fewer than two
/// digits of the smallest one.
pub const COARSE_SPREAD: f32 = 1e-5;

/// Whitened pairs `A⁻¹B`: below this ratio of smallest to largest eigenvalue the eigen kernel has
/// too few digits left in the smallest one (its error is `ε/ratio`), and one-sided Jacobi takes
/// over. `ε^0.4` keeps `ε^0.6`: 4e-10 in f64, 7e-5 in f32, for an eigenvalue whose logarithm is at
/// least 6.
pub fn jacobi_ratio<T: Scalar>() -> T {
    Scalar::powf(T::EPSILON, T::from_f64(0.4))
}

/// Whitened pairs where digits of the result are to be kept, not only those of the eigenvalues:
/// below this ratio of smallest to largest eigenvalue the short formulas over whole batches leave
/// the pair to the careful ones. The smallest eigenvalue keeps `ε/1e-6`, ten digits in f64.
pub const RESOLVED_RATIO: f64 = 1e-6;

/// Bures–Wasserstein distance as a difference of traces: below this share of the traces too many
/// digits cancel for the root of the difference, and the polar factor of the Cholesky factors gives
/// it instead.
pub const TRACES_APART: f64 = 1e-3;

/// Fréchet mean: a Newton step of at most this length (√ε) that does not reduce the gradient was
/// kept from it by rounding.
pub fn shortest_newton_step<T: Scalar>() -> T {
    Scalar::sqrt(T::EPSILON)
}

/// Fréchet mean: iterations before giving up and reporting non-convergence.
pub const FRECHET_MAX_ITERATIONS: usize = 50;

/// Means found step by step (Bures–Wasserstein, log-det, powers, medians, recursive ones): what a
/// step changes of an `n × n` matrix is rounding below this share of its size. A step takes a
/// handful of products and one decomposition, each exact to `n·ε`.
pub fn stationary<T: Scalar>(n: usize) -> T {
    T::EPSILON * T::from_f64(8.0 * n as f64)
}

/// Approximate joint diagonalisation: sweeps at most, and the gain of the criterion per pair of
/// rows below which a further sweep is not worth its time. What is left is far below
/// what the matrices lack to be diagonal together (Pham's own values).
pub const JOINT_SWEEPS: usize = 20;

/// See [`JOINT_SWEEPS`].
pub const JOINT_GAIN: f64 = 1e-6;

/// The same where the matrices are diagonal but for what [`JOINT_GAIN`] leaves: the gain falls as
/// the square of that, which a sweep then squares again.
pub const JOINT_GAIN_DIAGONAL: f64 = JOINT_GAIN * JOINT_GAIN;

/// Approximate joint diagonalisation: the least curvature of the criterion along the direction that
/// proportional diagonals leave open (Pham's own value).
pub const JOINT_CURVATURE: f64 = 1e-9;

/// How far `WᵀW` may be from the identity (largest entry) for `W` to count as a point of the
/// Stiefel manifold where an operation assumes it: √ε lets the drift of long training through and
/// stops matrices that never were orthonormal.
pub fn orthonormality<T: Scalar>() -> T {
    Scalar::sqrt(T::EPSILON)
}

/// QR retraction: condition number beyond which a matrix takes Householder reflections instead of
/// CholeskyQR, whose orthonormality error is `ε·cond²`. At 4 it is below 5e-6 in f32 and 1e-14 in
/// f64; tangent steps of norm 1 have √2.
pub const CHOLESKY_QR_CONDITION: f64 = 4.0;
