//! What statistics refuse.

/// Input from which no statistic can be computed, defined or not. Indices are zero-based.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StatsError {
    /// A value that is not a number or infinite.
    #[error("{what} {index} is {value}; leave out what has no score, do not pass it on")]
    NotFinite {
        /// What was given.
        what: &'static str,
        /// Which one.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// Two lists that come one per subject and do not.
    #[error(
        "{first} scores of the one method, {second} of the other; pass one of each per subject, \
         in the same order"
    )]
    Unpaired {
        /// Scores of the one.
        first: usize,
        /// Scores of the other.
        second: usize,
    },
    /// A p-value that is none.
    #[error("p-value {index} is {value}, expected a number from 0 to 1")]
    NotAProbability {
        /// Which one.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// Nothing to describe.
    #[error("no values to take the mean of")]
    Empty,
}
