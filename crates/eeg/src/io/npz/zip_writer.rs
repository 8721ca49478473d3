//! A zip of stored entries, with zip64 fields where 32 bits do not suffice.

use std::io::{Result, Seek, SeekFrom, Write};

use flate2::Crc;

const NARROW: u64 = 0xffff_ffff;

/// A finished entry.
struct Entry {
    name: String,
    crc: u32,
    size: u64,
    offset: u64,
}

/// Writes one entry after the other.
pub(super) struct ZipWriter<W: Write + Seek> {
    out: W,
    position: u64,
    crc: Crc,
    entries: Vec<Entry>,
}

impl<W: Write + Seek> ZipWriter<W> {
    pub(super) fn new(out: W) -> Self {
        Self {
            out,
            position: 0,
            crc: Crc::new(),
            entries: Vec::new(),
        }
    }

    /// Writes an entry of exactly `size` bytes.
    pub(super) fn entry(
        &mut self,
        name: &str,
        size: u64,
        content: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let offset = self.position;
        self.put(&local_header(name, 0, size))?;
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
        self.out.write_all(&local_header(name, entry.crc, size))?;
        self.out.seek(SeekFrom::Start(self.position))?;
        self.entries.push(entry);
        Ok(())
    }

    /// Writes the directory and flushes.
    pub(super) fn finish(mut self) -> Result<()> {
        let start = self.position;
        let mut directory = Vec::new();
        for entry in &self.entries {
            directory.extend(directory_entry(entry));
        }
        self.put(&directory)?;
        let (size, count) = (self.position - start, self.entries.len() as u64);
        if start >= NARROW {
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
        end.extend((start.min(NARROW) as u32).to_le_bytes());
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
fn common(crc: u32, size: u64, name: &str, extra: usize) -> Vec<u8> {
    let narrow = (size.min(NARROW) as u32).to_le_bytes();
    let mut bytes = vec![45, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
    bytes.extend(crc.to_le_bytes());
    bytes.extend(narrow);
    bytes.extend(narrow);
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

fn local_header(name: &str, crc: u32, size: u64) -> Vec<u8> {
    let extra = if size >= NARROW {
        wide(&[size, size])
    } else {
        Vec::new()
    };
    let mut bytes = b"PK\x03\x04".to_vec();
    bytes.extend(common(crc, size, name, extra.len()));
    bytes.extend(name.as_bytes());
    bytes.extend(extra);
    bytes
}

fn directory_entry(entry: &Entry) -> Vec<u8> {
    let mut numbers = if entry.size >= NARROW {
        vec![entry.size, entry.size]
    } else {
        Vec::new()
    };
    if entry.offset >= NARROW {
        numbers.push(entry.offset);
    }
    let extra = wide(&numbers);
    let mut bytes = b"PK\x01\x02\x2d\0".to_vec();
    bytes.extend(common(entry.crc, entry.size, &entry.name, extra.len()));
    bytes.extend([0; 10]);
    bytes.extend((entry.offset.min(NARROW) as u32).to_le_bytes());
    bytes.extend(entry.name.as_bytes());
    bytes.extend(extra);
    bytes
}
