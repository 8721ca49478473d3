//! `.npy` and `.npz` written by NumPy.

use crate::common;
use std::io::Cursor;

use proptest::prelude::*;
use stiefel_data::{Factor, Origin, Trials};
use stiefel_eeg::io::{Content, ReadOptions, Source, read, read_from, read_with, write_trials_to};
use stiefel_eeg::{ChannelKind, EegError, TrialInfo};
use stiefel_linalg::MatBatch;

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
    let trials = |name: &str| read(common::path(name)).unwrap().into_trials().unwrap();
    let set = trials("numpy/covariances.npz");
    assert_eq!(set.covariances().data(), common::npy("numpy/C.npy"));
    assert_eq!(set.channels_count(), 4);
    let of = |f: &Factor| f.label(3).to_owned();
    let found = (
        of(set.classes()),
        of(set.domains()),
        of(set.runs().unwrap()),
    );
    assert_eq!(found, ("Füße".into(), "1test".into(), "2".into()));
    let single = trials("numpy/covariances_f4.npz");
    common::assert_close(single.covariances().data(), set.covariances().data(), 1e-7);
    assert_eq!((single.classes().label(0), single.runs()), ("", None));
    assert!(matches!(
        read(common::path("numpy/C.npy")).unwrap(),
        Content::Trials(_)
    ));
}

/// Matrices written by hand: `descr` is NumPy's name of the type, `value` writes one number.
fn npy(descr: &str, values: &[f64], value: impl Fn(f64) -> Vec<u8>) -> Vec<u8> {
    let shape = (values.len() / 4, 2, 2);
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape:?}, }}");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.extend(values.iter().flat_map(|&v| value(v)));
    bytes
}

#[test]
fn what_counts_as_symmetric_depends_on_the_type_it_was_stored_in() {
    let read = |bytes: &[u8]| read_from(Source::from_bytes("x.npy", bytes));
    let single = |skew: f64| {
        let bytes = npy("<f4", &[2.0, 0.5, 0.5 + skew, 1.0], |v| {
            (v as f32).to_le_bytes().to_vec()
        });
        read(&bytes)
    };
    let double = |skew: f64| {
        let bytes = npy("<f8", &[2.0, 0.5, 0.5 + skew, 1.0], |v| {
            v.to_le_bytes().to_vec()
        });
        read(&bytes)
    };
    // Rounding of single precision is none of double precision; whatever is read can be trained on.
    assert!(single(1e-6).unwrap().into_trials().is_ok());
    assert!(double(1e-12).unwrap().into_trials().is_ok());
    let error = double(1e-6).unwrap_err().to_string();
    assert!(
        error.contains("matrix 0, at (1, 0)") && error.contains("float64"),
        "{error}"
    );
    let error = single(1e-2).unwrap_err().to_string();
    assert!(error.contains("float32"), "{error}");
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
    assert!(error.to_string().contains("raise this limit"), "{error}");
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
    fn writing_and_reading_give_the_same_trials(
        n in 1usize..5,
        labels in proptest::collection::vec("[a-zäöü0-9_]{0,6}", 1..6),
        (with_runs, with_subjects, with_view) in any::<(bool, bool, bool)>(),
        seed in any::<u32>(),
    ) {
        let value = |t: usize, i: usize, j: usize| (f64::from(seed) * 1e-3 + (t * 7 + i * j) as f64).sin() + (i + j) as f64;
        let names = |f: fn(usize) -> String| Factor::from_labels((0..labels.len()).map(f));
        let x = MatBatch::from_fn(labels.len(), n, n, value);
        let mut trials = Trials::new(x, Factor::from_labels(&labels), names(|t| format!("s{}-{}", t % 2, t % 3))).unwrap()
            .with_channels((0..n).map(|i| format!("C{i}")).collect()).unwrap()
            .with_origin(Origin { name: "a".into(), rejected: vec![("s0-1".into(), 3)], ..Origin::default() });
        if with_runs {
            trials = trials.with_runs(names(|t| format!("{}/{t}", t % 3))).unwrap();
        }
        if with_subjects {
            trials = trials.with_subjects(names(|t| format!("p{}", t % 2))).unwrap();
        }
        if with_view {
            trials = trials.with_view(MatBatch::from_fn(labels.len(), n, n, |t, i, j| 2.0 * value(t, i, j))).unwrap();
        }
        let mut bytes = Vec::new();
        write_trials_to(Cursor::new(&mut bytes), "memory", &trials).unwrap();
        let back = read_from(Source::from_bytes("memory.npz", &bytes)).unwrap().into_trials().unwrap();
        prop_assert_eq!(&back, &trials);
        let mut again = Vec::new();
        write_trials_to(Cursor::new(&mut again), "memory", &back).unwrap();
        prop_assert_eq!(again, bytes);
    }
}
