//! Who a trial is: `id_i = SHA-256(X_i^(0), …, X_i^(V−1))`, its first 128 bits, over the matrices as little-endian 64-bit numbers, row by row in
//! the order of the channels.
//!
//! A fingerprint of a whole file changes when one trial is added or left out. Identities of single trials do not: a model that keeps them can
//! say of any set how many trials it was trained on.

use crate::{DataError, Factor, Result, Trials};
use serde::{Deserialize, Serialize};
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
    pub(crate) fn of<'a>(matrices: impl Iterator<Item = &'a [f64]>) -> Self {
        let mut hash = Sha256::new();
        for matrix in matrices {
            // Zero has two signs, and one meaning.
            let bytes: Vec<u8> = (matrix.iter())
                .flat_map(|value| (value + 0.0).to_le_bytes())
                .collect();
            hash.update(bytes);
        }
        let mut id = [0; 16];
        id.copy_from_slice(&hash.finalize()[..16]);
        Self(id)
    }
}

impl fmt::Display for TrialId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

/// The trials a model was made with: those it was trained on, and those that chose its epoch or its penalty.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Text", into = "Text")]
pub struct Seen {
    /// Trials that the parameters were fitted on.
    pub trained: BTreeSet<TrialId>,
    /// Trials that only chose when to stop, or which penalty to take.
    pub stopped: BTreeSet<TrialId>,
}

impl Seen {
    /// Remembers the trials of a fit.
    pub fn of(training: &Trials, validation: &Trials) -> Self {
        let trained: BTreeSet<TrialId> = training.identities().into_iter().collect();
        let stopped = validation.identities().into_iter();
        Self {
            stopped: stopped.filter(|id| !trained.contains(id)).collect(),
            trained,
        }
    }

    /// Whether nothing is remembered, as of a file that an earlier version wrote.
    pub fn is_empty(&self) -> bool {
        self.trained.is_empty() && self.stopped.is_empty()
    }

    /// Places of the trials by what the model knows of them: trained on, stopped on, new.
    pub fn divide(&self, trials: &Trials) -> [Vec<usize>; 3] {
        let mut parts = [Vec::new(), Vec::new(), Vec::new()];
        for (place, id) in trials.identities().iter().enumerate() {
            let part = match (self.trained.contains(id), self.stopped.contains(id)) {
                (true, _) => 0,
                (false, true) => 1,
                (false, false) => 2,
            };
            parts[part].push(place);
        }
        parts
    }
}

/// Identities as one text of hexadecimal digits each, 32 to a trial.
#[derive(Serialize, Deserialize)]
struct Text {
    trained: String,
    stopped: String,
}

impl From<Seen> for Text {
    fn from(seen: Seen) -> Self {
        let text = |ids: &BTreeSet<TrialId>| ids.iter().map(ToString::to_string).collect();
        Self {
            trained: text(&seen.trained),
            stopped: text(&seen.stopped),
        }
    }
}

impl TryFrom<Text> for Seen {
    type Error = DataError;

    fn try_from(text: Text) -> Result<Self> {
        Ok(Self {
            trained: ids(&text.trained)?,
            stopped: ids(&text.stopped)?,
        })
    }
}

fn ids(text: &str) -> Result<BTreeSet<TrialId>> {
    let wrong = || DataError::Impossible {
        op: "identities of trials",
        why: format!("{} characters are no list of identities", text.len()),
        remedy: "32 hexadecimal digits are one",
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

/// SHA-256 of everything in a set of trials that can change a result.
pub fn fingerprint(trials: &Trials) -> String {
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
    for view in 0..trials.views() {
        for values in trials.view(view).data().chunks(4096) {
            let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
            hash.update(bytes);
        }
    }
    hex(&hash.finalize())
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
