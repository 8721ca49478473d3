//! The nearest SPD matrix of any square matrix.
//!
//! In the Frobenius norm the nearest positive semi-definite matrix of `X` (`n × n`) is `U max(λ, 0)
//! Uᵀ`, `U diag(λ) Uᵀ = (X + Xᵀ)/2` (Higham 1988). Where its smallest eigenvalue is less than `r`
//! times the largest, `r` is added to all of them.

use crate::error::shape_error;
use crate::{GeometryError, Result};
use stiefel_linalg::{MatBatch, MatView, Scalar, eigh, symmetrise};

/// The nearest SPD matrices, exactly symmetric.
///
/// ```
/// use stiefel_geometry::spd::nearest_spd;
/// use stiefel_linalg::MatBatch;
///
/// let x = MatBatch::from_vec(1, 2, 2, vec![2.0_f64, 0.0, 0.0, -1.0])?;
/// assert_eq!(nearest_spd(x.view(), 0.5)?.data(), [2.5, 0.0, 0.0, 0.5]);
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn nearest_spd<T: Scalar>(x: MatView<'_, T>, regularisation: T) -> Result<MatBatch<T>> {
    const OP: &str = "nearest SPD matrix";
    let n = x.check_square(OP)?;
    if n == 0 {
        return Err(shape_error(OP, "at least one row and column", x.shape()));
    }
    if !(Scalar::is_finite(regularisation) && regularisation > T::ZERO) {
        return Err(GeometryError::Parameter {
            op: OP,
            name: "the regularisation",
            value: regularisation.to_f64(),
            expected: "positive and finite",
        });
    }
    x.check_finite(OP)?;
    let mut sym = x.to_owned();
    symmetrise(&mut sym.view_mut())?;
    let mut eigen = eigh(sym.view())?;
    for lambda in eigen.values.chunks_exact_mut(n) {
        for l in lambda.iter_mut() {
            *l = Scalar::max(*l, T::ZERO);
        }
        if lambda[0] < regularisation * lambda[n - 1] || lambda[0] == T::ZERO {
            for l in lambda.iter_mut() {
                *l += regularisation;
            }
        }
    }
    Ok(eigen.map(|l| l)?)
}
