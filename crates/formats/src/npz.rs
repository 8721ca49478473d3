//! NumPy's `.npz`: a zip of `.npy` arrays, read as a set of trials.
//!
//! | key | shape | meaning |
//! |---|---|---|
//! | `X` | (trials, channels, samples) | epochs in µV |
//! | `y` | (trials,) | labels, strings or numbers; empty labels without it |
//! | `domain`, `groups` or `subject` | (trials,) | the domain; the first of them that is there |
//! | `session`, `run` | (trials,) | the run; with both, `session/run` |
//! | `ch_names` | (channels,) | names; `EEG1`, `EEG2`, … without it |
//! | `sfreq` | () | samples per second |
//!
//! Other keys are ignored. An `X` of square matrices that are all symmetric to the rounding of the
//! type it is stored in is no signal and is refused; [`numpy`](crate::numpy) gives its arrays.

use crate::npy::epochs;
use crate::{Content, Format, Head, ReadOptions, Reader, Result, Source};

/// `.npz` in the registry of formats.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Npz;

/// Named NumPy arrays.
pub const FORMAT: Format = Format {
    name: ".npz",
    extensions: &[],
};

impl Reader for Npz {
    fn format(&self) -> Format {
        FORMAT
    }

    fn recognises(&self, head: &Head<'_>) -> bool {
        head.bytes.starts_with(b"PK\x03\x04")
    }

    fn read(&self, source: Source<'_>, options: &ReadOptions) -> Result<Content> {
        epochs(source, options)
    }
}
