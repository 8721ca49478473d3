//! Bounds for what one file may ask of the machine.

use std::path::Path;

use crate::{FormatError, Result, memory};

/// What one file may ask for. A reader refuses what goes beyond before it reserves the memory.
///
/// Besides, a size that a file states is believed only as far as its bytes back it (deflate makes
/// at most 1032 bytes of one), and more than the system can give is an error.
///
/// ```
/// use stiefel_formats::{Limits, ReadOptions, Source, read_with};
///
/// let limits = Limits {
///     max_memory: 16,
///     ..Limits::default()
/// };
/// let options = ReadOptions {
///     limits,
///     ..ReadOptions::default()
/// };
/// let text = b"time,C3\n0.00,1\n0.01,2\n0.02,3\n";
/// let error = read_with(Source::from_bytes("run.csv", text), &options).unwrap_err();
/// assert!(error.to_string().contains("max_memory"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes that the packed parts of one file (gzip, MATLAB, HDF5, `.npz`) may expand
    /// to, 2 GiB by default: an hour of 64 channels at 1 kHz in double precision takes 1.8 GB.
    /// A service that reads files of strangers wants far less.
    pub max_expanded: u64,
    /// The most bytes of memory that the samples of one recording, or the numbers of one array,
    /// may take. Without bound by default: what the machine can give decides. It applies
    /// through [`read_with`](crate::read_with) and its kin, or after
    /// [`Source::unpacked`](crate::Source::unpacked).
    pub max_memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_expanded: 2 << 30,
            max_memory: u64::MAX,
        }
    }
}

impl Limits {
    /// Refuses numbers that are beyond the limit or what the machine can give.
    pub(crate) fn check(&self, bytes: u128, path: &Path) -> Result<()> {
        self.allow(bytes, path)?;
        memory::check(bytes, path)
    }

    /// Refuses numbers that are beyond the limit.
    pub(crate) fn allow(&self, bytes: u128, path: &Path) -> Result<()> {
        if bytes > u128::from(self.max_memory) {
            return Err(FormatError::invalid(
                format!(
                    "{}: its content needs {bytes} bytes of memory, beyond the {} that are allowed",
                    path.display(),
                    self.max_memory
                ),
                "read fewer channels, or raise the limit `max_memory`",
            ));
        }
        Ok(())
    }
}
