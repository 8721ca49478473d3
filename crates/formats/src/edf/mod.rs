//! EDF, EDF+, BDF and BDF+: records of 16- or 24-bit integers with a linear calibration.
//!
//! ```text
//! physical = physmin + (digital − digmin) · (physmax − physmin) / (digmax − digmin),   then to µV
//! ```
//!
//! * **Rates.** A record may hold channels of different rates. The rate that most EEG channels have
//!   is kept; channels of another rate are left out and listed in
//!   [`Recording::notes`](crate::Recording::notes).
//! * **Names** are as in the file, trimmed, without trailing dots: `"Fc5."` is `Fc5`, `"C3.."` is
//!   `C3`.
//! * **Events** are the annotations of EDF+ and BDF+, and those of marker channels, as in every
//!   format ([`MarkerRule`](crate::MarkerRule)): of a BDF `Status` channel the lower 16 bits count.
//!   Onsets count from the first sample. A file of annotations alone is a recording without
//!   channels.
//! * **Gaps.** A discontinuous file (EDF+D) gives one [`Recording`](crate::Recording) per stretch
//!   without gap.
//! * **Truncation.** A file shorter than announced is refused unless [`ReadOptions::partial`] is
//!   set.
//!
//! Files are read in blocks of about 1 MiB; nothing but the decoded samples is kept.

mod header;
mod reader;
mod recording;
mod tal;

use crate::{Content, Format, Head, ReadOptions, Reader, Result, Source};
use reader::EdfReader;

/// EDF and BDF in the registry of formats.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edf;

/// EDF, EDF+, BDF, BDF+.
pub const FORMAT: Format = Format {
    name: "EDF and BDF",
    extensions: &["edf", "bdf"],
};

impl Reader for Edf {
    fn format(&self) -> Format {
        FORMAT
    }

    fn recognises(&self, head: &Head<'_>) -> bool {
        head.bytes.starts_with(b"0       ") || head.bytes.starts_with(b"\xffBIOSEMI")
    }

    fn read(&self, source: Source<'_>, options: &ReadOptions) -> Result<Content> {
        let reader = EdfReader::new(source, options)?;
        Ok(Content::Recordings(reader.into_recordings()?))
    }
}
