//! FIF, the format of MNE and of Neuromag: raw recordings (`_raw.fif`, split files, gzip) and
//! epochs (`-epo.fif`).
//!
//! ```text
//! file:   tags, each  kind i32, type u32, bytes i32, next i32, data          (big-endian)
//! blocks: tag 104 (start) … tag 105 (end), nested: info, raw data, epochs, annotations, …
//! raw:    buffers [samples × channels] of int16, int32, float32 or float64,  value = range · cal · stored, volts to µV
//! ```
//!
//! * **Events** are the annotations and, as in every format, the marker channels. Codes of epochs
//!   get the names that the file has for them.
//! * **Gaps.** Skips in the data give one recording per stretch, as in [EDF](super::edf).
//! * **Split files** are read through their first part; the others are looked for beside it.
//! * Channels that the file marks as bad are read and noted. Projections and compensation are not
//!   applied. Magnetometers and gradiometers are channels of kind `Misc`, in T and T/m.
//! * Unknown tags are passed over by their length.
//!
//! Source: Elekta Neuromag, *Functional image file format*; the tags that MNE writes.

mod annotations;
mod epochs;
mod info;
mod raw;
mod tags;

use std::path::Path;

use super::{Content, Format, Head, ReadOptions, Reader, Source};
use crate::{FormatError, Result};
use info::Info;
use tags::{Directory, block};

/// FIF in the registry of formats.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fif;

/// FIF: raw recordings and epochs.
pub const FORMAT: Format = Format {
    name: "FIF",
    extensions: &["fif", "fif.gz"],
};

/// Tag 100 (file identifier), type 31, 20 bytes.
const START: &[u8] = &[0, 0, 0, 100, 0, 0, 0, 31, 0, 0, 0, 20];

impl Reader for Fif {
    fn format(&self) -> Format {
        FORMAT
    }

    fn recognises(&self, head: &Head<'_>) -> bool {
        head.bytes.starts_with(START)
    }

    fn read(&self, mut source: Source<'_>, options: &ReadOptions) -> Result<Content> {
        let directory = Directory::read(&mut source, options)?;
        let raw =
            directory.block_of(&[block::RAW_DATA, block::CONTINUOUS_DATA, block::IAS_RAW_DATA]);
        let epochs = directory.block_of(&[block::MNE_EPOCHS, block::OLD_EPOCHS]);
        if raw.is_none() && epochs.is_none() {
            return Err(refuse(&source, &directory));
        }
        let info = Info::read(&mut source, &directory)?;
        match (raw, epochs) {
            (Some(kind), _) => {
                let recordings = raw::recordings(source, directory, &info, kind, options)?;
                Ok(Content::Recordings(recordings))
            }
            (None, Some(kind)) => {
                epochs::read(source, &directory, info, kind, options).map(Content::Epochs)
            }
            (None, None) => Err(refuse(&source, &directory)),
        }
    }
}

/// Reads a list of events alone (`-eve.fif`): the sample of each, counted as the recording counts,
/// and its code.
pub fn event_list(path: &Path) -> Result<Vec<(f64, String)>> {
    let mut source = Source::open(path)?;
    let directory = Directory::read(&mut source, &ReadOptions::default())?;
    epochs::events(&mut source, &directory)
}

/// A FIF file of another kind.
fn refuse(source: &Source<'_>, directory: &Directory) -> FormatError {
    let has = |kind: i32| directory.block_of(&[kind]).is_some();
    let kind = if has(block::EVOKED) {
        "FIF of averages"
    } else if has(block::MNE_ANNOTATIONS) {
        "FIF of annotations alone"
    } else if has(block::MNE_EVENTS) {
        "FIF of events alone"
    } else {
        "FIF without recording or epochs"
    };
    FormatError::Unsupported {
        path: source.path().to_path_buf(),
        kind: kind.into(),
        remedy: "give the raw recording (_raw.fif) or the epochs (-epo.fif) that belong to it"
            .into(),
    }
}
