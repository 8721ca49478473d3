//! What a session says: of every window, and of gaps in the stream.

use stiefel_data::{Role, TrialId};

use crate::quality::{Electrode, Reason};
use stiefel_model::fitted::Familiarity;

/// What became of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// The model decided.
    Decided,
    /// No class is probable enough.
    Undecided,
    /// The window is far from everything the model was trained on.
    Unfamiliar,
    /// The signal cannot be decided.
    Rejected,
}

impl Status {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Decided,
        Self::Undecided,
        Self::Unfamiliar,
        Self::Rejected,
    ];

    /// Its name in lines and summaries.
    pub fn name(self) -> &'static str {
        match self {
            Self::Decided => "decided",
            Self::Undecided => "undecided",
            Self::Unfamiliar => "unfamiliar",
            Self::Rejected => "rejected",
        }
    }
}

/// Why a window was rejected.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault<'a> {
    /// The reason.
    pub reason: Reason,
    /// The electrode, where it is one.
    pub channel: Option<&'a str>,
    /// More about it.
    pub detail: Option<String>,
}

/// The cue of a window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CueOf<'a> {
    /// The marker's label.
    pub label: &'a str,
    /// The class it stands for, where it stands for one.
    pub class: Option<usize>,
    /// The sample it came at.
    pub sample: i64,
    /// The trial, where the source is a recording.
    pub trial: Option<&'a TrialId>,
    /// What the model knows of the trial.
    pub seen: Role,
}

/// The trial that a window without a cue of its own ends in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Within {
    /// The class of the trial.
    pub class: usize,
    /// Seconds from its cue to the end of the window.
    pub seconds: f64,
    /// What the model knows of the trial, where the source is a recording.
    pub seen: Role,
}

/// What is said of a window. Probabilities are there unless it was rejected; a class only where it
/// was decided.
#[derive(Debug, Clone, PartialEq)]
pub struct Window<'a> {
    /// The first sample.
    pub start: i64,
    /// Behind the last sample.
    pub end: i64,
    /// Seconds from the start of the stream to its end.
    pub time: f64,
    /// The source's time of its last sample, where samples are stamped.
    pub stamp: Option<f64>,
    /// What became of it.
    pub status: Status,
    /// Why it was rejected.
    pub fault: Option<Fault<'a>>,
    /// The decision.
    pub class: Option<usize>,
    /// The probability of every class.
    pub probabilities: Option<&'a [f64]>,
    /// The weight of every expert, where a network routes.
    pub routing: Option<&'a [f64]>,
    /// What every view added to the decision, of a model that tells: log-odds for the most
    /// probable class.
    pub contributions: Option<&'a [f64]>,
    /// The probability of every class from this window and those before it.
    pub evidence: Option<&'a [f64]>,
    /// How far it is from what the model was trained on.
    pub familiarity: Option<Familiarity>,
    /// Its cue, where it has one.
    pub cue: Option<CueOf<'a>>,
    /// The trial it ends in, where it has no cue of its own.
    pub within: Option<Within>,
    /// Names of the classes.
    pub classes: &'a [String],
    /// The covariances of all views, one after the other; none where it was rejected before they
    /// were computed.
    pub covariances: Option<&'a [f64]>,
    /// The electrodes, where they were looked at.
    pub electrodes: Option<&'a [Electrode]>,
}

impl Window<'_> {
    /// The class with the most evidence over time.
    pub fn stable(&self) -> Option<usize> {
        self.evidence.map(stiefel_linalg::argmax)
    }

    /// The class it should have, where a cue said so.
    pub fn truth(&self) -> Option<usize> {
        match (&self.cue, &self.within) {
            (Some(cue), _) => cue.class,
            (None, within) => within.map(|w| w.class),
        }
    }
}

/// Samples are missing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gap {
    /// The first missing sample.
    pub sample: i64,
    /// How many are missing.
    pub samples: u64,
    /// Seconds from the start of the stream to the first missing sample.
    pub time: f64,
    /// Windows that would have ended within the gap and get no line.
    pub windows: u64,
}

/// What a session says.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one at a time, and whoever hears it gets it as it is"
)]
pub enum Event<'a> {
    /// Of a window.
    Window(Window<'a>),
    /// Of a gap.
    Gap(Gap),
}
