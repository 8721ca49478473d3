//! What can be wrong with a set of trials: the operation, the numbers and the remedy.

use stiefel_linalg::LinalgError;

/// The result of anything in this crate.
pub type Result<T> = std::result::Result<T, DataError>;

/// An error between matrices and a set of trials.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// Something that was asked for and has no meaning.
    #[error("{what}; {remedy}")]
    Setting {
        /// What is wrong.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
    /// Two lists that should be equally long are not.
    #[error("{op}: {found} {what}, expected {expected}")]
    Count {
        /// The operation.
        op: &'static str,
        /// What was counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// An index without a name.
    #[error(
        "{op}: trial {trial} has {what} {index}, but there are {count}; indices are zero-based, so {index} needs a list of \
         at least {} names", index + 1
    )]
    IndexOutOfRange {
        /// The operation.
        op: &'static str,
        /// What the index is of.
        what: &'static str,
        /// The trial.
        trial: usize,
        /// Its index.
        index: usize,
        /// How many names there are.
        count: usize,
    },
    /// A trial that the set does not have.
    #[error("{op}: there is no trial {trial}, the set has {count}")]
    NoSuchTrial {
        /// The operation.
        op: &'static str,
        /// The trial asked for.
        trial: usize,
        /// How many there are.
        count: usize,
    },
    /// Two things of one name.
    #[error("{op}: {what} {first} and {second} are both called \"{name}\"; give each its own name")]
    DuplicateName {
        /// The operation.
        op: &'static str,
        /// What bears the name.
        what: &'static str,
        /// The name.
        name: String,
        /// Where it stands first.
        first: usize,
        /// Where it stands again.
        second: usize,
    },
    /// A matrix that is not symmetric beyond rounding.
    #[error(
        "{op}: trial {trial} is not symmetric: ({row}, {col}) is {lower:e} and ({col}, {row}) is \
         {upper:e}; pass covariances, or symmetrise with (X + Xᵀ)/2 where the difference is meant \
         to be rounding"
    )]
    Asymmetric {
        /// The operation.
        op: &'static str,
        /// The trial.
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
    /// A matrix that cannot be a covariance.
    #[error("{op}: the matrix of trial {trial} {why}; {remedy}")]
    NoCovariance {
        /// The operation.
        op: &'static str,
        /// The trial.
        trial: usize,
        /// Why it is none.
        why: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A number outside of what it may be.
    #[error("{op}: {name} is {value}, expected {expected}")]
    Parameter {
        /// The operation.
        op: &'static str,
        /// What it is called.
        name: &'static str,
        /// What it is.
        value: f64,
        /// What it may be.
        expected: &'static str,
    },
    /// Something that cannot be done, and what can.
    #[error("{op}: {why}; {remedy}")]
    Impossible {
        /// The operation.
        op: &'static str,
        /// Why not.
        why: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A matrix of the wrong shape, or with values that are not finite.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
}
