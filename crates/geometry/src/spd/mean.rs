//! Means that need no iteration.
//!
//! Euclidean `Σ w_i X_i`, and log-Euclidean `exp(Σ w_i log X_i)` (Arsigny et al. 2007), weights
//! normalised to sum one.

use super::{check_symmetric, exp, log};
use crate::batch::zip_with;
use crate::error::shape_error;
use crate::{GeometryError, Result};
use stiefel_linalg::{MatBatch, MatView, Scalar};

/// `Σ w_i X_i` as a batch of one. Without weights, `1/N` each.
///
/// ```
/// use stiefel_geometry::spd::mean_euclidean;
/// use stiefel_linalg::MatBatch;
///
/// let x = MatBatch::from_vec(2, 1, 1, vec![1.0, 4.0])?;
/// assert_eq!(mean_euclidean(x.view(), None)?.data(), [2.5]);
/// assert_eq!(mean_euclidean(x.view(), Some(&[3.0, 1.0]))?.data(), [1.75]);
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn mean_euclidean<T: Scalar>(x: MatView<'_, T>, weights: Option<&[T]>) -> Result<MatBatch<T>> {
    const OP: &str = "Euclidean mean";
    check_symmetric(OP, x)?;
    let weights = normalised(OP, x.count(), weights)?;
    Ok(weighted_sum(x, &weights))
}

/// `exp(Σ w_i log X_i)` as a batch of one. Without weights, `1/N` each.
pub fn mean_log_euclidean<T: Scalar>(
    x: MatView<'_, T>,
    weights: Option<&[T]>,
) -> Result<MatBatch<T>> {
    let weights = normalised("log-Euclidean mean", x.count(), weights)?;
    exp(weighted_sum(log(x)?.view(), &weights).view())
}

/// `(1 − t) A_i + t B_i` of any matrices: the Euclidean geodesic.
pub fn blend<T: Scalar>(a: MatView<'_, T>, b: MatView<'_, T>, t: T) -> Result<MatBatch<T>> {
    let s = T::ONE - t;
    zip_with("blend", a, b, |a, b| s * a + t * b)
}

/// `Σ w_i X_i`, in the order of the batch.
pub(crate) fn weighted_sum<T: Scalar>(x: MatView<'_, T>, weights: &[T]) -> MatBatch<T> {
    let mut sum = MatBatch::zeros(1, x.rows(), x.cols());
    for (i, &w) in weights.iter().enumerate() {
        for (s, &v) in sum.data_mut().iter_mut().zip(x.matrix(i)) {
            *s += w * v;
        }
    }
    sum
}

/// Non-negative weights that sum to one.
pub(crate) fn normalised<T: Scalar>(
    op: &'static str,
    count: usize,
    weights: Option<&[T]>,
) -> Result<Vec<T>> {
    if count == 0 {
        return Err(GeometryError::Empty { op });
    }
    let Some(weights) = weights else {
        return Ok(vec![T::ONE / T::from_f64(count as f64); count]);
    };
    if weights.len() != count {
        return Err(shape_error(op, format!("{count} weights"), weights.len()));
    }
    let bad = weights
        .iter()
        .find(|w| !Scalar::is_finite(**w) || **w < T::ZERO);
    let sum: T = weights.iter().copied().sum();
    let (name, value, expected) = match bad {
        Some(&w) => ("a weight", w, "a finite number, zero or more"),
        None if sum > T::ZERO && Scalar::is_finite(sum) => {
            return Ok(weights.iter().map(|&w| w / sum).collect());
        }
        None => ("the sum of the weights", sum, "positive and finite"),
    };
    Err(GeometryError::Parameter {
        op,
        name,
        value: value.to_f64(),
        expected,
    })
}
