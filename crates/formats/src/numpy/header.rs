//! The header of an `.npy`: just enough of Python's literals.

use crate::Result;
use crate::numbers::Number;
use crate::stream::Stream;
use crate::units::excerpt;

/// Headers beyond this are no arrays of numbers or strings.
const LONGEST: u64 = 1 << 16;

/// What one item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item {
    /// A number or boolean.
    Number(Number),
    /// So many UTF-32 code points.
    Unicode(usize),
    /// So many bytes.
    Bytes(usize),
}

impl Item {
    /// Bytes per item.
    pub(crate) fn size(self) -> usize {
        match self {
            Self::Number(number) => number.size(),
            Self::Unicode(length) => 4 * length,
            Self::Bytes(length) => length,
        }
    }
}

/// What the header says.
#[derive(Debug, PartialEq)]
pub(crate) struct NpyHeader {
    pub(crate) item: Item,
    pub(crate) big_endian: bool,
    pub(crate) fortran_order: bool,
    pub(crate) shape: Vec<usize>,
}

impl NpyHeader {
    /// Reads the header; leaves the stream at the first value.
    pub(crate) fn read(stream: &mut Stream<'_>) -> Result<Self> {
        let magic: [u8; 8] = stream.array("the header")?;
        let len = match (&magic[..6], magic[6]) {
            (b"\x93NUMPY", 1) => u64::from(u16::from_le_bytes(stream.array("the header")?)),
            (b"\x93NUMPY", 2 | 3) => u64::from(u32::from_le_bytes(stream.array("the header")?)),
            (b"\x93NUMPY", version) => {
                return Err(stream.malformed(format!("unknown version {version} of .npy")));
            }
            _ => return Err(stream.malformed("this is not a .npy array")),
        };
        if len > LONGEST {
            return Err(stream.malformed(format!(
                "the header has {len} bytes, at most {LONGEST} make sense"
            )));
        }
        let text = stream.read_vec(len, "the header")?;
        let text = String::from_utf8_lossy(&text);
        parse(&text).map_err(|reason| stream.malformed(format!("the array's header: {reason}")))
    }
}

/// A walk over the dictionary's text.
struct Literal<'t>(&'t str);

impl<'t> Literal<'t> {
    fn skip(&mut self, c: char) -> bool {
        self.0 = self.0.trim_start();
        let rest = self.0.strip_prefix(c);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn expect(&mut self, c: char) -> std::result::Result<(), String> {
        if self.skip(c) {
            return Ok(());
        }
        let found: String = self.0.chars().take(12).collect();
        Err(format!("expected {c:?}, found {found:?}"))
    }

    fn string(&mut self) -> std::result::Result<&'t str, String> {
        let quote = if self.skip('"') {
            '"'
        } else {
            self.expect('\'')?;
            '\''
        };
        let (text, rest) = self.0.split_once(quote).ok_or("a string does not end")?;
        self.0 = rest;
        Ok(text)
    }

    fn word(&mut self) -> &'t str {
        self.0 = self.0.trim_start();
        let end = self
            .0
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        word
    }

    fn shape(&mut self) -> std::result::Result<Vec<usize>, String> {
        self.expect('(')?;
        let mut shape = Vec::new();
        while !self.skip(')') {
            let word = self.word();
            shape.push(
                word.trim_end_matches('L')
                    .parse()
                    .map_err(|_| format!("a size is {}", excerpt(word)))?,
            );
            if shape.len() > 32 {
                return Err("more than 32 dimensions".into());
            }
            if !self.skip(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(shape)
    }
}

fn parse(text: &str) -> std::result::Result<NpyHeader, String> {
    let mut literal = Literal(text);
    let (mut descr, mut fortran_order, mut shape) = (None, None, None);
    literal.expect('{')?;
    while !literal.skip('}') {
        let key = literal.string()?;
        literal.expect(':')?;
        match key {
            "descr" => {
                let text = literal.string();
                descr = Some(text.map_err(|e| format!("{e}; structured arrays cannot be read"))?);
            }
            "fortran_order" => {
                fortran_order = Some(match literal.word() {
                    "True" => true,
                    "False" => false,
                    other => return Err(format!("fortran_order is {}", excerpt(other))),
                });
            }
            "shape" => shape = Some(literal.shape()?),
            other => return Err(format!("unknown key {}", excerpt(other))),
        }
        if !literal.skip(',') {
            literal.expect('}')?;
            break;
        }
    }
    let (item, big_endian) = item(descr.ok_or("no 'descr'")?)?;
    Ok(NpyHeader {
        item,
        big_endian,
        fortran_order: fortran_order.ok_or("no 'fortran_order'")?,
        shape: shape.ok_or("no 'shape'")?,
    })
}

/// `<f8`, `>i4`, `|b1`, `<U10`, `|S3`.
fn item(descr: &str) -> std::result::Result<(Item, bool), String> {
    use Number::{F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    let unread = || {
        format!(
            "items of type {} cannot be read; convert them with NumPy, for example x.astype('f8') \
             or y.astype('U')",
            excerpt(descr)
        )
    };
    let mut chars = descr.chars();
    let big_endian = match chars.next() {
        Some('<' | '|' | '=') => false,
        Some('>') => true,
        _ => return Err(unread()),
    };
    let kind = chars.next().ok_or_else(unread)?;
    let size: usize = chars.as_str().parse().map_err(|_| unread())?;
    let item = match (kind, size) {
        ('f', 4) => Item::Number(F32),
        ('f', 8) => Item::Number(F64),
        ('i', 1) => Item::Number(I8),
        ('i', 2) => Item::Number(I16),
        ('i', 4) => Item::Number(I32),
        ('i', 8) => Item::Number(I64),
        ('u' | 'b', 1) => Item::Number(U8),
        ('u', 2) => Item::Number(U16),
        ('u', 4) => Item::Number(U32),
        ('u', 8) => Item::Number(U64),
        ('U', 1..=65536) => Item::Unicode(size),
        ('S', 1..=65536) => Item::Bytes(size),
        _ => return Err(unread()),
    };
    Ok((item, big_endian))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_as_numpy_writes_them() {
        let got =
            parse("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4, 5), }   \n").unwrap();
        assert_eq!(got.shape, [3, 4, 5]);
        assert_eq!(
            (got.item, got.big_endian, got.fortran_order),
            (Item::Number(Number::F64), false, false)
        );
        let got = parse("{'descr': '>U10', 'fortran_order': True, 'shape': (7,), }").unwrap();
        assert_eq!(
            (got.item, got.big_endian, got.shape),
            (Item::Unicode(10), true, vec![7])
        );
        assert_eq!(
            parse("{'descr': '|b1', 'fortran_order': False, 'shape': (), }")
                .unwrap()
                .shape,
            [0usize; 0]
        );
    }

    #[test]
    fn nonsense_is_refused() {
        for (text, reason) in [
            ("", "expected '{'"),
            (
                "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
                "astype",
            ),
            (
                "{'descr': '<U0', 'fortran_order': False, 'shape': (1,)}",
                "astype",
            ),
            (
                "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}",
                "structured",
            ),
            (
                "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,)}",
                "fortran_order",
            ),
            (
                "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
                "a size is",
            ),
            ("{'descr': '<f8', 'fortran_order': False}", "no 'shape'"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
