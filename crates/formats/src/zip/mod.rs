//! The zip container, as far as `.npz` and the archives of data sets need it: stored and deflated
//! entries, zip64, checksums.
//!
//! ```text
//! entry:     "PK" 3 4 … name, extra, data                    (30 bytes + name + extra)
//! directory: "PK" 1 2 … method, CRC-32, sizes, name, extra   (46 bytes + …), one per entry
//! end:       "PK" 5 6 … size and offset of the directory     (22 bytes + comment, at the end of the file)
//! zip64:     "PK" 6 7 … offset of "PK" 6 6 …, before the end, for what does not fit into 32 bits
//! ```
//!
//! No count or size in the file decides how much memory is reserved before the bytes are there.
//! Source: PKWARE, *APPNOTE.TXT*, version 6.3.

mod writer;

use std::io::{BufReader, Error, ErrorKind, Read};
use std::path::Path;

use flate2::Crc;
use flate2::read::DeflateDecoder;

pub(crate) use writer::ZipWriter;

use crate::source::Source;
use crate::stream::{Budget, Stream};
use crate::units::text;
use crate::{FormatError, Result};

const END: usize = 22;
const LONGEST_COMMENT: usize = u16::MAX as usize;
const WIDE: u64 = 0xffff_ffff;

/// One entry of the directory.
#[derive(Debug)]
pub struct Entry {
    /// Its name, with the folders of the archive.
    pub name: String,
    method: u16,
    encrypted: bool,
    crc: u32,
    compressed: u64,
    offset: u64,
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

/// Reads the directory.
pub fn entries(source: &mut Source<'_>) -> Result<Vec<Entry>> {
    let (offset, size) = directory_place(source)?;
    source.seek_to(offset, "the zip directory")?;
    let directory = source.read_vec(size, "the zip directory")?;
    let mut entries = Vec::new();
    let mut at = 0;
    while at < directory.len() {
        let rest = &directory[at..];
        let place = offset + at as u64;
        let damaged = || source.malformed(place, "the zip directory is damaged here");
        if rest.len() < 46 || !rest.starts_with(b"PK\x01\x02") {
            return Err(damaged());
        }
        let [name, extra, comment] = [28, 30, 32].map(|field| usize::from(u16_at(rest, field)));
        let len = 46 + name + extra + comment;
        let body = rest.get(46..len).ok_or_else(damaged)?;
        let mut entry = Entry {
            name: text(&body[..name]),
            method: u16_at(rest, 10),
            encrypted: u16_at(rest, 8) & 1 != 0,
            crc: u32_at(rest, 16),
            compressed: u64::from(u32_at(rest, 20)),
            offset: u64::from(u32_at(rest, 42)),
        };
        widen(
            &mut entry,
            u64::from(u32_at(rest, 24)),
            &body[name..name + extra],
        )
        .ok_or_else(damaged)?;
        entries.push(entry);
        at += len;
    }
    Ok(entries)
}

/// Replaces fields that did not fit into 32 bits by those of the zip64 extra field.
fn widen(entry: &mut Entry, expanded: u64, mut extra: &[u8]) -> Option<()> {
    while extra.len() >= 4 {
        let (kind, len) = (u16_at(extra, 0), usize::from(u16_at(extra, 2)));
        let field = extra.get(4..4 + len)?;
        if kind == 1 {
            let mut wide = field
                .as_chunks::<8>()
                .0
                .iter()
                .map(|b| u64::from_le_bytes(*b));
            if expanded == WIDE {
                wide.next()?;
            }
            if entry.compressed == WIDE {
                entry.compressed = wide.next()?;
            }
            if entry.offset == WIDE {
                entry.offset = wide.next()?;
            }
        }
        extra = &extra[4 + len..];
    }
    Some(())
}

/// Offset and size of the directory.
fn directory_place(source: &mut Source<'_>) -> Result<(u64, u64)> {
    let tail = source.len().min((20 + END + LONGEST_COMMENT) as u64);
    let start = source.len() - tail;
    source.seek_to(start, "the end of the zip")?;
    let bytes = source.read_vec(tail, "the end of the zip")?;
    let last = bytes.len().checked_sub(END);
    let end = last.and_then(|last| {
        (0..=last)
            .rev()
            .find(|&at| bytes[at..].starts_with(b"PK\x05\x06"))
    });
    let Some(end) = end else {
        return Err(source.malformed(
            source.len(),
            "the zip directory is missing: the file is cut short or damaged",
        ));
    };
    let locator = end
        .checked_sub(20)
        .map(|at| &bytes[at..end])
        .filter(|l| l.starts_with(b"PK\x06\x07"));
    let (offset, size) = match locator {
        None => (
            u64::from(u32_at(&bytes, end + 16)),
            u64::from(u32_at(&bytes, end + 12)),
        ),
        Some(locator) => {
            let at = u64_at(locator, 8);
            source.seek_to(at, "the zip64 end of directory")?;
            let wide = source.read_vec(56, "the zip64 end of directory")?;
            if !wide.starts_with(b"PK\x06\x06") {
                return Err(source.malformed(at, "expected the zip64 end of directory"));
            }
            (u64_at(&wide, 48), u64_at(&wide, 40))
        }
    };
    Ok((offset, size))
}

impl Entry {
    /// Opens the entry's content.
    pub fn open<'s>(
        &self,
        source: &'s mut Source<'_>,
        path: &Path,
        limit: u64,
    ) -> Result<Stream<'s>> {
        self.open_within(source, path, Budget::new(limit))
    }

    /// Opens the entry's content, where other entries count too.
    pub(crate) fn open_within<'s>(
        &self,
        source: &'s mut Source<'_>,
        path: &Path,
        budget: Budget,
    ) -> Result<Stream<'s>> {
        source.seek_to(self.offset, "an entry of the zip")?;
        let head = source.read_vec(30, "an entry of the zip")?;
        if !head.starts_with(b"PK\x03\x04") {
            return Err(source.malformed(
                self.offset,
                format!("the entry {} should start here", self.name),
            ));
        }
        let skipped = u64::from(u16_at(&head, 26)) + u64::from(u16_at(&head, 28));
        let start = self.offset + 30 + skipped;
        source.seek_to(start, "the data of an entry")?;
        source.require(self.compressed, "an entry of the zip")?;
        if self.encrypted || !matches!(self.method, 0 | 8) {
            return Err(FormatError::Unsupported {
                path: path.to_path_buf(),
                kind: format!("zip with encrypted entries or of method {}", self.method),
                remedy: "save it again stored or deflated, as np.savez_compressed does".into(),
            });
        }
        let data = source.take(self.compressed);
        Ok(if self.method == 0 {
            Stream::plain(Checked::new(data, self.crc), path, start, self.compressed)
        } else {
            let inflated = DeflateDecoder::new(BufReader::new(data));
            Stream::compressed(Checked::new(inflated, self.crc), path, start, budget)
                .packed_into(self.compressed)
        })
    }
}

/// Compares the CRC-32 at the end of the content.
struct Checked<R> {
    inner: R,
    crc: Crc,
    expected: u32,
}

impl<R> Checked<R> {
    fn new(inner: R, expected: u32) -> Self {
        Self {
            inner,
            crc: Crc::new(),
            expected,
        }
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.inner.read(buffer)?;
        if count == 0 && !buffer.is_empty() && self.crc.sum() != self.expected {
            return Err(Error::new(ErrorKind::InvalidData, "its checksum differs"));
        }
        self.crc.update(&buffer[..count]);
        Ok(count)
    }
}
