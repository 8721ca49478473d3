//! A folder that goes away, files that look right, a disk with little room.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub(crate) mod bnci;
pub(crate) mod server;
pub(crate) mod zip;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use stiefel_eeg::catalogue::{
    Cache, Disk, DiskFile, FetchOptions, Fetcher, Folders, OsDisk, Progress, Proxy,
};

/// A folder that is removed at the end.
pub(crate) struct Sandbox(pub(crate) PathBuf);

impl Sandbox {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("sandbox-{}-{number}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn cache(&self) -> Cache {
        Cache::new(Folders::only(&self.0))
    }

    /// The names of all files, apart from locks.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        list(&self.0, &self.0, &mut files);
        files.retain(|name| !name.contains(".locks"));
        files.sort();
        files
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn list(root: &Path, folder: &Path, files: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            list(root, &path, files);
        } else {
            let name = path.strip_prefix(root).unwrap();
            files.push(name.to_str().unwrap().replace('\\', "/"));
        }
    }
}

/// Options that are quick to fail, for one server.
pub(crate) fn options(mirror: &str) -> FetchOptions {
    FetchOptions {
        mirror: Some(mirror.into()),
        backoff: Duration::from_millis(2),
        connect_timeout: Duration::from_secs(5),
        read_timeout: Duration::from_secs(5),
        proxy: Proxy::Direct,
        ..FetchOptions::default()
    }
}

pub(crate) fn fetcher(sandbox: &Sandbox, mirror: &str) -> Fetcher {
    Fetcher::new(sandbox.cache(), options(mirror)).unwrap()
}

/// Bytes that start like a MATLAB file and differ by `seed`.
pub(crate) fn matlab(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut bytes: Vec<u8> = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    })
    .take(len)
    .collect();
    bytes[..10].copy_from_slice(b"MATLAB 5.0");
    bytes[124..128].copy_from_slice(b"\x00\x01IM");
    bytes
}

/// Keeps what happened as words.
#[derive(Default)]
pub(crate) struct Diary(Mutex<Vec<String>>);

impl Diary {
    pub(crate) fn note(&self, progress: &Progress<'_>) {
        let line = match progress {
            Progress::Advanced { .. } => return,
            Progress::Started {
                name, from, total, ..
            } => format!("start {name} {from} {total:?}"),
            Progress::Finished { name, bytes, .. } => format!("done {name} {bytes}"),
            Progress::Present { name, place, .. } => format!("here {name} {place:?}"),
            Progress::Rejected { name, reason, .. } => format!("rejected {name} {reason}"),
            Progress::Restarted { name, reason } => format!("restart {name} {reason}"),
            Progress::Retrying {
                name,
                attempt,
                reason,
                ..
            } => format!("retry {name} {attempt} {reason}"),
            other => format!("{other:?}"),
        };
        self.0.lock().unwrap().push(line);
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn has(&self, start: &str) -> bool {
        self.lines().iter().any(|line| line.starts_with(start))
    }
}

/// A disk that has room for so many bytes.
#[derive(Debug, Clone)]
pub(crate) struct SmallDisk(pub(crate) Arc<AtomicU64>);

struct SmallFile {
    inner: Box<dyn DiskFile>,
    room: Arc<AtomicU64>,
}

impl Disk for SmallDisk {
    fn open(&self, path: &Path, keep: bool) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(SmallFile {
            inner: OsDisk.open(path, keep)?,
            room: self.0.clone(),
        }))
    }
}

impl Write for SmallFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.room.load(Ordering::SeqCst);
        let count = bytes.len().min(room as usize);
        if count == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let written = self.inner.write(&bytes[..count])?;
        self.room.fetch_sub(written as u64, Ordering::SeqCst);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl DiskFile for SmallFile {
    fn sync(&mut self) -> io::Result<()> {
        self.inner.sync()
    }
}
