//! A hash of the sources that decide a result, so that records of another version are computed
//! again.

use std::path::{Path, PathBuf};

/// Sources, relative to this package; those of other crates are missing where it was unpacked
/// alone, and its version stands in.
const SOURCES: [&str; 6] = [
    "../linalg/src",
    "../data/src",
    "../geometry/src",
    "../autodiff/src",
    "../model/src",
    "src/unit",
];

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(path) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}

fn main() {
    let mut files = Vec::new();
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
        collect(Path::new(source), &mut files);
    }
    files.sort();
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    for file in files {
        // The text without carriage returns: a checkout on another system is the same code.
        let text = std::fs::read(&file).unwrap_or_default();
        hash.update(file.to_string_lossy().replace('\\', "/").bytes());
        hash.update(text.into_iter().filter(|b| *b != b'\r'));
    }
    println!("cargo::rustc-env=STIEFEL_CODE={:012x}", hash.0 >> 16);
}

/// FNV-1a in 64 bits: it tells two versions apart, and nothing has to be compiled before it.
struct Fnv(u64);

impl Fnv {
    fn update(&mut self, bytes: impl Iterator<Item = u8>) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
