//! Files that are written whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Where a path leads: symbolic links are followed, also those to files that are not there yet.
/// What is there and is no regular file (a folder, a device) is refused.
pub fn writable(path: &Path) -> Result<PathBuf> {
    // As many links as systems follow.
    let mut target = path.to_path_buf();
    let mut left = 40;
    while let Ok(link) = fs::read_link(&target) {
        if left == 0 {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "its links lead in a circle",
            ));
        }
        left -= 1;
        target = target.parent().unwrap_or(Path::new("")).join(link);
    }
    match fs::metadata(&target) {
        Ok(found) if !found.is_file() => Err(Error::new(
            ErrorKind::InvalidInput,
            "it is not a regular file",
        )),
        _ => Ok(target),
    }
}

/// Writes a file under another name in the same folder, flushes it to the disk and renames it, so
/// that a reader never sees half of it and a crash leaves what was there before.
///
/// ```
/// let path = std::env::temp_dir().join(format!("stiefel-whole-{}", std::process::id()));
/// stiefel_data::write_whole(&path, b"all of it")?;
/// assert_eq!(std::fs::read(&path)?, b"all of it");
/// std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let target = writable(path)?;
    let new = temporary(&target);
    let written = write_synced(&new, bytes).and_then(|()| fs::rename(&new, &target));
    if written.is_err() {
        // The error that matters is the first one.
        let _ = fs::remove_file(&new);
        return written;
    }
    #[cfg(unix)]
    if let Some(folder) = target.parent() {
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        // The name is safe on disk once its folder is; a file system that cannot do this has
        // renamed all the same.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    Ok(())
}

/// A name of this process and call, so that two at work on one folder do not meet.
fn temporary(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}-{count}.tmp", std::process::id()));
    path.with_file_name(name)
}

fn write_synced(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file: File = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
