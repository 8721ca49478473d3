//! Every threshold of the project, each with its reason.

use crate::Scalar;

/// Eigen-decomposition: sweeps allowed per eigenvalue. Two are usual; LAPACK allows 30.
pub const QL_SWEEPS_PER_EIGENVALUE: usize = 30;

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

/// SPD check: an eigenvalue must exceed this fraction of the largest. Below `n·ε` an eigenvalue is rounding noise of
/// the largest one (the eigen-decomposition's absolute error is of order `ε·‖X‖`), and its logarithm is noise too.
pub const SPD_RELATIVE_FLOOR: f64 = 1e-15;

/// ReEig threshold: eigenvalues are clamped from below to this (SPDNet, Huang & Van Gool 2017).
pub const REEIG_EPSILON: f64 = 1e-4;

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

/// Routing weights of a sample must sum to one within this: softmax in f32 over some hundred experts is well inside.
pub const SIMPLEX_SUM: f64 = 1e-4;

/// Routing weights whose standard deviation over samples (all experts together) is below this are constant: it is the
/// rounding of a softmax in f32, and a ratio of variances of rounding means nothing.
pub const CONSTANT_ROUTING: f64 = 1e-7;

/// Fréchet mean: the iteration stops when the norm of the Riemannian gradient per √n falls below this.
pub const FRECHET_TOLERANCE: f64 = 1e-9;

/// [`FRECHET_TOLERANCE`], or what the rounding of the scalar type lets a gradient reach (about 100 ε) where that is more.
pub fn frechet<T: Scalar>() -> T {
    Scalar::max(
        T::from_f64(FRECHET_TOLERANCE),
        T::EPSILON * T::from_f64(100.0),
    )
}

/// Fréchet mean: the conjugate gradients inside a Newton step stop at this fraction of the gradient at the latest; closer
/// to the mean they go on to the gradient's own norm, which makes the steps converge quadratically.
pub const NEWTON_FORCING: f64 = 0.1;

/// Whitened pairs `A⁻¹B`: below this ratio of smallest to largest eigenvalue the eigen kernel has too few digits left in
/// the smallest one (its error is `ε/ratio`), and one-sided Jacobi takes over. `ε^0.4` keeps `ε^0.6`: 4e-10 in f64, 7e-5
/// in f32, for an eigenvalue whose logarithm is at least 6.
pub fn jacobi_ratio<T: Scalar>() -> T {
    Scalar::powf(T::EPSILON, T::from_f64(0.4))
}

/// Whitened pairs where digits of the result are to be kept, not only those of the eigenvalues: below this ratio of smallest to largest
/// eigenvalue the short formulas over whole stacks leave the pair to the careful ones. The smallest eigenvalue keeps `ε/1e-6`, ten digits
/// in f64.
pub const RESOLVED_RATIO: f64 = 1e-6;

/// Bures–Wasserstein distance as a difference of traces: below this share of the traces too many digits cancel for the root of the
/// difference, and the polar factor of the Cholesky factors gives it instead.
pub const TRACES_APART: f64 = 1e-3;

/// Fréchet mean: iterations before giving up and reporting non-convergence.
pub const FRECHET_MAX_ITERATIONS: usize = 50;

/// Symmetry check: how far `x_rc` and `x_cr` may differ, as a fraction of the largest entry. √ε of the type lets every
/// rounding of a product or a text file through and stops matrices that were never symmetric.
pub fn symmetry<T: Scalar>() -> T {
    Scalar::sqrt(T::EPSILON)
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

/// Second differences of the logarithm: below this difference of logarithms `1 + u²/12` stands for `(u/2)coth(u/2)`; what it leaves
/// out is under 2e-11.
pub const CLOSE_LOGARITHMS: f64 = 1e-2;

/// CSP filters: what of a filter must be new, as a share of its length, for it to widen the basis. Filters that repeat each other
/// agree to the rounding of their generalised eigenproblem, some 1e-10.
pub const NEW_DIRECTION: f64 = 1e-6;

/// Hierarchical head: largest entry of the gradient accepted, relative to the sum of all `|z|` of a feature: a few hundred roundings.
pub const HEAD_GRADIENT: f64 = 1e-13;

/// Hierarchical head: decrease of the residual asked of conjugate gradients, so that Newton's steps converge quadratically to
/// [`HEAD_GRADIENT`].
pub const HEAD_RESIDUAL: f64 = 1e-10;

/// Logistic regression: a fit ends at this share of the gradient at zero, or earlier only where rounding leaves no further step and
/// [`LOGISTIC_ENOUGH`] is met.
pub const LOGISTIC_GRADIENT: f64 = 1e-12;

/// Logistic regression: the largest share of the gradient at zero that counts as a minimum.
pub const LOGISTIC_ENOUGH: f64 = 1e-10;

/// Line search: the share of the decrease promised by the gradient that a step has to bring (Armijo's usual one).
pub const ARMIJO: f64 = 1e-4;

/// Line search: rounding of the objective, as a share of it; a sum of some thousand terms.
pub const OBJECTIVE_ROUNDING: f64 = 1e-13;

/// Scores and their differences closer than this share are equal: they are the same fractions summed in another order.
pub const EQUAL_SCORES: f64 = 1e-12;

/// Routing entropy `H̄` below which routing counts as sharp (the paper's "Routing Diagnostics").
pub const SHARP_ENTROPY: f64 = 0.70;

/// Domain alignment `r_d` above which routing counts as structured by domain (the paper's "Routing Diagnostics").
pub const STRUCTURED_ALIGNMENT: f64 = 0.10;

/// Verdict on routing: a difference of balanced accuracy up to this is none. It is the paper's threshold of `Δ_K1`; one threshold
/// for the gap and for the controls keeps the verdict from contradicting itself.
pub const ROUTING_GAIN: f64 = 0.01;

/// Verdict on routing: percent of the sets of test trials (folds) whose `Δ_K1` must exceed [`ROUTING_GAIN`]. The paper asks for 3 of 5.
pub const ROUTING_FOLDS_PERCENT: usize = 60;

/// Verdict on routing: the fewest trials that can tell two decoders apart. Where five trials differ, all in favour of one decoder, the
/// sign test has p = 2/2⁵ = .06; six have p = 2/2⁶ = .03. Fewer can never be significant, whatever the other trials are.
pub const TELLING_TRIALS: usize = 6;

/// Verdicts of a study: a corrected p-value below this is called significant.
pub const SIGNIFICANT: f64 = 0.05;
