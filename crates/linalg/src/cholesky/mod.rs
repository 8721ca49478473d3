//! Cholesky factors `X = L Lᵀ`, triangular inverses and triangular solves.
//!
//! The factorisation and the inverse run with one matrix per SIMD lane, like the
//! eigen-decomposition.

pub(crate) mod kernel;

use crate::{LinalgError, MatBatch, MatView, MatViewMut, Op, Result, Scalar};
pub use kernel::CholeskyScratch;
use kernel::{Lower, factor_all};

const OP: &str = "Cholesky factorisation";

/// The lower Cholesky factor of every matrix; only lower triangles are read.
///
/// ```
/// use stiefel_linalg::{MatBatch, cholesky};
///
/// let x = MatBatch::from_vec(1, 2, 2, vec![4.0, 2.0, 2.0, 2.0])?;
/// assert_eq!(cholesky(x.view())?.data(), [2.0, 0.0, 1.0, 1.0]);
/// # Ok::<(), stiefel_linalg::LinalgError>(())
/// ```
pub fn cholesky<T: Scalar>(x: MatView<'_, T>) -> Result<MatBatch<T>> {
    let n = x.check_square(OP)?;
    let mut out = MatBatch::zeros(x.count(), n, n);
    cholesky_into(x, out.view_mut(), &mut CholeskyScratch::default())?;
    Ok(out)
}

/// [`cholesky`] into a given buffer. Nothing is allocated once `scratch` has seen the size.
pub fn cholesky_into<T: Scalar>(
    x: MatView<'_, T>,
    out: MatViewMut<'_, T>,
    scratch: &mut CholeskyScratch<T>,
) -> Result<()> {
    run(x, Lower::Factor, out, scratch)
}

/// `L_i⁻¹` where `X_i = L_i L_iᵀ`, without writing `L_i` out.
pub fn inverse_cholesky<T: Scalar>(x: MatView<'_, T>) -> Result<MatBatch<T>> {
    let n = x.check_square(OP)?;
    let mut out = MatBatch::zeros(x.count(), n, n);
    inverse_cholesky_into(x, out.view_mut(), &mut CholeskyScratch::default())?;
    Ok(out)
}

/// [`inverse_cholesky`] into a given buffer. Nothing is allocated once `scratch` has seen the size.
pub fn inverse_cholesky_into<T: Scalar>(
    x: MatView<'_, T>,
    out: MatViewMut<'_, T>,
    scratch: &mut CholeskyScratch<T>,
) -> Result<()> {
    run(x, Lower::InverseOfFactor, out, scratch)
}

/// `X_i⁻¹ = L_i⁻ᵀ L_i⁻¹` where `X_i = L_i L_iᵀ`, exactly symmetric, into a given buffer; only lower
/// triangles are read. Nothing is allocated once `scratch` has seen the size.
///
/// ```
/// use stiefel_linalg::{CholeskyScratch, MatBatch, symmetric_inverse_into};
///
/// let x = MatBatch::from_vec(1, 2, 2, vec![4.0, 2.0, 2.0, 2.0])?;
/// let mut inverse = MatBatch::zeros(1, 2, 2);
/// symmetric_inverse_into(
///     x.view(),
///     inverse.view_mut(),
///     &mut CholeskyScratch::default(),
/// )?;
/// assert_eq!(inverse.data(), [0.5, -0.5, -0.5, 1.0]);
/// # Ok::<(), stiefel_linalg::LinalgError>(())
/// ```
pub fn symmetric_inverse_into<T: Scalar>(
    x: MatView<'_, T>,
    out: MatViewMut<'_, T>,
    scratch: &mut CholeskyScratch<T>,
) -> Result<()> {
    run(x, Lower::InverseOfMatrix, out, scratch)
}

/// `L_i⁻¹` of lower-triangular matrices with a non-zero diagonal.
pub fn invert_lower<T: Scalar>(l: MatView<'_, T>) -> Result<MatBatch<T>> {
    let n = l.check_square("triangular inverse")?;
    for i in 0..l.count() {
        if let Some(k) = (0..n).find(|&k| l.matrix(i)[k * n + k] == T::ZERO) {
            return Err(LinalgError::Singular {
                op: "triangular inverse",
                matrix: i,
                pivot: k,
            });
        }
    }
    let mut out = MatBatch::zeros(l.count(), n, n);
    run(
        l,
        Lower::Inverse,
        out.view_mut(),
        &mut CholeskyScratch::default(),
    )?;
    Ok(out)
}

fn run<T: Scalar>(
    x: MatView<'_, T>,
    task: Lower,
    mut out: MatViewMut<'_, T>,
    scratch: &mut CholeskyScratch<T>,
) -> Result<()> {
    let n = x.check_square(OP)?;
    if out.shape() != x.shape() {
        return Err(LinalgError::Shape {
            op: OP,
            expected: format!("an output of {:?}", x.shape()),
            found: format!("{:?}", out.shape()),
        });
    }
    if n == 0 || x.count() == 0 {
        return Ok(());
    }
    factor_all(n, x.data(), task, out.data(), scratch)?.map_err(|bad| {
        LinalgError::NotPositiveDefinite {
            op: OP,
            matrix: bad.matrix,
            pivot: bad.pivot,
            value: bad.value.to_f64(),
        }
    })
}

/// `op(L_i)⁻¹·B_i` for lower-triangular `L_i`.
pub fn solve_lower<T: Scalar>(l: MatView<'_, T>, op: Op, b: MatView<'_, T>) -> Result<MatBatch<T>> {
    let n = l.check_square("triangular solve")?;
    if b.rows() != n || b.count() != l.count() {
        return Err(LinalgError::Shape {
            op: "triangular solve",
            expected: format!("{} right-hand sides with {n} rows", l.count()),
            found: format!("{:?}", b.shape()),
        });
    }
    let cols = b.cols();
    let mut out = b.to_owned();
    for i in 0..l.count() {
        let (l, x) = (l.matrix(i), out.matrix_mut(i));
        for step in 0..n {
            let r = if op == Op::N { step } else { n - 1 - step };
            if l[r * n + r] == T::ZERO {
                return Err(LinalgError::Singular {
                    op: "triangular solve",
                    matrix: i,
                    pivot: r,
                });
            }
            let done = if op == Op::N { 0..r } else { r + 1..n };
            for k in done {
                let factor = if op == Op::N {
                    l[r * n + k]
                } else {
                    l[k * n + r]
                };
                for c in 0..cols {
                    let sub = factor * x[k * cols + c];
                    x[r * cols + c] -= sub;
                }
            }
            for c in 0..cols {
                x[r * cols + c] /= l[r * n + r];
            }
        }
    }
    Ok(out)
}
