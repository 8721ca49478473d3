//! Writing files whole or not at all: temporary name, `fsync`, rename, `fsync` of the folder.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::catalogue::{CatalogueError, Result};

/// Where downloaded bytes go. The default is the operating system's disk; tests put a full one in
/// its place.
pub trait Disk: Send + Sync + std::fmt::Debug {
    /// Opens a file to write at its end, emptying it first unless `keep`.
    fn open(&self, path: &Path, keep: bool) -> io::Result<Box<dyn DiskFile>>;
}

/// A file open for writing.
pub trait DiskFile: Write + Send {
    /// Waits until everything written is on the medium.
    fn sync(&mut self) -> io::Result<()>;
}

/// The operating system's disk.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsDisk;

impl Disk for OsDisk {
    fn open(&self, path: &Path, keep: bool) -> io::Result<Box<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        if keep {
            options.append(true);
        } else {
            options.write(true).truncate(true);
        }
        Ok(Box::new(options.create(true).open(path)?))
    }
}

impl DiskFile for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

/// Creates a folder and its parents.
pub(super) fn create_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|source| CatalogueError::writing(folder, source))
}

/// Puts a finished file in its place.
pub(super) fn publish(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(|source| CatalogueError::writing(to, source))?;
    sync_folder(to);
    Ok(())
}

/// Makes the names in a folder last through a power cut, where the system can do that.
fn sync_folder(file: &Path) {
    // Windows cannot open a folder, some network disks cannot sync one: the rename stands either
    // way.
    if let Some(Ok(folder)) = file.parent().map(File::open) {
        let _ = folder.sync_all();
    }
}

/// Writes a small file whole or not at all.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = beside(path, &format!(".{}.tmp", std::process::id()));
    let failed = |source| {
        let _ = fs::remove_file(&temporary);
        CatalogueError::writing(path, source)
    };
    let write = || {
        let mut file = File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(failed)?;
    publish(&temporary, path)
}

/// The path with something appended to its last component.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(suffix);
    PathBuf::from(name)
}

/// Removes a file that may not be there.
pub(super) fn remove(path: &Path) {
    // What cannot be removed is overwritten or reported by the next write.
    let _ = fs::remove_file(path);
}
