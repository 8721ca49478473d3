//! `.npy` and `.npz` written by NumPy.

use crate::common;
use std::io::Cursor;

use proptest::prelude::*;
use stiefel_eeg::io::{
    Content, CovarianceSet, ReadOptions, Source, read, read_from, read_with, write_covariances_to,
};
use stiefel_eeg::{Channel, ChannelKind, EegError, TrialInfo};

fn trial(label: &str, domain: &str, run: Option<&str>) -> TrialInfo {
    TrialInfo {
        label: label.into(),
        domain: domain.into(),
        run: run.map(Into::into),
    }
}

fn at_250() -> ReadOptions {
    ReadOptions {
        sampling_rate: Some(250.0),
        ..ReadOptions::default()
    }
}

#[test]
fn epochs_with_all_tables() {
    let epochs = read(common::path("numpy/epochs.npz"))
        .unwrap()
        .into_epochs()
        .unwrap();
    assert_eq!(epochs.data(), common::npy("numpy/X.npy"));
    assert_eq!((epochs.sampling_rate(), epochs.samples()), (250.0, 10));
    let names: Vec<_> = epochs
        .channels()
        .iter()
        .map(|c| (c.name.as_str(), c.kind))
        .collect();
    assert_eq!(
        names,
        [
            ("C3", ChannelKind::Eeg),
            ("Cz", ChannelKind::Eeg),
            ("EOG1", ChannelKind::Eog)
        ]
    );
    let want = [
        trial("left_hand", "1", Some("0train/1")),
        trial("right_hand", "1", Some("0train/1")),
        trial("feet", "2", Some("1test/2")),
        trial("Füße", "2", Some("1test/2")),
        trial("feet", "2", Some("1test/3")),
        trial("", "13", Some("0train/3")),
    ];
    assert_eq!(epochs.trials(), want);
}

#[test]
fn big_endian_fortran_order_deflated() {
    let epochs = read(common::path("numpy/epochs_fortran.npz"))
        .unwrap()
        .into_epochs()
        .unwrap();
    assert_eq!(epochs.data(), common::npy("numpy/X.npy"));
    let pairs: Vec<_> = epochs
        .trials()
        .iter()
        .map(|t| (t.label.as_str(), t.domain.as_str()))
        .collect();
    assert_eq!(
        pairs,
        [
            ("1", "a"),
            ("2", "a"),
            ("3", "bb"),
            ("1", "bb"),
            ("2", "c"),
            ("3", "c")
        ]
    );
    assert_eq!(epochs.channels()[1].name, "EEG2");
}

#[test]
fn covariances_are_recognised_by_symmetry() {
    let set = read(common::path("numpy/covariances.npz"))
        .unwrap()
        .into_covariances()
        .unwrap();
    assert_eq!(set.data(), common::npy("numpy/C.npy"));
    assert_eq!((set.dimension(), set.sampling_rate()), (4, Some(160.0)));
    assert_eq!(set.trials()[3], trial("Füße", "1test", Some("2")));
    let single = read(common::path("numpy/covariances_f4.npz"))
        .unwrap()
        .into_covariances()
        .unwrap();
    common::assert_close(single.data(), set.data(), 1e-7);
    assert_eq!(single.trials()[0], trial("", "", None));
    assert!(matches!(
        read(common::path("numpy/C.npy")).unwrap(),
        Content::Covariances(_)
    ));
}

#[test]
fn every_type_of_number() {
    let want = common::npy("numpy/X.npy");
    for name in [
        "le_f4", "be_f4", "le_i2", "be_i2", "le_i4", "be_i4", "le_i8", "be_i8", "le_u1", "le_i1",
        "le_u2", "le_u4", "be_u8", "fortran", "version2",
    ] {
        let source = Source::open(common::path(&format!("numpy/X_{name}.npy"))).unwrap();
        let epochs = read_with(source, &at_250()).unwrap().into_epochs().unwrap();
        assert_eq!(epochs.data(), want, "{name}");
    }
    let source = Source::open(common::path("numpy/X_bool.npy")).unwrap();
    let flags = read_with(source, &at_250()).unwrap().into_epochs().unwrap();
    let want: Vec<f64> = want.iter().map(|&v| f64::from(v > 50.0)).collect();
    assert_eq!(flags.data(), want);
}

#[test]
fn what_cannot_be_read_says_why() {
    for (name, reason) in [
        ("objects.npy", "astype"),
        ("flat.npy", "shape [5]"),
        ("X.npy", "need a sampling rate"),
        ("no_rate.npz", "need a sampling rate"),
        ("short_y.npz", "y has 4 values for 6 trials"),
        ("no_x.npz", "without the array X (it has data.npy)"),
    ] {
        let error = read(common::path(&format!("numpy/{name}")))
            .unwrap_err()
            .to_string();
        assert!(error.contains(reason) && error.contains(name), "{error}");
    }
    let set = read(common::path("numpy/covariances.npz")).unwrap();
    assert!(matches!(set.into_epochs(), Err(EegError::Invalid { .. })));
}

#[test]
fn expansion_stops_at_the_limit() {
    let options = ReadOptions {
        max_expanded: 700,
        ..ReadOptions::default()
    };
    let error = read_with(
        Source::open(common::path("numpy/covariances.npz")).unwrap(),
        &options,
    )
    .unwrap_err();
    assert!(error.to_string().contains("max_expanded"), "{error}");
}

#[test]
fn a_flipped_bit_is_found_by_the_checksum() {
    let mut bytes = common::bytes("numpy/epochs.npz");
    let x = bytes.windows(6).position(|w| w == b"\x93NUMPY").unwrap() + 300;
    bytes[x] ^= 1;
    let error = read_from(Source::from_bytes("flipped.npz", &bytes)).unwrap_err();
    assert!(matches!(error, EegError::Malformed { .. }), "{error}");
}

proptest! {
    #[test]
    fn writing_and_reading_give_the_same_set(
        n in 1usize..5,
        labels in proptest::collection::vec("[a-zäöü0-9_]{0,6}", 1..6),
        with_runs in any::<bool>(),
        rate in proptest::option::of(1.0..1000.0f64),
        seed in any::<u32>(),
    ) {
        let channel = |i: usize| Channel { name: format!("C{i}"), kind: ChannelKind::Eeg, unit: "µV".into() };
        let value = |t: usize, i: usize, j: usize| (f64::from(seed) * 1e-3 + (t * 7 + i * j) as f64).sin() + (i + j) as f64;
        let data = (0..labels.len()).flat_map(|t| (0..n * n).map(move |k| value(t, k / n, k % n))).collect();
        let trials = labels.iter().enumerate().map(|(t, label)| TrialInfo {
            label: label.clone(),
            domain: format!("s{}", t % 2),
            run: (with_runs && t % 2 == 0).then(|| t.to_string()),
        }).collect();
        let set = CovarianceSet::new((0..n).map(channel).collect(), rate, data, trials).unwrap();
        let mut bytes = Vec::new();
        write_covariances_to(Cursor::new(&mut bytes), "memory", &set).unwrap();
        let back = read_from(Source::from_bytes("memory.npz", &bytes)).unwrap().into_covariances().unwrap();
        prop_assert_eq!(&back, &set);
        let mut again = Vec::new();
        write_covariances_to(Cursor::new(&mut again), "memory", &back).unwrap();
        prop_assert_eq!(again, bytes);
    }
}
