//! Formats are told by content, and what is not read says how to convert it.

use crate::common;
use stiefel_formats::FormatError;
use stiefel_formats::{Source, brainvision, detect, edf, fif, gdf, mat, npy, npz, read, read_from};

#[test]
fn content_decides_whatever_the_name() {
    for (file, format) in [
        ("edf/plain.edf", edf::FORMAT),
        ("edf/status.bdf", edf::FORMAT),
        ("gdf/v125.gdf", gdf::FORMAT),
        ("brainvision/int16.vhdr", brainvision::FORMAT),
        ("matlab/bnci.mat", mat::FORMAT),
        ("matlab/bnci_big_endian.mat", mat::FORMAT),
        ("fif/short_raw.fif", fif::FORMAT),
        ("numpy/X.npy", npy::FORMAT),
        ("numpy/covariances.npz", npz::FORMAT),
    ] {
        let bytes = common::bytes(file);
        let mut source = Source::from_bytes("renamed.fif", &bytes);
        assert_eq!(detect(&mut source).unwrap(), format, "{file}");
    }
}

#[test]
fn known_formats_are_refused_with_their_conversion() {
    for (name, bytes, kind, remedy) in [
        (
            "a.cnt",
            &b"Version 3.0\0\0"[..],
            "Neuroscan CNT",
            "BrainVision",
        ),
        ("a.cnt", b"RIFF\0\0\0\0CNT ", "ANT Neuro CNT", "export it"),
        (
            "a.cnt",
            b"RF64\0\0\0\0\0\0\0\0CNT ",
            "ANT Neuro CNT",
            "export it",
        ),
        ("a.fdt", b"\0\0\0\0", "EEGLAB data", ".set"),
        ("a.eeg", b"\0\0\0\0", "BrainVision data", ".vhdr"),
        ("a.mat", b"\0\0\0\0\x01", "MATLAB 4", "scipy.io.savemat"),
    ] {
        let error = read_from(Source::from_bytes(name, bytes)).unwrap_err();
        assert!(
            matches!(error, FormatError::Unsupported { .. }),
            "{error:?}"
        );
        let message = error.to_string();
        assert!(
            message.contains(kind)
                && message.contains(remedy)
                && message.starts_with(name)
                && !message.contains(" a E"),
            "{message}"
        );
    }
}

#[test]
fn unknown_content_is_refused() {
    for bytes in [&b""[..], b"hello, world", b"\0"] {
        let error = read_from(Source::from_bytes("thing", bytes)).unwrap_err();
        assert!(
            matches!(error, FormatError::Malformed { offset: 0, .. }),
            "{error:?}"
        );
    }
    assert!(matches!(
        read("no/such/file.edf"),
        Err(FormatError::Io { .. })
    ));
    assert!(matches!(
        read(common::path("edf")),
        Err(FormatError::Invalid { .. } | FormatError::Io { .. })
    ));
}

#[test]
fn any_stream_will_do() {
    let bytes = common::bytes("edf/plus.edf");
    let stream = std::io::BufReader::new(std::io::Cursor::new(bytes.clone()));
    let from_stream = read_from(Source::from_reader("stream", stream).unwrap()).unwrap();
    assert_eq!(
        from_stream,
        read_from(Source::from_bytes("bytes", &bytes)).unwrap()
    );
    assert_eq!(from_stream, read(common::path("edf/plus.edf")).unwrap());
}
