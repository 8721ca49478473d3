//! Products of batches, through faer's small-matrix kernels.
//!
//! `C_i ← C_i + α·op(A_i)·op(B_i)` or `C_i ← α·op(A_i)·op(B_i)`, where `op` is the matrix or its transpose. An operand with
//! one matrix is used with every matrix of the other (broadcast).

use crate::{LinalgError, MatBatch, MatView, MatViewMut, Result, Scalar};
use faer::linalg::matmul::matmul as faer_matmul;
use faer::{Accum, MatMut, MatRef, Par};

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
    let accum = if add { Accum::Add } else { Accum::Replace };
    for i in 0..count {
        let lhs = oriented(a, i, op_a);
        let rhs = oriented(b, i, op_b);
        let dst = MatMut::from_row_major_slice_mut(out.matrix(i), rows, cols);
        faer_matmul(dst, accum, lhs, rhs, alpha, Par::Seq);
    }
    release_vector_registers();
    Ok(())
}

/// Marks the upper halves of the vector registers as unused.
///
/// The product kernels leave them in use, and then scalar code that follows (logarithms, exponentials) waits for them: 500 calls
/// of `ln_1p` took 67 µs after a product, and 3.6 µs after this.
#[inline]
pub(crate) fn release_vector_registers() {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx")]
        fn zero_upper() {
            std::arch::x86_64::_mm256_zeroupper();
        }
        if std::arch::is_x86_feature_detected!("avx") {
            // SAFETY: the CPU has AVX. The instruction touches only the upper halves of registers that the calling convention
            // lets every function overwrite.
            #[allow(unsafe_code)]
            unsafe {
                zero_upper();
            }
        }
    }
}

/// Matrix `i` (or the only one) as faer sees it.
fn oriented<T: Scalar>(x: MatView<'_, T>, i: usize, op: Op) -> MatRef<'_, T> {
    let i = if x.count() == 1 { 0 } else { i };
    let m = MatRef::from_row_major_slice(x.matrix(i), x.rows(), x.cols());
    match op {
        Op::N => m,
        Op::T => m.transpose(),
    }
}
