//! The members of a group: by a symbol table, or by links in its header.

use super::{Cursor, File, Object};
use crate::Result;

const LONGEST_NAME: usize = 1024;

impl File<'_, '_> {
    /// Names and addresses, in the order of the file.
    pub(crate) fn members(&mut self, group: &Object) -> Result<Vec<(String, u64)>> {
        let mut members = Vec::new();
        for message in &group.messages {
            match message.kind {
                0x11 => {
                    let mut cursor = Cursor::new(&message.bytes);
                    let tree = cursor.uint(self.offset_size);
                    let heap = cursor.uint(self.offset_size);
                    let (Some(tree), Some(heap)) = (tree, heap) else {
                        return Err(self.malformed(group.address, "a symbol table is damaged"));
                    };
                    let names = self.heap(heap)?;
                    self.symbols(tree, &names, &mut members, 64)?;
                }
                0x06 => {
                    if let Some(member) = self.link(&message.bytes) {
                        members.push(member);
                    }
                }
                0x02 if self.is_dense(&message.bytes) => {
                    return Err(self.malformed(
                        group.address,
                        "a group whose links are in a fractal heap cannot be read; save the file \
                         with h5py's default version of HDF5",
                    ));
                }
                _ => {}
            }
        }
        Ok(members)
    }

    /// Whether link information points to a heap.
    fn is_dense(&self, bytes: &[u8]) -> bool {
        let mut cursor = Cursor::new(bytes);
        let flags = cursor.take(2).map_or(0, |b| b[1]);
        cursor.take(if flags & 1 != 0 { 8 } else { 0 });
        let heap = cursor.uint(self.offset_size);
        heap.is_some_and(|address| !self.undefined(address))
    }

    /// A hard link; others lead out of the file.
    fn link(&self, bytes: &[u8]) -> Option<(String, u64)> {
        let mut cursor = Cursor::new(bytes);
        cursor.take(1)?;
        let flags = cursor.uint(1)?;
        let kind = if flags & 8 != 0 { cursor.uint(1)? } else { 0 };
        cursor.take(if flags & 4 != 0 { 8 } else { 0 })?;
        cursor.take(usize::from(flags & 0x10 != 0))?;
        let len = cursor.uint(1 << (flags & 3))? as usize;
        let name = String::from_utf8_lossy(cursor.take(len.min(LONGEST_NAME))?).into_owned();
        (kind == 0).then_some((name, cursor.uint(self.offset_size)?))
    }

    /// The names of a local heap.
    fn heap(&mut self, address: u64) -> Result<Vec<u8>> {
        let len = 8 + 2 * self.length_size + self.offset_size;
        let head = self.bytes(address, len as u64, "a heap of names")?;
        let mut cursor = Cursor::new(&head);
        let marked = cursor.take(8).is_some_and(|m| m.starts_with(b"HEAP"));
        let size = cursor.uint(self.length_size);
        cursor.take(self.length_size);
        let data = cursor.uint(self.offset_size);
        match (size, data) {
            (Some(size), Some(data)) if marked => self.bytes(data, size, "the names of a group"),
            _ => Err(self.malformed(address, "a heap of names is damaged")),
        }
    }

    fn symbols(
        &mut self,
        address: u64,
        names: &[u8],
        members: &mut Vec<(String, u64)>,
        deepest: usize,
    ) -> Result<()> {
        let damaged = "the tree of a group is damaged";
        let head = self.bytes(address, 8, damaged)?;
        if head.starts_with(b"SNOD") {
            return self.symbol_node(address, &head, names, members);
        }
        let used = match head.get(4..8) {
            Some(&[0, _, low, high]) if head.starts_with(b"TREE") && deepest > 0 => {
                u64::from(low) + 256 * u64::from(high)
            }
            _ => return Err(self.malformed(address, damaged)),
        };
        let (key, child) = (self.length_size as u64, self.offset_size as u64);
        let from = address.saturating_add(8 + 2 * child);
        let bytes = self.bytes(from, used * (key + child) + key, damaged)?;
        let mut cursor = Cursor::new(&bytes);
        for _ in 0..used {
            cursor.take(self.length_size);
            if let Some(child) = cursor.uint(self.offset_size) {
                self.symbols(child, names, members, deepest - 1)?;
            }
        }
        Ok(())
    }

    fn symbol_node(
        &mut self,
        address: u64,
        head: &[u8],
        names: &[u8],
        members: &mut Vec<(String, u64)>,
    ) -> Result<()> {
        let count = u64::from(u16::from_le_bytes([head[6], head[7]]));
        let size = 2 * self.offset_size as u64 + 24;
        let bytes = self.bytes(
            address.saturating_add(8),
            count * size,
            "the symbols of a group",
        )?;
        let mut cursor = Cursor::new(&bytes);
        for _ in 0..count {
            self.step(address)?;
            let name = cursor.uint(self.offset_size);
            let object = cursor.uint(self.offset_size);
            cursor.take(24);
            let (Some(name), Some(object)) = (name, object) else {
                continue;
            };
            let text = names.get(name as usize..).unwrap_or_default();
            let text = text.split(|&b| b == 0).next().unwrap_or_default();
            let text = &text[..text.len().min(LONGEST_NAME)];
            members.push((String::from_utf8_lossy(text).into_owned(), object));
        }
        Ok(())
    }
}
