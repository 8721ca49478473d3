//! How files are to be read.

use super::{Limits, MarkerRule, MatRule};

/// Choices that every reader shares.
///
/// ```
/// use stiefel_formats::ReadOptions;
/// let options = ReadOptions {
///     partial: true,
///     ..ReadOptions::default()
/// };
/// assert_eq!(options.limits.max_expanded, 2 << 30);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadOptions {
    /// Keep the complete records of a file that is shorter than its header says, with a note on
    /// the recording. Off by default: a file cut short by a broken download should not pass
    /// unseen.
    pub partial: bool,
    /// What the file may ask of the machine.
    pub limits: Limits,
    /// Samples per second where the file does not say (`.npy`, an `.npz` of epochs without
    /// `sfreq`, MATLAB by a rule without a rate). A rate in the file wins.
    pub sampling_rate: Option<f64>,
    /// How events are read off marker channels.
    pub markers: MarkerRule,
    /// What is what in a MATLAB file, whatever layout it has.
    pub mat: Option<MatRule>,
    /// The stream of an XDF file that is the signal, by name, type or number.
    pub stream: Option<String>,
    /// The channels that are wanted: the samples of others are not decoded (EDF, BDF, GDF, FIF,
    /// BrainVision, BCI2000). Marker channels always are. Without any of the names all channels
    /// are read.
    pub channels: Option<Vec<String>>,
}
