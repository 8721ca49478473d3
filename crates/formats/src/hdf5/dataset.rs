//! Datasets: type, shape, layout, values.

use super::{Cursor, File, Object};
use crate::Result;
use crate::numbers::Number;

/// What the elements of a dataset are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    /// Numbers.
    Number { number: Number, big_endian: bool },
    /// Two numbers, of which the first is the real part.
    Complex { number: Number, big_endian: bool },
    /// Addresses of objects.
    Reference,
    /// Text of a fixed number of bytes.
    Text,
}

/// The values of a dataset as they are stored, the last index running fastest.
pub(crate) struct Array {
    pub(crate) element: Element,
    /// Bytes of an element.
    pub(crate) size: usize,
    pub(crate) dims: Vec<u64>,
    pub(crate) bytes: Vec<u8>,
}

/// Where values are.
pub(super) enum Layout {
    Compact(Vec<u8>),
    Contiguous { address: u64, size: u64 },
    Chunked { tree: u64, dims: Vec<u64> },
}

impl Array {
    /// The numbers; real parts of complex ones.
    pub(crate) fn numbers(&self) -> Option<Vec<f64>> {
        let (Element::Number { number, big_endian } | Element::Complex { number, big_endian }) =
            self.element
        else {
            return None;
        };
        let mut values = vec![0.0; self.bytes.len() / self.size.max(1)];
        number.strided(
            big_endian,
            &self.bytes,
            (0, self.size),
            (1.0, 0.0),
            &mut values,
        );
        Some(values)
    }

    /// The addresses that references point to.
    pub(crate) fn references(&self) -> Vec<u64> {
        let each = self.bytes.chunks_exact(self.size.max(1));
        each.filter_map(|r| Cursor::new(r).uint(r.len().min(8)))
            .collect()
    }
}

impl File<'_, '_> {
    /// Reads a dataset.
    pub(crate) fn dataset(&mut self, object: &Object) -> Result<Array> {
        let at = object.address;
        let Some((element, size)) = object.message(0x03).and_then(element) else {
            return Err(self.malformed(at, "a dataset with elements of this type cannot be read"));
        };
        let dims = object.message(0x01).and_then(|m| self.shape(m));
        let Some(dims) = dims else {
            return Err(self.malformed(at, "the shape of a dataset is damaged"));
        };
        let count = dims.iter().try_fold(1u64, |n, &d| n.checked_mul(d));
        let Some(bytes) = count.and_then(|n| n.checked_mul(size as u64)) else {
            return Err(self.malformed(at, format!("the size {dims:?} overflows")));
        };
        let numbers = count.unwrap_or_default();
        (self.source).allow(u128::from(numbers) * size_of::<f64>() as u128)?;
        let layout = object.message(0x08).and_then(|m| self.layout(m));
        let Some(layout) = layout else {
            return Err(self.malformed(
                at,
                "a dataset of this layout cannot be read; save it with MATLAB's -v7.3, or h5py's \
                 default version of HDF5",
            ));
        };
        let bytes = match layout {
            Layout::Compact(data) if data.len() as u64 >= bytes => data[..bytes as usize].to_vec(),
            Layout::Compact(_) => {
                return Err(self.malformed(at, "a dataset is shorter than its shape"));
            }
            Layout::Contiguous { address, .. } if self.undefined(address) => {
                // Never written: zeros, as far as the file is worth them.
                self.count_plain(at, bytes)?;
                vec![0; bytes as usize]
            }
            Layout::Contiguous { address, size } => {
                if size < bytes {
                    return Err(self.malformed(at, "a dataset is shorter than its shape"));
                }
                self.count_plain(at, bytes)?;
                self.bytes(address, bytes, "a dataset")?
            }
            Layout::Chunked { tree, dims: chunk } => {
                self.chunked(object, tree, &dims, &chunk, size, bytes)?
            }
        };
        Ok(Array {
            element,
            size,
            dims,
            bytes,
        })
    }

    /// Uncompressed values cannot be much more than the file.
    pub(super) fn count_plain(&mut self, at: u64, bytes: u64) -> Result<()> {
        self.plain = self.plain.checked_sub(bytes).ok_or_else(|| {
            self.malformed(
                at,
                format!("a dataset of {bytes} bytes, more than the file has"),
            )
        })?;
        Ok(())
    }

    fn shape(&self, bytes: &[u8]) -> Option<Vec<u64>> {
        let mut cursor = Cursor::new(bytes);
        let version = cursor.uint(1)?;
        let rank = cursor.uint(1)?;
        cursor.take(1)?;
        match version {
            1 => drop(cursor.take(5)?),
            // Nothing at all.
            2 if cursor.uint(1)? == 2 => return Some(vec![0]),
            2 => {}
            _ => return None,
        }
        (0..rank).map(|_| cursor.uint(self.length_size)).collect()
    }

    fn layout(&self, bytes: &[u8]) -> Option<Layout> {
        let mut cursor = Cursor::new(bytes);
        let version = cursor.uint(1)?;
        match version {
            1 | 2 => {
                let rank = cursor.uint(1)? as usize;
                let class = cursor.uint(1)?;
                cursor.take(5)?;
                let address = if class == 0 {
                    0
                } else {
                    cursor.uint(self.offset_size)?
                };
                let dims: Vec<u64> = (0..rank).map(|_| cursor.uint(4)).collect::<Option<_>>()?;
                match class {
                    0 => {
                        let size = cursor.uint(4)? as usize;
                        Some(Layout::Compact(cursor.take(size)?.to_vec()))
                    }
                    1 => Some(Layout::Contiguous {
                        address,
                        size: u64::MAX,
                    }),
                    2 => Some(Layout::Chunked {
                        tree: address,
                        dims: dims.get(..rank.checked_sub(1)?)?.to_vec(),
                    }),
                    _ => None,
                }
            }
            3 | 4 => match cursor.uint(1)? {
                0 => {
                    let size = cursor.uint(2)? as usize;
                    Some(Layout::Compact(cursor.take(size)?.to_vec()))
                }
                1 => Some(Layout::Contiguous {
                    address: cursor.uint(self.offset_size)?,
                    size: cursor.uint(self.length_size)?,
                }),
                2 if version == 3 => {
                    let rank = cursor.uint(1)?;
                    let tree = cursor.uint(self.offset_size)?;
                    let dims = (1..rank).map(|_| cursor.uint(4)).collect::<Option<_>>()?;
                    Some(Layout::Chunked { tree, dims })
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// The type of the elements, and their bytes.
fn element(bytes: &[u8]) -> Option<(Element, usize)> {
    let mut cursor = Cursor::new(bytes);
    let class = cursor.uint(1)? & 0xf;
    let bits = cursor.uint(3)?;
    let size = cursor.uint(4)? as usize;
    let big_endian = bits & 1 != 0;
    let element = match class {
        0 => {
            let number = match (size, bits & 8 != 0) {
                (1, true) => Number::I8,
                (1, false) => Number::U8,
                (2, true) => Number::I16,
                (2, false) => Number::U16,
                (4, true) => Number::I32,
                (4, false) => Number::U32,
                (8, true) => Number::I64,
                (8, false) => Number::U64,
                _ => return None,
            };
            Element::Number { number, big_endian }
        }
        1 => Element::Number {
            number: match size {
                4 => Number::F32,
                8 => Number::F64,
                _ => return None,
            },
            big_endian,
        },
        3 if size > 0 => Element::Text,
        // A pair of equal floats: MATLAB's complex numbers.
        6 if bits & 0xffff == 2 && matches!(size, 8 | 16) => Element::Complex {
            number: if size == 8 { Number::F32 } else { Number::F64 },
            big_endian: false,
        },
        7 if bits.trailing_zeros() >= 4 && matches!(size, 4 | 8) => Element::Reference,
        // An enumeration (true and false): numbers of its base type.
        8 => return self::element(cursor.rest()).filter(|(_, base)| *base == size),
        _ => return None,
    };
    Some((element, size))
}
