//! The values of an `.npy`, in C order.

use super::header::{Item, NpyHeader};
use crate::Result;
use crate::numbers::{Number, swap_bytes};
use crate::stream::Stream;

/// Values of one kind.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Numbers and booleans.
    Numbers(Vec<f64>),
    /// Strings.
    Text(Vec<String>),
}

/// An array in C order: the last index runs fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// The length of each dimension.
    pub shape: Vec<usize>,
    /// The values.
    pub values: Values,
    /// Whether the numbers were stored in single precision.
    pub single: bool,
}

impl Array {
    /// Reads header and values.
    pub(crate) fn read(stream: &mut Stream<'_>) -> Result<Self> {
        let header = NpyHeader::read(stream)?;
        let count = header
            .shape
            .iter()
            .try_fold(1usize, |n, &d| n.checked_mul(d));
        let count = count
            .ok_or_else(|| stream.malformed(format!("the shape {:?} overflows", header.shape)))?;
        let values = match header.item {
            Item::Number(number) => {
                if header.fortran_order {
                    stream.require(
                        (count as u64).saturating_mul(number.size() as u64),
                        "the array",
                    )?;
                    // As stored and in order, at the same time.
                    stream.can_hold((count as u64).saturating_mul(2))?;
                }
                let values =
                    stream.numbers(number, header.big_endian, count as u64, "the array")?;
                Values::Numbers(order(values, &header))
            }
            Item::Unicode(_) | Item::Bytes(_) => {
                Values::Text(order(read_text(stream, &header, count)?, &header))
            }
        };
        Ok(Self {
            single: matches!(header.item, Item::Number(Number::F32)),
            shape: header.shape,
            values,
        })
    }

    /// Returns each value as a label: text as it is, whole numbers without a decimal point.
    pub fn labels(self) -> Vec<String> {
        match self.values {
            Values::Text(text) => text,
            // Rust prints a whole f64 without a point.
            Values::Numbers(numbers) => numbers.iter().map(f64::to_string).collect(),
        }
    }
}

fn read_text(stream: &mut Stream<'_>, header: &NpyHeader, count: usize) -> Result<Vec<String>> {
    let size = header.item.size();
    let total = (count as u64).saturating_mul(size as u64);
    stream.require(total, "the array")?;
    let mut texts = Vec::new();
    let mut item = vec![0; size];
    for _ in 0..count {
        stream.read_all(&mut item, "the array")?;
        texts.push(match header.item {
            Item::Unicode(_) => {
                if header.big_endian {
                    swap_bytes(&mut item, 4);
                }
                unicode(&item)
                    .ok_or_else(|| stream.malformed("a string has an invalid code point"))?
            }
            _ => bytes(&item),
        });
    }
    Ok(texts)
}

fn unicode(item: &[u8]) -> Option<String> {
    let points = item
        .as_chunks::<4>()
        .0
        .iter()
        .map(|b| u32::from_le_bytes(*b));
    let text: Option<String> = points.map(char::from_u32).collect();
    text.map(|t| t.trim_end_matches('\0').to_string())
}

fn bytes(item: &[u8]) -> String {
    let end = item
        .iter()
        .rposition(|&b| b != 0)
        .map_or(0, |last| last + 1);
    match std::str::from_utf8(&item[..end]) {
        Ok(text) => text.to_string(),
        Err(_) => item[..end].iter().map(|&b| b as char).collect(),
    }
}

/// Fortran order, the first index fastest, to C order.
fn order<T: Clone>(values: Vec<T>, header: &NpyHeader) -> Vec<T> {
    if !header.fortran_order || header.shape.len() < 2 {
        return values;
    }
    let shape = &header.shape;
    let mut strides = vec![1; shape.len()];
    for d in 1..shape.len() {
        strides[d] = strides[d - 1] * shape[d - 1];
    }
    let mut index = vec![0; shape.len()];
    let mut from = 0;
    let mut out = Vec::with_capacity(values.len());
    for _ in 0..values.len() {
        out.push(values[from].clone());
        // The odometer of C order: the last index first, carrying to the left.
        for d in (0..shape.len()).rev() {
            index[d] += 1;
            from += strides[d];
            if index[d] < shape[d] {
                break;
            }
            from -= strides[d] * shape[d];
            index[d] = 0;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::Number;

    #[test]
    fn fortran_order_is_undone() {
        let (a, b, c) = (2, 3, 4);
        let header = NpyHeader {
            item: Item::Number(Number::F64),
            big_endian: false,
            fortran_order: true,
            shape: vec![a, b, c],
        };
        let mut stored = vec![0; a * b * c];
        for i in 0..a {
            for j in 0..b {
                for k in 0..c {
                    stored[i + a * (j + b * k)] = 100 * i + 10 * j + k;
                }
            }
        }
        let got = order(stored, &header);
        for i in 0..a {
            for j in 0..b {
                for k in 0..c {
                    assert_eq!(got[(i * b + j) * c + k], 100 * i + 10 * j + k);
                }
            }
        }
    }
}
