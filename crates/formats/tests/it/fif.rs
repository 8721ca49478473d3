//! FIF as MNE writes and reads it.

use crate::common;
use stiefel_formats::ChannelKind::{Eeg, Eog, Stim};
use stiefel_formats::Recording;
use stiefel_formats::{ReadOptions, Source, read, read_with};

fn recordings(name: &str) -> Vec<Recording> {
    let path = common::path(&format!("fif/{name}"));
    read(path).unwrap().into_recordings().unwrap()
}

#[test]
fn raw_of_every_type_is_what_mne_reads() {
    for name in [
        "single_raw.fif",
        "double_raw.fif",
        "int_raw.fif",
        "short_raw.fif",
        "packed_raw.fif.gz",
        "split_raw.fif",
    ] {
        let all = recordings(name);
        assert_eq!(all.len(), 1, "{name}");
        common::assert_recording(&all[0], &format!("fif/{name}"));
        let kinds: Vec<_> = all[0].channels().iter().map(|c| c.kind).collect();
        assert_eq!(kinds, [Eeg, Eeg, Eeg, Eog, Stim]);
        let started = common::json(&format!("fif/{name}.json"))["started"].as_f64();
        assert_eq!(all[0].started(), started, "{name}");
        let notes = all[0].notes().join("\n");
        assert!(
            notes.contains("marks channels as bad, which are read all the same: Cz"),
            "{notes}"
        );
        assert!(
            notes.contains("3 events were read from the marker channel STI 014"),
            "{notes}"
        );
    }
}

#[test]
fn a_skip_parts_the_recording() {
    let all = recordings("skip_raw.fif");
    assert_eq!(
        all.iter().map(Recording::samples).collect::<Vec<_>>(),
        [128, 64]
    );
    let mne = common::npy("fif/skip_raw.fif.npy");
    for c in 0..5 {
        let row = &mne[c * 256..(c + 1) * 256];
        common::assert_close(all[0].channel(c), &row[..128], 1e-12);
        common::assert_close(all[1].channel(c), &row[192..], 1e-12);
    }
    assert!(all[1].notes()[0].contains("stretch 2 of 2"));
    let gap = all[1].started().unwrap() - all[0].started().unwrap();
    assert!((gap - 3.0).abs() < 1e-6);
}

#[test]
fn epochs_have_the_names_of_their_events() {
    for name in ["single-epo.fif", "double-epo.fif"] {
        let path = common::path(&format!("fif/{name}"));
        let epochs = read(path).unwrap().into_epochs().unwrap();
        let meta = common::json(&format!("fif/{name}.json"));
        let labels: Vec<_> = epochs.trials().iter().map(|t| t.label.clone()).collect();
        assert_eq!(labels, common::strings(&meta["labels"]));
        assert_eq!(epochs.sampling_rate(), 64.0);
        common::assert_close(
            epochs.data(),
            &common::npy(&format!("fif/{name}.npy")),
            1e-9,
        );
        assert!(
            epochs
                .notes()
                .iter()
                .any(|n| n.contains("start -0.25 s from their events"))
        );
    }
}

#[test]
fn what_is_neither_says_what_it_is() {
    for (name, kind) in [
        ("only-eve.fif", "FIF of events alone"),
        ("only-annot.fif", "FIF of annotations alone"),
    ] {
        let error = read(common::path(&format!("fif/{name}")))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(kind) && error.contains("_raw.fif"),
            "{error}"
        );
    }
}

#[test]
fn a_missing_part_is_an_error_unless_a_part_is_wanted() {
    let bytes = common::bytes("fif/split_raw.fif");
    let source = || Source::from_bytes("split_raw.fif", &bytes);
    let error = read_with(source(), &ReadOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("part 2 of this recording, split_raw-1.fif"),
        "{error}"
    );
    let options = ReadOptions {
        partial: true,
        ..ReadOptions::default()
    };
    let all = read_with(source(), &options)
        .unwrap()
        .into_recordings()
        .unwrap();
    assert_eq!(all[0].samples(), 120);
    assert!(all[0].notes().iter().any(|n| n.contains("left out")));
}

#[test]
fn a_cut_file_is_refused_or_its_whole_buffers_are_kept() {
    let bytes = common::bytes("fif/single_raw.fif");
    let cut = &bytes[..bytes.len() - 600];
    let options = |partial| ReadOptions {
        partial,
        ..ReadOptions::default()
    };
    let error = read_with(Source::from_bytes("cut.fif", cut), &options(false)).unwrap_err();
    assert!(error.to_string().contains("partial"), "{error}");
    let all = read_with(Source::from_bytes("cut.fif", cut), &options(true));
    let all = all.unwrap().into_recordings().unwrap();
    let whole = recordings("single_raw.fif");
    let n = all[0].samples();
    assert!(n > 0 && n < 240, "{n}");
    assert_eq!(all[0].channel(0), &whole[0].channel(0)[..n]);
}
