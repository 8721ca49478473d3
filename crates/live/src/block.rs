//! Samples on their way from a source to a session.

use stiefel_data::TrialId;

/// When something happened.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum At {
    /// At a sample, counted from the start of the stream.
    Sample(i64),
    /// At a time of the clock that stamps the samples.
    Time(f64),
}

/// A marker: a cue, or anything else a stream of events says.
#[derive(Debug, Clone, PartialEq)]
pub struct Marker {
    /// When.
    pub at: At,
    /// Its label.
    pub label: String,
    /// The trial that begins there, where the source is a recording whose trials are known.
    pub trial: Option<TrialId>,
}

impl Marker {
    /// Returns the marker of a stream, of which nothing is known but its label.
    pub fn new(at: At, label: impl Into<String>) -> Self {
        Self {
            at,
            label: label.into(),
            trial: None,
        }
    }
}

/// Samples that arrived together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Block {
    /// All channels of the first sample, then of the second, and so on. What is missing or
    /// unreadable is NaN.
    pub samples: Vec<f64>,
    /// The time of every sample; empty where the source does not stamp them, and none is missing.
    pub times: Vec<f64>,
    /// The samples that had too few values, by their place in the block.
    pub short: Vec<usize>,
    /// Markers that arrived with them.
    pub markers: Vec<Marker>,
}

impl Block {
    /// Empties it; the memory stays.
    pub fn clear(&mut self) {
        self.samples.clear();
        self.times.clear();
        self.short.clear();
        self.markers.clear();
    }
}
