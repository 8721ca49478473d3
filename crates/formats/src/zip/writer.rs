//! A zip of stored entries, with zip64 fields where 32 bits do not suffice.

use std::io::{Result, Seek, SeekFrom, Write};

use flate2::Crc;

/// Stands in a field of 32 bits for a number that is in the zip64 field.
const ELSEWHERE: u32 = 0xffff_ffff;

/// From here on a number goes into the zip64 field.
#[derive(Clone, Copy)]
struct Limit(u64);

impl Limit {
    fn exceeded(self, number: u64) -> bool {
        number >= self.0
    }

    fn narrow(self, number: u64) -> u32 {
        if self.exceeded(number) {
            ELSEWHERE
        } else {
            number as u32
        }
    }
}

/// A finished entry.
struct Entry {
    name: String,
    crc: u32,
    size: u64,
    offset: u64,
}

/// Writes one entry after the other.
pub(crate) struct ZipWriter<W: Write + Seek> {
    out: W,
    position: u64,
    crc: Crc,
    entries: Vec<Entry>,
    limit: Limit,
}

impl<W: Write + Seek> ZipWriter<W> {
    pub(crate) fn new(out: W) -> Self {
        Self {
            out,
            position: 0,
            crc: Crc::new(),
            entries: Vec::new(),
            limit: Limit(u64::from(ELSEWHERE)),
        }
    }

    /// Writes an entry of exactly `size` bytes.
    pub(crate) fn entry(
        &mut self,
        name: &str,
        size: u64,
        content: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let offset = self.position;
        self.put(&local_header(name, 0, size, self.limit))?;
        let start = self.position;
        self.crc = Crc::new();
        content(self)?;
        debug_assert_eq!(self.position - start, size, "the size told beforehand");
        let entry = Entry {
            name: name.to_string(),
            crc: self.crc.sum(),
            size,
            offset,
        };
        // The checksum is known only now.
        self.out.seek(SeekFrom::Start(offset))?;
        self.out
            .write_all(&local_header(name, entry.crc, size, self.limit))?;
        self.out.seek(SeekFrom::Start(self.position))?;
        self.entries.push(entry);
        Ok(())
    }

    /// Writes the directory and flushes.
    pub(crate) fn finish(mut self) -> Result<()> {
        let start = self.position;
        let mut directory = Vec::new();
        for entry in &self.entries {
            directory.extend(directory_entry(entry, self.limit));
        }
        self.put(&directory)?;
        let (size, count) = (self.position - start, self.entries.len() as u64);
        if self.limit.exceeded(start) {
            let at = self.position;
            let mut end = b"PK\x06\x06".to_vec();
            end.extend(44u64.to_le_bytes());
            end.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            for number in [count, count, size, start] {
                end.extend(number.to_le_bytes());
            }
            end.extend(b"PK\x06\x07\0\0\0\0");
            end.extend(at.to_le_bytes());
            end.extend(1u32.to_le_bytes());
            self.put(&end)?;
        }
        let mut end = b"PK\x05\x06\0\0\0\0".to_vec();
        end.extend((count as u16).to_le_bytes());
        end.extend((count as u16).to_le_bytes());
        end.extend((size as u32).to_le_bytes());
        end.extend(self.limit.narrow(start).to_le_bytes());
        end.extend([0, 0]);
        self.put(&end)?;
        self.out.flush()
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes)?;
        self.position += bytes.len() as u64;
        Ok(())
    }
}

impl<W: Write + Seek> Write for ZipWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let count = self.out.write(bytes)?;
        self.crc.update(&bytes[..count]);
        self.position += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> Result<()> {
        self.out.flush()
    }
}

/// Version, flags, method "stored", time and date (1 January 1980), CRC, sizes and lengths.
fn common(crc: u32, size: u32, name: &str, extra: usize) -> Vec<u8> {
    let mut bytes = vec![45, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
    bytes.extend(crc.to_le_bytes());
    bytes.extend(size.to_le_bytes());
    bytes.extend(size.to_le_bytes());
    bytes.extend((name.len() as u16).to_le_bytes());
    bytes.extend((extra as u16).to_le_bytes());
    bytes
}

/// The zip64 extra field with these numbers, or nothing.
fn wide(numbers: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    if !numbers.is_empty() {
        bytes.extend(1u16.to_le_bytes());
        bytes.extend((8 * numbers.len() as u16).to_le_bytes());
        for number in numbers {
            bytes.extend(number.to_le_bytes());
        }
    }
    bytes
}

fn local_header(name: &str, crc: u32, size: u64, limit: Limit) -> Vec<u8> {
    let extra = if limit.exceeded(size) {
        wide(&[size, size])
    } else {
        Vec::new()
    };
    let mut bytes = b"PK\x03\x04".to_vec();
    bytes.extend(common(crc, limit.narrow(size), name, extra.len()));
    bytes.extend(name.as_bytes());
    bytes.extend(extra);
    bytes
}

fn directory_entry(entry: &Entry, limit: Limit) -> Vec<u8> {
    let mut numbers = if limit.exceeded(entry.size) {
        vec![entry.size, entry.size]
    } else {
        Vec::new()
    };
    if limit.exceeded(entry.offset) {
        numbers.push(entry.offset);
    }
    let extra = wide(&numbers);
    let mut bytes = b"PK\x01\x02\x2d\0".to_vec();
    bytes.extend(common(
        entry.crc,
        limit.narrow(entry.size),
        &entry.name,
        extra.len(),
    ));
    bytes.extend([0; 10]);
    bytes.extend(limit.narrow(entry.offset).to_le_bytes());
    bytes.extend(entry.name.as_bytes());
    bytes.extend(extra);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;
    use crate::zip::entries;
    use std::io::Cursor;
    use std::path::Path;

    /// Entries of any size go through the zip64 fields when the limit is low.
    #[test]
    fn what_is_written_is_read_with_and_without_zip64() {
        for limit in [u64::from(ELSEWHERE), 40, 0] {
            let mut bytes = Vec::new();
            let mut zip = ZipWriter::new(Cursor::new(&mut bytes));
            zip.limit = Limit(limit);
            for (name, content) in [("a", &b"first"[..]), ("b", &[7; 300]), ("c", &[])] {
                zip.entry(name, content.len() as u64, |out| out.write_all(content))
                    .unwrap();
            }
            zip.finish().unwrap();
            let mut source = Source::from_bytes("memory.npz", &bytes);
            let found = entries(&mut source).unwrap();
            let sizes = [("a", 5), ("b", 300), ("c", 0)];
            assert_eq!(found.len(), sizes.len());
            for (entry, (name, size)) in found.iter().zip(sizes) {
                assert_eq!(entry.name, name);
                let mut stream = entry
                    .open(&mut source, Path::new("memory.npz"), 1000)
                    .unwrap();
                stream.skip(size, "content").unwrap();
                assert_eq!(stream.finish("content").unwrap(), size, "limit {limit}");
            }
        }
    }
}
