//! The identity of a trial: a fingerprint of its recording and its onset.
//!
//! ```text
//! channel c:    h_c = SHA-256(signs of x_c(t+1) − x_c(t), over all t)        first sign positive
//! recording:    SHA-256(h_c in ascending order), its first 128 bits          of channels that change
//! trial:        SHA-256(recording, sample of the onset), its first 128 bits
//! ```
//!
//! The signs are those of the samples as the file holds them: no gain, offset, unit or CPU changes
//! them. Names, folders, packing and the order of channels do not enter, nor does the person, nor
//! anything that a recipe does afterwards. A covariance that came without a recording is known by the
//! SHA-256 of its first view, as little-endian 64-bit numbers, row by row; further views are the same
//! trial.
//!
//! A fingerprint of a whole file changes when one trial is added or left out. Identities of single
//! trials do not: a model that keeps them can say of any set how many trials it was trained on.

use crate::{DataError, Result};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

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
    /// Returns the identity of the trial of a recording at the sample of its onset.
    ///
    /// ```
    /// use stiefel_data::{Fingerprint, TrialId};
    ///
    /// let (up, down) = ([0.0, 1.0, 3.0, 2.0], [5.0, 4.0, 4.0, 7.0]);
    /// let recording = Fingerprint::of([&up[..], &down]);
    /// // In volts in the place of microvolts, and in another order.
    /// let copy = Fingerprint::of([&down.map(|x| x * 1e-6 + 1.0)[..], &up]);
    /// assert_eq!(TrialId::at(&recording, 160), TrialId::at(&copy, 160));
    /// assert_ne!(TrialId::at(&recording, 160), TrialId::at(&recording, 161));
    /// ```
    pub fn at(recording: &Fingerprint, onset: u64) -> Self {
        let mut hash = Sha256::new();
        hash.update(recording.0);
        hash.update(onset.to_le_bytes());
        Self(first(&hash.finalize()))
    }

    pub(crate) fn of(matrix: &[f64]) -> Self {
        // Zero has two signs, and one meaning.
        let bytes: Vec<u8> = (matrix.iter())
            .flat_map(|value| (value + 0.0).to_le_bytes())
            .collect();
        Self(first(&Sha256::digest(bytes)))
    }
}

impl FromStr for TrialId {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Self> {
        let found = ids(text)?;
        let only = found.first().filter(|_| found.len() == 1);
        only.copied().ok_or_else(|| DataError::Impossible {
            op: "identities of trials",
            why: format!("{text:?} is not one identity"),
            remedy: "an identity has 32 hexadecimal digits",
        })
    }
}

/// The fingerprint of a recording; see the crate's documentation of identities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint([u8; 16]);

impl Fingerprint {
    /// Returns the fingerprint of a recording, channel by channel; channels that never change are
    /// passed over.
    pub fn of<'a>(channels: impl IntoIterator<Item = &'a [f64]>) -> Self {
        let mut each: Vec<[u8; 32]> = channels.into_iter().filter_map(signs).collect();
        each.sort_unstable();
        Self(first(&Sha256::digest(each.concat())))
    }
}

/// Hashes the signs of the differences of a channel; none where all samples are equal.
fn signs(x: &[f64]) -> Option<[u8; 32]> {
    let turned = x
        .windows(2)
        .find(|w| w[0] != w[1])
        .is_some_and(|w| w[1] < w[0]);
    let (mut hash, mut changes) = (Sha256::new(), 0_u64);
    let mut words = Vec::with_capacity(16 * x.len().div_ceil(64));
    let mut previous = *x.first()?;
    for block in x[1..].chunks(64) {
        let (mut up, mut down) = (0_u64, 0_u64);
        for (bit, &next) in block.iter().enumerate() {
            up |= u64::from(next > previous) << bit;
            down |= u64::from(next < previous) << bit;
            previous = next;
        }
        changes |= up | down;
        let pair = if turned { [down, up] } else { [up, down] };
        words.extend(pair.into_iter().flat_map(u64::to_le_bytes));
    }
    hash.update(words);
    (changes != 0).then(|| hash.finalize().into())
}

fn first(digest: &[u8]) -> [u8; 16] {
    let mut id = [0; 16];
    id.copy_from_slice(&digest[..16]);
    id
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
