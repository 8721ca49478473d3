//! NumPy's files: the arrays of a `.npy` or `.npz` by name, the trials they hold, and a writer.
//!
//! Read are integers, booleans, floats of 4 and 8 bytes, `U` and `S` strings, in either byte order
//! and in C or Fortran order; a Fortran array is turned into C order. Entries of a `.npz` may be
//! stored or deflated.
//!
//! ```
//! use stiefel_formats::numpy::{Arrays, NpzWriter, Values};
//! use stiefel_formats::{ReadOptions, Source};
//!
//! let mut bytes = Vec::new();
//! let mut file = NpzWriter::new(std::io::Cursor::new(&mut bytes));
//! file.numbers("x", &[2, 1], [&[1.5, 2.5][..]])?;
//! file.strings("y", &["left", "right"])?;
//! file.finish()?;
//!
//! let mut arrays =
//!     Arrays::open(Source::from_bytes("a.npz", &bytes), &ReadOptions::default())?;
//! let x = arrays.array("x")?.expect("it was written");
//! assert_eq!(
//!     (x.shape, x.values),
//!     (vec![2, 1], Values::Numbers(vec![1.5, 2.5]))
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: NumPy enhancement proposal 1 and `numpy.lib.format`.

mod array;
mod arrays;
mod header;
mod table;
mod write;

pub use array::{Array, Values};
pub use arrays::Arrays;
pub use table::Table;
pub use write::{NpzWriter, write_epochs};
