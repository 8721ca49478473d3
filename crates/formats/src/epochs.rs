//! Trials cut from recordings, or read as such.

use crate::recording::check_rate;
use crate::{Channel, EegError, Result};

/// What is known of one trial besides its samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialInfo {
    /// The class label.
    pub label: String,
    /// The domain: a subject, or a subject-session pair.
    pub domain: String,
    /// The run it came from, where known.
    pub run: Option<String>,
}

/// Equally long trials: trial-major, then channel-major, in microvolts.
#[derive(Debug, Clone, PartialEq)]
pub struct Epochs {
    channels: Vec<Channel>,
    sampling_rate: f64,
    samples: usize,
    data: Vec<f64>,
    trials: Vec<TrialInfo>,
    notes: Vec<String>,
}

impl Epochs {
    /// Builds epochs from `trials × channels × samples` values, checking that the sizes agree and the rate is positive.
    pub fn new(
        channels: Vec<Channel>,
        sampling_rate: f64,
        samples: usize,
        data: Vec<f64>,
        trials: Vec<TrialInfo>,
    ) -> Result<Self> {
        check_rate(sampling_rate)?;
        let expected = trials.len() * channels.len() * samples;
        if data.len() != expected {
            return Err(EegError::Invalid {
                what: format!(
                    "{} trials × {} channels × {samples} samples need {expected} values, got {}",
                    trials.len(),
                    channels.len(),
                    data.len()
                ),
                remedy: "pass the samples trial by trial, channel by channel".into(),
            });
        }
        Ok(Self {
            channels,
            sampling_rate,
            samples,
            data,
            trials,
            notes: Vec::new(),
        })
    }

    /// Attaches what a reader left out or assumed, in plain sentences.
    pub fn with_notes(mut self, notes: Vec<String>) -> Self {
        self.notes.extend(notes);
        self
    }

    /// What the reader left out or assumed, one sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The channels in storage order.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// Samples per second.
    pub fn sampling_rate(&self) -> f64 {
        self.sampling_rate
    }

    /// Samples per channel of one trial.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// What is known of each trial.
    pub fn trials(&self) -> &[TrialInfo] {
        &self.trials
    }

    /// One trial's samples, channel-major.
    ///
    /// # Panics
    /// If `trial >= self.trials().len()`.
    pub fn trial(&self, trial: usize) -> &[f64] {
        let size = self.channels.len() * self.samples;
        &self.data[trial * size..(trial + 1) * size]
    }

    /// All samples.
    pub fn data(&self) -> &[f64] {
        &self.data
    }

    /// All samples, to be changed in place.
    pub fn data_mut(&mut self) -> &mut [f64] {
        &mut self.data
    }
}
