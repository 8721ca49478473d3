//! A continuous recording: channels × samples with events.

use crate::{FormatError, Result};

/// What a channel measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChannelKind {
    /// Scalp EEG.
    Eeg,
    /// Eye movement.
    Eog,
    /// Muscle.
    Emg,
    /// Heart.
    Ecg,
    /// Trigger or status line.
    Stim,
    /// Anything else.
    Misc,
}

/// One channel of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Channel {
    /// The name as the file gives it, trimmed.
    pub name: String,
    /// What it measures.
    pub kind: ChannelKind,
    /// The unit of the samples **in memory**: `µV` for every channel that had a voltage unit in
    /// the file, otherwise the file's own text.
    pub unit: String,
}

/// Something that happened at a sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Zero-based sample index in the recording.
    pub sample: usize,
    /// Onset in seconds from the first sample, as exact as the file tells.
    pub onset: f64,
    /// Duration in seconds, 0 where the file gives none.
    pub duration: f64,
    /// The file's text or code (`"T1"`, `"769"`).
    pub label: String,
}

/// A continuous recording with one sampling rate.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    channels: Vec<Channel>,
    sampling_rate: f64,
    samples: usize,
    data: Vec<f64>,
    events: Vec<Event>,
    notes: Vec<String>,
    started: Option<f64>,
}

/// Refuses a sampling rate that is not a positive number.
pub(crate) fn check_rate(sampling_rate: f64) -> Result<()> {
    if sampling_rate.is_finite() && sampling_rate > 0.0 {
        return Ok(());
    }
    Err(FormatError::Invalid {
        what: format!("the sampling rate is {sampling_rate} Hz"),
        remedy: "give a positive, finite rate".into(),
    })
}

impl Recording {
    /// Builds a recording from channel-major samples, checking that the sizes agree and the rate is
    /// positive. Events behind the last sample are kept and noted; no trial can be cut for them.
    pub fn new(
        channels: Vec<Channel>,
        sampling_rate: f64,
        data: Vec<f64>,
        events: Vec<Event>,
    ) -> Result<Self> {
        check_rate(sampling_rate)?;
        let samples = data.len().checked_div(channels.len()).unwrap_or(0);
        if samples * channels.len() != data.len() {
            return Err(FormatError::Invalid {
                what: format!(
                    "{} values do not divide into {} channels of equal length",
                    data.len(),
                    channels.len()
                ),
                remedy: "pass all samples of channel 0, then all of channel 1, and so on".into(),
            });
        }
        // Without a signal there is nothing that they could lie behind.
        let signal = !channels.is_empty();
        let mut behind = (events.iter()).filter(|e| signal && e.sample >= samples);
        let notes = behind.next().map(|first| {
            format!(
                "{} events lie after the {samples} samples, the first {:?} at sample {}",
                1 + behind.count(),
                first.label,
                first.sample
            )
        });
        Ok(Self {
            channels,
            sampling_rate,
            samples,
            data,
            events,
            notes: notes.into_iter().collect(),
            started: None,
        })
    }

    /// Attaches what a reader left out or assumed, in plain sentences.
    pub fn with_notes(mut self, notes: Vec<String>) -> Self {
        self.notes.extend(notes);
        self
    }

    /// When the first sample was taken: seconds since 1970-01-01T00:00:00 of the clock that the
    /// file was written by, which most formats give without a time zone.
    pub fn with_start(mut self, seconds: Option<f64>) -> Self {
        self.started = seconds.filter(|s| s.is_finite());
        self
    }

    /// With the notes and the start of the recording that this one is a part of.
    pub(crate) fn told_like(mut self, whole: &Self) -> Self {
        self.notes.clone_from(&whole.notes);
        self.started = whole.started;
        self
    }

    /// The same signal with other events, in order of onset.
    pub fn with_events(mut self, mut events: Vec<Event>) -> Self {
        events.sort_by(|a, b| a.onset.total_cmp(&b.onset));
        self.events = events;
        self
    }

    /// The channels in storage order.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// Names, kinds and units of the channels, to be changed; samples stay as they are.
    pub(crate) fn channels_mut(&mut self) -> &mut [Channel] {
        &mut self.channels
    }

    /// When the first sample was taken, in seconds since 1970; `None` where the file does not say.
    pub fn started(&self) -> Option<f64> {
        self.started
    }

    /// Samples per second.
    pub fn sampling_rate(&self) -> f64 {
        self.sampling_rate
    }

    /// Samples per channel.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// The samples of one channel.
    ///
    /// # Panics
    /// If `channel >= self.channels().len()`.
    pub fn channel(&self, channel: usize) -> &[f64] {
        &self.data[channel * self.samples..(channel + 1) * self.samples]
    }

    /// All samples, channel-major.
    pub fn data(&self) -> &[f64] {
        &self.data
    }

    /// All samples, channel-major, without a copy.
    pub fn into_data(self) -> Vec<f64> {
        self.data
    }

    /// All samples, channel-major, to be changed in place.
    pub fn data_mut(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// The channels, the samples per channel, and all samples to be changed in place.
    pub fn parts_mut(&mut self) -> (&[Channel], usize, &mut [f64]) {
        (&self.channels, self.samples, &mut self.data)
    }

    /// The events in order of onset.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// What the reader left out or assumed (a channel of another rate, an event outside the
    /// signal), one sentence each; empty where the file was taken as it is.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}
