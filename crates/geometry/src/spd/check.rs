//! The check at the door: finite, symmetric, and positive definite beyond rounding.
//!
//! An eigenvalue counts as positive where `λ > n·ε·λ_max`: below it, it is rounding
//! noise of the largest one (the eigen-decomposition's error is of order `ε·‖X‖`), and so is its
//! logarithm.

use crate::error::shape_error;
use crate::{GeometryError, Result, SpdDefect};
use stiefel_linalg::tolerance::{noise, symmetry};
use stiefel_linalg::{MatView, Scalar, asymmetry, eigh};

/// An error unless every matrix of the batch is finite, symmetric and positive definite beyond
/// rounding.
///
/// ```
/// use stiefel_geometry::{GeometryError, SpdDefect, spd::check_spd};
/// use stiefel_linalg::MatBatch;
///
/// // An average reference removes one dimension: rows sum to zero.
/// let x = MatBatch::from_vec(1, 2, 2, vec![1.0, -1.0, -1.0, 1.0])?;
/// let error = check_spd(x.view()).unwrap_err();
/// assert!(matches!(
///     error,
///     GeometryError::NotSpd {
///         trial: 0,
///         defect: SpdDefect::RankDeficient { rank: 1 },
///         ..
///     }
/// ));
/// # Ok::<(), GeometryError>(())
/// ```
pub fn check_spd<T: Scalar>(x: MatView<'_, T>) -> Result<()> {
    const OP: &str = "check for positive definiteness";
    check_symmetric(OP, x)?;
    let eigen = eigh(x)?;
    check_spectrum(OP, x.rows(), &eigen.values)
}

/// An error unless all eigenvalues (ascending within each matrix of size `n`) are positive beyond
/// rounding: for callers that have the decomposition already. `op` names the operation in errors.
pub fn check_spectrum<T: Scalar>(op: &'static str, n: usize, values: &[T]) -> Result<()> {
    let floor = noise::<T>(n);
    if n == 0 {
        return Ok(());
    }
    for (trial, lambda) in values.chunks_exact(n).enumerate() {
        let (smallest, largest) = (lambda[0], lambda[n - 1]);
        if smallest > floor * largest {
            continue;
        }
        let noise = floor * Scalar::max(Scalar::abs(smallest), Scalar::abs(largest));
        let defect = if smallest < -noise {
            SpdDefect::Indefinite
        } else {
            SpdDefect::RankDeficient {
                rank: lambda.iter().filter(|&&l| l > noise).count(),
            }
        };
        return Err(GeometryError::NotSpd {
            op,
            trial,
            size: n,
            smallest: smallest.to_f64(),
            largest: largest.to_f64(),
            defect,
        });
    }
    Ok(())
}

/// An error unless the matrices are square, not empty, finite and symmetric to rounding; gives
/// their size.
pub fn check_symmetric<T: Scalar>(op: &'static str, x: MatView<'_, T>) -> Result<usize> {
    let n = x.check_square(op)?;
    if n == 0 {
        return Err(shape_error(op, "at least one row and column", x.shape()));
    }
    x.check_finite(op)?;
    let Some((trial, row, col)) = asymmetry(x, symmetry::<T>()) else {
        return Ok(n);
    };
    let m = x.matrix(trial);
    Err(GeometryError::Asymmetric {
        op,
        trial,
        row,
        col,
        lower: m[row * n + col].to_f64(),
        upper: m[col * n + row].to_f64(),
    })
}
