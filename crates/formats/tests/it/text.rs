//! CSV, OpenBCI, BCI2000 and BIDS.

use crate::common;
use stiefel_formats::ChannelKind::{Eeg, Eog, Misc, Stim};
use stiefel_formats::{ReadOptions, Source, read, read_with};
use stiefel_formats::{Recording, Result};

fn one(name: &str) -> Recording {
    let mut all = read(common::path(name)).unwrap().into_recordings().unwrap();
    assert_eq!(all.len(), 1, "{name}");
    all.remove(0)
}

fn of_text(name: &str, text: &str, rate: Option<f64>) -> Result<Recording> {
    let options = ReadOptions {
        sampling_rate: rate,
        ..ReadOptions::default()
    };
    let content = read_with(Source::from_bytes(name, text.as_bytes()), &options)?;
    Ok(content.into_recordings()?.remove(0))
}

fn marks(recording: &Recording) -> Vec<(usize, &str)> {
    let events = recording.events().iter();
    events.map(|e| (e.sample, e.label.as_str())).collect()
}

#[test]
fn csv_with_a_time_column_and_codes() {
    let read = one("csv/comma.csv");
    assert_eq!(read.sampling_rate(), 128.0);
    let names: Vec<_> = read.channels().iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["C3", "Cz", "C4", "Marker"]);
    common::assert_close(&read.data()[..180], &common::npy("csv/signal.npy"), 1e-9);
    assert_eq!(read.channels()[3].kind, Stim);
    assert_eq!(marks(&read), [(10, "5"), (30, "7")]);
}

#[test]
fn semicolons_decimal_commas_and_words() {
    let text = String::from_utf8(common::bytes("csv/semicolon.csv")).unwrap();
    let read = of_text("a.csv", &text, Some(100.0)).unwrap();
    assert_eq!(read.sampling_rate(), 100.0);
    common::assert_close(read.data(), &common::npy("csv/signal.npy"), 1e-12);
    assert_eq!(marks(&read), [(10, "left"), (30, "right, both")]);
    let error = of_text("a.csv", &text, None).unwrap_err().to_string();
    assert!(error.contains("the option `sampling_rate`"), "{error}");
}

#[test]
fn openbci_files_tell_their_rate() {
    let read = one("csv/openbci.txt");
    assert_eq!(read.sampling_rate(), 250.0);
    let kinds: Vec<_> = read.channels().iter().map(|c| c.kind).collect();
    assert_eq!(kinds, [Eeg, Eeg, Eeg, Misc, Stim]);
    common::assert_close(&read.data()[..180], &common::npy("csv/signal.npy"), 1e-12);
    assert_eq!(marks(&read), [(10, "5"), (30, "7")]);
}

#[test]
fn bad_text_says_where() {
    for (text, reason) in [
        (
            "C3,Cz\n1,2\n1,x\n",
            "line 3, column Cz: expected a number, found \"x\"",
        ),
        ("1,2\n3,4\n", "the first line holds numbers"),
        ("time,marker\n0,1\n", "columns of signal"),
        ("C3,Cz\n", "0 rows"),
        ("C3,Cz\n1\n", "line 2, column Cz"),
    ] {
        let error = of_text("a.csv", text, Some(10.0)).unwrap_err().to_string();
        assert!(error.contains(reason) && error.contains("a.csv"), "{error}");
    }
    let jumps = of_text("a.csv", "t,C3\n0,1\n0.1,1\n0.2,1\n0.9,1\n1.0,2\n", None).unwrap();
    assert!(jumps.notes()[0].contains("jumps at 1 of 4 steps"));
    assert!((jumps.sampling_rate() - 10.0).abs() < 1e-9);
}

#[test]
fn bci2000_with_states_as_events() {
    for name in ["int16.dat", "float32.dat"] {
        let read = one(&format!("bci2000/{name}"));
        assert_eq!(read.sampling_rate(), 160.0);
        common::assert_close(read.data(), &common::npy("bci2000/signal.npy"), 1e-12);
        assert_eq!(read.channels()[1].name, "C z");
        let events = [
            (5, "StimulusCode:7"),
            (20, "TargetCode:2"),
            (45, "TargetCode:1"),
        ];
        assert_eq!(marks(&read), events);
    }
    let bytes = common::bytes("bci2000/int16.dat");
    let cut = Source::from_bytes("cut.dat", &bytes[..bytes.len() - 3]);
    let error = read_with(cut, &ReadOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("59 samples of 10 bytes are complete"),
        "{error}"
    );
}

#[test]
fn bids_tables_tell_events_kinds_and_bad_channels() {
    let expected = common::json("bids/expected.json");
    for (file, name) in [
        ("bids/sub-01/eeg/", "sub-01_task-mi_run-1_eeg.vhdr"),
        ("bids/sub-02/eeg/", "sub-02_task-mi_run-1_eeg.edf"),
    ] {
        let read = one(&format!("{file}{name}"));
        let meta = &expected[name];
        let wanted = common::events(&meta["events"]);
        let wanted: Vec<_> = wanted
            .iter()
            .map(|e| (e.sample, e.label.as_str()))
            .collect();
        assert_eq!(marks(&read), wanted, "{name}");
        let want = common::npy(&format!("bids/{name}.npy"));
        common::assert_close(&read.data()[..4 * 192], &want[..4 * 192], 1e-9);
        let kinds: Vec<_> = read.channels().iter().map(|c| c.kind).collect();
        assert_eq!(kinds, [Eeg, Eeg, Eeg, Eog, Stim]);
        let notes = read.notes().join("\n");
        assert!(
            notes.contains("bad, which are read all the same: Cz"),
            "{notes}"
        );
        assert!(notes.contains("3 events were read from sub-0"), "{notes}");
        // Channels that were not asked for are there all the same.
        let options = ReadOptions {
            channels: Some(vec!["C3".into()]),
            ..ReadOptions::default()
        };
        let source = Source::open(common::path(&format!("{file}{name}"))).unwrap();
        let part = read_with(source, &options).unwrap().into_recordings();
        let notes = part.unwrap()[0].notes().join("\n");
        assert!(!notes.contains("does not have"), "{notes}");
    }
}

/// EEGMMIDB fills its names with dots, which its recordings have not in memory and tables of BIDS
/// made from them have.
#[test]
fn bids_tables_know_channels_whose_names_are_filled_with_dots() {
    let folder = std::env::temp_dir().join(format!("stiefel-dots-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let from = common::path("bids/sub-02/eeg");
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        if name.to_string_lossy().ends_with("_channels.tsv") {
            let text = String::from_utf8(bytes).unwrap();
            bytes = text.replace("Cz\t", "Cz..\t").into_bytes();
        }
        std::fs::write(folder.join(name), bytes).unwrap();
    }
    let file = folder.join("sub-02_task-mi_run-1_eeg.edf");
    let read = stiefel_formats::read(file)
        .unwrap()
        .into_recordings()
        .unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let notes = read[0].notes().join("\n");
    assert!(!notes.contains("does not have"), "{notes}");
    assert!(
        notes.contains("bad, which are read all the same: Cz"),
        "{notes}"
    );
}
