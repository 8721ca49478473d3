//! What bytes on the standard input are: text, or numbers of four or eight bytes.
//!
//! Text has hardly any control characters. Numbers of a signal are finite and of one order of
//! magnitude: read with the wrong width, their exponents scatter over hundreds of powers of two.
//! The spread of `log₂|x|` tells the widths apart. Doubles of whole numbers, as converters give
//! them, have a lower half of zeros: every second word is 0, and the others would pass for a
//! signal.

use crate::{LiveError, Result};

/// How samples are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A line of text per sample.
    Csv,
    /// Binary, four bytes per value, little-endian.
    F32,
    /// Binary, eight bytes per value, little-endian.
    F64,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Csv, Self::F32, Self::F64];

    /// Its name on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// The format of bytes that begin like this; `given` is what somebody said, and is refused
    /// where the bytes say otherwise.
    ///
    /// ```
    /// use stiefel_live::source::Format;
    /// assert_eq!(Format::of(b"C3,C4\n1.5,2\n", None)?, Format::Csv);
    /// let bytes: Vec<u8> = (1..99)
    ///     .flat_map(|i| (f64::from(i) * 0.37).to_le_bytes())
    ///     .collect();
    /// assert_eq!(Format::of(&bytes, None)?, Format::F64);
    /// assert!(Format::of(b"1.5,2.5\n3,4\n", Some(Format::F32)).is_err());
    /// # Ok::<(), stiefel_live::LiveError>(())
    /// ```
    pub fn of(head: &[u8], given: Option<Self>) -> Result<Self> {
        let single = spread(
            head.as_chunks::<4>()
                .0
                .iter()
                .map(|b| f64::from(f32::from_le_bytes(*b))),
        );
        let double = spread(
            head.as_chunks::<8>()
                .0
                .iter()
                .map(|b| f64::from_le_bytes(*b)),
        );
        let found = if is_text(head) {
            Some(Self::Csv)
        } else {
            match (single, double) {
                (Some(_), Some(_)) if is_half_empty(head) => Some(Self::F64),
                (Some(s), Some(d)) if d < s => Some(Self::F64),
                (Some(_), _) => Some(Self::F32),
                (None, Some(_)) => Some(Self::F64),
                (None, None) => None,
            }
        };
        match (given, found) {
            // Too few bytes say nothing.
            (Some(given), _) if head.len() < 8 => Ok(given),
            (Some(given), Some(found)) if given != found => Err(LiveError::setting(
                format!(
                    "the input was said to be {}, but its first {} bytes are {}",
                    given.name(),
                    head.len(),
                    found.name()
                ),
                format!("say that it is {}, or leave the format open", found.name()),
            )),
            (given, Some(found)) => Ok(given.unwrap_or(found)),
            (_, None) => Err(LiveError::setting(
                format!(
                    "the first {} bytes of the input are neither text nor the numbers of a signal",
                    head.len()
                ),
                "give lines of numbers, or little-endian numbers of four or eight bytes",
            )),
        }
    }
}

/// Text has no zeros and few characters that cannot be printed; a line that was damaged may have
/// some.
pub(super) fn is_text(head: &[u8]) -> bool {
    let odd = |b: &u8| *b >= 0x7f || (*b < b' ' && !(9..=13).contains(b));
    let printable = std::str::from_utf8(head).is_ok() && head.iter().all(|b| *b >= 9);
    let odd = head.iter().filter(|b| odd(b)).count();
    !head.contains(&0) && (printable || 10 * odd <= head.len())
}

/// Whether most of the lower halves of doubles are 0 and most of the upper ones are not. Those of 0
/// itself say nothing.
fn is_half_empty(head: &[u8]) -> bool {
    let halves = head.as_chunks::<8>().0.iter().map(|b| {
        let [a, b] = [0, 4].map(|at| b[at..at + 4] == [0; 4]);
        (a, b)
    });
    let told: Vec<bool> = halves
        .filter(|h| *h != (true, true))
        .map(|h| h == (true, false))
        .collect();
    2 * told.iter().filter(|empty| **empty).count() > told.len()
}

/// Standard deviation of `log₂|x|`; none where a number cannot be one of a signal.
fn spread(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut count, mut sum, mut square) = (0.0, 0.0, 0.0);
    for x in values {
        if x.is_nan() || x == 0.0 {
            continue;
        }
        if !x.is_finite() || x.abs() > 1e12 || x.abs() < 1e-15 {
            return None;
        }
        let l = x.abs().log2();
        (count, sum, square) = (count + 1.0, sum + l, square + l * l);
    }
    let mean = if count > 0.0 { sum / count } else { 0.0 };
    Some(
        (square / f64::max(count, 1.0) - mean * mean)
            .max(0.0)
            .sqrt(),
    )
}
