//! Matrices that stay in lanes over several steps ("compact" batches): entry `(r, c)` of all matrices of a group is one register.
//!
//! A group has [`width`] matrices. A `rows × cols` matrix of a group is a slice of `rows·cols·width` numbers, `x[(r·cols + c)·width + lane]`. Products
//! in this layout need no packing and no masks, whatever the sizes: every entry is a whole register, so a transpose is a change of strides and a
//! triangle saves exactly its half. [`gather()`] and [`scatter`] are the ways in and out. Lanes that are not used repeat the last matrix.
//!
//! Buffers should start at a cache line ([`Aligned`](crate::Aligned)).

mod differences;
pub(crate) mod eigen;
pub(crate) mod kernel;
mod mixture;
mod product;

pub use crate::gather::{
    gather, gather_lower, gather_upper, scatter, scatter_lower, scatter_upper,
};
pub use differences::Logarithms;
pub use product::{BAND, Laid, Product, Sums, Terms};

use crate::simd::{dispatch, instruction_set};
use crate::tolerance::QL_SWEEPS_PER_EIGENVALUE;
use crate::{LinalgError, Result, Scalar};
use kernel::{
    LaneCurvatures, LaneDifferences, LaneEigen, LaneFactor, LaneInnerProducts, LaneMixture,
    LaneProduct, LaneSpectral, LaneTotals, LaneWeightedSums, Spectral,
};

/// Matrices in a group: lanes of a register of the instruction set in use.
///
/// # Errors
/// Where `STIEFEL_SIMD` asks for instructions that cannot be had.
pub fn width<T: Scalar>() -> Result<usize> {
    Ok(instruction_set()?.lanes::<T>())
}

/// `C_i = α Σ A_i B_i` of a group, see [`Product`].
///
/// # Panics
/// If a slice is shorter than its shape says.
pub fn product<T: Scalar>(product: Product<'_, T>) -> Result<()> {
    dispatch(LaneProduct(product))
}

/// `A_i = B + Σ_j w_ij D_j` of a group: `B` and the `D_j`, one after the other, are the same for all lanes and not laid out for them; `weights` holds a register per `D_j`.
///
/// # Panics
/// If a slice is shorter than the others say.
pub fn mixture<T: Scalar>(
    weights: &[T],
    base: &[T],
    directions: &[T],
    out: &mut [T],
) -> Result<()> {
    dispatch(LaneMixture {
        weights,
        base,
        directions,
        out,
    })
}

/// `g_ij = ⟨D_j, G_i⟩` of a group, a register per `D_j`: the gradient of the weights of a [`mixture()`].
///
/// # Panics
/// As [`mixture()`].
pub fn inner_products<T: Scalar>(g: &[T], directions: &[T], out: &mut [T]) -> Result<()> {
    dispatch(LaneInnerProducts { g, directions, out })
}

/// `D_j = [D_j +] Σ_i w_ij G_i` over a group, one `j` per lane: register `i` of `weights` holds the `w_ij` of matrix `i`, and `out` the `D_j` in lanes. The other gradient of a
/// [`mixture()`]. Matrices are added in their order.
///
/// # Panics
/// As [`mixture()`].
pub fn weighted_sums<T: Scalar>(weights: &[T], g: &[T], add: bool, out: &mut [T]) -> Result<()> {
    dispatch(LaneWeightedSums {
        weights,
        g,
        add,
        out,
    })
}

/// `Σ_i G_i` over the first `samples` matrices of several groups, one group after the other, entry by entry.
///
/// # Panics
/// As [`mixture()`].
pub fn totals<T: Scalar>(samples: usize, g: &[T], out: &mut [T]) -> Result<()> {
    dispatch(LaneTotals { samples, g, out })
}

/// `L_i⁻¹` of a group of `n × n` matrices `X_i = L_i L_iᵀ`, zeros above the diagonal; only lower triangles are read, and spoilt. The first `count` lanes must
/// be positive definite. `pivots` gets `n` registers.
pub fn inverse_cholesky<T: Scalar>(
    n: usize,
    count: usize,
    x: &mut [T],
    out: &mut [T],
    pivots: &mut [T],
) -> Result<()> {
    let done = dispatch(LaneFactor {
        n,
        count,
        x,
        out,
        pivots,
    })?;
    done.map_err(|bad| LinalgError::NotPositiveDefinite {
        op: "Cholesky factorisation",
        matrix: bad.matrix,
        pivot: bad.pivot,
        value: bad.value.to_f64(),
    })
}

/// Numbers that [`eigen()`] needs as scratch.
pub fn eigen_room<T: Scalar>(n: usize, groups: usize) -> Result<usize> {
    Ok(eigen::room_in_lanes::<T>(n, groups, width::<T>()?))
}

/// Eigenvalues and eigenvectors of one or two groups of symmetric `n × n` matrices, in no particular order: `values` gets `n` registers per group, `u` a
/// square per group with eigenvectors as columns. Only lower triangles are read. Two groups at once take less time than one after the other.
///
/// `scratch` holds [`eigen_room`] numbers. The bits of the values and, up to their order, of the vectors are those of [`eigh_into`](crate::eigh_into) below 64 rows.
pub fn eigen<T: Scalar>(
    n: usize,
    groups: usize,
    x: &[T],
    values: &mut [T],
    u: &mut [T],
    scratch: &mut [T],
) -> Result<()> {
    let done = dispatch(LaneEigen {
        n,
        groups,
        x,
        values,
        u,
        scratch,
    })?;
    let sweeps = QL_SWEEPS_PER_EIGENVALUE * n;
    done.map_err(|matrix| LinalgError::NoConvergence { matrix, sweeps })
}

/// `U diag(f) Uᵀ` of a group, lower triangles and the same above the diagonal. `scratch` holds a square.
pub fn recompose<T: Scalar>(
    n: usize,
    u: &[T],
    f: &[T],
    scratch: &mut [T],
    out: &mut [T],
) -> Result<()> {
    dispatch(LaneSpectral {
        n,
        u,
        task: Spectral::Map(f),
        scratch,
        out,
    })
}

/// `U (Λ ∘ UᵀG U) Uᵀ` of a group: the derivative of a function of symmetric matrices, applied to symmetric `G_i` (Daleckii and Krein). `divided` holds the lower
/// triangles of the divided differences `Λ_i`; `scratch` holds two squares.
pub fn spectral_derivative<T: Scalar>(
    n: usize,
    u: &[T],
    divided: &[T],
    g: &[T],
    scratch: &mut [T],
    out: &mut [T],
) -> Result<()> {
    dispatch(LaneSpectral {
        n,
        u,
        task: Spectral::Derivative { divided, g },
        scratch,
        out,
    })
}

/// Divided differences of `log max(·, ε)` of every pair of eigenvalues of a group, lower triangles of squares.
pub fn log_differences<T: Scalar>(
    n: usize,
    values: &[T],
    logarithms: &Logarithms<'_, T>,
    out: &mut [T],
) -> Result<()> {
    dispatch(LaneDifferences {
        n,
        values,
        logarithms: *logarithms,
        out,
    })
}

/// `w_i (u/2)coth(u/2)` of every pair of eigenvalues of a group, `u` the difference of their logarithms, lower triangles of squares: the second derivatives of squared distances. `values`
/// are the eigenvalues up to a factor that those of a matrix have in common; `weights` is one register.
pub fn curvatures<T: Scalar>(
    n: usize,
    logarithms: &[T],
    values: &[T],
    weights: &[T],
    out: &mut [T],
) -> Result<()> {
    dispatch(LaneCurvatures {
        n,
        logarithms,
        values,
        weights,
        out,
    })
}
