//! Symmetric matrices as vectors.
//!
//! `upper(S)` lists the upper triangle of an `n × n` matrix row by row, off-diagonals times √2:
//! `n(n+1)/2` values, and an isometry, `‖upper(S)‖₂ = ‖S‖_F`. It is linear; on symmetric matrices
//! [`from_upper`] is both its inverse and its adjoint. A batch of vectors is `count × 1 ×
//! n(n+1)/2`.
//!
//! `upper` reads the upper triangle only. Its pull-back gives the *symmetric* gradient, the one
//! that belongs to symmetric matrices.

use super::{SpectralFn, spectral_map};
use crate::Result;
use crate::error::shape_error;
use stiefel_linalg::{MatBatch, MatView, Scalar};

/// `n(n+1)/2`, the length of the vector of an `n × n` matrix.
pub fn upper_len(n: usize) -> usize {
    n * (n + 1) / 2
}

/// The `n` of a vector with `n(n+1)/2` values, if there is one.
///
/// ```
/// use stiefel_geometry::spd::side_of_upper;
///
/// assert_eq!(side_of_upper(6), Some(3));
/// assert_eq!(side_of_upper(7), None);
/// ```
pub fn side_of_upper(len: usize) -> Option<usize> {
    let n = ((2.0 * len as f64 + 0.25).sqrt() - 0.5).round() as usize;
    (n.checked_mul(n + 1)? / 2 == len).then_some(n)
}

/// The vectors of symmetric matrices, `count × 1 × n(n+1)/2`.
///
/// ```
/// use stiefel_geometry::spd::upper;
/// use stiefel_linalg::MatBatch;
///
/// let s = MatBatch::from_vec(1, 2, 2, vec![1.0_f64, 2.0, 2.0, 3.0])?;
/// assert_eq!(upper(s.view())?.data(), [1.0, 2.0 * 2.0_f64.sqrt(), 3.0]);
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn upper<T: Scalar>(s: MatView<'_, T>) -> Result<MatBatch<T>> {
    let n = s.check_square("upper")?;
    let mut out = MatBatch::zeros(s.count(), 1, upper_len(n));
    upper_into(n, s.data(), out.data_mut());
    Ok(out)
}

/// The vectors of `n × n` matrices, one after the other, into `out`: `n(n+1)/2` numbers for every
/// `n·n`.
///
/// ```
/// let mut out = [0.0; 3];
/// stiefel_geometry::spd::upper_into(2, &[1.0_f64, 2.0, 2.0, 3.0], &mut out);
/// assert_eq!(out, [1.0, 2.0 * 2.0_f64.sqrt(), 3.0]);
/// ```
pub fn upper_into<T: Scalar>(n: usize, x: &[T], out: &mut [T]) {
    let root2 = Scalar::sqrt(T::from_f64(2.0));
    let vectors = out.chunks_exact_mut(upper_len(n).max(1));
    for (x, mut out) in x.chunks_exact((n * n).max(1)).zip(vectors) {
        for (r, row) in x.chunks_exact(n).enumerate() {
            let (here, rest) = out.split_at_mut(n - r);
            here[0] = row[r];
            for (out, &x) in here[1..].iter_mut().zip(&row[r + 1..]) {
                *out = root2 * x;
            }
            out = rest;
        }
    }
}

/// The tangent vectors `upper(log X_i)` of SPD matrices at the identity, `count × 1 × n(n+1)/2`.
///
/// The bits are those of [`spectral_map`], by which networks are trained.
///
/// ```
/// use stiefel_geometry::spd::log_vectors;
/// use stiefel_linalg::MatBatch;
///
/// let x = MatBatch::from_vec(1, 2, 2, vec![1.0_f64.exp(), 0.0, 0.0, 1.0])?;
/// assert_eq!(log_vectors(x.view())?.data(), [1.0, 0.0, 0.0]);
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn log_vectors<T: Scalar>(x: MatView<'_, T>) -> Result<MatBatch<T>> {
    upper(spectral_map(SpectralFn::Log, x)?.value.view())
}

/// The symmetric matrices of vectors `count × 1 × n(n+1)/2`: the inverse of [`upper`].
pub fn from_upper<T: Scalar>(v: MatView<'_, T>) -> Result<MatBatch<T>> {
    let op = "from_upper";
    let (1, Some(n)) = (v.rows(), side_of_upper(v.cols())) else {
        return Err(shape_error(op, "one row of n(n+1)/2 values", v.shape()));
    };
    let mut out = MatBatch::zeros(v.count(), n, n);
    from_upper_into(n, v.data(), out.data_mut());
    Ok(out)
}

/// The `n × n` matrices of vectors, one after the other.
pub(super) fn from_upper_into<T: Scalar>(n: usize, v: &[T], out: &mut [T]) {
    let half_root2 = Scalar::sqrt(T::from_f64(0.5));
    let vectors = v.chunks_exact(upper_len(n).max(1));
    for (mut v, out) in vectors.zip(out.chunks_exact_mut((n * n).max(1))) {
        for r in 0..n {
            let (here, rest) = v.split_at(n - r);
            out[r * n + r] = here[0];
            for (c, &x) in (r + 1..n).zip(&here[1..]) {
                out[r * n + c] = half_root2 * x;
                out[c * n + r] = half_root2 * x;
            }
            v = rest;
        }
    }
}

/// The symmetric gradient in `S` of a scalar whose gradient in `upper(S)` is `g`: `from_upper(g)`.
pub fn upper_pull_back<T: Scalar>(g: MatView<'_, T>) -> Result<MatBatch<T>> {
    from_upper(g)
}

/// The gradient in `v` of a scalar whose gradient in `from_upper(v)` is `g`, symmetric or not:
/// `upper(sym(g))`.
pub fn from_upper_pull_back<T: Scalar>(g: MatView<'_, T>) -> Result<MatBatch<T>> {
    let mut sym = g.to_owned();
    stiefel_linalg::symmetrise(&mut sym.view_mut())?;
    upper(sym.view())
}
