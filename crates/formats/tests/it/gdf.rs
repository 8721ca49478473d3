//! GDF 1 and 2 written byte by byte after the published layout, against MNE's view.

use crate::common;
use stiefel_formats::{ChannelKind, FormatError};
use stiefel_formats::{ReadOptions, Source, read, read_from, read_with};

#[test]
fn files_match_mne() {
    for name in [
        "gdf/v125.gdf",
        "gdf/v120.gdf",
        "gdf/v211.gdf",
        "gdf/v220.gdf",
    ] {
        let recording = read(common::path(name)).unwrap().into_recording().unwrap();
        common::assert_recording(&recording, name);
        assert!(
            recording.channels().iter().all(|c| c.unit == "µV") && recording.notes().is_empty()
        );
        assert_eq!(
            read(common::path(name)).unwrap().into_recordings().unwrap(),
            [recording]
        );
    }
    let kinds = read(common::path("gdf/v125.gdf"))
        .unwrap()
        .into_recording()
        .unwrap();
    assert_eq!(kinds.channels()[2].kind, ChannelKind::Eog);
}

#[test]
fn every_type_and_unit_in_one_file() {
    let recording = read(common::path("gdf/mixed.gdf"))
        .unwrap()
        .into_recording()
        .unwrap();
    common::assert_recording(&recording, "gdf/mixed.gdf");
    assert_eq!(
        recording.notes(),
        ["channel slow has 50 samples per second and was left out of a recording at 100 Hz"]
    );
}

#[test]
fn a_file_without_event_table_has_no_events() {
    let bytes = common::bytes("gdf/v125.gdf");
    let table = 256 * 4 + 4 * 25 * 3 * 2;
    let recording = read_from(Source::from_bytes("bare.gdf", &bytes[..table])).unwrap();
    assert!(recording.into_recordings().unwrap()[0].events().is_empty());
    let partial = ReadOptions {
        partial: true,
        ..ReadOptions::default()
    };
    let cut = read_with(Source::from_bytes("cut.gdf", &bytes[..table - 1]), &partial).unwrap();
    assert_eq!(cut.into_recording().unwrap().samples(), 75);
}

#[test]
fn bad_headers_say_where_and_what() {
    let good = common::bytes("gdf/v220.gdf");
    let table = good.len() - (8 + 4 * 12);
    for (offset, bytes, reason) in [
        (0, &b"GDF 9.00"[..], "expected GDF 1 or 2"),
        (252, &[0, 0], "no channels"),
        (184, &[1, 0], "need a header of 768 bytes"),
        (184, &[255, 255], "need a header of 768 bytes"),
        (244, &[0; 8], "a record lasts 0/0 s"),
        (236, &[5, 0, 0, 0, 0, 0, 0, 0], "ends too early"),
        (256 + 220 * 2, &[99, 0, 0, 0], "unknown type 99"),
        (table, &[7], "has mode 7"),
        (table + 1, &[255, 255, 255], "the positions of events"),
    ] {
        let mut bad = good.clone();
        bad[offset..offset + bytes.len()].copy_from_slice(bytes);
        let error = read_from(Source::from_bytes("bad.gdf", &bad)).unwrap_err();
        assert!(matches!(error, FormatError::Malformed { .. }));
        assert!(
            error.to_string().contains(reason),
            "{error} should contain {reason}"
        );
    }
}
