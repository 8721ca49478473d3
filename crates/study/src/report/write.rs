//! Files that are whole or not there: written beside their place, synced, renamed.

use super::ReportError;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) fn folder(path: &Path) -> Result<(), ReportError> {
    fs::create_dir_all(path).map_err(|source| at(path, source))
}

pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), ReportError> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}-{count}.tmp", std::process::id()));
    let new = path.with_file_name(name);
    let written = synced(&new, bytes).and_then(|()| fs::rename(&new, path));
    written.map_err(|source| {
        // The error that matters is the first one.
        let _ = fs::remove_file(&new);
        at(path, source)
    })
}

fn synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn at(path: &Path, source: io::Error) -> ReportError {
    ReportError {
        path: path.to_owned(),
        source,
    }
}
