//! Symmetric matrices as vectors.
//!
//! `upper(S)` lists the upper triangle of an `n × n` matrix row by row, off-diagonals times √2: `n(n+1)/2` values, and an
//! isometry, `‖upper(S)‖₂ = ‖S‖_F`. It is linear; on symmetric matrices [`from_upper`] is both its inverse and its
//! adjoint. A batch of vectors is `count × 1 × n(n+1)/2`.
//!
//! `upper` reads the upper triangle only. Its pull-back gives the *symmetric* gradient, the one that belongs to
//! symmetric matrices.

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
    let len = upper_len(n);
    let root2 = Scalar::sqrt(T::from_f64(2.0));
    let mut out = MatBatch::zeros(s.count(), 1, len);
    for i in 0..s.count() {
        let (m, v) = (s.matrix(i), out.matrix_mut(i));
        let mut at = 0;
        for r in 0..n {
            v[at] = m[r * n + r];
            for c in r + 1..n {
                v[at + c - r] = root2 * m[r * n + c];
            }
            at += n - r;
        }
    }
    Ok(out)
}

/// The symmetric matrices of vectors `count × 1 × n(n+1)/2`: the inverse of [`upper`].
pub fn from_upper<T: Scalar>(v: MatView<'_, T>) -> Result<MatBatch<T>> {
    let op = "from_upper";
    let (1, Some(n)) = (v.rows(), side_of_upper(v.cols())) else {
        return Err(shape_error(op, "one row of n(n+1)/2 values", v.shape()));
    };
    let half_root2 = Scalar::sqrt(T::from_f64(0.5));
    let mut out = MatBatch::zeros(v.count(), n, n);
    for i in 0..v.count() {
        let (v, m) = (v.matrix(i), out.matrix_mut(i));
        let mut at = 0;
        for r in 0..n {
            m[r * n + r] = v[at];
            for c in r + 1..n {
                let x = half_root2 * v[at + c - r];
                m[r * n + c] = x;
                m[c * n + r] = x;
            }
            at += n - r;
        }
    }
    Ok(out)
}

/// The symmetric gradient in `S` of a scalar whose gradient in `upper(S)` is `g`: `from_upper(g)`.
pub fn upper_pull_back<T: Scalar>(g: MatView<'_, T>) -> Result<MatBatch<T>> {
    from_upper(g)
}

/// The gradient in `v` of a scalar whose gradient in `from_upper(v)` is `g`, symmetric or not: `upper(sym(g))`.
pub fn from_upper_pull_back<T: Scalar>(g: MatView<'_, T>) -> Result<MatBatch<T>> {
    let mut sym = g.to_owned();
    stiefel_linalg::symmetrise(&mut sym.view_mut())?;
    upper(sym.view())
}
