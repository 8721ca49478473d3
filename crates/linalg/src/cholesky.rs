//! Cholesky factors `X = L Lᵀ`, triangular inverses and triangular solves.

use crate::{LinalgError, MatBatch, MatView, Op, Result, Scalar};

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
    const OP: &str = "Cholesky factorisation";
    let n = x.check_square(OP)?;
    let mut out = MatBatch::zeros(x.count(), n, n);
    for i in 0..x.count() {
        let (a, l) = (x.matrix(i), out.matrix_mut(i));
        for c in 0..n {
            let dot: T = (0..c).map(|k| l[c * n + k] * l[c * n + k]).sum();
            let pivot = a[c * n + c] - dot;
            if pivot.partial_cmp(&T::ZERO) != Some(std::cmp::Ordering::Greater)
                || !Scalar::is_finite(pivot)
            {
                return Err(LinalgError::NotPositiveDefinite {
                    op: OP,
                    matrix: i,
                    pivot: c,
                    value: pivot.to_f64(),
                });
            }
            let d = Scalar::sqrt(pivot);
            l[c * n + c] = d;
            for r in c + 1..n {
                let dot: T = (0..c).map(|k| l[r * n + k] * l[c * n + k]).sum();
                l[r * n + c] = (a[r * n + c] - dot) / d;
            }
        }
    }
    Ok(out)
}

/// `L_i⁻¹` of lower-triangular matrices with a non-zero diagonal.
pub fn invert_lower<T: Scalar>(l: MatView<'_, T>) -> Result<MatBatch<T>> {
    let n = l.check_square("triangular inverse")?;
    let identity = MatBatch::identity(l.count(), n);
    solve_lower(l, Op::N, identity.view())
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
