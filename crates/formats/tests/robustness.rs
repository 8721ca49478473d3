//! Damaged files: every truncation and 100,000 mutations are read or refused, never more.
//!
//! A counting allocator proves that no reader reserves more than a fixed multiple of what the file
//! has; a clock proves that none hangs. The random numbers are fixed: a failure names its case and
//! seed.

#[path = "it/common/mod.rs"]
mod common;
mod counting;
mod mutation;

use std::io::Write;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::ZlibEncoder;

use mutation::{Random, mutate};
use stiefel_formats::{Limits, ReadOptions, Source, read_with};

/// Decompressor states, buffers and messages.
const BASE: usize = 128 << 10;
/// Bytes in memory for each byte of the file, or of what it expands to: a byte can stand for a
/// number, a label and a domain.
const FACTOR: usize = 32;
const EXPANDED: u64 = 64 << 10;
const SLOWEST: Duration = Duration::from_secs(2);
const MUTATIONS: u64 = 4_000;

const EDF: &[&str] = &[
    "edf/plain.edf",
    "edf/plus.edf",
    "edf/gaps.edf",
    "edf/two.edf",
    "edf/status.bdf",
    "edf/plus.bdf",
];
const GDF: &[&str] = &[
    "gdf/v120.gdf",
    "gdf/v125.gdf",
    "gdf/v211.gdf",
    "gdf/v220.gdf",
    "gdf/mixed.gdf",
];
const FIF: &[&str] = &[
    "fif/short_raw.fif",
    "fif/double_raw.fif",
    "fif/skip_raw.fif",
    "fif/single-epo.fif",
];
const BRAINVISION: &[&str] = &[
    "brainvision/int16",
    "brainvision/float32",
    "brainvision/vectorized",
];
const MATLAB: &[&str] = &[
    "matlab/bnci.mat",
    "matlab/bnci_compressed.mat",
    "matlab/bnci_big_endian.mat",
    "matlab/bnci_struct.mat",
    "matlab/classes.mat",
    "matlab/weibo_compressed.mat",
    "eeglab/exported.set",
    "eeglab/exported_epochs.set",
    "eeglab/fieldtrip.mat",
];
const HDF5: &[&str] = &[
    "eeglab/seven_epochs.set",
    "eeglab/chunks.mat",
    "eeglab/latest.mat",
];
const TEXT: &[&str] = &[
    "csv/comma.csv",
    "csv/openbci.txt",
    "bci2000/int16.dat",
    "bci2000/float32.dat",
];
const XDF: &[&str] = &["xdf/two_clocks.xdf", "xdf/break.xdf", "xdf/reset.xdf"];
const NUMPY: &[&str] = &[
    "numpy/epochs.npz",
    "numpy/epochs_fortran.npz",
    "numpy/covariances.npz",
    "numpy/X_fortran.npy",
    "numpy/X_be_i2.npy",
    "numpy/X_version2.npy",
];

/// A file and those that belong to it.
#[derive(Clone)]
struct Case {
    name: String,
    files: Vec<(String, Vec<u8>)>,
    partial: bool,
}

impl Case {
    fn load(name: &str) -> Self {
        let names = if name.starts_with("brainvision") {
            ["vhdr", "vmrk", "eeg"]
                .iter()
                .map(|e| format!("{name}.{e}"))
                .collect()
        } else {
            vec![name.to_string()]
        };
        let last = |path: &str| path.rsplit('/').next().unwrap().to_string();
        let files = names.iter().map(|n| (last(n), common::bytes(n))).collect();
        Self {
            name: name.to_string(),
            files,
            partial: false,
        }
    }

    fn size(&self) -> usize {
        self.files.iter().map(|f| f.1.len()).sum()
    }

    fn source(&self) -> Source<'_> {
        let source = Source::from_bytes(self.files[0].0.as_str(), &self.files[0].1);
        let beside = self.files[1..].iter();
        beside.fold(source, |s, (name, bytes)| {
            s.with_sibling(name.as_str(), bytes)
        })
    }

    /// Reads the case and checks memory, time and message; tells whether it was read.
    fn survives(&self, context: &str) -> bool {
        let options = ReadOptions {
            partial: self.partial,
            limits: Limits {
                max_expanded: EXPANDED,
                ..Limits::default()
            },
            sampling_rate: Some(100.0),
            ..ReadOptions::default()
        };
        let compressed = ["matlab", "numpy", "eeglab"]
            .iter()
            .any(|f| self.name.starts_with(f));
        let limit = BASE + FACTOR * (self.size() + if compressed { EXPANDED as usize } else { 0 });
        let read = || {
            let clock = Instant::now();
            let (result, peak) = counting::peak(|| read_with(self.source(), &options));
            (clock.elapsed(), result, peak)
        };
        let (mut time, result, peak) = read();
        // On a busy machine the clock runs while nothing does: the fastest of some tries counts.
        for _ in 0..4 {
            if time >= SLOWEST {
                time = read().0;
            }
        }
        assert!(
            peak <= limit,
            "{context}: {peak} bytes reserved for {} of input, limit {limit}",
            self.size()
        );
        assert!(time < SLOWEST, "{context}: took {time:?}");
        if let Err(error) = &result {
            let message = error.to_string();
            let stem = self.files[0].0.split('.').next().unwrap();
            assert!(
                message.contains(stem),
                "{context}: the message does not name the file: {message}"
            );
            let bounded = message.len() < 2000;
            assert!(bounded, "{context}: a message of {} bytes", message.len());
        }
        result.is_ok()
    }
}

fn truncations(names: &[&str]) {
    for name in names {
        let whole = Case::load(name);
        // No layout uses every class, and matrices are no signal.
        assert!(
            whole.survives(name)
                || ["classes", "chunks", "latest", "covariances"]
                    .iter()
                    .any(|n| name.contains(n)),
            "{name} should be readable"
        );
        for file in 0..whole.files.len() {
            for len in 0..whole.files[file].1.len() {
                let mut case = whole.clone();
                case.files[file].1.truncate(len);
                case.survives(&format!("{name}, file {file} cut to {len} bytes"));
            }
        }
    }
}

/// Returns how many mutations were read all the same.
fn mutations(names: &[&str], salt: u64) -> u64 {
    let mut read = 0;
    for (i, name) in names.iter().enumerate() {
        let whole = Case::load(name);
        for seed in 0..MUTATIONS {
            let mut random = Random((salt + i as u64) << 32 | seed);
            let mut case = whole.clone();
            case.partial = random.below(2) == 0;
            for _ in 0..=random.below(4) {
                let file = random.below(case.files.len());
                mutate(&mut random, &mut case.files[file].1);
            }
            if *name == "matlab/bnci.mat" && random.below(2) == 0 {
                recompress(&mut case.files[0].1);
            }
            let context = format!("{name}, seed {seed}");
            let guard = Named(&context);
            read += u64::from(case.survives(&context));
            std::mem::forget(guard);
        }
    }
    read
}

/// Packs everything behind the header of a MATLAB file into one compressed element: mutations
/// inside a compressed element would otherwise end at its checksum.
fn recompress(bytes: &mut Vec<u8>) {
    let body = bytes.split_off(bytes.len().min(128));
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&body).unwrap();
    let data = encoder.finish().unwrap();
    bytes.extend(15u32.to_le_bytes());
    bytes.extend((data.len() as u32).to_le_bytes());
    bytes.extend(data);
}

/// Says which input made a reader panic.
struct Named<'n>(&'n str);

impl Drop for Named<'_> {
    fn drop(&mut self) {
        eprintln!("while reading {}", self.0);
    }
}

/// Inputs that `cargo xtask fuzz --keep` found to be answered in a new way.
#[test]
fn kept_inputs_are_answered() {
    let corpus = common::path("../corpus");
    let mut count = 0;
    for folder in std::fs::read_dir(corpus).unwrap() {
        for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let case = Case {
                // Their content may be packed, whatever the reader.
                name: "numpy".into(),
                files: vec![(name.clone(), std::fs::read(&path).unwrap())],
                partial: count % 2 == 0,
            };
            case.survives(&name);
            count += 1;
        }
    }
    assert!(count > 20, "{count} inputs");
}

#[test]
fn truncated_records() {
    truncations(EDF);
    truncations(GDF);
}

#[test]
fn truncated_hdf5() {
    truncations(HDF5);
}

#[test]
fn truncated_text() {
    truncations(TEXT);
}

#[test]
fn truncated_xdf() {
    truncations(XDF);
}

#[test]
fn truncated_fif() {
    truncations(FIF);
}

#[test]
fn truncated_brainvision() {
    truncations(BRAINVISION);
}

#[test]
fn truncated_arrays() {
    truncations(MATLAB);
    truncations(NUMPY);
}

#[test]
fn a_hundred_thousand_mutations() {
    let groups = [EDF, GDF, FIF, BRAINVISION, MATLAB, HDF5, XDF, TEXT, NUMPY];
    let cases: usize = groups.iter().map(|g| g.len()).sum();
    assert!(cases as u64 * MUTATIONS >= 100_000, "{cases} cases");
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(groups.len());
    std::thread::scope(|scope| {
        let work = |t: usize| {
            move || {
                for (g, group) in groups.iter().enumerate().filter(|(g, _)| g % threads == t) {
                    let read = mutations(group, g as u64 * 100);
                    let total = group.len() as u64 * MUTATIONS;
                    // A mutation that nothing notices (a sample, a name) must not be refused.
                    assert!(read > 0 && read < total, "{read} of {total} were read");
                }
            }
        };
        let handles: Vec<_> = (0..threads).map(|t| scope.spawn(work(t))).collect();
        for handle in handles {
            handle.join().unwrap();
        }
    });
}
