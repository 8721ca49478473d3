//! A hash of the sources that decide a result, so that records of another version are computed again.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Sources, relative to this package; those of other crates are missing where it was unpacked alone, and its version stands in.
const SOURCES: [&str; 7] = [
    "../linalg/src",
    "../data/src",
    "../geometry/src",
    "../autodiff/src",
    "../model/src",
    "src/peers",
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
    let mut hash = Sha256::new();
    for file in files {
        // The text without carriage returns: a checkout on another system is the same code.
        let text = std::fs::read(&file).unwrap_or_default();
        hash.update(file.to_string_lossy().replace('\\', "/").as_bytes());
        hash.update(
            text.iter()
                .copied()
                .filter(|b| *b != b'\r')
                .collect::<Vec<u8>>(),
        );
    }
    let digest = hash.finalize();
    let short = digest.iter().take(6).fold(String::new(), |mut text, b| {
        text.push(char::from_digit(u32::from(b >> 4), 16).unwrap_or('0'));
        text.push(char::from_digit(u32::from(b & 15), 16).unwrap_or('0'));
        text
    });
    println!("cargo::rustc-env=STIEFEL_CODE={short}");
}
