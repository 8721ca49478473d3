//! Thresholds of covariances, each with its reason.

/// Rank of a covariance: eigenvalues below this part of the largest count as zero. Averages taken
/// in single precision leave about 1e-14 of the power behind, and the smallest real source in EEG
/// is well above 1e-10.
pub const RANK_TOLERANCE: f64 = 1e-12;

/// A covariance has a negative eigenvalue beyond this part of the largest one. Rounding of a matrix
/// of some hundred channels to single precision moves eigenvalues by about 1e-6 of the largest.
pub const NEGATIVE: f64 = 1e-5;

/// The least rank of a covariance as a share of its channels. An average reference takes one
/// direction, removed components and interpolated electrodes some; a matrix with less than half
/// comes of far fewer samples than channels, and loading makes the rest of it up.
pub const LEAST_RANK: f64 = 0.5;
