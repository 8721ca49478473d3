//! Writing: the parts of a model behind their header, sealed with a checksum.

use super::archive::{Archive, Found, inconsistent};
use super::container::{BLANK, CHECKSUM, METADATA, seal};
use super::{FORMAT, FORMAT_VERSION};
use serde_json::json;

/// Returns the file of a model of this kind, whose parts the archive holds.
pub(crate) fn pack(mut archive: Archive, kind: &str) -> Found<Vec<u8>> {
    archive.set_raw("format", FORMAT);
    archive.set_raw("format_version", FORMAT_VERSION.to_string());
    archive.set_raw("library_version", env!("CARGO_PKG_VERSION"));
    archive.set_raw("kind", kind);
    archive.set_raw(CHECKSUM, BLANK);
    let (texts, mut header, data) = archive.into_parts();
    header.insert(METADATA.to_owned(), json!(texts));
    let mut header = serde_json::to_vec(&header).map_err(|e| inconsistent(&e))?;
    // Values begin at a multiple of eight bytes.
    header.resize(header.len().next_multiple_of(8), b' ');
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header);
    bytes.extend(data);
    seal(&mut bytes);
    Ok(bytes)
}
