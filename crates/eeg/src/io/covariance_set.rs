//! Covariance matrices with what is known of their trials.

use crate::{Channel, EegError, Result, TrialInfo};

/// One `n × n` matrix per trial, trial-major, each row by row, in µV² for channels in µV.
///
/// Matrices read from a file are kept as they are there, to the last bit.
///
/// ```
/// use stiefel_eeg::io::CovarianceSet;
/// use stiefel_eeg::{Channel, ChannelKind, TrialInfo};
/// let channel = |name: &str| Channel { name: name.into(), kind: ChannelKind::Eeg, unit: "µV".into() };
/// let trial = TrialInfo { label: "feet".into(), domain: "1".into(), run: None };
/// let set = CovarianceSet::new(vec![channel("C3"), channel("C4")], Some(160.0), vec![2.0, 1.0, 1.0, 3.0], vec![trial])?;
/// assert_eq!(set.matrix(0), [2.0, 1.0, 1.0, 3.0]);
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CovarianceSet {
    channels: Vec<Channel>,
    sampling_rate: Option<f64>,
    data: Vec<f64>,
    trials: Vec<TrialInfo>,
}

impl CovarianceSet {
    /// Builds a set from `trials × n × n` values for `n` channels, checking that the sizes agree.
    pub fn new(
        channels: Vec<Channel>,
        sampling_rate: Option<f64>,
        data: Vec<f64>,
        trials: Vec<TrialInfo>,
    ) -> Result<Self> {
        let expected = trials.len() * channels.len() * channels.len();
        if data.len() != expected {
            return Err(EegError::Invalid {
                what: format!(
                    "{} matrices of {n} × {n} need {expected} values, got {}",
                    trials.len(),
                    data.len(),
                    n = channels.len()
                ),
                remedy: "pass one square matrix per trial, as wide as there are channels".into(),
            });
        }
        Ok(Self {
            channels,
            sampling_rate,
            data,
            trials,
        })
    }

    /// The channels, in the order of rows and columns.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// Rows and columns of each matrix.
    pub fn dimension(&self) -> usize {
        self.channels.len()
    }

    /// Samples per second of the signals behind the matrices, where known.
    pub fn sampling_rate(&self) -> Option<f64> {
        self.sampling_rate
    }

    /// What is known of each trial.
    pub fn trials(&self) -> &[TrialInfo] {
        &self.trials
    }

    /// One matrix, row by row.
    ///
    /// # Panics
    /// If `trial >= self.trials().len()`.
    pub fn matrix(&self, trial: usize) -> &[f64] {
        let size = self.channels.len() * self.channels.len();
        &self.data[trial * size..(trial + 1) * size]
    }

    /// All matrices.
    pub fn data(&self) -> &[f64] {
        &self.data
    }
}
