//! Codes and plain structures, as C sees them.

use std::ffi::{c_char, c_int};

/// What became of a call. Everything but STIEFEL_CODE_OK and STIEFEL_CODE_NONE leaves a text for
/// stiefel_last_error.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StiefelCode {
    /// It was done.
    Ok = 0,
    /// No decision waits: push more samples.
    None = 1,
    /// A pointer that is needed is null.
    Null = 2,
    /// A text is not UTF-8.
    Text = 3,
    /// The model file cannot be read.
    File = 4,
    /// The stream is not the one the model was trained for: channels, rate or unit.
    Mismatch = 5,
    /// An option, or the domain, does not fit the model.
    Setting = 6,
    /// The number of channels or of classes is wrong.
    Size = 7,
    /// Too many decisions wait: take them first.
    Full = 8,
    /// Anything else that went wrong.
    Failed = 9,
    /// A defect of the library. The session can only be closed.
    Defect = 10,
}

/// What is done for a domain that the model was not trained on.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StiefelAdapt {
    /// It is refused.
    Refused = 0,
    /// It is whitened by the mean of the training domains.
    Pooled = 1,
    /// It is whitened by the mean of its own windows so far.
    Causal = 2,
}

/// What a decision is about.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StiefelKind {
    /// A window.
    Window = 0,
    /// Samples that are missing: start to end.
    Gap = 1,
}

/// What became of a window.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StiefelStatus {
    /// The model decided.
    Decided = 0,
    /// No class is probable enough.
    Undecided = 1,
    /// The window is far from everything the model was trained on.
    Unfamiliar = 2,
    /// The signal cannot be decided; stiefel_reason_name gives the name of the reason.
    Rejected = 3,
}

/// What the samples are. A value that is null or zero is taken from the model.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct StiefelStream {
    /// Names of the channels in the order of the values of a sample, or null.
    pub channels: *const *const c_char,
    /// How many names there are.
    pub channel_count: usize,
    /// Samples per second, or 0.
    pub rate: f64,
    /// The unit of the values, such as "uV" or "V", or null.
    pub unit: *const c_char,
}

/// How a session decides. Start from stiefel_options_default.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StiefelOptions {
    /// Seconds from one decision to the next; 0 if only cues say when to decide.
    pub hop: f64,
    /// The least probability of a class for a decision; 0 for none.
    pub threshold: f64,
    /// Time constant of the evidence over time, in seconds.
    pub time_constant: f64,
    /// A window is unfamiliar if it is more than this many times as far from the mean as 99 % of
    /// the training trials are; 0 checks nothing.
    pub unfamiliar: f64,
    /// One of StiefelAdapt.
    pub adapt: c_int,
    /// Whether nothing is learnt from unlabelled windows.
    pub freeze: bool,
}

/// What is said of a window or a gap. If there is no value, an index is -1 and a number is NaN.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StiefelDecision {
    /// A window, or a gap.
    pub kind: StiefelKind,
    /// What became of the window.
    pub status: StiefelStatus,
    /// Why a window was rejected; 0 if it was not.
    pub reason: i32,
    /// The class that was decided.
    pub class_index: i32,
    /// The class with the most evidence over time.
    pub stable_index: i32,
    /// The class that a cue said.
    pub truth_index: i32,
    /// The first sample.
    pub start: i64,
    /// The place after the last sample.
    pub end: i64,
    /// Seconds from the start of the stream to the end of the window, or to the gap.
    pub time: f64,
    /// The time stamp of the last sample.
    pub stamp: f64,
    /// The share of the training trials that were nearer to the mean of their domain.
    pub familiarity: f64,
    /// The distance to the mean of the domain.
    pub distance: f64,
}
