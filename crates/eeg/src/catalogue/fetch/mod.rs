//! Downloads: what is missing is fetched, what is here is checked, and nothing half-done is ever
//! taken for a file.
//!
//! For every file, in this order:
//!
//! 1. the own copy, if its SHA-256 is the published one or the one recorded at the first fetch (a
//!    file that differs is set aside as `NAME.damaged`);
//! 2. a copy of MNE's or MOABB's, under the same condition where a checksum is known;
//! 3. the network: under a lock, into `NAME.part`, going on where an earlier attempt was cut; then
//!    checked, synced, renamed.
//!
//! Steps 1 and 2 open no connection.

mod archive;
mod client;
mod download;
mod observer;
mod options;
mod part;

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

pub use observer::{Observer, Progress};
pub use options::{FetchOptions, Proxy};

use self::archive::fetch_archive;
use self::client::Client;
use self::download::Download;
use super::Sha256;
use super::cache::{Cache, LocalFile, Place, expected};
use super::dataset::Dataset;
use super::disk::{beside, create_folder, publish};
use super::files::{Archive, DataFile, Kind};
use super::lock::Lock;
use super::records::{Record, remember};
use super::selection::Selection;
use crate::error::catalogue::{CatalogueError, Result};

/// Downloads data sets into a cache.
///
/// ```no_run
/// use stiefel_eeg::catalogue::{Cache, FetchOptions, Fetcher, Progress, Selection, find};
/// let fetcher = Fetcher::new(Cache::from_env()?, FetchOptions::from_env())?;
/// let files = fetcher.fetch(
///     find("bnci2014001")?,
///     &Selection::subjects([1]),
///     &|progress: &Progress<'_>| {
///         if let Progress::Finished { name, bytes, .. } = progress {
///             println!("{name}: {bytes} bytes");
///         }
///     },
/// )?;
/// # Ok::<(), stiefel_eeg::catalogue::CatalogueError>(())
/// ```
#[derive(Debug)]
pub struct Fetcher {
    cache: Cache,
    options: FetchOptions,
    client: Client,
}

/// What is downloaded in one piece.
enum Unit<'f> {
    File(usize, &'f DataFile),
    Archive(&'static Archive, Vec<(usize, &'f DataFile)>),
}

/// What the parts of one fetch share.
pub(super) struct Context<'c> {
    pub(super) fetcher: &'c Fetcher,
    pub(super) observer: &'c dyn Observer,
    /// Set when another worker has failed.
    failed: &'c AtomicBool,
}

impl Context<'_> {
    fn tell(&self, progress: &Progress<'_>) {
        self.observer.progress(progress);
    }

    fn check_stop(&self) -> Result<()> {
        if self.failed.load(Ordering::Relaxed) || self.observer.stop() {
            return Err(CatalogueError::Stopped);
        }
        Ok(())
    }
}

impl Fetcher {
    /// Checks the options.
    pub fn new(cache: Cache, options: FetchOptions) -> Result<Self> {
        let client = Client::new(&options)?;
        Ok(Self {
            cache,
            options,
            client,
        })
    }

    /// The cache that is filled.
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Makes sure that the files of a selection are here and whole, and says where.
    ///
    /// Stops at the first failure; everything that has arrived is kept for the next attempt.
    pub fn fetch(
        &self,
        dataset: &'static Dataset,
        selection: &Selection,
        observer: &dyn Observer,
    ) -> Result<Vec<LocalFile>> {
        let files = dataset.files(selection)?;
        let units = units(&files);
        let failed = AtomicBool::new(false);
        let context = Context {
            fetcher: self,
            observer,
            failed: &failed,
        };
        let next = AtomicUsize::new(0);
        let found: Mutex<Vec<Option<LocalFile>>> = Mutex::new(vec![None; files.len()]);
        let error: Mutex<Option<CatalogueError>> = Mutex::new(None);
        let work = || {
            while let Some(unit) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
                match context
                    .check_stop()
                    .and_then(|()| context.settle_unit(unit))
                {
                    Ok(settled) => {
                        for (index, file) in settled {
                            lock(&found)[index] = Some(file);
                        }
                    }
                    Err(failure) => {
                        // The first cause stands: later ones only say that they were stopped.
                        let mut error = lock(&error);
                        if error.is_none() {
                            *error = Some(failure);
                        }
                        failed.store(true, Ordering::Relaxed);
                        return;
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.options.jobs.min(units.len()) {
                scope.spawn(work);
            }
            work();
        });
        let error = lock(&error).take();
        match error {
            Some(error) => Err(error),
            None => Ok(lock(&found).drain(..).flatten().collect()),
        }
    }
}

/// A worker that panicked has left the list as it was: the others may go on.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn units(files: &[DataFile]) -> Vec<Unit<'_>> {
    let mut units: Vec<Unit<'_>> = Vec::new();
    for (index, file) in files.iter().enumerate() {
        let Some(archive) = file.archive else {
            units.push(Unit::File(index, file));
            continue;
        };
        let known = units.iter_mut().find_map(|unit| match unit {
            Unit::Archive(other, members) if *other == archive => Some(members),
            _ => None,
        });
        match known {
            Some(members) => members.push((index, file)),
            None => units.push(Unit::Archive(archive, vec![(index, file)])),
        }
    }
    units
}

impl Context<'_> {
    fn settle_unit(&self, unit: &Unit<'_>) -> Result<Vec<(usize, LocalFile)>> {
        match unit {
            Unit::File(index, file) => {
                let local = match self.settled(file)? {
                    Some(local) => local,
                    None => self.fetch_file(file)?,
                };
                Ok(vec![(*index, local)])
            }
            Unit::Archive(archive, members) => {
                let mut settled = Vec::new();
                let mut missing = Vec::new();
                for &(index, file) in members {
                    match self.settled(file)? {
                        Some(local) => settled.push((index, local)),
                        None => missing.push((index, file)),
                    }
                }
                if let Some(&(_, first)) = missing.first() {
                    fetch_archive(self, first.dataset, archive)?;
                    for (index, file) in missing {
                        let local = self.settled(file)?;
                        settled.push((index, local.ok_or_else(|| self.lost(file))?));
                    }
                }
                Ok(settled)
            }
        }
    }

    fn lost(&self, file: &DataFile) -> CatalogueError {
        CatalogueError::Missing {
            dataset: file.dataset.id,
            missing: 1,
            wanted: 1,
            first: self.fetcher.cache.own_path(file).display().to_string(),
        }
    }

    /// A copy that is here and passes its check.
    fn settled(&self, file: &DataFile) -> Result<Option<LocalFile>> {
        let cache = &self.fetcher.cache;
        let records = cache.records(file.dataset)?;
        let expected = expected(file.sha256, &records, &file.name);
        for copy in cache.copies(file) {
            let found = Sha256::of_file(&copy.path)?;
            let reason = match expected {
                Some((expected, because)) if expected != found => Some(format!(
                    "its SHA-256 is {found}, expected {expected} ({because})"
                )),
                Some(_) => None,
                None => file.kind.check(&copy.path)?.err(),
            };
            if let Some(reason) = reason {
                self.reject(&copy, &reason)?;
                continue;
            }
            if expected.is_none() && copy.place == Place::Own {
                self.adopt(&copy, found);
            }
            self.tell(&Progress::Present {
                name: &file.name,
                path: &copy.path,
                place: copy.place,
            });
            return Ok(Some(copy));
        }
        Ok(None)
    }

    /// Sets an own copy aside; one of MNE's is only passed over.
    fn reject(&self, copy: &LocalFile, reason: &str) -> Result<()> {
        let reason = if copy.place == Place::Own {
            let aside = beside(&copy.path, ".damaged");
            publish(&copy.path, &aside)?;
            format!("{reason}; it was set aside as {}", aside.display())
        } else {
            format!("{reason}; it was left as it is and not used")
        };
        self.tell(&Progress::Rejected {
            name: &copy.file.name,
            path: &copy.path,
            reason: &reason,
        });
        Ok(())
    }

    /// Records the checksum of a file that someone put into the folder.
    fn adopt(&self, copy: &LocalFile, sha256: Sha256) {
        let folder = self.fetcher.cache.folder(copy.file.dataset);
        let record = Record {
            sha256,
            bytes: fs::metadata(&copy.path).map_or(0, |m| m.len()),
            url: String::new(),
        };
        // A folder that cannot be written can still be read from.
        let _ = remember(&folder, &copy.file.name, record);
    }

    fn fetch_file(&self, file: &DataFile) -> Result<LocalFile> {
        let cache = &self.fetcher.cache;
        let (folder, path) = (cache.folder(file.dataset), cache.own_path(file));
        create_folder(path.parent().unwrap_or(&folder))?;
        let _lock = Lock::acquire(&folder, &file.name, || {
            self.tell(&Progress::Waiting { name: &file.name });
        })?;
        // Whoever held the lock may have fetched it.
        if let Some(local) = self.settled(file)? {
            return Ok(local);
        }
        self.download(
            file.dataset,
            &file.name,
            &file.url,
            file.kind,
            file.sha256,
            &path,
        )?;
        Ok(LocalFile {
            file: file.clone(),
            path,
            place: Place::Own,
        })
    }

    /// Downloads one file, checks it, puts it in its place and records its checksum.
    fn download(
        &self,
        dataset: &Dataset,
        name: &str,
        url: &str,
        kind: Kind,
        known: Option<Sha256>,
        path: &Path,
    ) -> Result<()> {
        let folder = self.fetcher.cache.folder(dataset);
        let records = self.fetcher.cache.records(dataset)?;
        let expected = expected(known, &records, name);
        let download = Download::new(self, name, url, path);
        let (sha256, bytes) = download.run(kind, expected)?;
        download.publish()?;
        if expected.is_none() {
            let record = Record {
                sha256,
                bytes,
                url: url.to_string(),
            };
            remember(&folder, name, record)?;
        }
        self.tell(&Progress::Finished { name, path, bytes });
        Ok(())
    }
}
