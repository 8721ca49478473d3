//! Rules for one window of a signal.

use stiefel_data::FindingKind;

use crate::tolerance::{
    FLAT_SECONDS, FLAT_SHARE, LEAST_RANGE, OUT_OF_RANGE, SATURATED_SAMPLES, SATURATED_SECONDS,
};

/// The limits of windows at one rate and in one unit.
///
/// ```
/// use stiefel_data::FindingKind;
/// use stiefel_eeg::quality::WindowRule;
///
/// let rule = WindowRule::new(160.0, Some(1.0));
/// // Ranges in microvolts beside the median of all electrodes, and runs of equal values.
/// assert_eq!(rule.electrode(120.0, 100.0, 2, || 1), None);
/// assert_eq!(
///     rule.electrode(0.05, 100.0, 2, || 1),
///     Some(FindingKind::Flat)
/// );
/// assert_eq!(
///     rule.electrode(9_000.0, 100.0, 2, || 1),
///     Some(FindingKind::OutOfRange)
/// );
/// assert_eq!(
///     rule.electrode(400.0, 100.0, 9, || 9),
///     Some(FindingKind::Saturated)
/// );
/// assert_eq!(rule.all(1e-4), Some(FindingKind::Amplitude));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowRule {
    flat: usize,
    saturated: usize,
    least: f64,
    limit: f64,
}

impl WindowRule {
    /// Takes samples per second and the microvolts in a unit of the samples; none where it is no
    /// voltage.
    pub fn new(rate: f64, microvolts: Option<f64>) -> Self {
        Self {
            flat: (FLAT_SECONDS * rate).ceil() as usize,
            saturated: ((SATURATED_SECONDS * rate).ceil() as usize).max(SATURATED_SAMPLES),
            least: microvolts.map_or(0.0, |m| LEAST_RANGE / m),
            limit: microvolts.map_or(f64::INFINITY, |m| OUT_OF_RANGE / m),
        }
    }

    /// Returns the length of the shortest run of equal values that says something.
    pub fn shortest_run(&self) -> usize {
        self.saturated.min(self.flat).max(2)
    }

    /// Judges an electrode: its range, the median range of all, its longest run of equal values,
    /// and the longest at its largest or smallest value, which is asked for where it matters.
    pub fn electrode(
        &self,
        range: f64,
        median: f64,
        longest: usize,
        at_extreme: impl FnOnce() -> usize,
    ) -> Option<FindingKind> {
        if range <= FLAT_SHARE * median || longest >= self.flat {
            return Some(FindingKind::Flat);
        }
        if range > self.limit {
            return Some(FindingKind::OutOfRange);
        }
        let clipped = longest >= self.saturated && at_extreme() >= self.saturated;
        clipped.then_some(FindingKind::Saturated)
    }

    /// Judges all electrodes together, by the median of their ranges.
    pub fn all(&self, median: f64) -> Option<FindingKind> {
        let eeg = (self.least..=self.limit).contains(&median);
        (!eeg).then_some(FindingKind::Amplitude)
    }
}
