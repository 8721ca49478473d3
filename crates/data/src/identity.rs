//! Who a trial is: `id_i = SHA-256(X_i^(0))`, its first 128 bits, over the covariance of the broad view as little-endian 64-bit numbers, row by row in
//! the order of the channels.
//!
//! The other views do not enter: a trial that was prepared with more of them is the same trial.
//! A fingerprint of a whole file changes when one trial is added or left out. Identities of single trials do not: a model that keeps them can
//! say of any set how many trials it was trained on.

use crate::{DataError, Result};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt;

/// The identity of a trial.
///
/// ```
/// use stiefel_data::{Factor, Trials};
/// use stiefel_linalg::MatBatch;
///
/// let one = || Factor::from_labels(["a", "a"]);
/// let trials = Trials::new(MatBatch::identity(2, 3), one(), one())?;
/// let ids = trials.identities();
/// assert_eq!(ids[0], ids[1]); // the same matrix, whatever else is known of it
/// # Ok::<(), stiefel_data::DataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TrialId([u8; 16]);

impl TrialId {
    pub(crate) fn of(matrix: &[f64]) -> Self {
        // Zero has two signs, and one meaning.
        let bytes: Vec<u8> = (matrix.iter())
            .flat_map(|value| (value + 0.0).to_le_bytes())
            .collect();
        let mut id = [0; 16];
        id.copy_from_slice(&Sha256::digest(bytes)[..16]);
        Self(id)
    }
}

impl fmt::Display for TrialId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

/// The identities in a text of 32 hexadecimal digits each.
pub(crate) fn ids(text: &str) -> Result<BTreeSet<TrialId>> {
    let wrong = || DataError::Impossible {
        op: "identities of trials",
        why: format!("{} characters are not a list of identities", text.len()),
        remedy: "an identity has 32 hexadecimal digits",
    };
    let digit = |b: &u8| char::from(*b).to_digit(16).map(|d| d as u8);
    let digits: Option<Vec<u8>> = text.as_bytes().iter().map(digit).collect();
    let digits = digits.filter(|d| d.len() % 32 == 0).ok_or_else(wrong)?;
    let one = |digits: &[u8]| {
        let mut id = [0; 16];
        for (byte, pair) in id.iter_mut().zip(digits.as_chunks::<2>().0) {
            *byte = pair[0] << 4 | pair[1];
        }
        TrialId(id)
    };
    Ok(digits.chunks_exact(32).map(one).collect())
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.extend(char::from_digit(digit.into(), 16));
        }
    }
    text
}
