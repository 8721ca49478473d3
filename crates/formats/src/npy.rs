//! NumPy's `.npy`: a Python dictionary for a header, then the values.
//!
//! ```text
//! 0x93 "NUMPY"  major minor  header length (u16 in version 1, u32 in 2 and 3)
//! {'descr': '<f8', 'fortran_order': False, 'shape': (120, 22, 500), }
//! values
//! ```
//!
//! Read are integers, booleans, floats of 4 and 8 bytes, `U` and `S` strings, in either byte order and
//! in C or Fortran order; a Fortran array is turned into C order. A lone `.npy` holds trials: square,
//! symmetric matrices are covariances, anything else of three dimensions is epochs
//! (trials, channels, samples) in µV, for which the rate comes from
//! [`ReadOptions::sampling_rate`](super::ReadOptions::sampling_rate). Trials have empty labels and domains.
//!
//! Source: NumPy enhancement proposal 1 and `numpy.lib.format`.

mod array;
mod header;

pub(crate) use array::{Array, Values};

use super::npz::{Tables, assemble};
use super::stream::Stream;
use super::{Content, Format, Head, ReadOptions, Reader, Source};
use crate::Result;

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

    fn read(&self, mut source: Source<'_>, options: &ReadOptions) -> Result<Content> {
        source.seek_to(0, "the array")?;
        let (path, len) = (source.path().to_path_buf(), source.len());
        let mut stream = Stream::plain(&mut source, &path, 0, len);
        let x = Array::read(&mut stream)?;
        stream.finish("the array")?;
        assemble(&path, x, Tables::default(), options)
    }
}
