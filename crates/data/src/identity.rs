//! The identity of a trial: a fingerprint of its recording, and its onset.
//!
//! ```text
//! channel c:   p_c = SHA-256(signs of x_c(t+1) − x_c(t), over all t), first 32 bits
//! recording:   {p_c}, of the channels that change; the first sign is taken as positive
//! same:        two recordings that share more than half of the prints of the smaller one
//! trial:       a recording and the sample of the onset; its window is kept beside it
//! ```
//!
//! The signs are those of the samples as the file holds them: no gain, offset, unit or CPU changes
//! them. Names, folders, packing and the order of channels do not enter, nor does the person, nor
//! anything that a recipe does afterwards. A file with some of the channels, or with an electrode
//! that was flattened or repaired, is the same recording, as the other channels say. Half of the
//! prints are asked for, because a counter of samples is alike in all recordings.
//!
//! A matrix that came without a recording is known by a sketch of its numbers.

use crate::{DataError, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::Arc;

/// The fingerprint of a recording: a print of each channel that changes, in ascending order.
///
/// ```
/// use stiefel_data::Fingerprint;
///
/// let [a, b, c] = [
///     [0.0, 1.0, 3.0, 2.0],
///     [5.0, 4.0, 4.0, 7.0],
///     [1.0, 9.0, 2.0, 2.0],
/// ];
/// let recording = Fingerprint::of([&a[..], &b, &c]);
/// // In volts in the place of microvolts, in another order, without one of the channels.
/// let part = Fingerprint::of([&c[..], &b.map(|x| x * 1e-6 + 1.0)]);
/// assert!(recording.is_same(&part));
/// assert!(!Fingerprint::of([&b[..]]).is_same(&Fingerprint::of([&c[..]])));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
// Shared: every cue of a recording that is played has it.
pub struct Fingerprint(Arc<[u32]>);

impl Fingerprint {
    /// Returns the fingerprint of a recording, channel by channel; channels that never change are
    /// passed over.
    pub fn of<'a>(channels: impl IntoIterator<Item = &'a [f64]>) -> Self {
        let mut prints: Vec<u32> = channels.into_iter().filter_map(print).collect();
        prints.sort_unstable();
        prints.dedup();
        Self(prints.into())
    }

    /// Tells whether two fingerprints are of one recording.
    pub fn is_same(&self, other: &Self) -> bool {
        let shared = self.0.iter().filter(|p| other.0.binary_search(p).is_ok());
        self.is_enough(shared.count(), other)
    }

    /// Tells whether so many shared prints make one recording of two.
    fn is_enough(&self, shared: usize, other: &Self) -> bool {
        2 * shared > self.0.len().min(other.0.len())
    }
}

impl From<Fingerprint> for String {
    fn from(fingerprint: Fingerprint) -> Self {
        let bytes: Vec<u8> = (fingerprint.0.iter().copied())
            .flat_map(u32::to_be_bytes)
            .collect();
        hex(&bytes)
    }
}

impl TryFrom<String> for Fingerprint {
    type Error = DataError;

    fn try_from(text: String) -> Result<Self> {
        let mut prints = words(&text)?;
        prints.sort_unstable();
        prints.dedup();
        Ok(Self(prints.into()))
    }
}

/// Hashes the signs of the differences of a channel; none where all samples are equal.
fn print(x: &[f64]) -> Option<u32> {
    let turned = x
        .windows(2)
        .find(|w| w[0] != w[1])
        .is_some_and(|w| w[1] < w[0]);
    let mut changes = 0_u64;
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
    let digest = Sha256::digest(words);
    (changes != 0).then(|| u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]))
}

/// The identity of a trial of a recording.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrialId {
    /// The recording.
    pub recording: Fingerprint,
    /// The sample of the onset.
    pub onset: u64,
}

impl TrialId {
    /// Returns the identity of the trial of a recording at the sample of its onset.
    pub fn at(recording: &Fingerprint, onset: u64) -> Self {
        Self {
            recording: recording.clone(),
            onset,
        }
    }
}

/// A recording that trials come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// Its fingerprint.
    pub fingerprint: Fingerprint,
    /// Its samples per second, as recorded.
    pub rate: f64,
}

/// Where a trial lies, in samples of its recording as it was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "(usize, u64, i64, i64)", into = "(usize, u64, i64, i64)")]
pub struct Span {
    /// The place of the recording in the list of recordings.
    pub recording: usize,
    /// The sample of the onset.
    pub onset: u64,
    /// The first sample of all windows, from the onset, and the one after their last.
    pub window: [i64; 2],
}

impl Span {
    /// Tells whether two trials share samples.
    pub fn overlaps(&self, other: &Self) -> bool {
        let ends = |s: &Self| s.window.map(|w| w.saturating_add_unsigned(s.onset));
        let ([from, to], [start, end]) = (ends(self), ends(other));
        self.recording == other.recording && ((from < end && start < to) || self.is_same(other))
    }

    /// Tells whether two are one trial.
    pub fn is_same(&self, other: &Self) -> bool {
        self.recording == other.recording && self.onset == other.onset
    }
}

impl From<(usize, u64, i64, i64)> for Span {
    fn from((recording, onset, from, to): (usize, u64, i64, i64)) -> Self {
        Self {
            recording,
            onset,
            window: [from, to],
        }
    }
}

impl From<Span> for (usize, u64, i64, i64) {
    fn from(span: Span) -> Self {
        let [from, to] = span.window;
        (span.recording, span.onset, from, to)
    }
}

/// Recordings by their prints: finds one that was met before.
///
/// ```
/// use stiefel_data::{Fingerprint, Recordings};
///
/// let one = Fingerprint::of([&[0.0, 1.0, 3.0, 2.0][..]]);
/// let mut met = Recordings::default();
/// assert_eq!(
///     (met.find(&one), met.add(&one), met.find(&one)),
///     (None, 0, Some(0))
/// );
/// ```
#[derive(Debug, Clone, Default)]
pub struct Recordings {
    all: Vec<Fingerprint>,
    with: HashMap<u32, Vec<usize>>,
}

impl Recordings {
    /// Returns the place of a recording that is the same as this one; of several that with most
    /// prints in common.
    pub fn find(&self, fingerprint: &Fingerprint) -> Option<usize> {
        let mut shared: HashMap<usize, usize> = HashMap::new();
        for print in &*fingerprint.0 {
            for &place in self.with.get(print).into_iter().flatten() {
                *shared.entry(place).or_default() += 1;
            }
        }
        let same = |&(place, count): &(usize, usize)| self.all[place].is_enough(count, fingerprint);
        let most = shared.into_iter().filter(same);
        // Of equals the first, whatever the order of the map.
        most.max_by_key(|&(place, count)| (count, std::cmp::Reverse(place)))
            .map(|(place, _)| place)
    }

    /// Takes a recording in, and returns its place.
    pub fn add(&mut self, fingerprint: &Fingerprint) -> usize {
        let place = self.all.len();
        for &print in &*fingerprint.0 {
            self.with.entry(print).or_default().push(place);
        }
        self.all.push(fingerprint.clone());
        place
    }
}

impl<'a> FromIterator<&'a Fingerprint> for Recordings {
    fn from_iter<I: IntoIterator<Item = &'a Fingerprint>>(fingerprints: I) -> Self {
        let mut all = Self::default();
        for fingerprint in fingerprints {
            all.add(fingerprint);
        }
        all
    }
}

/// Reads numbers of eight hexadecimal digits each.
pub(crate) fn words(text: &str) -> Result<Vec<u32>> {
    let wrong = || DataError::Impossible {
        op: "identities of trials",
        why: format!("{} characters are not a list of identities", text.len()),
        remedy: "a print, and a number of a sketch, have 8 hexadecimal digits",
    };
    let digit = |b: &u8| char::from(*b).to_digit(16);
    let digits: Option<Vec<u32>> = text.as_bytes().iter().map(digit).collect();
    let digits = digits.filter(|d| d.len() % 8 == 0).ok_or_else(wrong)?;
    let number = |d: &[u32]| d.iter().fold(0, |number, digit| number << 4 | digit);
    Ok(digits.chunks_exact(8).map(number).collect())
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
