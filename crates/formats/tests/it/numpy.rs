//! `.npy` and `.npz` written by NumPy.

use crate::common;
use stiefel_formats::{ChannelKind, FormatError, TrialInfo};
use stiefel_formats::{Limits, ReadOptions, Source, read, read_from, read_with};

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
fn matrices_are_no_signal() {
    for name in ["covariances.npz", "covariances_f4.npz", "C.npy"] {
        let error = read(common::path(&format!("numpy/{name}"))).unwrap_err();
        let said = "X holds square matrices (4 × 4), not a signal";
        assert!(error.to_string().contains(said), "{error}");
        assert!(error.to_string().contains(name), "{error}");
    }
    // Square trials that are not symmetric are a signal.
    let bytes = npy("<f8", &[2.0, 0.5, 0.6, 1.0], |v| v.to_le_bytes().to_vec());
    let epochs = read_with(Source::from_bytes("x.npy", &bytes), &at_250()).unwrap();
    assert_eq!(epochs.into_epochs().unwrap().samples(), 2);
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
    let run = read(common::path("edf/plain.edf")).unwrap();
    assert!(matches!(
        run.into_epochs(),
        Err(FormatError::Invalid { .. })
    ));
}

#[test]
fn expansion_stops_at_the_limit() {
    let options = ReadOptions {
        limits: Limits {
            max_expanded: 700,
            ..Limits::default()
        },
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
    assert!(matches!(error, FormatError::Malformed { .. }), "{error}");
}
