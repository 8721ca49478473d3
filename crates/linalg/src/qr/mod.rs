//! Thin QR factorisations `A = Q R` with a positive diagonal of `R`.
//!
//! * [`qr`] by Householder reflections: backward stable for every full-rank `A`.
//! * [`cholesky_qr`] by `AᵀA = RᵀR`, `Q = A R⁻¹`: half the work, and as accurate where `A` is well
//!   conditioned, as `W + Δ` is for `W` on the Stiefel manifold and `Δ` tangent there (`AᵀA = I +
//!   ΔᵀΔ`). The error in `QᵀQ` grows with cond(A)².

mod householder;

use crate::{
    Aligned, LinalgError, MatBatch, MatView, Op, Result, Scalar, inverse_cholesky, product,
};
use householder::thin_qr;

/// The factors of `A = Q R`.
#[derive(Debug, Clone, PartialEq)]
pub struct Qr<T> {
    /// `rows × cols` with orthonormal columns.
    pub q: MatBatch<T>,
    /// `cols × cols`, upper triangular, positive diagonal.
    pub r: MatBatch<T>,
}

/// The factors of `A = Q R`, `R = Lᵀ`, with the inverse of `L`, which pull-backs need.
#[derive(Debug, Clone, PartialEq)]
pub struct CholeskyQr<T> {
    /// `rows × cols` with orthonormal columns.
    pub q: MatBatch<T>,
    /// `L⁻¹ = R⁻ᵀ`, lower triangular.
    pub l_inv: MatBatch<T>,
}

fn check_thin<T: Scalar>(a: MatView<'_, T>) -> Result<()> {
    if a.rows() >= a.cols() {
        return Ok(());
    }
    Err(LinalgError::Shape {
        op: "thin QR",
        expected: "at least as many rows as columns".into(),
        found: format!("{} × {}", a.rows(), a.cols()),
    })
}

/// Householder thin QR of every matrix.
pub fn qr<T: Scalar>(a: MatView<'_, T>) -> Result<Qr<T>> {
    check_thin(a)?;
    a.check_finite("thin QR")?;
    let (count, m, k) = a.shape();
    let mut q = MatBatch::zeros(count, m, k);
    let mut r = MatBatch::zeros(count, k, k);
    let room = &mut Aligned::new();
    for i in 0..count {
        thin_qr(m, k, a.matrix(i), q.matrix_mut(i), r.matrix_mut(i), room)?;
    }
    Ok(Qr { q, r })
}

/// `R` of `A = Q R` alone, one matrix: half the work.
pub(crate) fn triangular_factor<T: Scalar>(a: MatView<'_, T>) -> Result<MatBatch<T>> {
    check_thin(a)?;
    a.check_finite("thin QR")?;
    let (_, m, k) = a.shape();
    let mut r = MatBatch::zeros(1, k, k);
    let room = &mut Aligned::new();
    thin_qr(m, k, a.matrix(0), &mut [], r.matrix_mut(0), room)?;
    Ok(r)
}

/// CholeskyQR of every matrix.
pub fn cholesky_qr<T: Scalar>(a: MatView<'_, T>) -> Result<CholeskyQr<T>> {
    check_thin(a)?;
    let gram = product(a, Op::T, a, Op::N)?;
    let l_inv = inverse_cholesky(gram.view())?;
    let q = product(a, Op::N, l_inv.view(), Op::T)?;
    Ok(CholeskyQr { q, l_inv })
}
