//! Dataset files: covariances in `.npy` and `.npz`.

use std::io::Cursor;
use std::path::PathBuf;

use proptest::prelude::*;
use stiefel_data::{Factor, Origin, Trials};
use stiefel_eeg::EegError;
use stiefel_eeg::io::{Content, Source, read, read_from, write_trials_to};
use stiefel_formats::numpy::NpzWriter;
use stiefel_linalg::MatBatch;

/// The values of a little-endian float64 `.npy` in C order: the plainest reader.
fn numbers(name: &str) -> Vec<f64> {
    let bytes = std::fs::read(fixture(name)).unwrap();
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let values = bytes[start..].as_chunks::<8>().0.iter();
    values.map(|b| f64::from_le_bytes(*b)).collect()
}

/// The path of a fixture that NumPy wrote.
fn fixture(name: &str) -> PathBuf {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../formats/tests/fixtures/numpy"
    );
    PathBuf::from(folder).join(name)
}

#[test]
fn covariances_are_recognised_by_symmetry() {
    let trials = |name: &str| read(fixture(name)).unwrap().into_trials().unwrap();
    let set = trials("covariances.npz");
    assert_eq!(set.covariances().data(), numbers("C.npy"));
    assert_eq!(set.channels_count(), 4);
    let of = |f: &Factor| f.label(3).to_owned();
    let found = (
        of(set.classes()),
        of(set.domains()),
        of(set.runs().unwrap()),
    );
    assert_eq!(found, ("Füße".into(), "1test".into(), "2".into()));
    let single = trials("covariances_f4.npz");
    let largest = set
        .covariances()
        .data()
        .iter()
        .fold(0.0, |m: f64, v| m.max(v.abs()));
    for (a, b) in single
        .covariances()
        .data()
        .iter()
        .zip(set.covariances().data())
    {
        assert!((a - b).abs() <= 1e-7 * largest, "{a} {b}");
    }
    assert_eq!((single.classes().label(0), single.runs()), ("", None));
    assert!(matches!(
        read(fixture("C.npy")).unwrap(),
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
fn what_is_there_instead_is_said() {
    let set = read(fixture("covariances.npz")).unwrap();
    assert!(matches!(set.into_epochs(), Err(EegError::Invalid { .. })));
    let epochs = read(fixture("epochs.npz")).unwrap();
    assert!(epochs.into_trials().is_err());
}

proptest! {
    #[test]
    fn writing_and_reading_give_the_same_trials(
        n in 1usize..5,
        labels in proptest::collection::vec("[a-zäöü0-9_]{1,6}", 1..6),
        (with_runs, with_subjects, with_view) in any::<(bool, bool, bool)>(),
        seed in any::<u32>(),
    ) {
        let value = |t: usize, i: usize, j: usize| {
            let noise = (f64::from(seed) * 1e-3 + (t * 7 + i * j) as f64).sin();
            noise + if i == j { 20.0 } else { (i + j) as f64 / 4.0 }
        };
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

/// Writes arrays beside two matrices of two channels.
fn with(name: &str, arrays: &[&str]) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let mut file = NpzWriter::new(&mut bytes);
    file.numbers(name, &[2, 1, 3], [&[2.0, 0.5, 1.0, 3.0, -0.25, 4.0][..]])
        .unwrap();
    for name in arrays {
        file.strings(name, &["a", "b"].map(String::from)).unwrap();
    }
    file.finish().unwrap();
    bytes.into_inner()
}

#[test]
fn upper_triangles_are_matrices_row_by_row() {
    let trials = |bytes: &[u8]| read_from(Source::from_bytes("t.npz", bytes))?.into_trials();
    let found = trials(&with("triangles", &["y"])).unwrap();
    assert_eq!(
        found.covariances().data(),
        [2.0, 0.5, 0.5, 1.0, 3.0, -0.25, -0.25, 4.0]
    );
    assert_eq!(found.classes().names(), ["a", "b"]);
    // What is written is a little more than half as much as squares are.
    let n = 64;
    let one = || Factor::from_labels(["a", "b"]);
    let x = MatBatch::from_fn(2, n, n, |i, r, c| (1 + i + r.min(c)) as f64);
    let many = Trials::new(x.clone(), one(), one())
        .unwrap()
        .with_view(x)
        .unwrap();
    let mut bytes = Cursor::new(Vec::new());
    write_trials_to(&mut bytes, "many.npz", &many).unwrap();
    let bytes = bytes.into_inner();
    assert!(
        (bytes.len() as f64) < 0.54 * (2 * 2 * n * n * 8) as f64,
        "{}",
        bytes.len()
    );
    let read = read_from(Source::from_bytes("many.npz", &bytes))
        .unwrap()
        .into_trials()
        .unwrap();
    assert_eq!((read.view(0), read.view(1)), (many.view(0), many.view(1)));
}

#[test]
fn an_array_that_nobody_knows_is_refused_with_the_names_that_are_known() {
    for unknown in ["subjects", "domains", "labels"] {
        let bytes = with("triangles", &["y", unknown]);
        let error = read_from(Source::from_bytes("t.npz", &bytes))
            .unwrap_err()
            .to_string();
        assert!(error.contains(&format!("an array {unknown}")), "{error}");
        assert!(
            error.contains("X, y, domain, groups, subject, session"),
            "{error}"
        );
    }
}
