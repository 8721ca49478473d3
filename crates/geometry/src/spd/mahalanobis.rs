//! The Mahalanobis distance of vectors to a centred Gaussian: `(xᵀC⁻¹x)^{1/2} = ‖L⁻¹x‖`, `C = LLᵀ`
//! (`n × n`), for each column `x` of `n × m` matrices (Mahalanobis 1936).

use super::whiten::factor;
use crate::Result;
use crate::error::shape_error;
use stiefel_linalg::{MatBatch, MatView, Op, Scalar, product};

/// The distances of the columns of each `X_i` to the Gaussian of covariance `C_i`, `count × 1 × m`;
/// a single one of either is broadcast.
///
/// ```
/// use stiefel_geometry::spd::mahalanobis;
/// use stiefel_linalg::MatBatch;
///
/// let c = MatBatch::from_vec(1, 1, 1, vec![4.0_f64])?;
/// let x = MatBatch::from_vec(1, 1, 2, vec![2.0, -6.0])?;
/// assert_eq!(mahalanobis(c.view(), x.view())?.data(), [1.0, 3.0]);
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn mahalanobis<T: Scalar>(c: MatView<'_, T>, x: MatView<'_, T>) -> Result<MatBatch<T>> {
    const OP: &str = "Mahalanobis distance";
    x.check_finite(OP)?;
    let at = factor(OP, c)?;
    if x.rows() != c.rows() {
        let expected = format!("vectors of length {}", c.rows());
        return Err(shape_error(OP, expected, x.shape()));
    }
    let white = product(at.l_inv.view(), Op::N, x, Op::N)?;
    let (count, n, m) = white.shape();
    let mut out = MatBatch::zeros(count, 1, m);
    for i in 0..count {
        let rows = white.matrix(i).chunks_exact(m.max(1)).take(n);
        let out = out.matrix_mut(i);
        for row in rows {
            for (sum, &x) in out.iter_mut().zip(row) {
                *sum += x * x;
            }
        }
        for sum in out {
            *sum = Scalar::sqrt(*sum);
        }
    }
    Ok(out)
}
