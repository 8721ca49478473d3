//! Files that are recognised and refused. A conversion is named only where it was seen to work.
//!
//! | mark | kind |
//! |---|---|
//! | `"Version 3.0"` at 0 | Neuroscan CNT |
//! | `"RIFF"` or `"RF64"` at 0 and `"CNT "` at 8 or 12 | ANT Neuro CNT |
//! | `"EEG-1100"`, `"EEG-1200"`, `"EEG-2100"`, `"QI-403A"`, `"DAE-2100D"` at 0 | Nihon Kohden |
//! | the ending `.eeg`, `.vmrk`, `.fdt` | part of a recording that is opened through another file |
//! | the ending `.mat` | MATLAB 4 |

use super::units::excerpt;

/// How the files of Nihon Kohden start: the device.
const NIHON_KOHDEN: [&[u8]; 5] = [
    b"EEG-1100",
    b"EEG-1200",
    b"EEG-2100",
    b"QI-403A",
    b"DAE-2100D",
];
use super::{Head, Source};
use crate::FormatError;

/// Names a file that no reader took; `readable` lists the formats that there are.
pub(crate) fn refuse(source: &Source<'_>, head: &Head<'_>, readable: &str) -> FormatError {
    // Quoted as Python reads it.
    let path = format!("{:?}", source.path().display().to_string());
    let bytes = head.bytes;
    if bytes.is_empty() {
        return source.malformed(0, "the file is empty");
    }
    let riff = bytes.starts_with(b"RIFF") || bytes.starts_with(b"RF64");
    let ant = [8, 12]
        .iter()
        .any(|&at| bytes.get(at..at + 4) == Some(b"CNT "));
    let export = "export it from the program that recorded it, as BrainVision, EDF or BDF";
    let (kind, remedy) = if bytes.starts_with(b"Version 3.0") {
        ("Neuroscan CNT", export.into())
    } else if riff && ant {
        ("ANT Neuro CNT", export.into())
    } else if NIHON_KOHDEN.iter().any(|device| bytes.starts_with(device)) {
        (
            "Nihon Kohden",
            "export it as EDF from the program that recorded it, or read the .eeg file with MNE \
             (mne.io.read_raw_nihon) and write it with MNE-BIDS"
                .into(),
        )
    } else if head.has_extension(&["eeg", "vmrk", "avg", "seg", "amrk"]) {
        (
            "BrainVision data or marker",
            "open the .vhdr file beside it".into(),
        )
    } else if head.has_extension(&["fdt"]) {
        ("EEGLAB data", "open the .set file beside it".into())
    } else if head.has_extension(&["mat"]) {
        (
            "MATLAB 4 or damaged",
            format!(
                "save it again with SciPy: scipy.io.savemat('converted.mat', \
                 scipy.io.loadmat({path}))"
            ),
        )
    } else {
        return unknown(source, bytes, readable);
    };
    FormatError::Unsupported {
        path: source.path().to_path_buf(),
        kind: kind.into(),
        remedy,
    }
}

fn unknown(source: &Source<'_>, bytes: &[u8], readable: &str) -> FormatError {
    let start = &bytes[..bytes.len().min(8)];
    source.malformed(
        0,
        format!(
            "no format starts with \"{}\"; these formats can be read: {}",
            excerpt(start),
            readable
        ),
    )
}
