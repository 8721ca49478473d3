//! Elements: a tag, data, padding.

use crate::Result;
use crate::numbers::{Number, swap_bytes};
use crate::stream::Stream;

/// The head of an element.
pub(super) struct Tag {
    pub(super) kind: u32,
    pub(super) len: u64,
    /// Bytes of padding after the data.
    padding: u64,
}

/// Reads matrices from front to back.
pub(super) struct Parser<'r> {
    pub(super) stream: Stream<'r>,
    pub(super) big_endian: bool,
}

impl<'r> Parser<'r> {
    pub(super) fn new(stream: Stream<'r>, big_endian: bool) -> Self {
        Self { stream, big_endian }
    }

    /// Leaves a compressed element; returns its expanded size. Bytes after the variable are
    /// allowed: some writers leave them.
    pub(super) fn finish(self) -> Result<u64> {
        self.stream.leave("the variable")
    }

    pub(super) fn word(&mut self, what: &str) -> Result<u32> {
        let bytes = self.stream.array(what)?;
        Ok(if self.big_endian {
            u32::from_be_bytes(bytes)
        } else {
            u32::from_le_bytes(bytes)
        })
    }

    /// A tag; the small form keeps size and type in one word and four bytes of data behind it.
    pub(super) fn tag(&mut self, what: &str) -> Result<Tag> {
        let word = self.word(what)?;
        let small = u64::from(word >> 16);
        if small > 0 {
            if small > 4 {
                return Err(self
                    .stream
                    .malformed(format!("{what} is a small element of {small} bytes, 4 fit")));
            }
            return Ok(Tag {
                kind: word & 0xffff,
                len: small,
                padding: 4 - small,
            });
        }
        let len = u64::from(self.word(what)?);
        Ok(Tag {
            kind: word,
            len,
            padding: len.next_multiple_of(8) - len,
        })
    }

    /// Passes over padding, which the last element of a matrix may lack.
    pub(super) fn pad(&mut self, tag: &Tag, end: u64) -> Result<()> {
        let left = end.saturating_sub(self.stream.position());
        self.stream.skip(tag.padding.min(left), "padding")
    }

    pub(super) fn bytes(&mut self, limit: u64, end: u64, what: &str) -> Result<(u32, Vec<u8>)> {
        let tag = self.tag(what)?;
        if tag.len > limit {
            return Err(self.stream.malformed(format!(
                "{what} has {} bytes, at most {limit} make sense",
                tag.len
            )));
        }
        let bytes = self.stream.read_vec(tag.len, what)?;
        self.pad(&tag, end)?;
        Ok((tag.kind, bytes))
    }

    pub(super) fn words(&mut self, limit: u64, end: u64, what: &str) -> Result<Vec<u32>> {
        let (_, mut bytes) = self.bytes(limit, end, what)?;
        if self.big_endian {
            swap_bytes(&mut bytes, 4);
        }
        Ok(bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|b| u32::from_le_bytes(*b))
            .collect())
    }
}

/// How the numbers of a type are stored.
pub(super) fn number(kind: u32) -> Option<Number> {
    Some(match kind {
        1 => Number::I8,
        2 => Number::U8,
        3 => Number::I16,
        4 => Number::U16,
        5 => Number::I32,
        6 => Number::U32,
        7 => Number::F32,
        9 => Number::F64,
        12 => Number::I64,
        13 => Number::U64,
        _ => return None,
    })
}
