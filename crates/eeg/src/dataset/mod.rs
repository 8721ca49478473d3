//! Dataset files: covariance matrices in NumPy's `.npz` or `.npy`, and the door to all files.
//!
//! | key | shape | meaning |
//! |---|---|---|
//! | `triangles` | (trials, views, n(n+1)/2) | upper triangles of covariances in µV², row by row: entry (i, j ≥ i) is at `i·n − i(i−1)/2 + j − i` |
//! | `X` | (trials, n, n) or (trials, views, n, n) | covariances in µV², in the place of `triangles` |
//! | `y`, `domain`, `groups`, `session`, `run`, `ch_names`, `sfreq` | | as of [epochs](stiefel_formats::npz) |
//! | `subject` | (trials,) | the subject, beside `domain` or `groups`; the domain where there is none |
//! | `identity` | (trials, 4) | the recording, the onset, where its windows begin and end; see below |
//! | `stiefel` | (bytes,) | JSON in UTF-8: how the covariances were made, of which recordings |
//!
//! The recording of a trial is its place in the list of `stiefel`; the onset is a sample as
//! recorded, and windows are counted in samples from it.
//!
//! `prepare` writes `triangles`. `X` holds covariances when its matrices are square and all
//! symmetric to the rounding of the type it is stored in, epochs otherwise.

mod content;
mod read;
mod record;
mod write;

pub use content::Content;
pub use read::{read, read_among, read_from, read_with};
pub use write::{write_trials, write_trials_to};

use std::path::Path;

use crate::EegError;

/// The array of identities of trials.
const IDENTITY: &str = "identity";

/// The array of upper triangles.
const TRIANGLES: &str = "triangles";

fn invalid(path: &Path, what: impl std::fmt::Display, remedy: &str) -> EegError {
    EegError::invalid(format!("{}: {what}", path.display()), remedy)
}
