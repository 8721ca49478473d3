//! A part of a file read from front to back: a MATLAB element or an `.npz` entry, compressed or
//! not.
//!
//! Sizes told by the file are believed only as far as bytes back them: a plain part knows how many
//! bytes it has, and what a compressed part expands to is collected piece by piece and never beyond
//! [`Limits::max_expanded`](crate::Limits::max_expanded).

use std::io::Read;
use std::path::{Path, PathBuf};

use super::numbers::{Number, swap_bytes};
use crate::{FormatError, Limits, Result};

/// Memory grows by at most so many bytes ahead of the bytes that fill it.
const STEP: usize = 1 << 16;
/// Deflate makes at most 1032 bytes of one.
pub(crate) const DEFLATE: u64 = 1032;

/// The bytes that the packed parts of a file may still expand to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    left: u64,
    limit: u64,
}

impl Budget {
    pub(crate) fn new(limit: u64) -> Self {
        Self { left: limit, limit }
    }

    /// What is left after `bytes` more; an error where that is less than nothing.
    pub(crate) fn after(self, bytes: u64, path: &Path, what: &str) -> Result<Self> {
        match self.left.checked_sub(bytes) {
            Some(left) => Ok(Self { left, ..self }),
            None => Err(self.exceeded(path, what)),
        }
    }

    /// What is left after `bytes` more, which need not come out of it.
    pub(crate) fn after_at_most(self, bytes: u64) -> Self {
        let left = self.left.saturating_sub(bytes);
        Self { left, ..self }
    }

    fn exceeded(self, path: &Path, what: &str) -> FormatError {
        FormatError::invalid(
            format!(
                "{}: {what} goes beyond what the packed parts of a file may expand to, {}",
                path.display(),
                size_text(self.limit)
            ),
            "raise this limit if the file is trusted, or unpack it first",
        )
    }
}

/// Bytes in the largest unit that gives a whole number.
fn size_text(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let fits = |&&(bits, _): &&(u32, &str)| bytes > 0 && bytes.trailing_zeros() >= bits;
    match units.iter().find(fits) {
        Some((bits, unit)) => format!("{} {unit}", bytes >> bits),
        None => format!("{bytes} bytes"),
    }
}

/// How much a part may give.
#[derive(Debug, Clone, Copy)]
enum Extent {
    /// So many bytes, which are really there.
    Plain(u64),
    /// At most so many bytes, by the reader's options.
    Compressed(Budget),
}

/// A forward reader over one part of a file.
pub struct Stream<'r> {
    inner: Box<dyn Read + 'r>,
    path: PathBuf,
    start: u64,
    position: u64,
    extent: Extent,
    /// The bytes that compressed content was packed into, where that is known.
    packed: Option<u64>,
    limits: Limits,
}

impl std::fmt::Debug for Stream<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream")
            .field("path", &self.path)
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}

impl<'r> Stream<'r> {
    /// A part of `len` bytes that starts at byte `start` of the file.
    pub(crate) fn plain(inner: impl Read + 'r, path: &Path, start: u64, len: u64) -> Self {
        Self::new(Box::new(inner), path, start, Extent::Plain(len))
    }

    /// A decompressor over the part that starts at byte `start` of the file.
    pub(crate) fn compressed(
        inner: impl Read + 'r,
        path: &Path,
        start: u64,
        budget: Budget,
    ) -> Self {
        Self::new(Box::new(inner), path, start, Extent::Compressed(budget))
    }

    fn new(inner: Box<dyn Read + 'r>, path: &Path, start: u64, extent: Extent) -> Self {
        Self {
            inner,
            path: path.to_path_buf(),
            start,
            position: 0,
            extent,
            packed: None,
            limits: Limits::default(),
        }
    }

    /// Says how many packed bytes the content comes from, which bounds what it can be.
    pub(crate) fn packed_into(mut self, bytes: u64) -> Self {
        self.packed = Some(bytes);
        self
    }

    /// Holds numbers within these limits.
    pub(crate) fn within(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Bytes read so far.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// An error about the bytes just read.
    pub(crate) fn malformed(&self, reason: impl Into<String>) -> FormatError {
        let reason = reason.into();
        let (offset, reason) = match self.extent {
            Extent::Plain(_) => (self.start + self.position, reason),
            Extent::Compressed(_) => (
                self.start,
                format!(
                    "{reason} (byte {} of the compressed content)",
                    self.position
                ),
            ),
        };
        FormatError::Malformed {
            path: self.path.clone(),
            offset,
            reason,
        }
    }

    /// Refuses a length that cannot be there.
    pub(crate) fn require(&self, len: u64, what: &str) -> Result<()> {
        if let Some(packed) = self.packed
            && self.position.saturating_add(len) > packed.saturating_mul(DEFLATE) + STEP as u64
        {
            return Err(self.malformed(format!(
                "{what} needs {len} bytes, which {packed} packed bytes cannot hold"
            )));
        }
        match self.extent {
            Extent::Plain(size) if len > size.saturating_sub(self.position) => {
                Err(self.malformed(format!(
                    "{what} needs {len} bytes, {} are left",
                    size.saturating_sub(self.position)
                )))
            }
            Extent::Compressed(budget) => {
                let wanted = self.position.saturating_add(len);
                budget.after(wanted, &self.path, what).map(|_| ())
            }
            Extent::Plain(_) => Ok(()),
        }
    }

    /// Fills `buffer`.
    pub(crate) fn read_all(&mut self, buffer: &mut [u8], what: &str) -> Result<()> {
        self.require(buffer.len() as u64, what)?;
        match self.inner.read_exact(buffer) {
            Ok(()) => {
                self.position += buffer.len() as u64;
                Ok(())
            }
            Err(error) => Err(self.malformed(format!("{what} is damaged or cut short: {error}"))),
        }
    }

    /// Some of the next bytes: at most a buffer full, none at the end (where a checksum is
    /// compared).
    pub fn read_some(&mut self, buffer: &mut [u8], what: &str) -> Result<usize> {
        let read = self.inner.read(buffer);
        let count = read.map_err(|error| self.malformed(format!("{what} is damaged: {error}")))?;
        self.require(count as u64, what)?;
        self.position += count as u64;
        Ok(count)
    }

    /// The next `N` bytes.
    pub(crate) fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.read_all(&mut bytes, what)?;
        Ok(bytes)
    }

    /// The next `len` bytes.
    pub(crate) fn read_vec(&mut self, len: u64, what: &str) -> Result<Vec<u8>> {
        self.require(len, what)?;
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < len {
            let from = bytes.len();
            bytes.resize(from + (len as usize - from).min(STEP), 0);
            self.read_all(&mut bytes[from..], what)?;
        }
        Ok(bytes)
    }

    /// Passes over `len` bytes.
    pub(crate) fn skip(&mut self, len: u64, what: &str) -> Result<()> {
        self.require(len, what)?;
        let mut left = len;
        let mut buffer = [0; 4096];
        while left > 0 {
            let step = left.min(buffer.len() as u64) as usize;
            self.read_all(&mut buffer[..step], what)?;
            left -= step as u64;
        }
        Ok(())
    }

    /// Refuses more numbers than memory can hold.
    pub(crate) fn can_hold(&self, count: u64) -> Result<()> {
        let bytes = u128::from(count) * size_of::<f64>() as u128;
        self.limits.check(bytes, &self.path)
    }

    /// The next `count` stored numbers.
    pub(crate) fn numbers(
        &mut self,
        number: Number,
        big_endian: bool,
        count: u64,
        what: &str,
    ) -> Result<Vec<f64>> {
        let size = number.size();
        let bytes = count.saturating_mul(size as u64);
        self.require(bytes, what)?;
        self.can_hold(count)?;
        let mut values = Vec::new();
        // What bytes back, or can be packed into, is reserved at once; anything else grows as it
        // comes.
        if matches!(self.extent, Extent::Plain(_)) || self.packed.is_some() {
            values.reserve_exact(count as usize);
        }
        let mut buffer = vec![0; (STEP / size * size).min(bytes as usize)];
        while (values.len() as u64) < count {
            let from = values.len();
            let step = (count as usize - from).min(buffer.len() / size);
            let chunk = &mut buffer[..step * size];
            self.read_all(chunk, what)?;
            if big_endian {
                swap_bytes(chunk, size);
            }
            values.resize(from + step, 0.0);
            number.decode(chunk, &mut values[from..]);
        }
        Ok(values)
    }

    /// Ends the reading, whether bytes follow or not; where none do, a checksum is compared.
    pub(crate) fn leave(mut self, what: &str) -> Result<u64> {
        let read = self.inner.read(&mut [0; 1]);
        read.map_err(|error| self.malformed(format!("{what} is damaged: {error}")))?;
        Ok(self.position)
    }

    /// Checks that nothing follows; for a compressed part this also checks its checksum.
    pub(crate) fn finish(mut self, what: &str) -> Result<u64> {
        match self.inner.read(&mut [0; 1]) {
            Ok(0) => Ok(self.position),
            Ok(_) => Err(self.malformed(format!("bytes follow the end of {what}"))),
            Err(error) => Err(self.malformed(format!("{what} is damaged: {error}"))),
        }
    }
}
