//! From EEG recordings to covariance matrices.
//!
//! ```text
//! file ──reader──▶ Recording ──filter──▶ Recording ──epoch──▶ Epochs ──reject──▶ Epochs ──estimate──▶ Trials
//! ```
//!
//! Conventions, the same everywhere in this crate:
//! * samples are `f64`, channel-major: all samples of channel 0, then of channel 1, …;
//! * voltages are in **microvolts**, whatever the unit in the file (channels without a voltage unit
//!   keep their own);
//! * an event's onset is a zero-based sample index of the recording it belongs to;
//! * time is in seconds, frequency in hertz;
//! * classes that this crate names itself are `left_hand`, `right_hand`, `both_hands`, `feet`,
//!   `tongue` and `rest`; labels that a file spells out stay as they are, and a
//!   [`Window`](signal::Window) says which class each stands for.
//!
//! Features, all on unless switched off: `download` (fetching public data sets, over TLS) and
//! `live` (a stream, sample by sample).

// Without a feature, what only that feature calls has no caller.
#![cfg_attr(
    not(all(feature = "download", feature = "live")),
    allow(dead_code, unused_imports)
)]

pub mod catalogue;
mod checksum;
pub mod covariance;
mod dataset;
mod error;
pub mod io;
mod ledger;
#[cfg(feature = "live")]
pub mod live;
pub mod montage;
pub mod quality;
pub mod recipe;
pub mod select;
pub mod signal;
mod source;
pub mod synthetic;
pub mod tolerance;

pub use dataset::{Content, read, read_among, read_from, read_with};
pub use error::{EegError, Result};
pub use recipe::simulate;
pub use source::{load, load_as, part_of_file};
pub use stiefel_formats::{Channel, ChannelKind, Epochs, Event, Recording, TrialInfo};
