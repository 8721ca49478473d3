//! Arrays in the order of memory: trials, then channels, then samples.

use crate::units::{MICROVOLT, channel, guess_kind};
use crate::{Channel, FormatError, Result};
use std::path::Path;

/// Channels run fastest in the file, samples in memory.
pub(super) fn transpose_trials(data: &mut [f64], channels: usize, samples: usize) {
    let mut scratch = vec![0.0; channels * samples];
    for trial in data.chunks_exact_mut((channels * samples).max(1)) {
        scratch.copy_from_slice(trial);
        for (c, row) in trial.chunks_exact_mut(samples).enumerate() {
            for (value, column) in row.iter_mut().zip(scratch.chunks_exact(channels)) {
                *value = column[c];
            }
        }
    }
}

/// The values of an array whose first index runs fastest, as `order[0] × order[1] × order[2]`, the
/// last running fastest.
pub(super) fn permuted(data: &[f64], dims: [usize; 3], order: [usize; 3]) -> Vec<f64> {
    let steps = [1, dims[0], dims[0] * dims[1]];
    let mut out = Vec::with_capacity(data.len());
    for i in 0..dims[order[0]] {
        for j in 0..dims[order[1]] {
            let start = i * steps[order[0]] + j * steps[order[1]];
            let step = steps[order[2]];
            out.extend((0..dims[order[2]]).map(|k| data[start + k * step]));
        }
    }
    out
}

/// Channels by name in one unit, and what takes their values to memory.
pub(super) fn channels(names: &[String], unit: &str) -> (Vec<Channel>, Vec<f64>) {
    let one = |name: &String| channel(name, unit);
    names.iter().map(one).unzip()
}

/// Channels in µV.
pub(super) fn in_microvolts(name: String) -> Channel {
    Channel {
        kind: guess_kind(&name, MICROVOLT),
        unit: MICROVOLT.into(),
        name,
    }
}

/// `EEG1`, `EEG2`, … where a file names no channels.
pub(super) fn numbered(count: usize) -> Vec<String> {
    (1..=count).map(|i| format!("EEG{i}")).collect()
}

/// An error about a file as a whole.
pub(super) fn wrong(path: &Path, offset: u64, reason: impl Into<String>) -> FormatError {
    FormatError::Malformed {
        path: path.to_path_buf(),
        offset,
        reason: reason.into(),
    }
}

/// A rate that can be one.
pub(super) fn rate(path: &Path, offset: u64, value: Option<f64>) -> Result<f64> {
    value
        .filter(|r| r.is_finite() && *r > 0.0)
        .ok_or_else(|| match value {
            Some(value) => wrong(path, offset, format!("the sampling rate is {value}")),
            None => wrong(path, offset, "the sampling rate should be one number"),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutations_follow_the_definition() {
        // a[i, j, k] = 100 i + 10 j + k, the first index fastest.
        let dims = [2, 3, 4];
        let at = |i: usize, j: usize, k: usize| (100 * i + 10 * j + k) as f64;
        let mut data = Vec::new();
        for k in 0..4 {
            for j in 0..3 {
                data.extend((0..2).map(|i| at(i, j, k)));
            }
        }
        let got = permuted(&data, dims, [2, 0, 1]);
        let mut want = Vec::new();
        for k in 0..4 {
            for i in 0..2 {
                want.extend((0..3).map(|j| at(i, j, k)));
            }
        }
        assert_eq!(got, want);
        let mut frames = data.clone();
        transpose_trials(&mut frames, 2, 3);
        assert_eq!(frames, permuted(&data, dims, [2, 0, 1]));
    }
}
