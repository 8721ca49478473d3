//! Mean, sample standard deviation `(Σ(x − x̄)²/(n − 1))^{1/2}`, and their ratio `d_z`.

use super::{StatsError, check_finite, largest, too_few};
use serde::{Deserialize, Serialize};
use stiefel_model::Measure;
use stiefel_model::tolerance::EQUAL_SCORES;

/// Mean and sample standard deviation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MeanStd {
    /// The mean.
    pub mean: f64,
    /// The standard deviation with `n − 1`; 0 for one value.
    pub std: f64,
    /// How many values.
    pub count: usize,
}

/// Mean and sample standard deviation (0 for one value).
///
/// ```
/// use stiefel_study::stats::mean_std;
///
/// let m = mean_std(&[0.6, 0.7, 0.8])?;
/// assert!((m.mean - 0.7).abs() < 1e-15 && (m.std - 0.1).abs() < 1e-15);
/// assert_eq!(m.count, 3);
/// # Ok::<(), stiefel_study::stats::StatsError>(())
/// ```
pub fn mean_std(values: &[f64]) -> Result<MeanStd, StatsError> {
    check_finite("value", values)?;
    if values.is_empty() {
        return Err(StatsError::Empty);
    }
    let count = values.len();
    let mean = values.iter().sum::<f64>() / count as f64;
    let square: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    let std = if count == 1 {
        0.0
    } else {
        (square / (count - 1) as f64).sqrt()
    };
    Ok(MeanStd { mean, std, count })
}

/// Cohen's `d_z`: mean over standard deviation of paired differences, one per subject.
///
/// Undefined for fewer than two subjects and where all differences are equal.
pub fn effect_size(differences: &[f64]) -> Result<Measure, StatsError> {
    check_finite("difference", differences)?;
    if let Some(reason) = too_few(differences.len()) {
        return Ok(Measure::undefined(reason));
    }
    let m = mean_std(differences)?;
    if m.std <= EQUAL_SCORES * largest(differences) {
        return Ok(Measure::undefined(
            "all differences are equal: they have no spread to measure their mean by",
        ));
    }
    Ok(Measure::Value(m.mean / m.std))
}
