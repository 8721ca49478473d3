//! What real folders showed: each of these was refused, dropped or read wrongly once.

use crate::common;
use stiefel_formats::{ChannelKind, Recording, Result};
use stiefel_formats::{Content, MarkerRule, ReadOptions, Source, read, read_with};

fn one(name: &str) -> Recording {
    read(common::path(name))
        .unwrap()
        .into_recordings()
        .unwrap()
        .remove(0)
}

fn marks(recording: &Recording) -> Vec<(usize, &str)> {
    let events = recording.events().iter();
    events.map(|e| (e.sample, e.label.as_str())).collect()
}

#[test]
fn a_marker_channel_of_an_edf_file_has_events() {
    let read = one("edf/trigger.edf");
    common::assert_recording(&read, "edf/trigger.edf");
    let line = read.channels().last().unwrap();
    assert_eq!((line.kind, line.unit.as_str()), (ChannelKind::Stim, ""));
    assert!(read.notes()[0].contains("4 events were read from the marker channel TRIGGER"));
    let options = ReadOptions {
        markers: MarkerRule {
            read: false,
            ..MarkerRule::default()
        },
        ..ReadOptions::default()
    };
    let source = Source::open(common::path("edf/trigger.edf")).unwrap();
    let quiet = read_with(source, &options)
        .unwrap()
        .into_recordings()
        .unwrap();
    assert!(quiet[0].events().is_empty() && quiet[0].notes().is_empty());
}

#[test]
fn annotations_alone_are_a_recording_without_channels() {
    let read = one("edf/annotations.edf");
    assert!(read.channels().is_empty());
    let onsets: Vec<_> = read
        .events()
        .iter()
        .map(|e| (e.onset, e.label.as_str()))
        .collect();
    assert_eq!(onsets, [(0.0, "start"), (1.5, "left"), (7.25, "right")]);
    // Not that they lie behind a signal of no samples.
    assert_eq!(read.notes(), ["the file holds 3 annotations and no signal"]);
}

#[test]
fn the_start_of_a_recording_is_kept() {
    // Startdate and the fraction of a second of the first record, as the fixture's script has them.
    let edf = one("edf/plus.edf");
    let second = edf.started().unwrap() % 86_400.0;
    assert!(
        (second - (11.0 * 3600.0 + 12.0 * 60.0 + 13.25)).abs() < 1e-6,
        "{second}"
    );
}

/// A BrainVision header with its siblings.
fn brainvision(header: &str, siblings: &[(&str, &str)], name: &str) -> Result<Recording> {
    let mut source = Source::from_bytes(name, header.as_bytes());
    for (name, text) in siblings {
        source = source.with_sibling(*name, text.as_bytes());
    }
    match read_with(source, &ReadOptions::default())? {
        Content::Recordings(mut all) => Ok(all.remove(0)),
        Content::Epochs(_) => panic!("epochs"),
    }
}

const HEADER: &str = concat!(
    "Brain Vision Data Exchange Header File Version 1.0\n",
    "[Common Infos]\nDataFile=a.dat\nMarkerFile=a.vmrk\nDataFormat=ASCII\n",
    "DataOrientation=MULTIPLEXED\nNumberOfChannels=2\nSamplingInterval=4000\n",
    "[ASCII Infos]\nDecimalSymbol=,\nSkipLines=1\nSkipColumns=0\n",
    "[Channel Infos]\nCh1=C3,,0.5,µV\nCh2=C4,,1,n/a\n",
);
const MARKERS: &str = "Brain Vision Data Exchange Marker File, Version 1.0\n[Marker \
                       Infos]\nMk1=New Segment,,1,1,0,20131113161403794232\nMk2=Stimulus,S  \
                       1,2,1,0\n";

#[test]
fn brainvision_as_text_and_without_its_markers() {
    let data = "C3 C4\n1,5 2\n-3 4,25\n5 6\n";
    let read = brainvision(HEADER, &[("a.dat", data), ("a.vmrk", MARKERS)], "a.vhdr").unwrap();
    assert_eq!(read.data(), [0.75, -1.5, 2.5, 2.0, 4.25, 6.0]);
    assert_eq!(marks(&read), [(0, "New Segment"), (1, "S  1")]);
    assert_eq!(
        read.channels()[1].kind,
        ChannelKind::Eeg,
        "a unit n/a says nothing"
    );
    // date -u -d '2013-11-13 16:14:03' +%s
    assert!((read.started().unwrap() - 1_384_359_243.794_232).abs() < 1e-5);
    // Channel by channel, names in the first column.
    let vectorized = HEADER
        .replace("MULTIPLEXED", "VECTORIZED")
        .replace("SkipLines=1", "SkipLines=0")
        .replace("SkipColumns=0", "SkipColumns=1");
    let rows = "C3 1,5 -3 5\nC4 2 4,25 6\n";
    let again = brainvision(
        &vectorized,
        &[("a.dat", rows), ("a.vmrk", MARKERS)],
        "a.ahdr",
    )
    .unwrap();
    assert_eq!(again.data(), read.data());
    let silent = brainvision(HEADER, &[("a.dat", data)], "a.vhdr").unwrap();
    assert!(silent.events().is_empty());
    assert!(silent.notes()[0].contains("marker file \"a.vmrk\" is not beside the header"));
    for (text, reason) in [
        ("C3 C4\n1 2\n3\n", "2 lines of 2 numbers"),
        ("C3 C4\n1 two\n", "line 2 should hold numbers"),
    ] {
        let error = brainvision(HEADER, &[("a.dat", text)], "a.vhdr")
            .unwrap_err()
            .to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn only_the_wanted_channels_are_decoded() {
    for (name, wanted) in [
        ("edf/status.bdf", "C3"),
        ("brainvision/int16.vhdr", ""),
        ("brainvision/vectorized.vhdr", ""),
        ("fif/single_raw.fif", "C4"),
    ] {
        let whole = one(name);
        let first = whole.channels()[1].name.clone();
        let wanted = if wanted.is_empty() {
            first
        } else {
            wanted.to_string()
        };
        let open = |names: Vec<String>| {
            let options = ReadOptions {
                channels: Some(names),
                ..ReadOptions::default()
            };
            let source = Source::open(common::path(name)).unwrap();
            read_with(source, &options)
                .unwrap()
                .into_recordings()
                .unwrap()
                .remove(0)
        };
        let part = open(vec![wanted.clone()]);
        let place = whole
            .channels()
            .iter()
            .position(|c| c.name == wanted)
            .unwrap();
        assert_eq!(part.channels()[0].name, wanted, "{name}");
        assert_eq!(part.channel(0), whole.channel(place), "{name}");
        // Marker channels come along: events are the same.
        let markers = part.channels()[1..].iter();
        assert!(
            markers.map(|c| c.kind).all(|k| k == ChannelKind::Stim),
            "{name}"
        );
        assert_eq!(part.events(), whole.events(), "{name}");
        // A name that is not there is for whoever picks to complain about, with all names at hand.
        assert_eq!(
            open(vec![wanted, "nowhere".into()]).channels(),
            whole.channels()
        );
    }
}
