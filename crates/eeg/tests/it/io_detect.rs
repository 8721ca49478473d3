//! Formats are told by content, and what is not read says how to convert it.

use crate::common;
use stiefel_eeg::EegError;
use stiefel_eeg::io::{Source, brainvision, detect, edf, gdf, mat, npy, npz, read, read_from};

#[test]
fn content_decides_whatever_the_name() {
    for (file, format) in [
        ("edf/plain.edf", edf::FORMAT),
        ("edf/status.bdf", edf::FORMAT),
        ("gdf/v125.gdf", gdf::FORMAT),
        ("brainvision/int16.vhdr", brainvision::FORMAT),
        ("matlab/bnci.mat", mat::FORMAT),
        ("matlab/bnci_big_endian.mat", mat::FORMAT),
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
    let mut matlab73 = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".to_vec();
    matlab73.resize(512, b' ');
    matlab73.extend(b"\x89HDF\r\n\x1a\n");
    let hdf5 = b"\x89HDF\r\n\x1a\n";
    for (name, bytes, kind, remedy) in [
        (
            "a_raw.fif",
            &b"\0\0\0\x64\0\0\0\x1f\0\0\0\x14\0\0\0\0"[..],
            "FIF",
            "mne.io.read_raw_fif(\"a_raw.fif\"",
        ),
        ("a.set", hdf5, "EEGLAB", "read_raw_eeglab(\"a.set\""),
        ("a.set", &matlab73, "EEGLAB", "read_raw_eeglab"),
        ("a.mat", &matlab73, "MATLAB 7.3", "'-v7'"),
        ("a.h5", hdf5, "HDF5", "np.savez"),
        ("a.xdf", b"XDF:\x00\x00", "XDF", "pyxdf"),
        ("a.cnt", b"Version 3.0\0\0", "Neuroscan CNT", "read_raw_cnt"),
        (
            "a.cnt",
            b"RIFF\0\0\0\0CNT ",
            "ANT Neuro CNT",
            "read_raw_ant",
        ),
        ("a.edf.gz", b"\x1f\x8b\x08", "gzip", "gunzip"),
        ("a.fdt", b"\0\0\0\0", "EEGLAB data", ".set"),
        ("a.mat", b"\0\0\0\0\x01", "MATLAB 4", "'-v7'"),
    ] {
        let error = read_from(Source::from_bytes(name, bytes)).unwrap_err();
        assert!(matches!(error, EegError::Unsupported { .. }), "{error:?}");
        let message = error.to_string();
        assert!(
            message.contains(kind) && message.contains(remedy) && message.starts_with(name),
            "{message}"
        );
    }
}

#[test]
fn unknown_content_is_refused() {
    for bytes in [&b""[..], b"hello, world", b"\0"] {
        let error = read_from(Source::from_bytes("thing", bytes)).unwrap_err();
        assert!(
            matches!(error, EegError::Malformed { offset: 0, .. }),
            "{error:?}"
        );
    }
    assert!(matches!(read("no/such/file.edf"), Err(EegError::Io { .. })));
    assert!(matches!(
        read(common::path("edf")),
        Err(EegError::Invalid { .. } | EegError::Io { .. })
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
