//! Tangent vectors at the identity, `x_i = upper(log X_i)`: `count × 1 × n(n+1)/2`, row-major upper triangle, off-diagonals times √2.
//!
//! They depend on the data alone: computed once per split in f64, then cast to the precision of the network.

use crate::{Result, Trials};
use stiefel_geometry::spd::{log, upper};
use stiefel_linalg::{MatBatch, MatView, Scalar};

/// The tangent vectors of pre-conditioned trials.
///
/// ```
/// use stiefel_linalg::MatBatch;
/// use stiefel_model::{Factor, Trials, tangent_vectors};
///
/// let x = MatBatch::from_vec(1, 2, 2, vec![1.0_f64.exp(), 0.0, 0.0, 1.0])?;
/// let trials = Trials::new(x, Factor::from_labels(["hand"]), Factor::from_labels(["s1"]))?;
/// let v = tangent_vectors::<f64>(&trials)?;
/// assert_eq!(v.shape(), (1, 1, 3));
/// assert!((v.get(0, 0, 0) - 1.0).abs() < 1e-15 && v.get(0, 0, 1).abs() < 1e-15);
/// # Ok::<(), stiefel_model::ModelError>(())
/// ```
///
/// A covariance that is not positive definite beyond rounding is an error that names the trial.
pub fn tangent_vectors<T: Scalar>(trials: &Trials) -> Result<MatBatch<T>> {
    Ok(vectors_of(trials.covariances().view())?.cast())
}

/// The tangent vectors of SPD matrices.
pub(crate) fn vectors_of(x: MatView<'_, f64>) -> Result<MatBatch<f64>> {
    Ok(upper(log(x)?.view())?)
}
