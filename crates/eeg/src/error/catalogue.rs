//! What can go wrong between a data set's name and its recordings.

use std::io;
use std::path::{Path, PathBuf};

use stiefel_formats::FormatError;

use super::EegError;

/// The result of everything in the catalogue that can fail.
pub type Result<T> = std::result::Result<T, CatalogueError>;

/// An error that says what was wrong, where, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogueError {
    /// No data set has that name.
    #[error("there is no data set {name:?}; the catalogue has {}", known.join(", "))]
    UnknownDataset {
        /// The name that was asked for.
        name: String,
        /// The names there are.
        known: Vec<&'static str>,
    },
    /// A subject, task or class that the data set does not have, or a list that cannot be read.
    #[error("{what}; {remedy}")]
    Selection {
        /// What was asked for.
        what: String,
        /// What there is.
        remedy: String,
    },
    /// A setting (mirror, proxy, certificate file) that cannot be used.
    #[error("the {setting} {value:?} cannot be used: {reason}")]
    Setting {
        /// Which setting.
        setting: &'static str,
        /// Its value.
        value: String,
        /// Why not.
        reason: String,
    },
    /// There is no place to keep files.
    #[error(
        "there is no folder for data: neither STIEFEL_DATA nor a home folder is set; set \
         STIEFEL_DATA"
    )]
    NoFolder,
    /// The server could not be reached, or kept failing.
    #[error(
        "{url} could not be fetched in {attempts} attempts: {reason}; check the connection, set \
         HTTPS_PROXY where a proxy is needed, or name a mirror (STIEFEL_MIRROR) (what has arrived \
         is kept, and the next attempt continues from there)"
    )]
    Network {
        /// The address.
        url: String,
        /// How often it was tried.
        attempts: u32,
        /// The last failure.
        reason: String,
    },
    /// The server answered that it will not give the file.
    #[error("{url}: the server answered {status}; {}", advice(*status))]
    Refused {
        /// The address.
        url: String,
        /// The HTTP status.
        status: u16,
    },
    /// A file is not the one it should be.
    #[error("{}: its SHA-256 is {found}, expected {expected} ({because}); {action}", path.display())]
    Checksum {
        /// The file.
        path: PathBuf,
        /// The SHA-256 it should have.
        expected: String,
        /// The SHA-256 it has.
        found: String,
        /// Where the expectation comes from.
        because: &'static str,
        /// What was done with the file, and what to do.
        action: String,
    },
    /// A file came whole but is something else.
    #[error("{}: {reason}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What was expected and found, and what was done.
        reason: String,
    },
    /// The disk has no room left.
    #[error(
        "{}: the disk is full after {written} bytes{}; make room or set STIEFEL_DATA to another disk, then try again: {left_behind}",
        path.display(), total.map_or(String::new(), |t| format!(" of {t}"))
    )]
    DiskFull {
        /// The file that was being written.
        path: PathBuf,
        /// How many bytes of it are there.
        written: u64,
        /// How many there should be, where known.
        total: Option<u64>,
        /// What remains on the disk.
        left_behind: &'static str,
    },
    /// The folder for data cannot be written.
    #[error(
        "{}: the folder for data cannot be written: {source}; set STIEFEL_DATA to a folder of your own",
        path.display()
    )]
    ReadOnly {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// The operating system refused for another reason.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// An archive that is damaged or not what it should be.
    #[error("{}: {reason}", path.display())]
    Archive {
        /// The archive.
        path: PathBuf,
        /// What was wrong, and what was done.
        reason: String,
    },
    /// Files that were never fetched.
    #[error(
        "{missing} of {wanted} files of {dataset} are not here (the first: {first}); fetch them \
         with: stiefel data fetch {dataset}"
    )]
    Missing {
        /// The data set.
        dataset: &'static str,
        /// How many files are missing.
        missing: usize,
        /// How many were asked for.
        wanted: usize,
        /// Where the first one should be.
        first: String,
    },
    /// The observer asked to stop.
    #[error(
        "stopped on request; what has arrived is kept, and the next fetch continues from there"
    )]
    Stopped,
    /// A file could not be read as a recording.
    #[error(transparent)]
    Read(#[from] EegError),
}

impl From<FormatError> for CatalogueError {
    fn from(error: FormatError) -> Self {
        EegError::from(error).into()
    }
}

impl CatalogueError {
    /// Sorts a failure to write into read-only, full or other.
    pub(crate) fn writing(path: &Path, source: io::Error) -> Self {
        use io::ErrorKind as Kind;
        let path = path.to_path_buf();
        match source.kind() {
            Kind::StorageFull | Kind::QuotaExceeded | Kind::FileTooLarge => Self::DiskFull {
                path,
                written: 0,
                total: None,
                left_behind: "nothing was left behind",
            },
            // A file where a folder should be is as unwritable as a folder without permission.
            Kind::PermissionDenied
            | Kind::ReadOnlyFilesystem
            | Kind::NotADirectory
            | Kind::AlreadyExists => Self::ReadOnly { path, source },
            _ => Self::Io { path, source },
        }
    }

    /// A failure to read.
    pub(crate) fn reading(path: &Path, source: io::Error) -> Self {
        Self::Io {
            path: path.to_path_buf(),
            source,
        }
    }
}

fn advice(status: u16) -> &'static str {
    match status {
        401 | 403 => "it may need a login or block this network: try a mirror (STIEFEL_MIRROR)",
        404 | 410 => "the file has moved: try a mirror (STIEFEL_MIRROR)",
        407 => "the proxy needs a login: HTTPS_PROXY=http://user:password@host:port",
        _ => "try again later, or name a mirror (STIEFEL_MIRROR)",
    }
}
