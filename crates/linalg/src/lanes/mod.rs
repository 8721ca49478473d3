//! Matrices that stay in lanes over several steps ("compact" batches): entry `(r, c)` of all
//! matrices of a group is one register.
//!
//! A group has [`width`] matrices. A `rows × cols` matrix of a group is a slice of
//! `rows·cols·width` numbers, `x[(r·cols + c)·width + lane]`. Products in this layout need no
//! packing and no masks, whatever the sizes: every entry is a whole register, so a transpose is a
//! change of strides and a triangle saves exactly its half. [`gather()`] and [`scatter`] are the
//! ways in and out. Lanes that are not used repeat the last matrix.
//!
//! Buffers should start at a cache line ([`Aligned`](crate::Aligned)).

mod differences;
pub(crate) mod eigen;
mod mixture;
mod product;
pub(crate) mod spectral;

pub use crate::gather::{
    gather, gather_lower, gather_upper, scatter, scatter_lower, scatter_upper,
};
pub use crate::parts::{Sums, Terms};
pub use differences::{Logarithms, curvatures, log_differences};
pub use eigen::{eigen, eigen_room};
pub use mixture::{inner_products, mixture, totals, weighted_sums};
pub use product::{BAND, Laid, Product, product};
pub use spectral::{recompose, spectral_derivative};

use crate::cholesky::kernel::{self as cholesky, BadPivot};
use crate::simd::instruction_set;
use crate::{LinalgError, Result, Scalar, kernel};

/// Matrices in a group: lanes of a register of the instruction set in use.
///
/// # Errors
/// Where `STIEFEL_SIMD` asks for instructions that cannot be had.
pub fn width<T: Scalar>() -> Result<usize> {
    Ok(instruction_set()?.lanes::<T>())
}

/// `L_i⁻¹` of a group of `n × n` matrices `X_i = L_i L_iᵀ`, zeros above the diagonal; only lower
/// triangles are read, and spoilt. The first `count` lanes must be positive definite. `pivots` gets
/// `n` registers.
pub fn inverse_cholesky<T: Scalar>(
    n: usize,
    count: usize,
    x: &mut [T],
    out: &mut [T],
    pivots: &mut [T],
) -> Result<()> {
    let done = factor_and_invert(n, count, x, out, pivots)?;
    done.map_err(|bad| LinalgError::NotPositiveDefinite {
        op: "Cholesky factorisation",
        matrix: bad.matrix,
        pivot: bad.pivot,
        value: bad.value.to_f64(),
    })
}

kernel! {
    fn factor_and_invert<'a, S, T>(
        l: Lanes<S, T>,
        n: usize,
        count: usize,
        x: &'a mut [T],
        out: &'a mut [T],
        pivots: &'a mut [T],
    ) -> std::result::Result<(), BadPivot<T>> {
        let x = &mut T::view_mut::<S>(x)[..n * n];
        let pivots = &mut T::view_mut::<S>(pivots)[..n];
        let out = T::view_mut::<S>(out);
        cholesky::factor(l, n, x, pivots);
        cholesky::check(l, count, pivots)?;
        cholesky::invert(l, n, x, out);
        for r in 0..n {
            out[r * n + r + 1..(r + 1) * n].fill(l.splat(T::ZERO));
        }
        Ok(())
    }
}
