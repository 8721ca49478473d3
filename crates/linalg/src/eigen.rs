//! Symmetric eigen-decomposition `X = U diag(λ) Uᵀ` of a batch.

use crate::{MatBatch, MatView, Result, Scalar};

/// Eigenvalues and eigenvectors of a batch of symmetric `n × n` matrices.
#[derive(Debug, Clone, PartialEq)]
pub struct Eigen<T> {
    /// `count × n` eigenvalues, ascending within each matrix.
    pub values: Vec<T>,
    /// Eigenvectors as columns: `X_i = U_i diag(λ_i) U_iᵀ`.
    pub vectors: MatBatch<T>,
}

impl<T: Scalar> Eigen<T> {
    /// The ascending eigenvalues of matrix `i`.
    ///
    /// # Panics
    /// If `i >= count`.
    pub fn values_of(&self, i: usize) -> &[T] {
        let n = self.vectors.rows();
        &self.values[i * n..(i + 1) * n]
    }
}

/// Decomposes every matrix of a batch. Only the lower triangles are read.
///
/// ```
/// use stiefel_linalg::{MatBatch, eigh};
///
/// let x = MatBatch::from_vec(1, 2, 2, vec![2.0, 1.0, 1.0, 2.0])?;
/// let e = eigh(x.view())?;
/// assert!((e.values[0] - 1.0_f64).abs() < 1e-14 && (e.values[1] - 3.0).abs() < 1e-14);
/// # Ok::<(), stiefel_linalg::LinalgError>(())
/// ```
pub fn eigh<T: Scalar>(x: MatView<'_, T>) -> Result<Eigen<T>> {
    const OP: &str = "symmetric eigen-decomposition";
    let n = x.check_square(OP)?;
    x.check_finite(OP)?;
    let mut out = Eigen {
        values: vec![T::ZERO; x.count() * n],
        vectors: MatBatch::zeros(x.count(), n, n),
    };
    for i in 0..x.count() {
        let m = faer::MatRef::from_row_major_slice(x.matrix(i), n, n);
        let e = m.self_adjoint_eigen(faer::Side::Lower).map_err(|_| {
            crate::LinalgError::NoConvergence {
                matrix: i,
                sweeps: 30,
            }
        })?;
        for c in 0..n {
            out.values[i * n + c] = e.S()[c];
            for r in 0..n {
                out.vectors.matrix_mut(i)[r * n + c] = e.U()[(r, c)];
            }
        }
    }
    Ok(out)
}
