//! A zip of deflated entries, written plainly.

use std::io::Write;

use flate2::Crc;
use flate2::write::DeflateEncoder;

/// The bytes of a zip with these names and contents.
pub(crate) fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in entries {
        let mut deflate = DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        deflate.write_all(content).unwrap();
        let packed = deflate.finish().unwrap();
        let mut crc = Crc::new();
        crc.update(content);
        let mut fields = vec![20, 0, 0, 0, 8, 0, 0, 0, 0, 0];
        fields.extend(crc.sum().to_le_bytes());
        fields.extend((packed.len() as u32).to_le_bytes());
        fields.extend((content.len() as u32).to_le_bytes());
        fields.extend((name.len() as u16).to_le_bytes());
        fields.extend([0, 0]);
        let offset = bytes.len() as u32;
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&fields);
        bytes.extend(name.as_bytes());
        bytes.extend(packed);
        directory.extend(b"PK\x01\x02\x14\0");
        directory.extend(&fields);
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let start = bytes.len() as u32;
    bytes.extend(&directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    let count = (entries.len() as u16).to_le_bytes();
    bytes.extend([count, count].concat());
    bytes.extend((directory.len() as u32).to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}
