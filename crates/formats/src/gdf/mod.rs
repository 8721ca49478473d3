//! GDF 1.x and 2.x, the format of the BCI competitions.
//!
//! ```text
//! 256 bytes fixed, 256 bytes per channel (field by field), tags, records, event table
//! physical = physmin + (stored − digmin) · (physmax − physmin) / (digmax − digmin),   then to µV
//! event table: mode, rate, count, positions (from 1), types, and for mode 3 channels and durations
//! ```
//!
//! * **Types.** Integers of 8, 16, 24, 32 and 64 bits, signed and unsigned, and floats of 32 and 64
//!   bits; each channel may have its own.
//! * **Rates** are treated as in [EDF](super::edf): the rate that most EEG channels have is kept,
//!   channels of another rate are left out with a note.
//! * **Events** are labelled with their type as a decimal number (`769` is the cue *left hand*).
//!   Mode 1 has no durations. Samples of sparse channels, which are stored in the event table (type
//!   `0x7fff`), are left out.
//! * A sample outside the digital range is calibrated like any other.
//!
//! Source: A. Schlögl, *GDF – A general dataformat for biosignals*, arXiv cs/0608052.

mod events;
mod header;
mod reader;

use super::{Content, Format, Head, ReadOptions, Reader, Source};
use crate::Result;
use reader::GdfReader;

/// GDF in the registry of formats.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gdf;

/// GDF 1 and 2.
pub const FORMAT: Format = Format {
    name: "GDF",
    extensions: &["gdf"],
};

impl Reader for Gdf {
    fn format(&self) -> Format {
        FORMAT
    }

    fn recognises(&self, head: &Head<'_>) -> bool {
        head.bytes.starts_with(b"GDF ")
    }

    fn read(&self, source: Source<'_>, options: &ReadOptions) -> Result<Content> {
        let recording = GdfReader::new(source, options)?.into_recording()?;
        Ok(Content::Recordings(vec![recording]))
    }
}
