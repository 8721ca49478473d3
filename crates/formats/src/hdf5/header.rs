//! Object headers: a list of messages, in one block or several.

use super::{Cursor, File};
use crate::Result;

const CONTINUATION: u64 = 0x10;
const ATTRIBUTE: u64 = 0x0c;
/// A header block is some kilobytes.
const LONGEST_BLOCK: u64 = 1 << 24;

/// One message.
pub(crate) struct Message {
    pub(super) kind: u64,
    pub(super) bytes: Vec<u8>,
}

/// A group or a dataset: what its header says.
pub(crate) struct Object {
    pub(crate) address: u64,
    pub(super) messages: Vec<Message>,
}

impl Object {
    pub(super) fn message(&self, kind: u64) -> Option<&[u8]> {
        let found = self.messages.iter().find(|m| m.kind == kind);
        found.map(|m| m.bytes.as_slice())
    }

    /// Whether this is a dataset: it has a layout.
    pub(crate) fn is_dataset(&self) -> bool {
        self.message(0x08).is_some()
    }

    /// The bytes of an attribute: the text of a fixed string, the number of an integer.
    pub(crate) fn attribute(&self, name: &str) -> Option<&[u8]> {
        let attributes = self.messages.iter().filter(|m| m.kind == ATTRIBUTE);
        attributes
            .filter_map(|m| attribute(&m.bytes))
            .find(|(known, _)| *known == name.as_bytes())
            .map(|(_, value)| value)
    }

    /// The text of an attribute.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        let bytes = self.attribute(name)?;
        let text = bytes.split(|&b| b == 0).next().unwrap_or_default();
        Some(String::from_utf8_lossy(text).trim_end().to_string())
    }
}

/// Name and value of an attribute message.
fn attribute(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut cursor = Cursor::new(bytes);
    let version = cursor.uint(1)?;
    cursor.take(1)?;
    let (name, kind, shape) = (cursor.uint(2)?, cursor.uint(2)?, cursor.uint(2)?);
    if version == 3 {
        cursor.take(1)?;
    }
    // The first version pads each part to eight bytes.
    let padded = |len: u64| if version == 1 { len.next_multiple_of(8) } else { len } as usize;
    let text = cursor.take(padded(name))?;
    cursor.take(padded(kind))?;
    cursor.take(padded(shape))?;
    let text = text.split(|&b| b == 0).next().unwrap_or_default();
    Some((text, cursor.rest()))
}

impl File<'_, '_> {
    /// Reads the header at an address.
    pub(crate) fn object(&mut self, address: u64) -> Result<Object> {
        let head = self.some_bytes(address, 64, "an object")?;
        let mut messages = Vec::new();
        let read = if head.starts_with(b"OHDR") {
            self.second(address, &head, &mut messages)
        } else {
            self.first(address, &head, &mut messages)
        };
        match read {
            Some(result) => result.map(|()| Object { address, messages }),
            None => Err(self.malformed(
                address,
                "an object header is damaged or of a version above 2",
            )),
        }
    }

    fn first(
        &mut self,
        address: u64,
        head: &[u8],
        messages: &mut Vec<Message>,
    ) -> Option<Result<()>> {
        let mut cursor = Cursor::new(head);
        if cursor.uint(1)? != 1 {
            return None;
        }
        cursor.take(1)?;
        let count = cursor.uint(2)? as usize;
        cursor.take(4)?;
        let size = cursor.uint(4)?;
        Some(self.blocks(
            address.saturating_add(16),
            size,
            messages,
            &|file, bytes, out, more| {
                let mut cursor = Cursor::new(bytes);
                while out.len() < count && cursor.left() >= 8 {
                    let kind = cursor.uint(2)?;
                    let size = cursor.uint(2)? as usize;
                    cursor.take(4)?;
                    file.keep(kind, cursor.take(size)?, out, more)?;
                }
                Some(())
            },
        ))
    }

    fn second(
        &mut self,
        address: u64,
        head: &[u8],
        messages: &mut Vec<Message>,
    ) -> Option<Result<()>> {
        let mut cursor = Cursor::new(head);
        cursor.take(4)?;
        if cursor.uint(1)? != 2 {
            return None;
        }
        let flags = cursor.uint(1)?;
        cursor.take(if flags & 0x20 != 0 { 16 } else { 0 })?;
        cursor.take(if flags & 0x10 != 0 { 4 } else { 0 })?;
        let size = cursor.uint(1 << (flags & 3))?;
        let ordered = flags & 4 != 0;
        let start = address.saturating_add((head.len() - cursor.left()) as u64);
        Some(
            self.blocks(start, size, messages, &move |file, bytes, out, more| {
                // Blocks that continue have a mark before and a checksum behind.
                let bytes = match bytes.strip_prefix(b"OCHK") {
                    Some(rest) => rest.get(..rest.len().saturating_sub(4))?,
                    None => bytes,
                };
                let mut cursor = Cursor::new(bytes);
                while cursor.left() >= if ordered { 6 } else { 4 } {
                    let kind = cursor.uint(1)?;
                    let size = cursor.uint(2)? as usize;
                    cursor.take(if ordered { 3 } else { 1 })?;
                    file.keep(kind, cursor.take(size)?, out, more)?;
                }
                Some(())
            }),
        )
    }

    /// Keeps a message, or the place of the block that it points to.
    fn keep(
        &self,
        kind: u64,
        bytes: &[u8],
        out: &mut Vec<Message>,
        more: &mut Vec<(u64, u64)>,
    ) -> Option<()> {
        if kind == CONTINUATION {
            let mut cursor = Cursor::new(bytes);
            more.push((
                cursor.uint(self.offset_size)?,
                cursor.uint(self.length_size)?,
            ));
        }
        out.push(Message {
            kind,
            bytes: bytes.to_vec(),
        });
        Some(())
    }

    #[expect(
        clippy::type_complexity,
        reason = "one parser per version of the header"
    )]
    fn blocks(
        &mut self,
        start: u64,
        size: u64,
        messages: &mut Vec<Message>,
        parse: &dyn Fn(&Self, &[u8], &mut Vec<Message>, &mut Vec<(u64, u64)>) -> Option<()>,
    ) -> Result<()> {
        let mut more = vec![(start, size)];
        while let Some((address, size)) = more.pop() {
            if size > LONGEST_BLOCK {
                return Err(self.malformed(address, format!("an object header of {size} bytes")));
            }
            let bytes = self.bytes(address, size, "an object header")?;
            if parse(self, &bytes, messages, &mut more).is_none() {
                return Err(self.malformed(address, "a message of an object header is damaged"));
            }
            // Messages of all objects together cannot be more than the file.
            self.plain = self.plain.checked_sub(size).ok_or_else(|| {
                self.malformed(address, "the object headers hold more than the file")
            })?;
        }
        Ok(())
    }
}
