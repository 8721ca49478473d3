//! A fitted model at work on a running signal: from an amplifier to a decision one can trust.
//!
//! ```text
//! source ──blocks, markers──▶ Session ──events──▶ sinks
//! standard input              causal filters      JSON lines
//! LSL inlet                   safety              LSL outlet
//! replay of a recording       decision, evidence  live page
//! ```
//!
//! A [`Session`] is a state machine without threads and without clocks of its own: the same samples
//! give the same events, whoever delivers them and however they are cut into blocks. Rate, bands,
//! windows, channels, unit and estimator are those the model was trained with
//! ([`Recipe`](stiefel_data::Recipe)).

mod block;
mod calibrate;
mod clock;
mod cues;
mod error;
mod evidence;
mod line;
pub mod lsl;
mod offline;
mod page;
mod quality;
mod ring;
mod run;
mod session;
pub mod source;
mod stream;
mod summary;
pub mod tolerance;
mod window;

pub use block::{At, Block, Marker};
pub use calibrate::Calibration;
pub use clock::Clock;
pub use error::{LiveError, Result};
pub use evidence::Evidence;
pub use line::Lines;
pub use offline::{OfflineDecision, offline};
pub use page::Page;
pub use quality::{Electrode, Quality, Reason};
pub use run::{Sink, run};
pub use session::{Options, Session};
pub use stiefel_eeg::recipe::stream::Timing;
pub use stiefel_model::fitted::Familiarity;
pub use stream::{Description, Fit, StreamSpec};
pub use summary::{AtTime, Latency, Offline, Summary, Tally};
pub use window::{CueOf, Event, Fault, Gap, Status, Window, Within};
