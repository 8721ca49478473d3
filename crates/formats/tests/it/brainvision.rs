//! BrainVision written by pybv, against MNE's view.

use crate::common;
use stiefel_formats::{ChannelKind, FormatError};
use stiefel_formats::{ReadOptions, Source, read, read_from, read_with};

#[test]
fn files_match_mne() {
    for name in ["int16", "float32", "vectorized"] {
        let recording = read(common::path(&format!("brainvision/{name}.vhdr")))
            .unwrap()
            .into_recording()
            .unwrap();
        common::assert_recording(&recording, &format!("brainvision/{name}"));
        let units: Vec<_> = recording
            .channels()
            .iter()
            .map(|c| c.unit.as_str())
            .collect();
        assert_eq!(units, ["µV", "µV", "µV", "C"]);
        assert_eq!(recording.channels()[2].kind, ChannelKind::Eog);
        assert_eq!(recording.channels()[3].kind, ChannelKind::Misc);
    }
}

/// Opens a changed header with the data of `int16`.
fn with_header(
    change: impl Fn(String) -> String,
) -> stiefel_formats::Result<stiefel_formats::Recording> {
    let header = change(String::from_utf8(common::bytes("brainvision/int16.vhdr")).unwrap());
    let (eeg, vmrk) = (
        common::bytes("brainvision/int16.eeg"),
        common::bytes("brainvision/int16.vmrk"),
    );
    let source = Source::from_bytes("changed.vhdr", header.as_bytes())
        .with_sibling("int16.eeg", &eeg)
        .with_sibling("int16.vmrk", &vmrk);
    read_from(source).and_then(|content| Ok(content.into_recordings()?.remove(0)))
}

#[test]
fn a_header_without_unit_or_markers() {
    let whole = read(common::path("brainvision/int16.vhdr"))
        .unwrap()
        .into_recording()
        .unwrap();
    let plain = with_header(|h| {
        h.replace(",0.1,µV", ",0.1")
            .replace("MarkerFile=int16.vmrk\n", "")
    })
    .unwrap();
    assert_eq!(plain.data(), whole.data());
    assert!(plain.events().is_empty());
    let old = with_header(|h| {
        h.replace("Brain Vision", "BrainVision")
            .replace("NumberOf", "\r\nNUMBEROF")
    })
    .unwrap();
    assert_eq!(old, whole);
}

#[test]
fn a_header_cannot_point_outside_its_folder() {
    let whole = read(common::path("brainvision/int16.vhdr"))
        .unwrap()
        .into_recording()
        .unwrap();
    for folder in ["../../secret/", "C:\\secret\\", "/etc/"] {
        let moved =
            with_header(|h| h.replace("=int16.eeg", &format!("={folder}int16.eeg"))).unwrap();
        assert_eq!(moved, whole);
    }
}

#[test]
fn big_endian_data() {
    let whole = read(common::path("brainvision/int16.vhdr"))
        .unwrap()
        .into_recording()
        .unwrap();
    let header = String::from_utf8(common::bytes("brainvision/int16.vhdr")).unwrap();
    let header = header.replace("=INT_16", "=INT_16\nUseBigEndianOrder=YES");
    let mut eeg = common::bytes("brainvision/int16.eeg");
    eeg.chunks_exact_mut(2).for_each(<[u8]>::reverse);
    let vmrk = common::bytes("brainvision/int16.vmrk");
    let source = Source::from_bytes("big.vhdr", header.as_bytes())
        .with_sibling("int16.eeg", &eeg)
        .with_sibling("int16.vmrk", &vmrk);
    assert_eq!(
        read_from(source).unwrap().into_recordings().unwrap(),
        [whole]
    );
}

#[test]
fn bad_headers_say_where_and_what() {
    for (from, to, reason) in [
        ("INT_16", "INT_12", "it must be one of INT_16"),
        (
            "MULTIPLEXED\nN",
            "SIDEWAYS\nN",
            "it must be one of MULTIPLEXED",
        ),
        ("=BINARY", "=CLAY", "export it again"),
        ("=BINARY", "=ASCII", "should hold numbers"),
        (
            "NumberOfChannels=4",
            "NumberOfChannels=99999999999",
            "there is no ch5",
        ),
        (
            "NumberOfChannels=4",
            "NumberOfChannels=0",
            "there are no channels",
        ),
        (
            "NumberOfChannels=4",
            "NumberOfChannels=x",
            "expected a whole number",
        ),
        ("=4000.0", "=0", "sampling interval"),
        (",0.1,", ",ten,", "resolution of channel 1"),
        ("DataFile=int16.eeg", "DataFile=lost.eeg", "lost.eeg"),
        ("DataFile=int16.eeg", "", "there is no datafile"),
        ("NumberOf", "DataPoints=121\nNumberOf", "121 samples"),
    ] {
        let error = with_header(|h| h.replace(from, to))
            .unwrap_err()
            .to_string();
        assert!(error.contains(reason), "{to}: {error}");
    }
}

#[test]
fn truncated_data_are_refused_or_kept_in_part_on_request() {
    let (header, vmrk) = (
        common::bytes("brainvision/int16.vhdr"),
        common::bytes("brainvision/int16.vmrk"),
    );
    let eeg = common::bytes("brainvision/int16.eeg");
    let open = |partial: bool| {
        let source = Source::from_bytes("cut.vhdr", &header)
            .with_sibling("int16.eeg", &eeg[..801])
            .with_sibling("int16.vmrk", &vmrk);
        read_with(
            source,
            &ReadOptions {
                partial,
                ..ReadOptions::default()
            },
        )
    };
    assert!(matches!(
        open(false),
        Err(FormatError::Malformed { offset: 801, .. })
    ));
    let kept = open(true).unwrap().into_recordings().unwrap().remove(0);
    assert_eq!(
        (kept.samples(), kept.events().len(), kept.notes().len()),
        (100, 3, 2)
    );
}

#[test]
fn data_and_marker_files_point_to_the_header() {
    for name in ["brainvision/int16.eeg", "brainvision/int16.vmrk"] {
        let error = read(common::path(name)).unwrap_err();
        assert!(
            matches!(error, FormatError::Unsupported { .. }) && error.to_string().contains(".vhdr"),
            "{error}"
        );
    }
}
