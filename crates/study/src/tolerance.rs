//! Thresholds of studies, each with its reason.

/// Verdicts of a study: a corrected p-value below this is called significant.
pub const SIGNIFICANT: f64 = 0.05;
