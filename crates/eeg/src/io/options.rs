//! How files are to be read.

/// Choices that every reader shares.
///
/// ```
/// use stiefel_eeg::io::ReadOptions;
/// let options = ReadOptions { partial: true, ..ReadOptions::default() };
/// assert_eq!(options.max_expanded, 8 << 30);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOptions {
    /// Keep the complete records of a file that is shorter than its header says, with a note on the
    /// recording. Off by default: a file cut short by a broken download should not pass unseen.
    pub partial: bool,
    /// The most bytes that the compressed parts of one file (MATLAB, `.npz`) may expand to.
    pub max_expanded: u64,
    /// Samples per second where the file does not say (`.npy`, or an `.npz` of epochs without
    /// `sfreq`). A rate in the file wins.
    pub sampling_rate: Option<f64>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            partial: false,
            max_expanded: 8 << 30,
            sampling_rate: None,
        }
    }
}
