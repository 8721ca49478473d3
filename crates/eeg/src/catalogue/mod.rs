//! Public data sets: what they are, where their files come from, and the recordings in them.
//!
//! ```text
//! find("bnci2014001") ─▶ Dataset ──Selection──▶ files ──Fetcher──▶ LocalFile ──recordings──▶ DatasetRun
//!                         (a table)              (URLs)   (cache)    (on disk)                (EEG, classes)
//! ```
//!
//! * A [`Dataset`] is a static table: title, licence, citation, subjects, sessions, channels, classes, window, files.
//! * A [`Cache`] knows where files are kept: the folder in `STIEFEL_DATA`, or the platform's folder for data. It also finds
//!   what MNE-Python and MOABB have downloaded already (`MNE_DATA`, `~/mne_data`) and never writes there.
//! * A [`Fetcher`] downloads what is missing. With everything in place it does not touch the network.
//! * [`Dataset::recordings`] reads the files one at a time: only the EEG channels, in the table's order and spelling, and
//!   events named by class (`left_hand`, `feet`, …).
//!
//! ```
//! use stiefel_eeg::catalogue::{Selection, find};
//! let dataset = find("BNCI2014_001")?;
//! assert_eq!((dataset.channels().len(), dataset.sampling_rate), (22, 250.0));
//! let files = dataset.files(&Selection::subjects([1, 2]))?;
//! assert_eq!(files.len(), 4);
//! assert_eq!(files[1].name, "A01E.mat");
//! # Ok::<(), stiefel_eeg::catalogue::CatalogueError>(())
//! ```
//!
//! The library prints nothing; downloads report to an [`Observer`].

mod bnci2014001;
mod bnci2015001;
mod cache;
mod checksum;
mod dataset;
mod disk;
mod eegmmidb;
#[cfg(feature = "download")]
mod fetch;
mod files;
mod folders;
mod lock;
mod recordings;
mod records;
mod selection;
#[cfg(feature = "download")]
mod unzip;
mod weibo2014;

pub use crate::error::catalogue::{CatalogueError, Result};
pub use cache::{Cache, LocalFile, Place};
pub use checksum::Sha256;
pub use dataset::{
    Citation, Class, Dataset, DomainUnit, Interval, LeftOut, Licence, Session, Task,
};
pub use disk::{Disk, DiskFile, OsDisk};
#[cfg(feature = "download")]
pub use fetch::{FetchOptions, Fetcher, Observer, Progress, Proxy};
pub use files::DataFile;
pub use folders::Folders;
pub use recordings::{DatasetRun, Recordings, Signal, task_of};
pub use selection::{Selection, parse_subjects};

/// All data sets, in alphabetical order.
pub fn datasets() -> &'static [Dataset] {
    static ALL: [Dataset; 4] = [
        bnci2014001::DATASET,
        bnci2015001::DATASET,
        eegmmidb::DATASET,
        weibo2014::DATASET,
    ];
    &ALL
}

/// The data set of that name. Case, blanks, `-` and `_` do not count.
///
/// ```
/// use stiefel_eeg::catalogue::find;
/// assert_eq!(find("PhysionetMI")?.id, "eegmmidb");
/// assert!(find("weibo2015").unwrap_err().to_string().contains("weibo2014"));
/// # Ok::<(), stiefel_eeg::catalogue::CatalogueError>(())
/// ```
pub fn find(name: &str) -> Result<&'static Dataset> {
    let key = |text: &str| -> String {
        let kept = text.chars().filter(|c| c.is_alphanumeric());
        kept.flat_map(char::to_lowercase).collect()
    };
    let wanted = key(name);
    let answers = |d: &&Dataset| {
        let mut names = d.aliases.iter().chain([&d.id, &d.name]);
        names.any(|known| key(known) == wanted)
    };
    datasets()
        .iter()
        .find(answers)
        .ok_or_else(|| CatalogueError::UnknownDataset {
            name: name.to_string(),
            known: datasets().iter().map(|d| d.id).collect(),
        })
}
