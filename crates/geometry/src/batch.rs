//! Entry-wise arithmetic on batches with broadcast of a single matrix, and its adjoint.

use crate::error::shape_error;
use crate::{GeometryError, Result};
use stiefel_linalg::{MatBatch, MatView, Scalar};

/// `f(a, b)` entry by entry; a batch of one is used with every matrix of the other.
pub(crate) fn zip_with<T: Scalar>(
    op: &'static str,
    a: MatView<'_, T>,
    b: MatView<'_, T>,
    f: impl Fn(T, T) -> T,
) -> Result<MatBatch<T>> {
    let count = common_count(op, a, b)?;
    let mut out = Vec::with_capacity(count * a.rows() * a.cols());
    for i in 0..count {
        let (x, y) = (broadcast(a, i), broadcast(b, i));
        out.extend(x.iter().zip(y).map(|(&x, &y)| f(x, y)));
    }
    Ok(MatBatch::from_vec(count, a.rows(), a.cols(), out)?)
}

/// The count of two batches of equal matrix size, of which either may be a single.
pub(crate) fn common_count<T: Scalar>(
    op: &'static str,
    a: MatView<'_, T>,
    b: MatView<'_, T>,
) -> Result<usize> {
    let sizes_fit = a.rows() == b.rows() && a.cols() == b.cols();
    if !sizes_fit || (a.count() != b.count() && a.count() != 1 && b.count() != 1) {
        let expected = "matrices of one size, and equal counts or a count of one";
        return Err(shape_error(op, expected, (a.shape(), b.shape())));
    }
    Ok(if a.count() == 1 { b.count() } else { a.count() })
}

/// The number of pair `i`, where there is one for all pairs or one for each; finite.
pub(crate) fn position<T: Scalar>(op: &'static str, t: &[T], count: usize, i: usize) -> Result<T> {
    if t.len() != 1 && t.len() != count {
        return Err(shape_error(op, format!("one number, or {count}"), t.len()));
    }
    let t = t[if t.len() == 1 { 0 } else { i }];
    if Scalar::is_finite(t) {
        return Ok(t);
    }
    Err(GeometryError::Parameter {
        op,
        name: "t",
        value: t.to_f64(),
        expected: "a finite number",
    })
}

/// Matrix `i`, or the only one.
pub(crate) fn broadcast<T: Scalar>(x: MatView<'_, T>, i: usize) -> &[T] {
    x.matrix(if x.count() == 1 { 0 } else { i })
}

/// The adjoint of a broadcast: the gradient summed over the batch where the operand was a single.
pub(crate) fn sum_to<T: Scalar>(gradient: MatBatch<T>, count: usize) -> MatBatch<T> {
    if count != 1 || gradient.count() == 1 {
        return gradient;
    }
    let mut sum = MatBatch::zeros(1, gradient.rows(), gradient.cols());
    for i in 0..gradient.count() {
        for (s, &x) in sum.data_mut().iter_mut().zip(gradient.matrix(i)) {
            *s += x;
        }
    }
    sum
}

/// `f(r, c, x_rc, x_cr)` for square matrices: symmetric parts, triangles and the like.
pub(crate) fn with_transpose<T: Scalar>(
    x: &MatBatch<T>,
    f: impl Fn(usize, usize, T, T) -> T,
) -> MatBatch<T> {
    let n = x.rows();
    let mut out = MatBatch::zeros(x.count(), n, n);
    for i in 0..x.count() {
        let (m, o) = (x.matrix(i), out.matrix_mut(i));
        for r in 0..n {
            for c in 0..n {
                o[r * n + c] = f(r, c, m[r * n + c], m[c * n + r]);
            }
        }
    }
    out
}
