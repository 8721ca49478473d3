//! Readers of EEG recordings: bytes in, a [`Recording`] or [`Epochs`] out.
//!
//! ```text
//! EDF, EDF+, BDF, BDF+, GDF 1 and 2, BrainVision, FIF, XDF, BCI2000, CSV,
//! MATLAB (EEGLAB, FieldTrip, BNCI, any layout by a rule)             ──▶ recordings
//! FIF, MATLAB (EEGLAB, FieldTrip, Weibo 2014, any by a rule), .npy, .npz ──▶ epochs
//! ```
//!
//! One entry recognises the format by the file's first bytes:
//!
//! ```
//! use stiefel_formats::{Content, Source, read_from};
//!
//! let text = b"time,C3,C4\n0.00,1.5,2\n0.01,2.5,1\n0.02,3.5,0\n";
//! match read_from(Source::from_bytes("run.csv", text))? {
//!     Content::Recordings(runs) => {
//!         assert_eq!(runs[0].sampling_rate(), 100.0);
//!         assert_eq!(runs[0].channel(0), [1.5, 2.5, 3.5]);
//!     }
//!     Content::Epochs(epochs) => println!("{} trials", epochs.trials().len()),
//! }
//! # Ok::<(), stiefel_formats::FormatError>(())
//! ```
//!
//! Conventions, the same for every format:
//! * samples are `f64`, channel-major: all samples of channel 0, then of channel 1, …;
//! * voltages are in **microvolts**, whatever the unit in the file (channels without a voltage unit
//!   keep their own);
//! * an event's onset is a zero-based sample index of the recording it belongs to;
//! * time is in seconds, frequency in hertz.
//!
//! Every reader works on a [`Source`]: a file, bytes in memory or any `Read + Seek`. A damaged file
//! is read or refused with its name, the offset and the reason; it cannot make a reader panic, hang
//! or reserve more memory than its size accounts for. [`Limits`] sets tighter bounds.

pub mod bci2000;
pub mod bids;
pub mod brainvision;
mod content;
pub mod csv;
pub mod edf;
pub mod electrode;
mod epochs;
mod error;
mod events;
pub mod fif;
mod files;
mod frames;
pub mod gdf;
mod gzip;
mod hdf5;
mod limits;
mod markers;
pub mod mat;
mod mat_rule;
pub mod memory;
pub mod npy;
pub mod npz;
mod numbers;
pub mod numpy;
mod options;
mod probe;
mod recording;
mod records;
mod source;
mod stream;
mod time;
mod tolerance;
mod units;
mod unsupported;
pub mod xdf;
mod zeros;
pub mod zip;

pub use content::{Content, Format, Head, Reader};
pub use epochs::{Epochs, TrialInfo};
pub use error::{FormatError, Result};
pub use files::{
    files_below, files_opened, name_text, open_regular, path_text, read_at_most, read_whole,
};
pub use limits::Limits;
pub use markers::{MarkerRule, Polarity};
pub use mat_rule::{Axis, MatRule};
pub use numpy::write_epochs;
pub use options::ReadOptions;
pub use probe::{
    check_apply, check_options, detect, formats, read, read_among, read_from, read_with, readers,
};
pub use recording::{Channel, ChannelKind, Event, Recording};
pub use source::{Opener, ReadSeek, Source};
pub use stream::Stream;
pub use units::{excerpt, listed, microvolts_per};

/// The README's examples.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
