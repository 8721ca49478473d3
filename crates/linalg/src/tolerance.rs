//! Every threshold of the project, each with its reason.

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

/// Block Krylov iteration: a column of a new block of which no more than this share (√ε) lies outside the space depends on the others: the matrix
/// is of low rank.
pub const KRYLOV_DEPENDENT: f64 = 1.490_116_119_384_765_6e-8;

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
/// eigenvalue the short formulas over whole stacks leave the pair to the careful ones. The smallest eigenvalue keeps `ε/1e-6`, ten digits
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

/// CSP filters: what of a filter must be new, as a share of its length, for it to widen the basis. Filters that repeat each other
/// agree to the rounding of their generalised eigenproblem, some 1e-10.
pub const NEW_DIRECTION: f64 = 1e-6;

/// Hierarchical head: largest entry of the gradient accepted, relative to the sum of all `|z|` of a feature: a few hundred roundings.
pub const HEAD_GRADIENT: f64 = 1e-13;

/// Hierarchical head: within this many times [`HEAD_GRADIENT`] a Newton step that leaves more than [`NO_GAIN`] of the gradient has reached
/// the floor of rounding, and what it reached is the minimum.
pub const HEAD_ROUNDING_FLOOR: f64 = 1e3;

/// Newton's method close to a minimum: a step that leaves more than this share of the gradient does not converge any more.
pub const NO_GAIN: f64 = 0.5;

/// Newton steps before giving up; 5 to 10 are usual.
pub const NEWTON_STEPS: usize = 100;

/// Hierarchical head: conjugate-gradient iterations per step at most.
pub const HEAD_ITERATIONS: usize = 500;

/// Logistic regression: conjugate-gradient iterations per step at most; what they found by then is still a direction downhill.
pub const LOGISTIC_ITERATIONS: usize = 1000;

/// Hierarchical head: decrease of the residual asked of conjugate gradients, so that Newton's steps converge quadratically to
/// [`HEAD_GRADIENT`].
pub const HEAD_RESIDUAL: f64 = 1e-10;

/// Logistic regression: a fit ends at this share of the gradient at zero, or earlier only where rounding leaves no further step and
/// [`LOGISTIC_ENOUGH`] is met.
pub const LOGISTIC_GRADIENT: f64 = 1e-12;

/// Logistic regression: the largest share of the gradient at zero that counts as a minimum.
pub const LOGISTIC_ENOUGH: f64 = 1e-10;

/// Link of scores to probabilities: the smallest and the largest slope. Below the first every class is equally probable to a thousandth, and decisions
/// still follow the scores; beyond the second a score of 0.1 is certain to 4e-5.
pub const LINK_SLOPES: (f64, f64) = (1e-3, 1e2);

/// Link of scores to probabilities: a step below this share of the slope ends the search, which gains a digit or more a step.
pub const LINK_STEP: f64 = 1e-12;

/// Line search: the share of the decrease promised by the gradient that a step has to bring (Armijo's usual one).
pub const ARMIJO: f64 = 1e-4;

/// Line search: halvings of a step before giving up; 1e-12 of a Newton step is none.
pub const HALVINGS: usize = 40;

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

/// Rank of a covariance: eigenvalues below this part of the largest count as zero. Averages taken in single precision leave about
/// 1e-14 of the power behind, and the smallest real source in EEG is well above 1e-10.
pub const RANK_TOLERANCE: f64 = 1e-12;

/// Live: a filter has settled where what it remembers of its start has fallen to this share: a millionth of the power, far below the noise of an
/// amplifier. Windows before that are not decided.
pub const SETTLED: f64 = 1e-3;

/// Marker channels: a line that is at its largest value for at least this share of its samples rests there, and its pulses go down. Pulses are
/// short; a code that is held from event to event fills less.
pub const MARKER_RESTS_HIGH: f64 = 0.9;

/// Marker channels: a line that changes to a new code in more than this share of its samples is a signal, not a marker line.
pub const MARKER_CHANGES: f64 = 0.25;

/// Live, flat electrode: a channel whose range within a window is at most this share of the median range of all channels. Ranges of working
/// electrodes are within a factor of about thirty of each other, blinks included.
pub const FLAT_SHARE: f64 = 1e-3;

/// Live, flat electrode: a channel that does not change for this many seconds. Even at a microvolt of resolution no EEG stands still that long.
pub const FLAT_SECONDS: f64 = 0.5;

/// Live, saturated amplifier: a channel that stays at the largest or the smallest value of its window for this many seconds. The peak of an alpha wave stays
/// within one step of a coarse converter (a microvolt) for a tenth of that.
pub const SATURATED_SECONDS: f64 = 0.05;

/// Live, saturated amplifier: and for at least this many samples, for slow amplifiers.
pub const SATURATED_SAMPLES: usize = 6;

/// Live: a channel whose range within a window exceeds this, in microvolts, is no EEG. Blinks reach 0.5 mV, drifts of an electrode some millivolts; a
/// loose plug reaches a hundred.
pub const OUT_OF_RANGE: f64 = 5_000.0;

/// Live: the quantile of the training trials' distances to their own domain's mean that is the yardstick of what is familiar.
pub const FAMILIAR_QUANTILE: f64 = 0.99;

/// Live: a window is unfamiliar beyond this many times the distance at [`FAMILIAR_QUANTILE`]. On EEGMMIDB, 64 channels, trained on two runs of a person and tried on
/// the third: 24 of the 26 people of 1–26 have no window beyond it (the two others change between runs: 3.3 % of all windows), 26 of the 27 of 27–53 (0.5 %); 78 and
/// 73 % of the windows of somebody else are beyond it, and 83 and 91 % of those with ten times the power at eight electrodes.
pub const UNFAMILIAR: f64 = 1.5;

/// Live: windows of a new domain that must be known before the distance to their mean says something; fewer leave out directions.
pub const FAMILIAR_WINDOWS: usize = 10;

/// Live: unlabelled windows after which a running mean changes no more. Each further one would move it by less than a five-hundredth, and what a session keeps
/// must not grow for ever.
pub const ADAPTATION_WINDOWS: usize = 500;

/// Live clock: a time stamp later than expected by this many samples is a gap, where stamps are exact. Half a sample would be rounding.
pub const GAP_SAMPLES: f64 = 0.75;

/// Live clock: where stamps jitter, a gap is this many times their mean deviation: a normal deviate exceeds it once in some ten thousand samples.
pub const GAP_DEVIATIONS: f64 = 5.0;

/// Live clock: seconds of samples that must agree on a gap, before it is believed. A machine that hiccups delivers late and then catches up within this time.
pub const GAP_SECONDS: f64 = 0.1;

/// Live clock: seconds over which the measured rate and the deviation of stamps are averaged. Crystals differ by some 20 ppm; at 160 Hz that is a tenth of a sample in
/// half a minute.
pub const CLOCK_SECONDS: f64 = 10.0;

/// Live clock: the share by which a measured rate may differ from the model's. A band edge moves by as much; more than this is another setting of the
/// amplifier.
pub const RATE_OFF: f64 = 5e-3;

/// Live, evidence over time: probabilities of a window count as at least this, so that one window that is certain of a class does not decide for all others.
pub const LEAST_PROBABILITY: f64 = 1e-3;
