//! MATLAB 5 written by SciPy: BNCI and Weibo layouts, what is refused.

use crate::common;
use std::io::Read;

use flate2::Compression;
use flate2::read::{ZlibDecoder, ZlibEncoder};
use stiefel_formats::{ChannelKind, FormatError, Recording};
use stiefel_formats::{Limits, ReadOptions, Source, read, read_with};

fn runs(name: &str) -> Vec<Recording> {
    read(common::path(&format!("matlab/{name}")))
        .unwrap()
        .into_recordings()
        .unwrap()
}

fn labels(recording: &Recording) -> Vec<(usize, &str)> {
    recording
        .events()
        .iter()
        .map(|e| (e.sample, e.label.as_str()))
        .collect()
}

#[test]
fn bnci_runs_become_recordings() {
    let want = common::npy("matlab/bnci_X.npy");
    for name in ["bnci.mat", "bnci_compressed.mat", "bnci_big_endian.mat"] {
        let runs = runs(name);
        assert_eq!(runs.len(), 2, "{name}");
        assert_eq!(runs[0].data(), &want[..360], "{name}");
        assert_eq!(runs[1].data(), &want[360..], "{name}");
        assert_eq!(runs[1].sampling_rate(), 250.0);
        assert!(runs[0].events().is_empty());
        assert_eq!(
            labels(&runs[1]),
            [(0, "right hand"), (20, "left hand"), (40, "right hand")]
        );
        let names: Vec<_> = runs[1].channels().iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["C3", "Cz", "C4", "EOG1", "EOG2", "EOG3"]);
        assert_eq!(runs[1].channels()[3].kind, ChannelKind::Eog);
        assert!(runs[1].notes()[0].contains("004-2014"));
    }
}

#[test]
fn one_struct_of_small_integers() {
    let runs = runs("bnci_struct.mat");
    let want: Vec<f64> = common::npy("matlab/bnci_X.npy")[360..]
        .iter()
        .map(|v| v.round_ties_even())
        .collect();
    assert_eq!((runs.len(), runs[0].data()), (1, want.as_slice()));
    // The last trial starts exactly at the end: it is kept, and no window can be cut for it.
    assert_eq!(labels(&runs[0]), [(4, "feet"), (59, "hands"), (60, "feet")]);
    assert_eq!(runs[0].channels()[5].name, "P4");
    assert!(
        runs[0].notes()[0].contains("1 events lie after the 60 samples"),
        "{:?}",
        runs[0].notes()
    );
}

#[test]
fn weibo_trials_become_epochs() {
    for name in ["weibo", "weibo_compressed"] {
        let epochs = read(common::path(&format!("matlab/{name}.mat")))
            .unwrap()
            .into_epochs()
            .unwrap();
        assert_eq!(epochs.data(), common::npy("matlab/weibo_X.npy"));
        assert_eq!((epochs.samples(), epochs.sampling_rate()), (8, 200.0));
        let labels: Vec<_> = epochs.trials().iter().map(|t| t.label.as_str()).collect();
        assert_eq!(labels, ["left_hand", "feet", "rest", "right_hand", "9"]);
        assert!(epochs.trials().iter().all(|t| t.domain == name));
        let kind = |i: usize| {
            (
                epochs.channels()[i].name.as_str(),
                epochs.channels()[i].kind,
            )
        };
        assert_eq!(kind(27), ("Cz", ChannelKind::Eeg));
        assert_eq!(kind(57), ("CB1", ChannelKind::Misc));
        assert_eq!(kind(62), ("VEO", ChannelKind::Eog));
    }
}

/// MOABB switches SciPy's check of the length off for Weibo 2014.
#[test]
fn bytes_after_a_compressed_variable_are_passed_over() {
    let bytes = common::bytes("matlab/weibo_compressed.mat");
    let (mut longer, mut at) = (bytes[..128].to_vec(), 128);
    while at < bytes.len() {
        let len = u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap()) as usize;
        let mut content = Vec::new();
        ZlibDecoder::new(&bytes[at + 8..at + 8 + len])
            .read_to_end(&mut content)
            .unwrap();
        content.extend([0; 24]);
        let mut packed = Vec::new();
        ZlibEncoder::new(content.as_slice(), Compression::default())
            .read_to_end(&mut packed)
            .unwrap();
        longer.extend(&bytes[at..at + 4]);
        longer.extend((packed.len() as u32).to_le_bytes());
        longer.extend(packed);
        at += 8 + len;
    }
    let epochs = read_with(
        Source::from_bytes("weibo.mat", &longer),
        &ReadOptions::default(),
    );
    let epochs = epochs.unwrap().into_epochs().unwrap();
    assert_eq!(epochs.data(), common::npy("matlab/weibo_X.npy"));
    assert_eq!(epochs.trials().len(), 5);
}

#[test]
fn what_cannot_be_read_says_why() {
    for (name, reason) in [
        (
            "eeglab.mat",
            "layout is not clear (EEG struct [1×1] (data [2×3], srate [1×1], chanlocs",
        ),
        (
            "other.mat",
            "the option `mat`, probably \"signal=signal,rate=rate,axis=channels\"",
        ),
        ("bad_run.mat", "run 1 of `data`: 1 trials have 0 labels"),
        ("no_rate.mat", "run 1 of `data`: fs should be one number"),
    ] {
        let error = read(common::path(&format!("matlab/{name}")))
            .unwrap_err()
            .to_string();
        assert!(error.contains(reason) && error.contains(name), "{error}");
    }
}

#[test]
fn expansion_stops_at_the_limit() {
    let options = ReadOptions {
        limits: Limits {
            max_expanded: 1000,
            ..Limits::default()
        },
        ..ReadOptions::default()
    };
    let error = read_with(
        Source::open(common::path("matlab/weibo_compressed.mat")).unwrap(),
        &options,
    )
    .unwrap_err();
    assert!(
        matches!(error, FormatError::Invalid { .. })
            && error.to_string().contains("raise this limit"),
        "{error}"
    );
}
