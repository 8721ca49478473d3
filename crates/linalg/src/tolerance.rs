//! Every threshold of the project, each with its reason.

use crate::Scalar;

/// SPD check: an eigenvalue must exceed this fraction of the largest. Below `n·ε` an eigenvalue is rounding noise of
/// the largest one (the eigen-decomposition's absolute error is of order `ε·‖X‖`), and its logarithm is noise too.
pub const SPD_RELATIVE_FLOOR: f64 = 1e-15;

/// ReEig threshold: eigenvalues are clamped from below to this (SPDNet, Huang & Van Gool 2017).
pub const REEIG_EPSILON: f64 = 1e-4;

/// Fréchet mean: the iteration stops when the norm of the Riemannian gradient per √n falls below this.
pub const FRECHET_TOLERANCE: f64 = 1e-9;

/// Fréchet mean: iterations before giving up and reporting non-convergence.
pub const FRECHET_MAX_ITERATIONS: usize = 50;

/// Symmetry check: how far `x_rc` and `x_cr` may differ, as a fraction of the largest entry. √ε of the type lets every
/// rounding of a product or a text file through and stops matrices that were never symmetric.
pub fn symmetry<T: Scalar>() -> T {
    Scalar::sqrt(T::EPSILON)
}
