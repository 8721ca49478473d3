//! Thresholds of live signals, each with its reason.

/// Live clock: a time stamp later than expected by this many samples is a gap, where stamps are
/// exact. Half a sample would be rounding.
pub const GAP_SAMPLES: f64 = 0.75;

/// Live clock: where stamps jitter, a gap is this many times their mean deviation: a normal deviate
/// exceeds it once in some ten thousand samples.
pub const GAP_DEVIATIONS: f64 = 5.0;

/// Live clock: seconds of samples that must agree on a gap, before it is believed. A machine that
/// hiccups delivers late and then catches up within this time.
pub const GAP_SECONDS: f64 = 0.1;

/// Live clock: seconds over which the measured rate and the deviation of stamps are averaged.
/// Crystals differ by some 20 ppm; at 160 Hz that is a tenth of a sample in half a minute.
pub const CLOCK_SECONDS: f64 = 10.0;

/// Live clock: the share by which a measured rate may differ from the model's. A band edge moves by
/// as much; more than this is another setting of the amplifier.
pub const RATE_OFF: f64 = 5e-3;

/// Evidence over time: probabilities of a window count as at least this, so that one window that is
/// certain of a class does not decide for all others.
pub const LEAST_PROBABILITY: f64 = 1e-3;
