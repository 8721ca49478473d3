//! Files that are recognised and refused, each with the line that converts it.
//!
//! | mark | kind |
//! |---|---|
//! | tag 100, type 31, size 20, big-endian, at 0 | FIF |
//! | `0x89 "HDF" CR LF 0x1A LF` at 0 or 512 | HDF5: MATLAB 7.3, EEGLAB, others |
//! | `"XDF:"` at 0 | XDF |
//! | `"Version 3.0"` at 0 | Neuroscan CNT |
//! | `"RIFF"` or `"RF64"` and `"CNT "` at 8 | ANT Neuro CNT |
//! | `0x1F 0x8B` at 0 | gzip |

use super::units::excerpt;
use super::{Head, Source};
use crate::EegError;

const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n";
const FIF: &[u8] = &[0, 0, 0, 100, 0, 0, 0, 31, 0, 0, 0, 20];

/// Names a file that no reader took.
pub(crate) fn refuse(source: &Source<'_>, head: &Head<'_>) -> EegError {
    let path = source.path().display();
    let mne = |reader: &str| {
        format!(
            "convert it with MNE-Python: mne.io.{reader}(\"{path}\", preload=True).export(\"converted.edf\")"
        )
    };
    let bytes = head.bytes;
    let hdf5 = bytes.starts_with(HDF5) || bytes.get(512..520) == Some(HDF5);
    let (kind, remedy) = if bytes.starts_with(FIF) {
        ("FIF", mne("read_raw_fif"))
    } else if hdf5 && head.has_extension(&["set"]) {
        ("EEGLAB (MATLAB 7.3, HDF5)", mne("read_raw_eeglab"))
    } else if hdf5 && (bytes.starts_with(b"MATLAB 7.3") || head.has_extension(&["mat"])) {
        (
            "MATLAB 7.3 (HDF5)",
            format!(
                "save it again in MATLAB: s = load('{path}'); save('converted.mat', '-struct', 's', '-v7')"
            ),
        )
    } else if hdf5 {
        (
            "HDF5",
            "save the arrays with NumPy: np.savez(\"converted.npz\", X=X, y=y, sfreq=rate)".into(),
        )
    } else if bytes.starts_with(b"XDF:") {
        ("XDF", "convert it with MNE-Python and pyxdf: mne.io.RawArray(stream[\"time_series\"].T, info).export(\"converted.edf\")".into())
    } else if bytes.starts_with(b"Version 3.0") {
        ("Neuroscan CNT", mne("read_raw_cnt"))
    } else if (bytes.starts_with(b"RIFF") || bytes.starts_with(b"RF64"))
        && bytes.get(8..12) == Some(b"CNT ")
    {
        ("ANT Neuro CNT", mne("read_raw_ant"))
    } else if bytes.starts_with(b"\x1f\x8b") {
        ("gzip", "unpack it first: gunzip".into())
    } else if head.has_extension(&["eeg", "vmrk", "avg", "seg"]) {
        (
            "BrainVision data or marker",
            "open the .vhdr file beside it".into(),
        )
    } else if head.has_extension(&["fdt"]) {
        ("EEGLAB data", "convert the .set file beside it with MNE-Python: mne.io.read_raw_eeglab(\"name.set\").export(\"converted.edf\")".into())
    } else if head.has_extension(&["mat"]) {
        (
            "MATLAB 4 or damaged",
            format!(
                "save it again in MATLAB: s = load('{path}'); save('converted.mat', '-struct', 's', '-v7')"
            ),
        )
    } else {
        return unknown(source, bytes);
    };
    EegError::Unsupported {
        path: source.path().to_path_buf(),
        kind: kind.into(),
        remedy,
    }
}

fn unknown(source: &Source<'_>, bytes: &[u8]) -> EegError {
    let start = &bytes[..bytes.len().min(8)];
    source.malformed(
        0,
        format!(
            "no format starts with \"{}\"; {} are read",
            excerpt(start),
            super::formats()
        ),
    )
}
