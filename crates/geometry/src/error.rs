//! What can go wrong on a manifold: the operation, the trial, the numbers, the likely cause and the
//! remedy.

use stiefel_linalg::LinalgError;

/// The result of every fallible operation of this crate.
pub type Result<T> = std::result::Result<T, GeometryError>;

/// An error of a map, a distance or a mean. Trials are zero-based positions in the batch.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GeometryError {
    /// A symmetric matrix without positive (numerically non-zero) eigenvalues throughout.
    #[error(
        "{op}: trial {trial} ({size} × {size}) is not positive definite: smallest eigenvalue \
         {smallest:e}, largest {largest:e}; {defect}"
    )]
    NotSpd {
        /// The operation.
        op: &'static str,
        /// Which matrix of the batch.
        trial: usize,
        /// Its number of rows.
        size: usize,
        /// Its smallest eigenvalue.
        smallest: f64,
        /// Its largest eigenvalue.
        largest: f64,
        /// In which way it fails.
        defect: SpdDefect,
    },
    /// A matrix that should be symmetric and is not, beyond rounding.
    #[error(
        "{op}: trial {trial} is not symmetric: ({row}, {col}) is {lower:e} and ({col}, {row}) is \
         {upper:e}; pass covariances, or symmetrise with (X + Xᵀ)/2 where the difference is meant \
         to be rounding"
    )]
    Asymmetric {
        /// The operation.
        op: &'static str,
        /// Which matrix of the batch.
        trial: usize,
        /// Zero-based row of the entry below the diagonal.
        row: usize,
        /// Its zero-based column.
        col: usize,
        /// The value below the diagonal.
        lower: f64,
        /// The value above the diagonal.
        upper: f64,
    },
    /// A matrix whose columns should be orthonormal and are not, beyond rounding.
    #[error(
        "{op}: matrix {matrix} is not on the Stiefel manifold: max|WᵀW − I| is {defect:e}; \
         orthonormalise it first (`orthonormal_factor`)"
    )]
    NotOrthonormal {
        /// The operation.
        op: &'static str,
        /// Which matrix of the batch.
        matrix: usize,
        /// max|WᵀW − I|.
        defect: f64,
    },
    /// A matrix of linearly dependent columns where full rank is needed.
    #[error(
        "{op}: matrix {matrix} has linearly dependent columns: its smallest independent direction \
         is {ratio:e} of the largest, which is rounding noise"
    )]
    RankDeficient {
        /// The operation.
        op: &'static str,
        /// Which matrix of the batch.
        matrix: usize,
        /// The smallest direction relative to the largest.
        ratio: f64,
    },
    /// A number out of its range.
    #[error("{op}: {name} is {value}, expected {expected}")]
    Parameter {
        /// The operation.
        op: &'static str,
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        expected: &'static str,
    },
    /// No matrix where at least one is needed.
    #[error("{op}: the batch is empty, at least one matrix is needed")]
    Empty {
        /// The operation.
        op: &'static str,
    },
    /// Weights for a mean that has none.
    #[error(
        "{op}: weights were given, and this mean is defined for equal ones only; leave them out, \
         or take the Fréchet mean"
    )]
    NoWeights {
        /// The operation.
        op: &'static str,
    },
    /// A start for a mean that is not searched from one.
    #[error(
        "{op}: a matrix to start from was given, but this mean does not start from one; leave it \
         out"
    )]
    NoStart {
        /// The operation.
        op: &'static str,
    },
    /// A kernel refused: shapes, NaN, no convergence.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
}

/// In which way a symmetric matrix fails to be positive definite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpdDefect {
    /// The smallest eigenvalue is zero to rounding.
    #[error(
        "its numerical rank is {rank}. An average reference, removed ICA components, interpolated \
         channels or fewer samples than channels do this. Shrink the covariance (Ledoit–Wolf, \
         OAS, or a multiple of the identity), drop the redundant channels, or project to {rank} \
         dimensions"
    )]
    RankDeficient {
        /// How many eigenvalues are above the rounding noise of the largest.
        rank: usize,
    },
    /// The smallest eigenvalue is negative beyond rounding.
    #[error(
        "it is indefinite, which no covariance is. Is it a difference, a logarithm or a centred \
         tangent matrix, or was it damaged by a cast or by averaging with negative weights?"
    )]
    Indefinite,
}

/// A shape error with this crate's wording.
pub(crate) fn shape_error(
    op: &'static str,
    expected: impl Into<String>,
    found: impl std::fmt::Debug,
) -> GeometryError {
    LinalgError::Shape {
        op,
        expected: expected.into(),
        found: format!("{found:?}"),
    }
    .into()
}
