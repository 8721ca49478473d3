//! Thresholds of recordings, each with its reason.

/// Rank of a covariance: eigenvalues below this part of the largest count as zero. Averages taken
/// in single precision leave about 1e-14 of the power behind, and the smallest real source in EEG
/// is well above 1e-10.
pub const RANK_TOLERANCE: f64 = 1e-12;

/// A filter has settled where what it remembers of its start has fallen to this share: a millionth
/// of the power, far below the noise of an amplifier. Windows before that are not decided.
pub const SETTLED: f64 = 1e-3;
