//! The safetensors container: named tensors behind a JSON header, every length checked before it is
//! used.
//!
//! The rules: the header's length fits into the file; a tensor's `data_offsets` hold exactly its
//! shape times the size of its type; sorted by offset, the tensors cover the rest of the file
//! without gap or overlap; no name occurs twice.

use super::FileProblem;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use stiefel_data::hex;
use stiefel_linalg::Scalar;

/// Bytes in front of the header.
pub(super) const PREFIX: u64 = 8;

/// The key of the free text.
pub(super) const METADATA: &str = "__metadata__";

/// What stands in the place of the checksum while it is computed.
pub(super) const BLANK: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The key of the checksum.
pub(super) const CHECKSUM: &str = "checksum";

/// Puts the checksum of a model file into its place: SHA-256 of the whole file with 64 zeros there.
/// For tools that write or change model files; bytes whose header has no place for a checksum, as
/// those of version 1, stay as they are.
pub fn seal(bytes: &mut [u8]) {
    let Some(prefix) = bytes.first_chunk::<{ PREFIX as usize }>() else {
        return;
    };
    let end = u64::from_le_bytes(*prefix).saturating_add(PREFIX);
    let (head, data) = bytes.split_at_mut(bytes.len().min(end as usize));
    if let Some(place) = checksum_place(head) {
        let sum = checksum(head, data);
        head[place].copy_from_slice(sum.as_bytes());
    }
}

/// SHA-256 of length and header of a file, and of its tensors, with zeros in the place of the
/// checksum, as hexadecimal digits. Leaves the zeros.
pub(super) fn checksum(head: &mut [u8], data: &[u8]) -> String {
    if let Some(place) = checksum_place(head) {
        head[place].copy_from_slice(BLANK.as_bytes());
    }
    let mut hash = Sha256::new();
    hash.update(head);
    hash.update(data);
    hex(&hash.finalize())
}

/// Where the digits of the checksum are: `"checksum": "…"`. Within a text of the header quotes are
/// escaped, so that this is a key.
fn checksum_place(head: &[u8]) -> Option<Range<usize>> {
    let key = format!("\"{CHECKSUM}\"");
    let skip = |at: usize, wanted: u8| {
        let blanks = (head.get(at..)?.iter()).take_while(|b| b.is_ascii_whitespace());
        let at = at + blanks.count();
        (head.get(at) == Some(&wanted)).then_some(at + 1)
    };
    let digits = |at: usize| {
        let begin = skip(skip(at + key.len(), b':')?, b'"')?;
        let end = begin + BLANK.len();
        (head.get(end) == Some(&b'"')).then_some(begin..end)
    };
    (head.windows(key.len()).enumerate())
        .filter(|(_, window)| *window == key.as_bytes())
        .find_map(|(at, _)| digits(at))
}

/// The type of a tensor's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Dtype {
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}

impl Dtype {
    /// That of a scalar type.
    pub(super) fn for_scalar<T: Scalar>() -> Self {
        if size_of::<T>() == 4 {
            Self::F32
        } else {
            Self::F64
        }
    }

    /// Bytes per value.
    fn size(self) -> u64 {
        match self {
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}

/// One tensor as the header describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorInfo {
    /// The type of its values.
    pub dtype: Dtype,
    /// Its sizes.
    pub shape: Vec<u64>,
    /// Its first byte and the one after its last, from the end of the header.
    pub data_offsets: [u64; 2],
}

/// The header of a container.
#[derive(Debug, Clone, Default)]
pub(super) struct TensorTable {
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) tensors: BTreeMap<String, TensorInfo>,
}

impl<'de> Deserialize<'de> for TensorTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TensorTableVisitor)
    }
}

struct TensorTableVisitor;

impl<'de> Visitor<'de> for TensorTableVisitor {
    type Value = TensorTable;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of tensors")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TensorTable, A::Error> {
        let mut table = TensorTable::default();
        let mut described = false;
        while let Some(name) = map.next_key::<String>()? {
            let twice = if name == METADATA {
                table.metadata = map.next_value()?;
                std::mem::replace(&mut described, true)
            } else {
                let info = map.next_value()?;
                table.tensors.insert(name.clone(), info).is_some()
            };
            if twice {
                return Err(A::Error::custom(format!("\"{name}\" occurs twice")));
            }
        }
        Ok(table)
    }
}

impl TensorTable {
    /// Checks every tensor against the bytes behind the header, which starts at [`PREFIX`] and ends
    /// at `start`; `length` is the file's.
    pub(super) fn check(&self, start: u64, length: u64) -> Result<(), FileProblem> {
        let mut order: Vec<_> = self.tensors.iter().collect();
        order.sort_by_key(|(_, info)| info.data_offsets);
        let mut at = 0;
        for (name, info) in order {
            let wrong = |why: String| FileProblem::Damaged {
                offset: PREFIX,
                why: format!("tensor \"{name}\" {why}"),
            };
            let [begin, end] = info.data_offsets;
            let values = (info.shape.iter()).try_fold(1_u64, |size, &n| size.checked_mul(n));
            let bytes = values.and_then(|v| v.checked_mul(info.dtype.size()));
            if begin != at || end < begin {
                return Err(wrong(format!("lies at {begin}..{end}, expected from {at}")));
            }
            if bytes != Some(end - begin) {
                let (shape, size) = (&info.shape, end - begin);
                return Err(wrong(format!(
                    "of shape {shape:?} does not fill its {size} bytes"
                )));
            }
            at = end;
        }
        let expected = start.saturating_add(at);
        if expected == length {
            return Ok(());
        }
        Err(FileProblem::Length {
            expected,
            found: length,
        })
    }
}

/// Little-endian values of a tensor; `bytes` has its exact length.
pub(super) fn decode<T: Scalar>(dtype: Dtype, bytes: &[u8]) -> Vec<T> {
    match dtype {
        Dtype::F32 => (bytes.chunks_exact(4))
            .map(|b| T::from_f64(f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]))))
            .collect(),
        Dtype::F64 => (bytes.chunks_exact(8))
            .map(|b| {
                let b = [b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]];
                T::from_f64(f64::from_le_bytes(b))
            })
            .collect(),
    }
}

/// Appends values as little-endian bytes.
pub(super) fn encode<T: Scalar>(values: &[T], out: &mut Vec<u8>) {
    for &value in values {
        match Dtype::for_scalar::<T>() {
            Dtype::F32 => out.extend((value.to_f64() as f32).to_le_bytes()),
            Dtype::F64 => out.extend(value.to_f64().to_le_bytes()),
        }
    }
}
