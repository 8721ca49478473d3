//! Two methods compared, paired by subject.

use super::{StatsError, check_finite, effect_size, mean_std, sign_flip, wilcoxon};
use serde::{Deserialize, Serialize};
use stiefel_model::Measure;
use stiefel_model::tolerance::EQUAL_SCORES;

/// What a comparison of two methods over subjects gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Paired {
    /// Subjects.
    pub subjects: usize,
    /// Mean difference, the one minus the other; undefined for no subject.
    pub difference: Measure,
    /// `d_z`, see [`effect_size`].
    pub effect: Measure,
    /// Two-sided p, see [`wilcoxon()`].
    pub wilcoxon: Measure,
    /// Two-sided p, see [`sign_flip()`].
    pub sign_flip: Measure,
}

/// Compares scores of two methods, one of each per subject and in the same order.
///
/// Scores that differ by rounding are equal.
///
/// ```
/// use stiefel_study::stats::compare;
///
/// let ours = [0.71, 0.64, 0.82, 0.58, 0.77];
/// let theirs = [0.70, 0.61, 0.80, 0.53, 0.69];
/// let c = compare(&ours, &theirs, 0)?;
/// assert_eq!(c.wilcoxon.value(), Some(2.0 / 32.0));
/// assert!(compare(&ours, &ours, 0)?.wilcoxon.reason().is_some());
/// # Ok::<(), stiefel_study::stats::StatsError>(())
/// ```
pub fn compare(scores: &[f64], against: &[f64], seed: u64) -> Result<Paired, StatsError> {
    if scores.len() != against.len() {
        return Err(StatsError::Unpaired {
            first: scores.len(),
            second: against.len(),
        });
    }
    check_finite("score", scores)?;
    check_finite("score", against)?;
    let differences: Vec<f64> = scores
        .iter()
        .zip(against)
        .map(|(&a, &b)| difference(a, b))
        .collect();
    Ok(Paired {
        subjects: differences.len(),
        difference: if differences.is_empty() {
            Measure::undefined("no subject has a score from both methods")
        } else {
            Measure::Value(mean_std(&differences)?.mean)
        },
        effect: effect_size(&differences)?,
        wilcoxon: wilcoxon(&differences)?,
        sign_flip: sign_flip(&differences, seed)?,
    })
}

/// `a − b`, exactly zero where that is rounding.
fn difference(a: f64, b: f64) -> f64 {
    let d = a - b;
    if d.abs() <= EQUAL_SCORES * a.abs().max(b.abs()) {
        0.0
    } else {
        d
    }
}
