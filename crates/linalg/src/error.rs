//! What can go wrong in a kernel: the operation, the matrix and the numbers.

/// The result of every fallible operation of this crate.
pub type Result<T> = std::result::Result<T, LinalgError>;

/// An error of a kernel. Matrices are named by their zero-based position in the batch.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LinalgError {
    /// Sizes that do not fit together.
    #[error("{op}: expected {expected}, found {found}")]
    Shape {
        /// The operation.
        op: &'static str,
        /// What it needs.
        expected: String,
        /// What it was given.
        found: String,
    },
    /// A NaN or an infinity in the input.
    #[error("{op}: matrix {matrix} has the value {value} at row {row}, column {col}")]
    NotFinite {
        /// The operation.
        op: &'static str,
        /// Which matrix of the batch.
        matrix: usize,
        /// Zero-based row.
        row: usize,
        /// Zero-based column.
        col: usize,
        /// The value found.
        value: f64,
    },
    /// The QL iteration did not isolate an eigenvalue.
    #[error(
        "symmetric eigen-decomposition: matrix {matrix} did not converge within {sweeps} sweeps"
    )]
    NoConvergence {
        /// Which matrix of the batch.
        matrix: usize,
        /// How many sweeps were allowed.
        sweeps: usize,
    },
    /// A decomposition of a large matrix that did not converge.
    #[error("{op}: the decomposition did not converge; are the numbers of sane size?")]
    NotDecomposed {
        /// The operation.
        op: &'static str,
    },
    /// A pivot of a Cholesky factorisation that is not positive.
    #[error("{op}: matrix {matrix} is not positive definite: pivot {pivot} is {value:e}")]
    NotPositiveDefinite {
        /// The operation.
        op: &'static str,
        /// Which matrix of the batch.
        matrix: usize,
        /// Which pivot, zero-based.
        pivot: usize,
        /// Its value.
        value: f64,
    },
    /// A zero on the diagonal of a triangular matrix.
    #[error("{op}: matrix {matrix} is singular: diagonal entry {pivot} is zero")]
    Singular {
        /// The operation.
        op: &'static str,
        /// Which matrix of the batch.
        matrix: usize,
        /// Which diagonal entry, zero-based.
        pivot: usize,
    },
    /// `STIEFEL_SIMD` asks for instructions that cannot be had.
    #[error(
        "STIEFEL_SIMD={found}: {}; choose one of {available}, or unset the variable",
        if *known { "an instruction set that this CPU does not have" } else { "no instruction set has that name" }
    )]
    InstructionSet {
        /// What the variable says.
        found: String,
        /// Whether there is such a set on other CPUs.
        known: bool,
        /// What this CPU has.
        available: String,
    },
}

impl LinalgError {
    /// The same error about a batch of which the failing one was a part that starts at matrix
    /// `first`.
    pub fn offset(mut self, first: usize) -> Self {
        match &mut self {
            Self::NotFinite { matrix, .. }
            | Self::NoConvergence { matrix, .. }
            | Self::NotPositiveDefinite { matrix, .. }
            | Self::Singular { matrix, .. } => *matrix += first,
            Self::Shape { .. } | Self::NotDecomposed { .. } | Self::InstructionSet { .. } => {}
        }
        self
    }
}
