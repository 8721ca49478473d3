//! Which files are here: in the own folder, or where MNE and MOABB keep theirs.
//!
//! ```text
//! <own folder>/<data set>/checksums.json
//! <own folder>/<data set>/A01T.mat            finished files, renamed into place
//! <own folder>/<data set>/A01E.mat.part       what has arrived of a file, with A01E.mat.part.json
//! ```

use std::path::PathBuf;

use super::Sha256;
use super::dataset::Dataset;
use super::files::{DataFile, Kind};
use super::folders::Folders;
use super::records::{self, Records};
use super::selection::Selection;
use crate::error::catalogue::{CatalogueError, Result};
use crate::io::{Source, detect, edf, fif, mat};

/// Knows where files are. Opens no connection and writes nothing.
///
/// ```
/// use stiefel_eeg::catalogue::{Cache, Folders, Selection, find};
/// let cache = Cache::new(Folders::only("somewhere/else"));
/// let dataset = find("weibo2014")?;
/// let error = cache
///     .locate(dataset, &Selection::subjects([1]))
///     .unwrap_err();
/// assert!(error.to_string().contains("stiefel data fetch weibo2014"));
/// # Ok::<(), stiefel_eeg::catalogue::CatalogueError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Cache {
    folders: Folders,
}

/// Who keeps a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The own folder.
    Own,
    /// MNE or MOABB.
    Mne,
}

/// A file that is here.
#[derive(Debug, Clone)]
pub struct LocalFile {
    /// Which file of the data set.
    pub file: DataFile,
    /// Where it is.
    pub path: PathBuf,
    /// Who keeps it.
    pub place: Place,
}

impl Cache {
    /// In the folders that the environment names.
    pub fn from_env() -> Result<Self> {
        Folders::from_env().map(Self::new)
    }

    /// In these folders.
    pub fn new(folders: Folders) -> Self {
        Self { folders }
    }

    /// The own folder of a data set; it may not exist yet.
    pub fn folder(&self, dataset: &Dataset) -> PathBuf {
        self.folders.own.join(dataset.id)
    }

    /// Where a file is, or will be, in the own folder.
    pub fn own_path(&self, file: &DataFile) -> PathBuf {
        self.folder(file.dataset).join(&file.name)
    }

    /// A file that is here, unchecked; the own folder comes first.
    pub fn look_up(&self, file: &DataFile) -> Option<LocalFile> {
        self.copies(file).next()
    }

    /// All copies that are here, the own one first.
    pub(super) fn copies<'f>(&'f self, file: &'f DataFile) -> impl Iterator<Item = LocalFile> + 'f {
        let key = file.dataset.files.mne_key;
        let roots = self.folders.mne.iter();
        let roots = roots.filter(move |(only, _)| only.as_deref().is_none_or(|only| only == key));
        let mne = roots.flat_map(|(_, root)| file.mne.iter().map(|path| root.join(path)));
        let paths = std::iter::once((self.own_path(file), Place::Own))
            .chain(mne.map(|path| (path, Place::Mne)));
        paths
            .filter(|(path, _)| path.is_file())
            .map(|(path, place)| LocalFile {
                file: file.clone(),
                path,
                place,
            })
    }

    /// The files of a selection, each with its copy where one is here (unchecked).
    pub fn inventory(
        &self,
        dataset: &'static Dataset,
        selection: &Selection,
    ) -> Result<Vec<(DataFile, Option<LocalFile>)>> {
        let files = dataset.files(selection)?;
        let with_copy = |file: DataFile| {
            let copy = self.look_up(&file);
            (file, copy)
        };
        Ok(files.into_iter().map(with_copy).collect())
    }

    /// The files of a selection, all of them or an error that says how to get them. Nothing is
    /// fetched.
    pub fn locate(
        &self,
        dataset: &'static Dataset,
        selection: &Selection,
    ) -> Result<Vec<LocalFile>> {
        let inventory = self.inventory(dataset, selection)?;
        let wanted = inventory.len();
        let missing: Vec<PathBuf> = inventory
            .iter()
            .filter(|(_, copy)| copy.is_none())
            .map(|(file, _)| self.own_path(file))
            .collect();
        match missing.first() {
            None => Ok(inventory.into_iter().filter_map(|(_, copy)| copy).collect()),
            Some(first) => Err(CatalogueError::Missing {
                dataset: dataset.id,
                missing: missing.len(),
                wanted,
                first: first.display().to_string(),
            }),
        }
    }

    /// The checksums recorded in a data set's folder.
    pub(super) fn records(&self, dataset: &Dataset) -> Result<Records> {
        records::load(&self.folder(dataset))
    }
}

/// The SHA-256 a file should have and where that is known from.
pub(super) fn expected(
    known: Option<Sha256>,
    records: &Records,
    name: &str,
) -> Option<(Sha256, &'static str)> {
    let recorded = records.get(name).map(|r| r.sha256);
    known
        .map(|sha| (sha, "published with the data set"))
        .or(recorded.map(|sha| (sha, "recorded when it was first fetched")))
}

impl LocalFile {
    /// Compares the file with its published or recorded checksum; a file without one passes.
    pub fn verify(&self, cache: &Cache) -> Result<()> {
        self.verify_as(cache, || Sha256::of_file(&self.path))
    }

    /// Compares the checksum of bytes that were read; it is asked for where there is another.
    pub(crate) fn verify_as(
        &self,
        cache: &Cache,
        found: impl FnOnce() -> Result<Sha256>,
    ) -> Result<()> {
        let records = cache.records(self.file.dataset)?;
        let Some((expected, because)) = expected(self.file.sha256, &records, &self.file.name)
        else {
            return Ok(());
        };
        let found = found()?;
        if found == expected {
            return Ok(());
        }
        Err(CatalogueError::Checksum {
            path: self.path.clone(),
            expected: expected.to_string(),
            found: found.to_string(),
            because,
            action: format!(
                "it was left as it is; replace it with: stiefel data fetch {}",
                self.file.dataset.id
            ),
        })
    }
}

impl Kind {
    /// Checks a file's first bytes; says what is wrong with them.
    pub(super) fn check(self, path: &std::path::Path) -> Result<std::result::Result<(), String>> {
        let mut source = Source::open(path)?;
        let head = source.head(48)?;
        let (fits, kind) = match self {
            Self::Matlab => (
                detect(&mut source).is_ok_and(|f| f == mat::FORMAT),
                "MATLAB",
            ),
            Self::Edf => (detect(&mut source).is_ok_and(|f| f == edf::FORMAT), "EDF"),
            Self::Fif => (detect(&mut source).is_ok_and(|f| f == fif::FORMAT), "FIF"),
            Self::Zip => (head.starts_with(b"PK\x03\x04"), "zip"),
        };
        let start = crate::io::excerpt(&head);
        Ok(if fits {
            Ok(())
        } else {
            Err(format!(
                "this file is not {kind}: it starts with \"{start}\" (a log-in page of the \
                 network looks like that)"
            ))
        })
    }
}
