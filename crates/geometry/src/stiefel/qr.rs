//! The orthonormal factor `qf(A) = Q` of `A = QR`, positive diagonal of R, and the retraction `qf(W
//! + Δ)`.
//!
//! With `M = QᵀG` the pull-back is `[(I − QQᵀ)G + Q·tril(M − Mᵀ, −1)]·R⁻ᵀ` (Walter, Lehmann &
//! Lamour 2012). The sign convention makes `qf(W) = W` on the manifold and the map differentiable.
//!
//! * [`orthonormal_factor`]: Householder reflections, for any `A` of full column rank.
//! * [`retract_qr`]: CholeskyQR, half the work. On the manifold `(W + Δ)ᵀ(W + Δ) = I + ΔᵀΔ`, so it
//!   is well conditioned; its error grows with cond(A)², so a matrix with a condition beyond
//!   [`CHOLESKY_QR_CONDITION`](crate::tolerance::CHOLESKY_QR_CONDITION) takes the Householder path
//!   by itself.

use crate::batch::{with_transpose, zip_with};
use crate::error::shape_error;
use crate::tolerance;
use crate::{GeometryError, Result};
use stiefel_linalg::tolerance::noise;
use stiefel_linalg::{
    LinalgError, MatBatch, MatView, Op, Scalar, cholesky_qr, frobenius_norm, invert_lower, product,
    product_into, qr,
};

const OP: &str = "QR retraction";

/// `Q` and `L⁻¹` of `A = QR`, `R = Lᵀ`.
#[derive(Debug, Clone, PartialEq)]
pub struct OrthonormalFactor<T> {
    /// `n × k` with orthonormal columns.
    pub q: MatBatch<T>,
    /// `L⁻¹ = R⁻ᵀ`, `k × k`, lower triangular, positive diagonal.
    pub l_inv: MatBatch<T>,
}

impl<T: Scalar> OrthonormalFactor<T> {
    /// The gradient in `A` (for a retraction: in `W` as in `Δ`) of a scalar whose gradient in `Q`
    /// is `g`.
    pub fn pull_back(&self, g: MatView<'_, T>) -> Result<MatBatch<T>> {
        let q = self.q.view();
        if g.shape() != q.shape() {
            let expected = format!("a gradient of shape {:?}", q.shape());
            return Err(shape_error("QR pull-back", expected, g.shape()));
        }
        let m = product(q, Op::T, g, Op::N)?;
        let lower = with_transpose(&m, |r, c, m, mt| if r > c { -mt } else { -m });
        let mut inner = g.to_owned();
        product_into(
            inner.view_mut(),
            true,
            T::ONE,
            q,
            Op::N,
            lower.view(),
            Op::N,
        )?;
        Ok(product(inner.view(), Op::N, self.l_inv.view(), Op::N)?)
    }
}

/// The orthonormal factors of matrices of full column rank, by Householder reflections.
///
/// ```
/// use stiefel_geometry::stiefel::orthonormal_factor;
/// use stiefel_linalg::MatBatch;
///
/// let a = MatBatch::from_vec(1, 2, 2, vec![0.0, -2.0, 3.0, 5.0])?;
/// let factor = orthonormal_factor(a.view())?;
/// let expected = [0.0, -1.0, 1.0, 0.0];
/// assert!(
///     factor
///         .q
///         .data()
///         .iter()
///         .zip(expected)
///         .all(|(q, e): (&f64, f64)| (q - e).abs() < 1e-15)
/// );
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn orthonormal_factor<T: Scalar>(a: MatView<'_, T>) -> Result<OrthonormalFactor<T>> {
    const OP: &str = "orthonormal factor";
    check_columns(OP, a)?;
    let factors = qr(a)?;
    let (count, n, k) = a.shape();
    let noise = noise::<T>(n);
    for i in 0..count {
        let r = factors.r.matrix(i);
        for c in 0..k {
            let column = Scalar::sqrt(
                (0..=c)
                    .map(|row| r[row * k + c] * r[row * k + c])
                    .sum::<T>(),
            );
            if r[c * k + c] <= noise * column {
                return Err(GeometryError::RankDeficient {
                    op: OP,
                    matrix: i,
                    ratio: if column == T::ZERO {
                        0.0
                    } else {
                        (r[c * k + c] / column).to_f64()
                    },
                });
            }
        }
    }
    let l_inv = invert_lower(factors.r.transposed().view())?;
    Ok(OrthonormalFactor {
        q: factors.q,
        l_inv,
    })
}

/// The retraction `R_W(Δ) = qf(W + Δ)`; a single `W` or `Δ` is broadcast. `R_W(0) = W`.
///
/// ```
/// use stiefel_geometry::stiefel::retract_qr;
/// use stiefel_linalg::MatBatch;
///
/// let w = MatBatch::from_vec(1, 2, 1, vec![1.0, 0.0])?;
/// let delta = MatBatch::from_vec(1, 2, 1, vec![0.0, 1.0])?;
/// let moved = retract_qr(w.view(), delta.view())?;
/// let half = 0.5_f64.sqrt();
/// assert!(
///     moved
///         .q
///         .data()
///         .iter()
///         .all(|q: &f64| (q - half).abs() < 1e-15)
/// );
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn retract_qr<T: Scalar>(
    w: MatView<'_, T>,
    delta: MatView<'_, T>,
) -> Result<OrthonormalFactor<T>> {
    let a = zip_with(OP, w, delta, |w, d| w + d)?;
    retracted(a.view())
}

/// `qf(A)` of the sum `A = W + Δ`.
fn retracted<T: Scalar>(a: MatView<'_, T>) -> Result<OrthonormalFactor<T>> {
    check_columns(OP, a)?;
    match cholesky_qr(a) {
        Ok(f) => {
            let mut factor = OrthonormalFactor {
                q: f.q,
                l_inv: f.l_inv,
            };
            repair(a, &mut factor)?;
            Ok(factor)
        }
        // Some Gram matrix is singular to rounding, or not finite. Each matrix by itself, so that
        // none depends on its neighbours.
        Err(LinalgError::NotPositiveDefinite { .. }) => {
            a.check_finite(OP)?;
            if a.count() > 1 {
                one_by_one(a)
            } else {
                orthonormal_factor(a)
            }
        }
        Err(other) => Err(other.into()),
    }
}

/// Householder in place of CholeskyQR for every matrix that is not well conditioned.
fn repair<T: Scalar>(a: MatView<'_, T>, factor: &mut OrthonormalFactor<T>) -> Result<()> {
    let limit = T::from_f64(tolerance::CHOLESKY_QR_CONDITION * a.cols() as f64);
    let (norms, inverse_norms) = (frobenius_norm(a), frobenius_norm(factor.l_inv.view()));
    for i in 0..a.count() {
        // ‖R‖_F·‖R⁻¹‖_F/k is at most the condition number, and 1 for orthonormal columns.
        if norms[i] * inverse_norms[i] <= limit {
            continue;
        }
        let exact = orthonormal_factor(a.single(i)).map_err(|e| at_matrix(e, i))?;
        factor.q.matrix_mut(i).copy_from_slice(exact.q.data());
        factor
            .l_inv
            .matrix_mut(i)
            .copy_from_slice(exact.l_inv.data());
    }
    Ok(())
}

fn one_by_one<T: Scalar>(a: MatView<'_, T>) -> Result<OrthonormalFactor<T>> {
    let mut factor = OrthonormalFactor {
        q: a.to_owned(),
        l_inv: MatBatch::zeros(a.count(), a.cols(), a.cols()),
    };
    for i in 0..a.count() {
        let f = retracted(a.single(i)).map_err(|e| at_matrix(e, i))?;
        factor.q.matrix_mut(i).copy_from_slice(f.q.data());
        factor.l_inv.matrix_mut(i).copy_from_slice(f.l_inv.data());
    }
    Ok(factor)
}

/// An error about a batch of one, renamed to its place in the whole batch.
fn at_matrix(error: GeometryError, i: usize) -> GeometryError {
    match error {
        GeometryError::RankDeficient { op, ratio, .. } => GeometryError::RankDeficient {
            op,
            matrix: i,
            ratio,
        },
        other => other,
    }
}

/// An error unless there is at least one column and at least as many rows.
pub(super) fn check_columns<T: Scalar>(op: &'static str, a: MatView<'_, T>) -> Result<()> {
    if a.cols() >= 1 && a.rows() >= a.cols() {
        return Ok(());
    }
    let expected = "at least one column, and at least as many rows as columns";
    Err(shape_error(op, expected, a.shape()))
}
