//! Products of batches: `C_i ← C_i + α·op(A_i)·op(B_i)` or `C_i ← α·op(A_i)·op(B_i)`, where `op` is
//! the matrix or its transpose. An operand with one matrix is used with every matrix of the other
//! (broadcast).

use crate::gemm::{Gemm, Strided};
use crate::parts::Sums;
use crate::{LinalgError, MatBatch, MatView, MatViewMut, Result, Scalar};

/// Whether an operand enters a product as it is or transposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// As it is.
    N,
    /// Transposed.
    T,
}

/// `A_i·B_i`.
///
/// ```
/// use stiefel_linalg::{MatBatch, matmul};
///
/// let a = MatBatch::from_vec(1, 2, 2, vec![1.0, 2.0, 3.0, 4.0])?;
/// let b = MatBatch::from_vec(2, 2, 1, vec![1.0, 0.0, 0.0, 1.0])?;
/// assert_eq!(matmul(a.view(), b.view())?.data(), [1.0, 3.0, 2.0, 4.0]);
/// # Ok::<(), stiefel_linalg::LinalgError>(())
/// ```
pub fn matmul<T: Scalar>(a: MatView<'_, T>, b: MatView<'_, T>) -> Result<MatBatch<T>> {
    product(a, Op::N, b, Op::N)
}

/// `op(A_i)·op(B_i)` as a new batch.
pub fn product<T: Scalar>(
    a: MatView<'_, T>,
    op_a: Op,
    b: MatView<'_, T>,
    op_b: Op,
) -> Result<MatBatch<T>> {
    let (count, rows, cols) = product_shape(a.shape(), op_a, b.shape(), op_b)?;
    let mut out = MatBatch::zeros(count, rows, cols);
    product_into(out.view_mut(), false, T::ONE, a, op_a, b, op_b)?;
    Ok(out)
}

/// `W_iᵀ·X_i·W_i` for symmetric `X_i`, exactly symmetric.
pub fn congruence<T: Scalar>(w: MatView<'_, T>, x: MatView<'_, T>) -> Result<MatBatch<T>> {
    let xw = product(x, Op::N, w, Op::N)?;
    let mut y = product(w, Op::T, xw.view(), Op::N)?;
    crate::symmetrise(&mut y.view_mut())?;
    Ok(y)
}

/// The shape of `op(A)·op(B)`, or what does not fit.
pub fn product_shape(
    a: (usize, usize, usize),
    op_a: Op,
    b: (usize, usize, usize),
    op_b: Op,
) -> Result<(usize, usize, usize)> {
    let (rows, inner_a) = if op_a == Op::N {
        (a.1, a.2)
    } else {
        (a.2, a.1)
    };
    let (inner_b, cols) = if op_b == Op::N {
        (b.1, b.2)
    } else {
        (b.2, b.1)
    };
    let counts_fit = a.0 == b.0 || a.0 == 1 || b.0 == 1;
    if inner_a != inner_b || !counts_fit {
        return Err(LinalgError::Shape {
            op: "product",
            expected: "equal inner sizes, and equal counts or a count of one".into(),
            found: format!("{a:?} {op_a:?} times {b:?} {op_b:?}"),
        });
    }
    // An empty batch stays empty when the other operand is broadcast.
    let count = if a.0 == 1 { b.0 } else { a.0 };
    Ok((count, rows, cols))
}

/// `C_i ← [C_i +] α·op(A_i)·op(B_i)`; `add` says whether the old `C` stays.
pub fn product_into<T: Scalar>(
    mut out: MatViewMut<'_, T>,
    add: bool,
    alpha: T,
    a: MatView<'_, T>,
    op_a: Op,
    b: MatView<'_, T>,
    op_b: Op,
) -> Result<()> {
    let shape = product_shape(a.shape(), op_a, b.shape(), op_b)?;
    if out.shape() != shape {
        return Err(LinalgError::Shape {
            op: "product",
            expected: format!("an output of {shape:?}"),
            found: format!("{:?}", out.shape()),
        });
    }
    let (count, rows, cols) = shape;
    let inner = if op_a == Op::N { a.cols() } else { a.rows() };
    Gemm {
        count,
        shape: (rows, cols, inner),
        add,
        alpha,
        sums: Sums::All,
        a: factor(a, op_a),
        b: factor(b, op_b),
        c: (out.data(), cols, rows * cols),
    }
    .run()
}

/// The first matrix, and how far the next one is from it.
fn factor<T: Scalar>(x: MatView<'_, T>, op: Op) -> (Strided<'_, T>, usize) {
    let (count, rows, cols) = x.shape();
    let first = Strided::rows(x.data(), cols);
    let step = if count == 1 { 0 } else { rows * cols };
    (
        if op == Op::N {
            first
        } else {
            first.transposed()
        },
        step,
    )
}
