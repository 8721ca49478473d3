//! EDF, EDF+, BDF and BDF+ written by edfio, against MNE's view of them.

use crate::common;
use stiefel_formats::{ChannelKind, FormatError, Recording};
use stiefel_formats::{ReadOptions, Source, read, read_with};

fn options(partial: bool) -> ReadOptions {
    ReadOptions {
        partial,
        ..ReadOptions::default()
    }
}

#[test]
fn files_without_gaps_match_mne() {
    for name in [
        "edf/plain.edf",
        "edf/plus.edf",
        "edf/two.edf",
        "edf/status.bdf",
        "edf/plus.bdf",
    ] {
        let recording = read(common::path(name)).unwrap().into_recording().unwrap();
        common::assert_recording(&recording, name);
        assert_eq!(recording.channels()[2].name, "Fc5");
        assert!(recording.channels()[..4].iter().all(|c| c.unit == "µV"));
        let from_registry = read(common::path(name)).unwrap().into_recordings().unwrap();
        assert_eq!(from_registry, [recording]);
    }
}

#[test]
fn a_channel_of_another_rate_is_left_out_and_noted() {
    let recording = read(common::path("edf/plus.edf"))
        .unwrap()
        .into_recording()
        .unwrap();
    assert_eq!(
        recording.notes(),
        [
            "channel Resp oro-nasal has 16 samples per second and was left out of a recording at \
             64 Hz"
        ]
    );
    assert_eq!(recording.channels()[3].kind, ChannelKind::Eog);
}

#[test]
fn a_file_with_gaps_gives_its_stretches() {
    let path = common::path("edf/gaps.edf");
    let parts = read(&path).unwrap().into_recordings().unwrap();
    let want = common::npy("edf/gaps.edf.npy");
    assert_eq!(
        parts.iter().map(Recording::samples).collect::<Vec<_>>(),
        [128, 64]
    );
    for c in 0..4 {
        common::assert_close(parts[0].channel(c), &want[c * 192..c * 192 + 128], 1e-12);
        common::assert_close(
            parts[1].channel(c),
            &want[c * 192 + 128..(c + 1) * 192],
            1e-12,
        );
    }
    let events = |i: usize| {
        parts[i]
            .events()
            .iter()
            .map(|e| (e.label.clone(), e.sample))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        events(0),
        [("start".into(), 0), ("T1".into(), 32), ("T2".into(), 95)]
    );
    assert_eq!(events(1), [("T1".into(), 32)]);
    assert!(
        parts[0]
            .notes()
            .iter()
            .any(|n| n.contains("1 events lie outside") && n.contains("lost"))
    );
    assert!(matches!(
        read(&path).unwrap().into_recording(),
        Err(FormatError::Invalid { .. })
    ));
}

#[test]
fn a_truncated_file_is_refused_or_kept_in_part_on_request() {
    let bytes = common::bytes("edf/plain.edf");
    let cut = &bytes[..bytes.len() - 1];
    let error = read_with(Source::from_bytes("cut.edf", cut), &options(false)).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with(&format!("cut.edf: at byte {}: ", cut.len())),
        "{error}"
    );
    let content = read_with(Source::from_bytes("cut.edf", cut), &options(true)).unwrap();
    let recording = content.into_recording().unwrap();
    assert_eq!(recording.samples(), 128);
    assert!(
        recording.notes()[0].contains("announces 3 records"),
        "{:?}",
        recording.notes()
    );
}

#[test]
fn an_unknown_number_of_records_is_counted() {
    let mut bytes = common::bytes("edf/plain.edf");
    bytes[236..244].copy_from_slice(b"-1      ");
    let content = read_with(Source::from_bytes("live.edf", &bytes), &options(false)).unwrap();
    // Three records of one second.
    assert_eq!(content.into_recording().unwrap().samples(), 3 * 64);
}

#[test]
fn bad_headers_say_where_and_what() {
    let good = common::bytes("edf/plain.edf");
    for (offset, text, reason) in [
        (252, &b"0   "[..], "no signals"),
        (252, b"x   ", "should be a number"),
        (184, b"999     ", "need a header of 1280 bytes"),
        (244, b"-1      ", "lasts -1 s"),
        (244, b"0       ", "lasts 0 s"),
        (236, b"99999999", "ends too early"),
        (236, b"nonsense", "should be a number"),
        (256 + 4 * 104, b"inf     ", "physical minimum is inf"),
    ] {
        let mut bytes = good.clone();
        bytes[offset..offset + text.len()].copy_from_slice(text);
        let error = read_with(Source::from_bytes("bad.edf", &bytes), &options(false)).unwrap_err();
        assert!(matches!(error, FormatError::Malformed { .. }));
        assert!(
            error.to_string().contains(reason),
            "{error} should contain {reason}"
        );
    }
}

#[test]
fn an_empty_range_leaves_the_channel_out() {
    let mut bytes = common::bytes("edf/plain.edf");
    let field = 256 + 4 * 104;
    let minimum = bytes[field..field + 8].to_vec();
    bytes[256 + 4 * 112..][..8].copy_from_slice(&minimum);
    let content = read_with(Source::from_bytes("flat.edf", &bytes), &options(false)).unwrap();
    let recording = content.into_recording().unwrap();
    assert_eq!(recording.channels().len(), 3);
    assert!(
        recording.notes()[0].contains("is empty"),
        "{:?}",
        recording.notes()
    );
}
