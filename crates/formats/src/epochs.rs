//! Trials cut from recordings, or read as such.

use crate::recording::check_rate;
use crate::{Channel, FormatError, Result};

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
    /// Builds epochs from `trials × channels × samples` values, checking that the sizes agree and
    /// the rate is positive.
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
            return Err(FormatError::Invalid {
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

    /// Joins the trials of several recordings, which must agree in channels, rate and length.
    pub fn concat(parts: &[Epochs]) -> Result<Epochs> {
        let Some(first) = parts.first() else {
            return Err(FormatError::Invalid {
                what: "there are no trials to join".into(),
                remedy: "pass the trials of at least one recording".into(),
            });
        };
        let names = |e: &Epochs| {
            e.channels()
                .iter()
                .map(|c| c.name.clone())
                .collect::<Vec<_>>()
        };
        for (index, part) in parts.iter().enumerate() {
            if names(part) != names(first)
                || part.sampling_rate() != first.sampling_rate()
                || part.samples() != first.samples()
            {
                return Err(FormatError::Invalid {
                    what: format!(
                        "part {index} has {} channels × {} samples at {} Hz, part 0 has {} × {} \
                         at {}, or their channels differ in name or order",
                        part.channels().len(),
                        part.samples(),
                        part.sampling_rate(),
                        first.channels().len(),
                        first.samples(),
                        first.sampling_rate()
                    ),
                    remedy: "pick the same channels in the same order and resample to one rate \
                             before cutting"
                        .into(),
                });
            }
        }
        Epochs::new(
            first.channels().to_vec(),
            first.sampling_rate(),
            first.samples(),
            parts
                .iter()
                .flat_map(|p| p.data().iter().copied())
                .collect(),
            parts
                .iter()
                .flat_map(|p| p.trials().iter().cloned())
                .collect(),
        )
    }

    /// The trials at the given places, in that order.
    pub fn select(&self, trials: &[usize]) -> Result<Epochs> {
        if let Some(&trial) = trials.iter().find(|&&t| t >= self.trials().len()) {
            return Err(FormatError::Invalid {
                what: format!(
                    "trial {trial} was asked for, there are {}",
                    self.trials().len()
                ),
                remedy: "count trials from 0".into(),
            });
        }
        Epochs::new(
            self.channels().to_vec(),
            self.sampling_rate(),
            self.samples(),
            trials
                .iter()
                .flat_map(|&t| self.trial(t).iter().copied())
                .collect(),
            trials.iter().map(|&t| self.trials()[t].clone()).collect(),
        )
    }

    /// The samples from `tmin` to `tmax` of every trial, in seconds from its first sample; the
    /// sample at `tmax` is not included.
    ///
    /// Filters come first: at the ends of a trial they see a reflection, which the crop cuts off.
    ///
    /// ```
    /// # use stiefel_formats::{Channel, ChannelKind, Epochs, TrialInfo};
    /// # let cz = Channel { name: "Cz".into(), kind: ChannelKind::Eeg, unit: "µV".into() };
    /// # let info = TrialInfo { label: "feet".into(), domain: "S1".into(), run: None };
    /// let epochs = Epochs::new(vec![cz], 2.0, 4, vec![0., 1., 2., 3., 4., 5., 6., 7.], vec![info; 2])?;
    /// assert_eq!(epochs.crop(0.5, 1.5)?.data(), [1., 2., 5., 6.]);
    /// # Ok::<(), stiefel_formats::FormatError>(())
    /// ```
    pub fn crop(&self, tmin: f64, tmax: f64) -> Result<Epochs> {
        let (fs, samples) = (self.sampling_rate(), self.samples());
        let start = (tmin * fs).round_ties_even();
        let length = ((tmax - tmin) * fs).round_ties_even();
        let fits = start >= 0.0 && length >= 1.0 && start + length <= samples as f64;
        if !fits {
            return Err(FormatError::Invalid {
                what: format!(
                    "the window {tmin}–{tmax} s does not fit trials of {samples} samples at {fs} \
                     Hz ({} s)",
                    samples as f64 / fs
                ),
                remedy: "give a start and a later end in seconds from the first sample of the \
                         trial"
                    .into(),
            });
        }
        let (start, length) = (start as usize, length as usize);
        let rows = self.data().chunks_exact(samples);
        Epochs::new(
            self.channels().to_vec(),
            fs,
            length,
            rows.flat_map(|row| &row[start..start + length])
                .copied()
                .collect(),
            self.trials().to_vec(),
        )
    }
}
