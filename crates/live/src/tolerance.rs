//! Thresholds of live signals, each with its reason.

/// Flat electrode: a channel whose range within a window is at most this share of the median range
/// of all channels. Ranges of working electrodes are within a factor of about thirty of each other,
/// blinks included.
pub const FLAT_SHARE: f64 = 1e-3;

/// Flat electrode: a channel that does not change for this many seconds. Even at a microvolt of
/// resolution no EEG stands still that long.
pub const FLAT_SECONDS: f64 = 0.5;

/// Saturated amplifier: a channel that stays at the largest or the smallest value of its window for
/// this many seconds. The peak of an alpha wave stays within one step of a coarse converter (a
/// microvolt) for a tenth of that.
pub const SATURATED_SECONDS: f64 = 0.05;

/// Saturated amplifier: and for at least this many samples, for slow amplifiers.
pub const SATURATED_SAMPLES: usize = 6;

/// A channel whose range within a window exceeds this, in microvolts, is no EEG. Blinks reach 0.5
/// mV, drifts of an electrode some millivolts; a loose plug reaches a hundred.
pub const OUT_OF_RANGE: f64 = 5_000.0;

/// The quantile of the training trials' distances to their own domain's mean that is the baseline
/// of what is familiar.
pub const FAMILIAR_QUANTILE: f64 = 0.99;

/// A window is unfamiliar beyond this many times the distance at [`FAMILIAR_QUANTILE`]. On
/// EEGMMIDB, 64 channels, trained on two runs of a person and tried on the third: 24 of the 26
/// people of 1–26 have no window beyond it (the two others change between runs: 3.3 % of all
/// windows), 26 of the 27 of 27–53 (0.5 %); 78 and 73 % of the windows of somebody else are beyond
/// it, and 83 and 91 % of those with ten times the power at eight electrodes.
pub const UNFAMILIAR: f64 = 1.5;

/// Windows of a new domain that must be known before the distance to their mean says something;
/// fewer leave out directions.
pub const FAMILIAR_WINDOWS: usize = 10;

/// Unlabelled windows after which a running mean changes no more. Each further one would move it by
/// less than a five-hundredth, and what a session keeps must not grow for ever.
pub const ADAPTATION_WINDOWS: usize = 500;

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
