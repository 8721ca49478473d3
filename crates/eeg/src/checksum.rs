//! SHA-256 of files.

use std::fmt;
use std::io::Read;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::Digest;

use crate::error::catalogue::{CatalogueError, Result};

/// A SHA-256, written as 64 hexadecimal digits.
///
/// ```
/// use stiefel_eeg::catalogue::Sha256;
/// let sha = Sha256::of(b"abc");
/// assert!(sha.to_string().starts_with("ba7816bf"));
/// assert_eq!(sha.to_string().parse(), Ok(sha));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sha256([u8; 32]);

impl Sha256 {
    /// Of bytes in memory.
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha2::Sha256::digest(bytes).into())
    }

    /// Of a file, read piece by piece.
    pub fn of_file(path: &Path) -> Result<Self> {
        let failed = |source| CatalogueError::reading(path, source);
        let mut file = std::fs::File::open(path).map_err(failed)?;
        let mut hash = sha2::Sha256::new();
        let mut buffer = vec![0; 1 << 16];
        loop {
            match file.read(&mut buffer).map_err(failed)? {
                0 => return Ok(Self(hash.finalize().into())),
                count => hash.update(&buffer[..count]),
            }
        }
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Sha256 {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let wrong = || format!("a SHA-256 has 64 hexadecimal digits, found {text:?}");
        let digits: Option<Vec<u8>> = text
            .chars()
            .map(|c| c.to_digit(16).map(|d| d as u8))
            .collect();
        let digits = digits.filter(|d| d.len() == 64).ok_or_else(wrong)?;
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = pair[0] << 4 | pair[1];
        }
        Ok(Self(bytes))
    }
}

impl Serialize for Sha256 {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Sha256 {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
