//! One process at a time: an exclusive lock on a file in the folder `.locks`, released by the
//! system when its holder ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::Duration;

use super::disk::create_folder;
use crate::error::catalogue::{CatalogueError, Result};

/// How often a waiting process looks again.
const PAUSE: Duration = Duration::from_millis(100);

/// Held until dropped.
#[derive(Debug)]
pub(super) struct Lock {
    _file: Option<File>,
}

impl Lock {
    /// Locks `name` in a data set's folder; `waiting` is called once where another process holds
    /// it.
    pub(super) fn acquire(folder: &Path, name: &str, waiting: impl FnOnce()) -> Result<Self> {
        let locks = folder.join(".locks");
        create_folder(&locks)?;
        let path = locks.join(name.replace('/', "-"));
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|source| CatalogueError::writing(&path, source))?;
        let mut waiting = Some(waiting);
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: Some(file) }),
                Err(TryLockError::WouldBlock) => {
                    if let Some(waiting) = waiting.take() {
                        waiting();
                    }
                    std::thread::sleep(PAUSE);
                }
                // Some network disks have no locks. Files are still renamed whole and checked.
                Err(TryLockError::Error(error))
                    if error.kind() == std::io::ErrorKind::Unsupported =>
                {
                    return Ok(Self { _file: None });
                }
                Err(TryLockError::Error(source)) => {
                    return Err(CatalogueError::writing(&path, source));
                }
            }
        }
    }
}
