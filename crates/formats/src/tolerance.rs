//! Thresholds of the readers, each with its reason.

/// Marker channels: a line that is at its largest value for at least this share of its samples
/// rests there, and its pulses go down. Pulses are short; a code that is held from event to event
/// fills less.
pub(crate) const MARKER_RESTS_HIGH: f64 = 0.9;

/// Marker channels: a line that changes to a new code in more than this share of its samples is a
/// signal, not a marker line.
pub(crate) const MARKER_CHANGES: f64 = 0.25;

/// How far `x_rc` and `x_cr` may differ in a symmetric matrix, as a share of its largest entry:
/// √ε of the type the numbers were stored in, which lets rounding through and nothing else.
pub(crate) fn symmetry(single: bool) -> f64 {
    if single {
        f64::from(f32::EPSILON.sqrt())
    } else {
        f64::EPSILON.sqrt()
    }
}
