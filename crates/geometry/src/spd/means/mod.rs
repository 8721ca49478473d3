//! Means and medians that are found step by step.
//!
//! Every search goes `M ← step(M)` on `n × n` matrices until the residual that the step tells is at
//! most the tolerance; each file says what its residual is. Where the tolerance is below what
//! rounding leaves of a residual, that rounding stands in its place.
//!
//! | file | what it finds |
//! |---|---|
//! | `fixed_point` | the means of Bures–Wasserstein, of the log-det divergence and of powers; the inductive mean of Thompson's geodesics |
//! | `recursive` | the means of Ando, Li & Mathias, of Bini, Meini & Poloni, and the cheap mean: close to the Fréchet mean |
//! | `joint` | the log-Euclidean mean in the basis of an approximate joint diagonaliser |
//! | `median` | the minimisers of `Σ w_i d(M, X_i)` |
//! | `masked` | the Fréchet mean of matrices of which parts are known |

mod fixed_point;
mod joint;
mod masked;
mod median;
mod recursive;

pub use fixed_point::{mean_log_det, mean_power, mean_thompson, mean_wasserstein};
pub use joint::mean_joint;
pub use masked::masked_mean;
pub use median::{median_affine_invariant, median_euclidean};
pub use recursive::{RecursiveMean, mean_recursive};

use super::{FrechetMean, FrechetOptions, FrechetReport, check_spd};
use crate::Result;
use crate::tolerance;
use stiefel_linalg::{MatBatch, Scalar, frobenius_norm};

/// One step of a search.
struct Step<T> {
    next: MatBatch<T>,
    residual: T,
    /// The size of the numbers whose difference the residual is.
    scale: T,
}

/// `M ← step(M)` until the residual is small enough.
fn iterate<T: Scalar>(
    op: &'static str,
    options: &FrechetOptions<'_, T>,
    start: MatBatch<T>,
    mut step: impl FnMut(&MatBatch<T>) -> Result<Step<T>>,
) -> Result<FrechetMean<T>> {
    options.check_tolerance(op)?;
    let n = start.rows().max(start.cols());
    let mut report = FrechetReport {
        iterations: 0,
        residual: f64::INFINITY,
        converged: false,
    };
    let mut mean = start;
    while !report.converged && report.iterations < options.max_iterations {
        let Step {
            next,
            residual,
            scale,
        } = step(&mean)?;
        mean = next;
        report.iterations += 1;
        report.residual = residual.to_f64();
        let floor = tolerance::stationary::<T>(n) * scale;
        report.converged = residual <= Scalar::max(options.tolerance, floor);
    }
    Ok(FrechetMean { mean, report })
}

/// The matrix to start from, where one is given: a single SPD matrix of size `n`.
fn given_start<T: Scalar>(
    op: &'static str,
    options: &FrechetOptions<'_, T>,
    n: usize,
) -> Result<Option<MatBatch<T>>> {
    let Some(start) = options.given(op, (n, n))? else {
        return Ok(None);
    };
    check_spd(start)?;
    Ok(Some(start.to_owned()))
}

/// `‖X‖_F` of a single matrix.
fn size<T: Scalar>(x: &MatBatch<T>) -> T {
    frobenius_norm(x.view()).first().copied().unwrap_or(T::ZERO)
}
