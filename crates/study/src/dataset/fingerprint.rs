//! SHA-256 of everything in a set of trials that can change a result.

use sha2::{Digest, Sha256};
use stiefel_model::{Factor, Trials};

pub(crate) fn of(trials: &Trials) -> String {
    let mut hash = Sha256::new();
    let mut text = |parts: &[String]| {
        hash.update((parts.len() as u64).to_le_bytes());
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
    };
    text(trials.channels().unwrap_or_default());
    let factors = [
        Some(trials.classes()),
        Some(trials.domains()),
        trials.runs(),
    ];
    for factor in factors.iter().flatten() {
        text(factor.names());
    }
    for factor in factors {
        hash.update([u8::from(factor.is_some())]);
        for &index in factor.map_or(&[][..], Factor::indices) {
            hash.update((index as u64).to_le_bytes());
        }
    }
    for value in trials.covariances().data() {
        hash.update(value.to_le_bytes());
    }
    hex(&hash.finalize())
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.extend(char::from_digit(digit.into(), 16));
        }
    }
    text
}
