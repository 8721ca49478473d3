//! Thresholds of recordings and live signals, each with its reason.

/// A filter has settled where what it remembers of its start has fallen to this share: a millionth
/// of the power, far below the noise of an amplifier. Windows before that are not decided.
pub const SETTLED: f64 = 1e-3;

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

/// Amplitude: a median range of all electrodes below this, in microvolts, is no EEG. The noise of a
/// good amplifier alone reaches it within some seconds; volts that are called microvolts stay a
/// thousand times below.
pub const LEAST_RANGE: f64 = 1.0;

/// Amplitude: the median range of all electrodes of somebody whose EEG is in the right unit, in
/// microvolts. Twelve people of EEGMMIDB lie between 112 and 470 within three seconds, and signals
/// that were band-passed before some ten times below. A factor of ten alone can be a person.
pub const USUAL_RANGE: (f64, f64) = (10.0, 1_500.0);

/// Amplitude where no unit is known: people whose electrodes have so many times the median
/// amplitude of all people, or so small a part of it, are in another unit.
pub const OTHER_UNIT: f64 = 100.0;

/// Spread: the largest electrode over the smallest, medians over the trials of a person. Of
/// twelve people of EEGMMIDB it is seven at most.
pub const SPREAD: f64 = 1e4;

/// A flat, clipped or out-of-range electrode is told where it is so in this share of a person's
/// trials. A blink or a knock that clips one trial is what rejection is for.
pub const TOLD_SHARE: f64 = 0.1;

/// Results are worthless where more than this share of a person's electrodes has no signal of the
/// brain: flat, out of range or disconnected in most trials.
pub const BAD_SHARE: f64 = 0.25;

/// Disconnected electrode: the largest correlation with any other electrode, in the band of the
/// covariances, is below this.
pub const DISCONNECTED: f64 = 0.1;

/// Disconnected electrode: fewer channels than this may all be far from each other.
pub const DISCONNECTED_CHANNELS: usize = 16;

/// Bridged electrodes: the variance of their difference is below this share of the smaller of their
/// own.
pub const BRIDGED: f64 = 1e-3;

/// Line noise: the share of the variance of an electrode that is a sine of the mains.
pub const LINE_SHARE: f64 = 0.5;

/// Line noise: the frequencies of the mains, in hertz.
pub const MAINS: [f64; 2] = [50.0, 60.0];

/// Names: correlation over all pairs of electrodes between how alike their signals are and how far
/// apart their names are on the head. Names in another order leave a correlation of about zero.
pub const NAMES: f64 = -0.15;

/// Names: electrodes with a place on the head that the correlation takes.
pub const NAMES_CHANNELS: usize = 16;
