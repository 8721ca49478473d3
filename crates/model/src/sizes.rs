//! The sizes of a network that the data fix.

use serde::{Deserialize, Serialize};

/// What the data fixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// Channels, `n`.
    pub channels: usize,
    /// Classes, `C`.
    pub classes: usize,
    /// Training domains, `D`.
    pub domains: usize,
    /// Width of the query's data input: `r` with the encoder, else `n(n+1)/2`.
    pub encoded: usize,
    /// Covariances of a trial, `V`; one where it is left out.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub views: usize,
}

fn one() -> usize {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)] // The signature is serde's.
fn is_one(views: &usize) -> bool {
    *views == 1
}
