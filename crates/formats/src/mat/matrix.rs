//! Matrices inside an element, by recursive descent.

use super::element::{Parser, number};
use super::value::{CellArray, CharArray, NumericArray, StructArray, Value};
use crate::Result;
use crate::numbers::swap_bytes;
use crate::units::text;

/// Cells in cells in structs … deeper than this are no data.
const DEEPEST: usize = 32;
const COMPLEX: u32 = 0x0800;
/// MATLAB allows names of 63 characters and a zero.
const LONGEST_NAME: u64 = 64;

/// Flags, dimensions and name of a matrix.
struct Head {
    class: u32,
    complex: bool,
    dims: Vec<usize>,
    count: usize,
    name: String,
}

impl Parser<'_> {
    /// The matrix that fills the stream's next `len` bytes, with its name.
    pub(super) fn variable(&mut self, len: u64) -> Result<(String, Value)> {
        self.matrix(len, 0)
    }

    /// The matrix element inside a compressed element.
    pub(super) fn compressed_variable(&mut self) -> Result<(String, Value)> {
        let tag = self.tag("a compressed variable")?;
        if tag.kind != 14 {
            return Err(self.stream.malformed(format!(
                "a compressed variable is of the unknown type {}",
                tag.kind
            )));
        }
        self.matrix(tag.len, 0)
    }

    fn head(&mut self, end: u64) -> Result<Head> {
        let flags = self.words(8, end, "the flags of a matrix")?;
        let Some(&flags) = flags.first() else {
            return Err(self.stream.malformed("a matrix has no flags"));
        };
        let (class, complex) = (flags & 0xff, flags & COMPLEX != 0);
        if class == 17 {
            // Opaque objects have no dimensions.
            return Ok(Head {
                class,
                complex,
                dims: Vec::new(),
                count: 0,
                name: String::new(),
            });
        }
        let dims = self.words(4 * 32, end, "the dimensions of a matrix")?;
        let dims: Vec<usize> = dims.into_iter().map(|d| d as usize).collect();
        let count = dims.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
        let count = count.ok_or_else(|| {
            self.stream
                .malformed(format!("the size {dims:?} overflows"))
        })?;
        let name = text(&self.bytes(LONGEST_NAME, end, "the name of a matrix")?.1);
        Ok(Head {
            class,
            complex,
            dims,
            count,
            name,
        })
    }

    /// A matrix of `len` bytes; leaves the stream behind it.
    fn matrix(&mut self, len: u64, depth: usize) -> Result<(String, Value)> {
        self.stream.require(len, "a matrix")?;
        if len == 0 {
            let empty = NumericArray {
                dims: vec![0, 0],
                data: Vec::new(),
                complex: false,
            };
            return Ok((String::new(), Value::Numeric(empty)));
        }
        if depth > DEEPEST {
            return Err(self
                .stream
                .malformed(format!("matrices are nested deeper than {DEEPEST}")));
        }
        let end = self.stream.position() + len;
        let head = self.head(end)?;
        let name = head.name.clone();
        let value = match head.class {
            1 => self.cells(head, end, depth)?,
            2 => self.structs(head, end, depth)?,
            3 => Value::Other("object"),
            4 => self.chars(&head, end)?,
            5 => Value::Other("sparse matrix"),
            6..=15 => self.numeric(head, end)?,
            16 => Value::Other("function handle"),
            17 => Value::Other("opaque object"),
            other => {
                return Err(self
                    .stream
                    .malformed(format!("a matrix is of the unknown class {other}")));
            }
        };
        let Some(rest) = end.checked_sub(self.stream.position()) else {
            return Err(self
                .stream
                .malformed(format!("a matrix of {len} bytes holds more than that")));
        };
        self.stream.skip(rest, "the rest of a matrix")?;
        Ok((name, value))
    }

    fn nested(&mut self, end: u64, depth: usize) -> Result<Value> {
        let tag = self.tag("a nested matrix")?;
        if tag.kind != 14 || self.stream.position() + tag.len > end {
            return Err(self.stream.malformed(format!(
                "expected a nested matrix, found type {} of {} bytes",
                tag.kind, tag.len
            )));
        }
        let value = self.matrix(tag.len, depth + 1)?.1;
        self.pad(&tag, end)?;
        Ok(value)
    }

    fn cells(&mut self, head: Head, end: u64, depth: usize) -> Result<Value> {
        let mut cells = Vec::new();
        for _ in 0..head.count {
            cells.push(self.nested(end, depth)?);
        }
        Ok(Value::Cell(CellArray {
            dims: head.dims,
            cells,
        }))
    }

    fn structs(&mut self, head: Head, end: u64, depth: usize) -> Result<Value> {
        let length = self
            .words(4, end, "the length of field names")?
            .first()
            .copied()
            .unwrap_or(0) as usize;
        let (_, names) = self.bytes(1 << 20, end, "the field names")?;
        if length as u64 > LONGEST_NAME || (length == 0 && !names.is_empty()) {
            return Err(self
                .stream
                .malformed(format!("field names have length {length}")));
        }
        let fields: Vec<String> = names
            .chunks(length.max(1))
            .map(|name| {
                let used = name.iter().position(|&b| b == 0).unwrap_or(name.len());
                text(&name[..used])
            })
            .collect();
        let mut values = Vec::new();
        // Without fields nothing backs the number of structs: there is nothing to read.
        if !fields.is_empty() {
            let total = head.count.checked_mul(fields.len());
            let total = total.ok_or_else(|| {
                self.stream
                    .malformed(format!("the size {:?} overflows", head.dims))
            })?;
            for _ in 0..total {
                values.push(self.nested(end, depth)?);
            }
        }
        Ok(Value::Struct(StructArray {
            dims: head.dims,
            fields,
            values,
        }))
    }

    /// Numbers may be stored in a smaller type than their class.
    fn numeric(&mut self, head: Head, end: u64) -> Result<Value> {
        let tag = self.tag("numbers")?;
        let Some(number) = number(tag.kind) else {
            return Err(self
                .stream
                .malformed(format!("numbers are of the unknown type {}", tag.kind)));
        };
        if tag.len != (head.count as u64).saturating_mul(number.size() as u64) {
            return Err(self.stream.malformed(format!(
                "an array of size {:?} should have {} numbers, its {} bytes hold {}",
                head.dims,
                head.count,
                tag.len,
                tag.len / number.size() as u64
            )));
        }
        let data = self
            .stream
            .numbers(number, self.big_endian, head.count as u64, "an array")?;
        self.pad(&tag, end)?;
        Ok(Value::Numeric(NumericArray {
            dims: head.dims,
            data,
            complex: head.complex,
        }))
    }

    fn chars(&mut self, head: &Head, end: u64) -> Result<Value> {
        let left = end.saturating_sub(self.stream.position());
        let (kind, mut bytes) = self.bytes(left, end, "text")?;
        let wide = |bytes: &[u8]| {
            bytes
                .as_chunks::<2>()
                .0
                .iter()
                .map(|b| u16::from_le_bytes(*b))
                .collect::<Vec<_>>()
        };
        let chars: Vec<char> = match kind {
            1 | 2 => bytes.iter().map(|&b| b as char).collect(),
            16 => String::from_utf8_lossy(&bytes).chars().collect(),
            3 | 4 | 17 => {
                if self.big_endian {
                    swap_bytes(&mut bytes, 2);
                }
                String::from_utf16_lossy(&wide(&bytes)).chars().collect()
            }
            other => {
                return Err(self
                    .stream
                    .malformed(format!("text is of the unknown type {other}")));
            }
        };
        Ok(Value::Char(CharArray {
            rows: rows(&chars, head.dims.first().copied().unwrap_or(1)),
        }))
    }
}

/// The strings of a char matrix, which is stored column by column.
pub(super) fn rows(chars: &[char], rows: usize) -> Vec<String> {
    if chars.is_empty() {
        return Vec::new();
    }
    // Characters outside the basic plane make a row longer in MATLAB's count than in ours.
    let rows = if rows > 0 && chars.len().is_multiple_of(rows) {
        rows
    } else {
        1
    };
    let row = |r: usize| chars.iter().skip(r).step_by(rows).collect::<String>();
    (0..rows)
        .map(|r| row(r).trim_end_matches([' ', '\0']).to_string())
        .collect()
}
