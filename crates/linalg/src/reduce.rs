//! Traces, norms and the symmetric part.

use crate::{MatView, MatViewMut, Result, Scalar};

/// `tr X_i` of each square matrix.
pub fn trace<T: Scalar>(x: MatView<'_, T>) -> Result<Vec<T>> {
    let n = x.check_square("trace")?;
    Ok((0..x.count())
        .map(|i| x.matrix(i).iter().step_by(n + 1).copied().sum())
        .collect())
}

/// `‖X_i‖_F` of each matrix.
pub fn frobenius_norm<T: Scalar>(x: MatView<'_, T>) -> Vec<T> {
    (0..x.count())
        .map(|i| Scalar::sqrt(x.matrix(i).iter().map(|&v| v * v).sum::<T>()))
        .collect()
}

/// `X_i ← (X_i + X_iᵀ)/2`, in place.
///
/// ```
/// use stiefel_linalg::{MatBatch, symmetrise};
///
/// let mut x = MatBatch::from_vec(1, 2, 2, vec![1.0, 4.0, 0.0, 1.0])?;
/// symmetrise(&mut x.view_mut())?;
/// assert_eq!(x.data(), [1.0, 2.0, 2.0, 1.0]);
/// # Ok::<(), stiefel_linalg::LinalgError>(())
/// ```
pub fn symmetrise<T: Scalar>(x: &mut MatViewMut<'_, T>) -> Result<()> {
    let n = x.as_view().check_square("symmetrise")?;
    let half = T::from_f64(0.5);
    for i in 0..x.shape().0 {
        let m = x.matrix(i);
        for r in 1..n {
            for c in 0..r {
                let mean = half * (m[r * n + c] + m[c * n + r]);
                m[r * n + c] = mean;
                m[c * n + r] = mean;
            }
        }
    }
    Ok(())
}
