//! HDF5, as far as MATLAB 7.3 and h5py's default files use it.
//!
//! ```text
//! superblock (0 to 3) ─▶ object header (1, 2) ─▶ group:   symbol table (B-tree, local heap) or links
//!                                             ─▶ dataset: type, shape, layout (compact, contiguous, chunked), filters
//! ```
//!
//! Filters: deflate, shuffle, Fletcher-32 (passed over). Types: whole numbers, floats, fixed text,
//! references, and pairs of floats. What else there is (layouts of version 4, dense groups, other
//! filters) is refused by name. Addresses count from the superblock.
//!
//! **Bounds.** Trees and headers are walked with a budget of steps that the file's size sets; what
//! datasets expand to is bounded by
//! [`Limits::max_expanded`](crate::Limits::max_expanded), by what deflate can give, and,
//! uncompressed, by the file itself.
//!
//! Source: The HDF Group, *HDF5 File Format Specification*, version 3.

mod chunks;
mod dataset;
mod group;
mod header;

pub(crate) use dataset::{Array, Element};
pub(crate) use header::Object;

use super::stream::Budget;
use super::{ReadOptions, Source};
use crate::{FormatError, Result};

const SIGNATURE: &[u8; 8] = b"\x89HDF\r\n\x1a\n";
/// The smallest thing that a step can be about.
const STEP_BYTES: u64 = 8;
const FREE_STEPS: u64 = 10_000;
/// Uncompressed datasets may be named more than once.
const SHARED: u64 = 4;
const FREE_BYTES: u64 = 1 << 20;

/// Where the superblock starts, if the first bytes show one.
pub(crate) fn start(head: &[u8]) -> Option<u64> {
    let at = |offset: usize| head.get(offset..offset + 8) == Some(SIGNATURE);
    [0, 512].into_iter().find(|&o| at(o)).map(|o| o as u64)
}

/// An open file.
pub(crate) struct File<'s, 'a> {
    source: &'s mut Source<'a>,
    base: u64,
    /// Bytes of an address and of a length.
    offset_size: usize,
    length_size: usize,
    root: u64,
    steps: u64,
    /// Bytes that compressed datasets may still expand to, and that others may still hold.
    expanded: Budget,
    plain: u64,
}

/// Numbers from front to back.
pub(crate) struct Cursor<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Cursor<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(crate) fn take(&mut self, len: usize) -> Option<&'b [u8]> {
        let end = self.at.checked_add(len)?;
        let part = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(part)
    }

    pub(crate) fn uint(&mut self, size: usize) -> Option<u64> {
        let bytes = self.take(size)?;
        let digits = bytes.iter().rev().take(8);
        Some(digits.fold(0, |n, &b| (n << 8) | u64::from(b)))
    }

    pub(crate) fn rest(&self) -> &'b [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    pub(crate) fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }
}

impl<'s, 'a> File<'s, 'a> {
    pub(crate) fn open(
        source: &'s mut Source<'a>,
        base: u64,
        options: &ReadOptions,
    ) -> Result<Self> {
        source.seek_to(base, "the superblock")?;
        let len = 96.min(source.len() - base);
        let bytes = source.read_vec(len, "the superblock")?;
        let mut file = Self {
            steps: source.len() / STEP_BYTES + FREE_STEPS,
            expanded: Budget::new(options.limits.max_expanded),
            plain: source.len().saturating_mul(SHARED) + FREE_BYTES,
            source,
            base,
            offset_size: 8,
            length_size: 8,
            root: 0,
        };
        if file.superblock(&bytes).is_none() {
            return Err(file.malformed(
                0,
                "the superblock of HDF5 is damaged or of a version above 3",
            ));
        }
        Ok(file)
    }

    fn superblock(&mut self, bytes: &[u8]) -> Option<()> {
        let mut cursor = Cursor::new(bytes);
        cursor.take(8)?;
        let version = cursor.uint(1)?;
        let sizes = |file: &mut Self, cursor: &mut Cursor<'_>| {
            file.offset_size = cursor.uint(1)? as usize;
            file.length_size = cursor.uint(1)? as usize;
            let known = |size: usize| matches!(size, 2 | 4 | 8);
            (known(file.offset_size) && known(file.length_size)).then_some(())
        };
        match version {
            0 | 1 => {
                cursor.take(4)?;
                sizes(self, &mut cursor)?;
                cursor.take(if version == 0 { 9 } else { 13 })?;
                // Base, free space, end, driver; then the root's entry: its name, its header.
                cursor.take(5 * self.offset_size)?;
                self.root = cursor.uint(self.offset_size)?;
            }
            2 | 3 => {
                sizes(self, &mut cursor)?;
                cursor.take(1 + 3 * self.offset_size)?;
                self.root = cursor.uint(self.offset_size)?;
            }
            _ => return None,
        }
        Some(())
    }

    /// The address of the root group.
    pub(crate) fn root(&self) -> u64 {
        self.root
    }

    /// An error about the bytes at an address.
    pub(crate) fn malformed(&self, address: u64, reason: impl Into<String>) -> FormatError {
        self.source
            .malformed(self.base.saturating_add(address), reason)
    }

    /// One more thing was looked at.
    fn step(&mut self, address: u64) -> Result<()> {
        match self.steps.checked_sub(1) {
            Some(left) => {
                self.steps = left;
                Ok(())
            }
            None => Err(self.malformed(address, "the objects of the file go round in circles")),
        }
    }

    fn bytes(&mut self, address: u64, len: u64, what: &str) -> Result<Vec<u8>> {
        self.step(address)?;
        self.source
            .seek_to(self.base.saturating_add(address), what)?;
        self.source.read_vec(len, what)
    }

    /// As many bytes as there are, at most `len`.
    fn some_bytes(&mut self, address: u64, len: u64, what: &str) -> Result<Vec<u8>> {
        let from = self.base.saturating_add(address);
        let left = self.source.len().saturating_sub(from);
        self.bytes(address, len.min(left), what)
    }

    /// Whether an address stands for nothing.
    fn undefined(&self, address: u64) -> bool {
        let ones = u64::MAX >> (64 - 8 * self.offset_size.min(8));
        address == ones
    }
}
