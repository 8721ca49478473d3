//! Thresholds of kernels and solvers, each with its reason.

use crate::Scalar;

/// Eigen-decomposition: sweeps allowed per eigenvalue. Two are usual; LAPACK allows 30.
pub const QL_SWEEPS_PER_EIGENVALUE: usize = 30;

/// Products of factors that both lie along the sum: from so many registers of terms on, lanes may
/// be terms of one sum. Adding up the lanes takes as long as a few registers of terms.
pub const DOT_REGISTERS: usize = 4;

/// The same: from so many terms per row of the left factor on. Its rows share a copy of the right
/// factor, which otherwise is made, a number in the time of a register's product.
pub const DOT_TERMS_PER_ROW: usize = 3;

/// Divide and conquer: what changes a matrix by less than this many `ε` times its size is left out,
/// as in LAPACK's `laed2`.
pub const DEFLATION: f64 = 8.0;

/// Divide and conquer: a secular function below this many `ε` times the sum of its terms is zero;
/// the rounding of that sum is not smaller.
pub const SECULAR_RESIDUAL: f64 = 8.0;

/// Divide and conquer: a step to a root of less than this many `√ε` times the distance to the
/// nearest pole is the last one. The error after it is of the order of its square, and the secular
/// function is at most the sum of its terms times the relative error.
pub const SECULAR_SHORT: f64 = 0.125;

/// Divide and conquer: steps allowed to a root. Five are usual; in the second half as many `ε` more
/// as there are terms are allowed, which can always be reached.
pub const SECULAR_STEPS: usize = 120;

/// Eigen-decomposition of a matrix scaled to entries near one: an off-diagonal below this is zero
/// whatever its neighbours. The reduction to tridiagonal form has already left errors of order `ε`;
/// a thousandth of that adds nothing, and without it the sweeps would chase rounding noise in
/// matrices without full rank.
pub fn ql_floor<T: Scalar>() -> T {
    T::EPSILON * T::from_f64(1.0 / 1024.0)
}

/// Eigen-decomposition of a matrix scaled to entries near one: a sum of squares below this may have
/// lost digits to underflow, and a reflector or rotation made from it would not be orthogonal. What
/// it stands for is below `ε²`, far under the rounding of the matrix itself, so it is dropped.
pub fn negligible_square<T: Scalar>() -> T {
    T::TINY / (T::EPSILON * T::EPSILON)
}

/// What is below this fraction of the largest of `n` numbers is its rounding noise: `n·ε`. An
/// eigenvalue of an SPD matrix must exceed it (the eigen-decomposition's absolute error is of order
/// `ε·‖X‖`), else its logarithm is noise too; so must what a column adds to those before it.
pub fn noise<T: Scalar>(n: usize) -> T {
    T::EPSILON * T::from_f64(n as f64)
}

/// Principal directions of `m` rows of length `p`, from the eigenvalues of their Gram matrix: a
/// direction counts where its eigenvalue exceeds this fraction of the largest one, and of the total
/// sum of squares of the rows before any mean was removed. The Gram matrix is exact to `max(m,
/// p)·ε` of its largest eigenvalue; a factor of ten keeps rounding noise out. Directions dropped
/// have less than one part in 10¹² of the variance.
pub fn direction_rank(m: usize, p: usize) -> f64 {
    10.0 * m.max(p) as f64 * f64::EPSILON
}

/// Block Krylov iteration: an eigenvector is found where `‖G u − θu‖` is below this fraction of the
/// largest θ, two digits above rounding.
pub const KRYLOV_RESIDUAL: f64 = 1e-13;

/// Block Krylov iteration: directions carried besides those asked for, which keeps a cluster at the
/// cut from slowing it down.
pub const KRYLOV_OVERSAMPLING: usize = 8;

/// Block Krylov iteration: matrices whose smaller side is below this are decomposed whole, which
/// takes some hundredths of a second.
pub const KRYLOV_MIN_SIDE: usize = 400;

/// Block Krylov iteration: a column of a new block of which no more than this share (√ε) lies
/// outside the space depends on the others: the matrix is of low rank.
pub const KRYLOV_DEPENDENT: f64 = 1.490_116_119_384_765_6e-8;

/// The conjugate gradients inside a Newton step (Fréchet mean, logistic regression) stop at this
/// fraction of the gradient at the latest; closer to the minimum they go on to the gradient's own
/// norm, which makes the steps converge quadratically.
pub const NEWTON_FORCING: f64 = 0.1;

/// The one rule of symmetry: how far `x_rc` and `x_cr` may differ, as a fraction of the largest
/// entry of the matrix. √ε of the type lets every rounding of a product or a text file through and
/// stops matrices that were never symmetric.
///
/// `T` is the type the matrix **came in**: 1.5e-8 for f64 and 3.5e-4 for f32. Who widens f32
/// numbers before the check asks for [`symmetry_of`] their precision.
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

/// One-sided Jacobi: sweeps before giving up. Convergence is quadratic; six to ten are usual.
pub const JACOBI_MAX_SWEEPS: usize = 60;

/// Divided differences of the logarithm: up to this `(a − b)/(a + b)`, that is `a ≤ √2 b`, a series
/// stands for `atanh`. Six terms in single and eleven in double precision leave less than a tenth
/// of the rounding; above it the difference of the logarithms has all its digits.
pub const ATANH_SERIES: f64 = 0.171_572_875_253_809_9;

/// Second differences of the logarithm: below this difference of logarithms `1 + u²/12` stands for
/// `(u/2)coth(u/2)`; what it leaves out is under 2e-11.
pub const CLOSE_LOGARITHMS: f64 = 1e-2;

/// Line search: the share of the decrease promised by the gradient that a step has to bring
/// (Armijo's usual one).
pub const ARMIJO: f64 = 1e-4;

/// Line search: halvings of a step before giving up; 1e-12 of a Newton step is none.
pub const HALVINGS: usize = 40;

/// Line search: rounding of the objective, as a share of it; a sum of some thousand terms.
pub const OBJECTIVE_ROUNDING: f64 = 1e-13;
