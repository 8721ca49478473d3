//! Files: everything of [`stiefel_formats`], and dataset files of covariances.
//!
//! [`read`] and its kin give [`Content`], which may be covariances; the rest is as the readers have
//! it.

pub use crate::dataset::{
    Content, read, read_among, read_from, read_with, write_trials, write_trials_to,
};
pub use stiefel_formats::*;
