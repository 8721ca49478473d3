//! Damaged dataset files: every truncation and thousands of mutations are read or refused.
//!
//! The readers of signals have the same in `stiefel-formats`; here the way ends in covariances.

#[path = "../../formats/tests/counting/mod.rs"]
mod counting;
#[path = "../../formats/tests/mutation/mod.rs"]
mod mutation;

use std::io::{Cursor, Write};
use std::time::{Duration, Instant};

use flate2::write::GzEncoder;
use mutation::{Random, mutate};
use stiefel_data::{Factor, Trials};
use stiefel_eeg::io::{Limits, ReadOptions, Source, read_with, write_trials_to};
use stiefel_linalg::MatBatch;

const BASE: usize = 128 << 10;
/// Bytes in memory for each byte of the file, or of what it expands to.
const FACTOR: usize = 32;
const EXPANDED: u64 = 64 << 10;
const SLOWEST: Duration = Duration::from_secs(2);
const MUTATIONS: u64 = 4_000;
const MEGABYTE: usize = 1 << 20;

/// A file that NumPy wrote, deflated, and one of ours with a record.
fn files() -> [(&'static str, Vec<u8>); 2] {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../formats/tests/fixtures/numpy/covariances.npz"
    );
    let labels = Factor::from_labels(["a", "b", "a", "b"]);
    let people = Factor::from_labels(["S1", "S1", "S2", "S2"]);
    let trials = Trials::new(
        MatBatch::from_fn(
            4,
            3,
            3,
            |i, r, c| {
                if r == c { (i + r + 1) as f64 } else { 0.0 }
            },
        ),
        labels,
        people,
    )
    .unwrap();
    let mut ours = Vec::new();
    write_trials_to(Cursor::new(&mut ours), "memory", &trials).unwrap();
    [
        ("covariances.npz", std::fs::read(path).unwrap()),
        ("ours.npz", ours),
    ]
}

/// Reads the bytes and checks memory, time and message; tells whether they were read.
fn survives(name: &str, bytes: &[u8], context: &str) -> bool {
    let options = ReadOptions {
        limits: Limits {
            max_expanded: EXPANDED,
            ..Limits::default()
        },
        sampling_rate: Some(100.0),
        ..ReadOptions::default()
    };
    let limit = BASE + FACTOR * (bytes.len() + EXPANDED as usize);
    let read = || {
        let clock = Instant::now();
        let source = Source::from_bytes(name, bytes);
        let (result, peak) = counting::peak(|| read_with(source, &options));
        (clock.elapsed(), result, peak)
    };
    let (mut time, result, peak) = read();
    // On a busy machine the clock runs while nothing does: the fastest of some tries counts.
    for _ in 0..4 {
        if time >= SLOWEST {
            time = read().0;
        }
    }
    assert!(peak <= limit, "{context}: {peak} bytes, limit {limit}");
    assert!(time < SLOWEST, "{context}: took {time:?}");
    let message = result.as_ref().err().map(ToString::to_string);
    let message = message.unwrap_or_default();
    assert!(
        message.len() < 2000,
        "{context}: a message of {} bytes",
        message.len()
    );
    result.is_ok()
}

#[test]
fn truncated() {
    for (name, bytes) in files() {
        assert!(survives(name, &bytes, name), "{name} should be readable");
        for len in 0..bytes.len() {
            survives(name, &bytes[..len], &format!("{name} cut to {len} bytes"));
        }
    }
}

#[test]
fn mutated() {
    for (i, (name, whole)) in files().into_iter().enumerate() {
        let mut read = 0;
        for seed in 0..MUTATIONS {
            let mut random = Random((900 + i as u64) << 32 | seed);
            let mut bytes = whole.clone();
            for _ in 0..=random.below(4) {
                mutate(&mut random, &mut bytes);
            }
            read += u64::from(survives(name, &bytes, &format!("{name}, seed {seed}")));
        }
        // A mutation that nothing notices (a date, a comment) must not be refused.
        assert!(
            read > 0 && read < MUTATIONS,
            "{read} of {MUTATIONS} were read"
        );
    }
}

/// A small packed file holds many numbers: they take their own memory, once.
#[test]
fn numbers_are_held_once() {
    let (trials, n) = (512, 128);
    let numbers = 8 * trials * n * n;
    let text =
        format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({trials}, {n}, {n}), }}");
    let mut array = b"\x93NUMPY\x01\x00".to_vec();
    array.extend((text.len() as u16).to_le_bytes());
    array.extend(text.as_bytes());
    for trial in 0..trials {
        for place in 0..n * n {
            let (row, col) = (place / n, place % n);
            let value = if row == col {
                1.0 + ((row + trial) % 509) as f64
            } else {
                0.0
            };
            array.extend(f64::to_le_bytes(value));
        }
    }
    let source = Source::from_bytes("numbers.npy", &array);
    let (content, peak) = counting::peak(|| read_with(source, &ReadOptions::default()));
    assert_eq!(content.unwrap().into_trials().unwrap().len(), trials);
    // Matrices are factored in groups, which takes the room of some eighty of them.
    let room = 80 * 8 * n * n;
    assert!(
        peak < numbers + room + MEGABYTE / 2,
        "{peak} bytes for {numbers} of numbers"
    );
    // Packed, the file itself is in memory too.
    let mut packed = GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(&array).unwrap();
    let packed = packed.finish().unwrap();
    assert!(packed.len() < numbers / 50);
    let source = Source::from_bytes("numbers.npy.gz", &packed);
    let content = read_with(source, &ReadOptions::default()).unwrap();
    assert_eq!(content.into_trials().unwrap().len(), trials);
}
