//! Thresholds of kernels and solvers, each with its reason.

use crate::Scalar;

/// Eigen-decomposition: sweeps allowed per eigenvalue. Two are usual; LAPACK allows 30.
pub const QL_SWEEPS_PER_EIGENVALUE: usize = 30;

/// Products of factors that both lie along the sum: from so many registers of terms on, lanes may be terms of one sum. Adding up the lanes takes as long as a few registers of terms.
pub const DOT_REGISTERS: usize = 4;

/// The same: from so many terms per row of the left factor on. Its rows share a copy of the right factor, which otherwise is made, a number in the time of a register's product.
pub const DOT_TERMS_PER_ROW: usize = 3;

/// Divide and conquer: what changes a matrix by less than this many `ε` times its size is left out, as in LAPACK's `laed2`.
pub const DEFLATION: f64 = 8.0;

/// Divide and conquer: a secular function below this many `ε` times the sum of its terms is zero; the rounding of that sum is not smaller.
pub const SECULAR_RESIDUAL: f64 = 8.0;

/// Divide and conquer: a step to a root of less than this many `√ε` times the distance to the nearest pole is the last one. The error after it is of the order of its square, and
/// the secular function is at most the sum of its terms times the relative error.
pub const SECULAR_SHORT: f64 = 0.125;

/// Divide and conquer: steps allowed to a root. Five are usual; in the second half as many `ε` more as there are terms are allowed, which can always be reached.
pub const SECULAR_STEPS: usize = 120;

/// Eigen-decomposition of a matrix scaled to entries near one: an off-diagonal below this is zero whatever its neighbours. The
/// reduction to tridiagonal form has already left errors of order `ε`; a thousandth of that adds nothing, and without it
/// the sweeps would chase rounding noise in matrices without full rank.
pub fn ql_floor<T: Scalar>() -> T {
    T::EPSILON * T::from_f64(1.0 / 1024.0)
}

/// Eigen-decomposition of a matrix scaled to entries near one: a sum of squares below this may have lost digits to
/// underflow, and a reflector or rotation made from it would not be orthogonal. What it stands for is below `ε²`, far under the
/// rounding of the matrix itself, so it is dropped.
pub fn negligible_square<T: Scalar>() -> T {
    T::TINY / (T::EPSILON * T::EPSILON)
}

/// What is below this fraction of the largest of `n` numbers is its rounding noise: `n·ε`. An eigenvalue of an SPD matrix must
/// exceed it (the eigen-decomposition's absolute error is of order `ε·‖X‖`), else its logarithm is noise too; so must what a column adds to
/// those before it.
pub fn noise<T: Scalar>(n: usize) -> T {
    T::EPSILON * T::from_f64(n as f64)
}

/// SPD check by the bound `1/(tr X · tr X⁻¹) ≤ λ_min/λ_max`: below five times [`noise`] the bound settles nothing, and eigenvalues are taken.
/// The factor covers the rounding of the Cholesky factor and of its inverse.
pub fn trace_bound<T: Scalar>(n: usize) -> T {
    T::EPSILON * T::from_f64(5.0 * n as f64)
}

/// Principal directions of `m` rows of length `p`, from the eigenvalues of their Gram matrix: a direction counts where its
/// eigenvalue exceeds this fraction of the largest one, and of the total sum of squares of the rows before any mean was removed.
/// The Gram matrix is exact to `max(m, p)·ε` of its largest eigenvalue; a factor of ten keeps rounding noise out. Directions dropped
/// have less than one part in 10¹² of the variance.
pub fn direction_rank(m: usize, p: usize) -> f64 {
    10.0 * m.max(p) as f64 * f64::EPSILON
}

/// Block Krylov iteration: an eigenvector is found where `‖G u − θu‖` is below this fraction of the largest θ, two digits above
/// rounding.
pub const KRYLOV_RESIDUAL: f64 = 1e-13;

/// Block Krylov iteration: directions carried besides those asked for, which keeps a cluster at the cut from slowing it down.
pub const KRYLOV_OVERSAMPLING: usize = 8;

/// Block Krylov iteration: matrices whose smaller side is below this are decomposed whole, which takes some hundredths of a second.
pub const KRYLOV_MIN_SIDE: usize = 400;

/// Block Krylov iteration: a column of a new block of which no more than this share (√ε) lies outside the space depends on the others: the matrix
/// is of low rank.
pub const KRYLOV_DEPENDENT: f64 = 1.490_116_119_384_765_6e-8;

/// Fréchet mean: the iteration stops when the norm of the Riemannian gradient per √n falls below this.
pub const FRECHET_TOLERANCE: f64 = 1e-9;

/// [`FRECHET_TOLERANCE`], or what the rounding of the scalar type lets a gradient reach (about 100 ε) where that is more.
pub fn frechet<T: Scalar>() -> T {
    Scalar::max(
        T::from_f64(FRECHET_TOLERANCE),
        T::EPSILON * T::from_f64(100.0),
    )
}

/// Fréchet mean: the smallest tolerance worth asking for. In f32 a gradient below this sees rounding only; f64 reaches what is asked.
pub fn frechet_floor<T: Scalar>() -> T {
    T::from_f64(if T::NAME == "f32" { 1e-5 } else { 0.0 })
}

/// The conjugate gradients inside a Newton step (Fréchet mean, logistic regression) stop at this fraction of the gradient at the latest; closer
/// to the minimum they go on to the gradient's own norm, which makes the steps converge quadratically.
pub const NEWTON_FORCING: f64 = 0.1;

/// Fréchet mean: the fraction of the tolerance that the last step's conjugate gradients leave.
pub const ENOUGH_OF_TOLERANCE: f64 = 0.3;

/// Fréchet mean: where this fraction of the usual precision of a step's conjugate gradients is enough for the tolerance, the step goes that far.
pub const ENOUGH_IS_NEAR: f64 = 0.1;

/// Fréchet mean: from this many matrices on, the way to its neighbourhood is gone in f32; fewer do not fill its registers.
pub const COARSE_FEWEST: usize = 32;

/// Fréchet mean: in f32 up to this residual. One more step of Newton's method leaves a fraction of its square, and f32 could not tell it from its rounding (1e-5 where eigenvalues spread over
/// three decades).
pub const COARSE_RESIDUAL: f32 = 0.03;

/// Fréchet mean: below this ratio of smallest to largest eigenvalue f32 leaves fewer than two digits of the smallest one.
pub const COARSE_SPREAD: f32 = 1e-5;

/// Whitened pairs `A⁻¹B`: below this ratio of smallest to largest eigenvalue the eigen kernel has too few digits left in
/// the smallest one (its error is `ε/ratio`), and one-sided Jacobi takes over. `ε^0.4` keeps `ε^0.6`: 4e-10 in f64, 7e-5
/// in f32, for an eigenvalue whose logarithm is at least 6.
pub fn jacobi_ratio<T: Scalar>() -> T {
    Scalar::powf(T::EPSILON, T::from_f64(0.4))
}

/// Whitened pairs where digits of the result are to be kept, not only those of the eigenvalues: below this ratio of smallest to largest
/// eigenvalue the short formulas over whole batches leave the pair to the careful ones. The smallest eigenvalue keeps `ε/1e-6`, ten digits
/// in f64.
pub const RESOLVED_RATIO: f64 = 1e-6;

/// Bures–Wasserstein distance as a difference of traces: below this share of the traces too many digits cancel for the root of the
/// difference, and the polar factor of the Cholesky factors gives it instead.
pub const TRACES_APART: f64 = 1e-3;

/// Fréchet mean: a Newton step of at most this length (√ε) that does not reduce the gradient was kept from it by rounding.
pub fn shortest_newton_step<T: Scalar>() -> T {
    Scalar::sqrt(T::EPSILON)
}

/// Fréchet mean: iterations before giving up and reporting non-convergence.
pub const FRECHET_MAX_ITERATIONS: usize = 50;

/// Means found step by step (Bures–Wasserstein, log-det, powers, medians, recursive ones): what a step changes of an `n × n` matrix is rounding below this share of its size.
/// A step takes a handful of products and one decomposition, each exact to `n·ε`.
pub fn stationary<T: Scalar>(n: usize) -> T {
    T::EPSILON * T::from_f64(8.0 * n as f64)
}

/// Approximate joint diagonalisation: sweeps at most, and the gain of the criterion per pair of rows below which a further sweep is not worth its time. What is left is far below
/// what the matrices lack to be diagonal together (Pham's own values).
pub const JOINT_SWEEPS: usize = 20;

/// See [`JOINT_SWEEPS`].
pub const JOINT_GAIN: f64 = 1e-6;

/// The same where the matrices are diagonal but for what [`JOINT_GAIN`] leaves: the gain falls as the square of that, which a sweep then squares again.
pub const JOINT_GAIN_DIAGONAL: f64 = JOINT_GAIN * JOINT_GAIN;

/// Approximate joint diagonalisation: the least curvature of the criterion along the direction that proportional diagonals leave open (Pham's own value).
pub const JOINT_CURVATURE: f64 = 1e-9;

/// The one rule of symmetry: how far `x_rc` and `x_cr` may differ, as a fraction of the largest entry of the matrix. √ε of the type lets
/// every rounding of a product or a text file through and stops matrices that were never symmetric.
///
/// `T` is the type the matrix **came in**: 1.5e-8 for f64 and 3.5e-4 for f32. Who widens f32 numbers before the check asks for
/// [`symmetry_of`] their precision.
pub fn symmetry<T: Scalar>() -> T {
    Scalar::sqrt(T::EPSILON)
}

/// [`symmetry`] for numbers that are f64 now and came in as f32, where `single` says so.
///
/// ```
/// use stiefel_linalg::tolerance::{symmetry, symmetry_of};
///
/// assert_eq!(symmetry_of(false), symmetry::<f64>());
/// assert_eq!(symmetry_of(true), f64::from(symmetry::<f32>()));
/// ```
pub fn symmetry_of(single: bool) -> f64 {
    if single {
        symmetry::<f32>().to_f64()
    } else {
        symmetry::<f64>()
    }
}

/// How far `WᵀW` may be from the identity (largest entry) for `W` to count as a point of the Stiefel manifold where an
/// operation assumes it: √ε lets the drift of long training through and stops matrices that never were orthonormal.
pub fn orthonormality<T: Scalar>() -> T {
    Scalar::sqrt(T::EPSILON)
}

/// QR retraction: condition number beyond which a matrix takes Householder reflections instead of CholeskyQR, whose
/// orthonormality error is `ε·cond²`. At 4 it is below 5e-6 in f32 and 1e-14 in f64; tangent steps of norm 1 have √2.
pub const CHOLESKY_QR_CONDITION: f64 = 4.0;

/// One-sided Jacobi: sweeps before giving up. Convergence is quadratic; six to ten are usual.
pub const JACOBI_MAX_SWEEPS: usize = 60;

/// Divided differences of the logarithm: up to this `(a − b)/(a + b)`, that is `a ≤ √2 b`, a series stands for `atanh`. Six terms in single and eleven in double precision leave
/// less than a tenth of the rounding; above it the difference of the logarithms has all its digits.
pub const ATANH_SERIES: f64 = 0.171_572_875_253_809_9;

/// Second differences of the logarithm: below this difference of logarithms `1 + u²/12` stands for `(u/2)coth(u/2)`; what it leaves
/// out is under 2e-11.
pub const CLOSE_LOGARITHMS: f64 = 1e-2;

/// Line search: the share of the decrease promised by the gradient that a step has to bring (Armijo's usual one).
pub const ARMIJO: f64 = 1e-4;

/// Line search: halvings of a step before giving up; 1e-12 of a Newton step is none.
pub const HALVINGS: usize = 40;

/// Line search: rounding of the objective, as a share of it; a sum of some thousand terms.
pub const OBJECTIVE_ROUNDING: f64 = 1e-13;
