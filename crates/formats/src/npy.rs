//! NumPy's `.npy`: a Python dictionary for a header, then the values.
//!
//! ```text
//! 0x93 "NUMPY"  major minor  header length (u16 in version 1, u32 in 2 and 3)
//! {'descr': '<f8', 'fortran_order': False, 'shape': (120, 22, 500), }
//! values
//! ```
//!
//! A lone `.npy` holds epochs (trials, channels, samples) in µV, for which the rate comes from
//! [`ReadOptions::sampling_rate`]. Trials have empty labels and domains. Square, symmetric matrices
//! are no signal and are refused; [`numpy`](crate::numpy) gives them as an array.

use crate::numpy::{Arrays, Table};
use crate::{Content, Format, Head, ReadOptions, Reader, Result, Source};

/// `.npy` in the registry of formats.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Npy;

/// A NumPy array.
pub const FORMAT: Format = Format {
    name: ".npy",
    extensions: &[],
};

impl Reader for Npy {
    fn format(&self) -> Format {
        FORMAT
    }

    fn recognises(&self, head: &Head<'_>) -> bool {
        head.bytes.starts_with(b"\x93NUMPY")
    }

    fn read(&self, source: Source<'_>, options: &ReadOptions) -> Result<Content> {
        epochs(source, options)
    }
}

/// Reads the trials of a `.npy` or `.npz`.
pub(crate) fn epochs(source: Source<'_>, options: &ReadOptions) -> Result<Content> {
    let mut arrays = Arrays::open(source, options)?;
    Table::read(&mut arrays, options)?
        .into_epochs()
        .map(Content::Epochs)
}
