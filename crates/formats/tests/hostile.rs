//! Files made to hurt: sizes without substance, bombs, depth, and everything that grows faster than
//! the file.

#[path = "it/common/mod.rs"]
mod common;
mod counting;

use std::io::Write;
use std::time::{Duration, Instant};

use flate2::write::{DeflateEncoder, ZlibEncoder};
use flate2::{Compression, Crc};
use stiefel_formats::Result;
use stiefel_formats::{Content, Limits, ReadOptions, Source, read_with};

const MEGABYTE: usize = 1 << 20;

/// Reads under a memory limit of `limit` bytes and two seconds.
fn read(name: &str, bytes: &[u8], limit: usize) -> Result<Content> {
    let options = ReadOptions {
        limits: Limits {
            max_expanded: MEGABYTE as u64,
            ..Limits::default()
        },
        sampling_rate: Some(100.0),
        ..ReadOptions::default()
    };
    let clock = Instant::now();
    let (result, peak) = counting::peak(|| read_with(Source::from_bytes(name, bytes), &options));
    assert!(
        peak < limit,
        "{name}: {peak} bytes for {} of input",
        bytes.len()
    );
    assert!(
        clock.elapsed() < Duration::from_secs(2),
        "{name} took {:?}",
        clock.elapsed()
    );
    result
}

fn refused(name: &str, bytes: &[u8], reason: &str) {
    let error = read(name, bytes, MEGABYTE + 4 * bytes.len())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains(reason) && error.contains(name),
        "{error} should contain {reason}"
    );
}

// --- MATLAB

/// An element of little-endian MATLAB 5.
fn element(kind: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = [kind.to_le_bytes(), (data.len() as u32).to_le_bytes()].concat();
    bytes.extend(data);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

/// A matrix: flags, dimensions, name, then `rest`.
fn matrix(class: u32, dims: &[u32], name: &str, rest: &[u8]) -> Vec<u8> {
    let mut body = element(6, &[class.to_le_bytes(), [0; 4]].concat());
    body.extend(element(
        5,
        &dims
            .iter()
            .flat_map(|d| d.to_le_bytes())
            .collect::<Vec<_>>(),
    ));
    body.extend(element(1, name.as_bytes()));
    body.extend(rest);
    element(14, &body)
}

fn numbers(dims: &[u32], bytes: &[u8], name: &str) -> Vec<u8> {
    matrix(9, dims, name, &element(2, bytes))
}

/// A file of plain variables.
fn mat(variables: &[u8]) -> Vec<u8> {
    let mut file = vec![b' '; 124];
    file.extend(b"\x00\x01IM");
    file.extend(variables);
    file
}

/// The same with one compressed variable.
fn mat_compressed(variable: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(variable).unwrap();
    let data = encoder.finish().unwrap();
    let mut bytes = [15u32.to_le_bytes(), (data.len() as u32).to_le_bytes()].concat();
    bytes.extend(data);
    mat(&bytes)
}

#[test]
fn matlab_bomb() {
    let zeros = vec![0; 32 * MEGABYTE];
    let bomb = mat_compressed(&numbers(&[1, zeros.len() as u32], &zeros, "data"));
    assert!(bomb.len() < MEGABYTE / 8);
    let error = read("bomb.mat", &bomb, 16 * MEGABYTE)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("expand to, 1 MiB; raise this limit"),
        "{error}"
    );
}

#[test]
fn matlab_sizes_without_substance() {
    let most = i32::MAX as u32;
    refused(
        "cells.mat",
        &mat(&matrix(1, &[most, 1], "data", &[])),
        "a nested matrix",
    );
    refused(
        "overflow.mat",
        &mat(&matrix(1, &[most, most, most], "data", &[])),
        "overflows",
    );
    refused(
        "numbers.mat",
        &mat(&numbers(&[most, 1], &[1, 2], "data")),
        "should have 2147483647 numbers",
    );
    // Structs without fields take no bytes, however many they are.
    let fields = [element(5, &0u32.to_le_bytes()), element(1, &[])].concat();
    let structs = matrix(2, &[most, most], "data", &fields);
    refused("structs.mat", &mat(&structs), "layout is not clear");
    let long = mat(&matrix(1, &[1, 1], &"x".repeat(5000), &[]));
    refused("name.mat", &long, "the name of a matrix has 5000 bytes");
}

#[test]
fn matlab_depth() {
    let mut nested = numbers(&[1, 1], &[1], "");
    for _ in 0..2000 {
        nested = matrix(1, &[1, 1], "", &nested);
    }
    let file = matrix(1, &[1, 1], "data", &nested);
    refused("deep.mat", &mat(&file), "nested deeper than 32");
    assert!(read("deep.mat", &mat_compressed(&file), MEGABYTE).is_err());
}

#[test]
fn matlab_class_names_are_not_multiplied() {
    let trials = 20_000u32;
    let ones = vec![1; trials as usize];
    let class = vec![b'x'; 100_000];
    let text = matrix(4, &[1, class.len() as u32], "", &element(2, &class));
    let names = ["X", "trial", "y", "fs", "classes"];
    let mut rest = element(5, &8u32.to_le_bytes());
    rest.extend(element(
        1,
        &names
            .iter()
            .flat_map(|n| format!("{n:\0<8}").into_bytes())
            .collect::<Vec<_>>(),
    ));
    let column = numbers(&[trials, 1], &ones, "");
    for field in [
        &column,
        &column,
        &column,
        &numbers(&[1, 1], &[100], ""),
        &text,
    ] {
        rest.extend(field);
    }
    let error = read(
        "classes.mat",
        &mat(&matrix(2, &[1, 1], "data", &rest)),
        8 * MEGABYTE,
    )
    .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the name of a class has 100000 bytes"),
        "{error}"
    );
}

// --- NumPy

fn npy(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn npy_header(descr: &str, shape: &str) -> String {
    format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}")
}

/// A zip with one deflated entry.
fn npz(name: &str, content: &[u8]) -> Vec<u8> {
    let mut crc = Crc::new();
    crc.update(content);
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).unwrap();
    let data = encoder.finish().unwrap();
    let mut common = vec![20, 0, 0, 0, 8, 0, 0, 0, 0, 0];
    for number in [crc.sum(), data.len() as u32, content.len() as u32] {
        common.extend(number.to_le_bytes());
    }
    common.extend([name.len() as u8, 0, 0, 0]);
    let local = [b"PK\x03\x04", common.as_slice(), name.as_bytes(), &data].concat();
    let directory = [
        b"PK\x01\x02\x14\0",
        common.as_slice(),
        &[0; 14],
        name.as_bytes(),
    ]
    .concat();
    let mut end = b"PK\x05\x06\0\0\0\0\x01\0\x01\0".to_vec();
    end.extend((directory.len() as u32).to_le_bytes());
    end.extend((local.len() as u32).to_le_bytes());
    end.extend([0, 0]);
    [local, directory, end].concat()
}

#[test]
fn numpy_bomb() {
    let zeros = vec![0; 32 * MEGABYTE];
    let bomb = npz(
        "X.npy",
        &npy(&npy_header("|u1", "(32, 1024, 1024)"), &zeros),
    );
    assert!(bomb.len() < MEGABYTE / 8);
    let error = read("bomb.npz", &bomb, 16 * MEGABYTE)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("expand to, 1 MiB; raise this limit"),
        "{error}"
    );
    // The same entry of modest size is fine.
    let fine = npz("X.npy", &npy(&npy_header("|u1", "(2, 2, 3)"), &[7; 12]));
    assert!(read("fine.npz", &fine, MEGABYTE).is_ok());
}

/// A small file of zeros holds many numbers: they take their own memory, once, whether they are
/// epochs or matrices (which are refused).
#[test]
fn zeros_are_held_once() {
    for shape in [[4, 500, 512], [4, 512, 512]] {
        let bytes = 8 * shape.iter().product::<usize>();
        let header = npy_header(
            "<f8",
            &format!("({}, {}, {})", shape[0], shape[1], shape[2]),
        );
        let file = npz("X.npy", &npy(&header, &vec![0; bytes]));
        assert!(file.len() < bytes / 500);
        let options = ReadOptions {
            sampling_rate: Some(100.0),
            ..ReadOptions::default()
        };
        let source = Source::from_bytes("zeros.npz", &file);
        let (content, peak) = counting::peak(|| read_with(source, &options));
        assert_eq!(content.is_ok(), shape[1] != shape[2]);
        assert!(
            peak < bytes + bytes / 20 + MEGABYTE / 2,
            "{shape:?}: {peak} bytes for {bytes} of numbers"
        );
    }
}

#[test]
fn numpy_sizes_without_substance() {
    for (descr, shape, reason) in [
        ("<f8", "(1000000000000000000,)", "are left"),
        ("<f8", "(4294967296, 4294967296, 4294967296)", "overflows"),
        ("<U9", "(1000000000000000000,)", "are left"),
        ("<U0", "(1000000000000000000,)", "cannot be read"),
        ("<f8", "(0, 1000000000000, 5)", "is empty"),
    ] {
        refused("sizes.npy", &npy(&npy_header(descr, shape), &[]), reason);
    }
}

#[test]
fn zip_directories_without_substance() {
    let huge = (1u64 << 40).to_le_bytes();
    let mut wide = b"PK\x03\x04".to_vec();
    let at = wide.len() as u64;
    wide.extend(b"PK\x06\x06");
    wide.extend([0; 20]);
    for _ in 0..4 {
        wide.extend(huge);
    }
    wide.extend(b"PK\x06\x07\0\0\0\0");
    wide.extend(at.to_le_bytes());
    wide.extend(1u32.to_le_bytes());
    wide.extend(b"PK\x05\x06");
    wide.extend([0xff; 16]);
    wide.extend([0, 0]);
    refused(
        "wide.npz",
        &wide,
        "the zip directory should start at byte 1099511627776",
    );
}

/// A few bytes that say they are many numbers: deflate makes at most 1032 bytes of one.
#[test]
fn packed_bytes_cannot_hold_more_than_deflate_gives() {
    let content = npy(&npy_header("<f8", "(40, 500, 100)"), &[0; 800]);
    refused(
        "packed.npz",
        &npz("X.npy", &content),
        "packed bytes cannot hold",
    );
}

// --- FIF

/// Buffers that start inside each other would hold a small file many times over.
#[test]
fn tags_that_overlap_are_refused() {
    let mut bytes = std::fs::read(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/fif/single_raw.fif"
    ))
    .unwrap();
    let word = |bytes: &[u8], at: usize| {
        u32::from_be_bytes(*bytes[at..].first_chunk::<4>().unwrap()) as usize
    };
    let mut at = 0;
    while word(&bytes, at) != 300 {
        at += 16 + word(&bytes, at + 8);
    }
    let inside = at + 16 + 320;
    bytes[at + 12..at + 16].copy_from_slice(&(inside as u32).to_be_bytes());
    refused(
        "overlap_raw.fif",
        &bytes,
        &format!("is said to start at byte {inside}, this one ends at"),
    );
}

// --- records

#[test]
fn notes_do_not_multiply_with_stretches() {
    // 200 channels of another rate, and each record a stretch of its own.
    let (odd, records) = (200, 3000);
    let signals = odd + 2;
    let pad = |text: &str, width: usize| format!("{text:<width$}");
    let mut header = pad("0", 8) + &pad("", 176) + &pad(&(256 * (signals + 1)).to_string(), 8);
    header += &(pad("EDF+D", 44)
        + &pad(&records.to_string(), 8)
        + &pad("1", 8)
        + &pad(&signals.to_string(), 4));
    let column = |width: usize, f: &dyn Fn(usize) -> String| {
        (0..signals).map(|i| pad(&f(i), width)).collect::<String>()
    };
    header += &column(16, &|i| {
        if i == 0 {
            "EDF Annotations".into()
        } else {
            format!("A{i}")
        }
    });
    header += &column(80, &|_| String::new());
    header += &column(8, &|i| if i == 1 { "uV".into() } else { "degC".into() });
    for range in ["-1", "1", "-100", "100"] {
        header += &column(8, &|_| range.into());
    }
    header += &column(80, &|_| String::new());
    header += &column(8, &|i| ["8", "1"].get(i).unwrap_or(&"0").to_string());
    header += &column(32, &|_| String::new());
    let mut bytes = header.into_bytes();
    for record in 0..records {
        let start = format!("+{}\x14\x14", 2 * record);
        bytes.extend(format!("{start:\0<16}").into_bytes());
        bytes.extend([1, 0]);
    }
    let stretches = read("stretches.edf", &bytes, 16 * bytes.len() + MEGABYTE)
        .unwrap()
        .into_recordings()
        .unwrap();
    assert_eq!(stretches.len(), records);
    assert_eq!(stretches[0].notes().len(), odd + 1);
    assert_eq!(stretches[1].notes().len(), 1);
}

// --- limits

/// Whoever reads files of strangers says how much memory one of them may take.
#[test]
fn memory_is_limited_on_request() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
    for name in [
        "edf/plain.edf",
        "gdf/v220.gdf",
        "fif/short_raw.fif",
        "fif/single-epo.fif",
        "fif/packed_raw.fif.gz",
        "brainvision/int16.vhdr",
        "xdf/two_clocks.xdf",
        "bci2000/int16.dat",
        "csv/comma.csv",
        "matlab/bnci_compressed.mat",
        "eeglab/seven_epochs.set",
        "eeglab/fields.set",
        "numpy/epochs.npz",
        "numpy/X_fortran.npy",
    ] {
        let within = |max_memory: u64| {
            let limits = Limits {
                max_memory,
                ..Limits::default()
            };
            let options = ReadOptions {
                limits,
                sampling_rate: Some(100.0),
                ..ReadOptions::default()
            };
            read_with(Source::open(format!("{folder}/{name}")).unwrap(), &options)
        };
        assert!(within(MEGABYTE as u64).is_ok(), "{name}");
        let error = within(63).unwrap_err().to_string();
        assert!(error.contains("max_memory"), "{name}: {error}");
        assert!(
            error.contains(name.rsplit('/').next().unwrap().split('.').next().unwrap()),
            "{error}"
        );
    }
}
