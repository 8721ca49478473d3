//! Public data sets: what they are, where their files come from, and the recordings in them.
//!
//! ```text
//! find("bnci2014001") ─▶ Dataset ──Selection─▶ files ──Fetcher─▶ LocalFile ──recordings─▶ DatasetRun
//!                        (a table)             (URLs)  (cache)   (on disk)               (EEG, classes)
//! ```
//!
//! * A [`Dataset`] is a table, one TOML file of `sets`: title, licence, citation, subjects,
//!   sessions, channels, classes, window, files.
//! * A [`Cache`] knows where files are kept: the folder in `STIEFEL_DATA`, or the platform's folder
//!   for data. It also finds what MNE-Python and MOABB have downloaded already (`MNE_DATA`,
//!   `~/mne_data`) and never writes there.
//! * A [`Fetcher`] downloads what is missing. With everything in place it does not touch the
//!   network.
//! * [`Dataset::recordings`] reads the files one at a time: only the EEG channels, in the table's
//!   order and spelling, and events named by class (`left_hand`, `feet`, …).
//!
//! ```
//! use stiefel_eeg::catalogue::{Selection, find};
//! let dataset = find("BNCI2014_001")?;
//! assert_eq!(
//!     (dataset.channels().len(), dataset.sampling_rate),
//!     (22, 250.0)
//! );
//! let files = dataset.files(&Selection::subjects([1, 2]))?;
//! assert_eq!(files.len(), 4);
//! assert_eq!(files[1].name, "A01E.mat");
//! # Ok::<(), stiefel_eeg::catalogue::CatalogueError>(())
//! ```
//!
//! The library prints nothing; downloads report to an [`Observer`].

mod cache;
mod dataset;
mod disk;
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

use std::sync::LazyLock;

pub use crate::checksum::Sha256;
pub use crate::error::catalogue::{CatalogueError, Result};
pub use cache::{Cache, LocalFile, Place};
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

/// The tables, in alphabetical order.
const SETS: [&str; 6] = [
    include_str!("sets/bnci2014001.toml"),
    include_str!("sets/bnci2015001.toml"),
    include_str!("sets/eegmat.toml"),
    include_str!("sets/eegmmidb.toml"),
    include_str!("sets/kalunga2016.toml"),
    include_str!("sets/weibo2014.toml"),
];

static DATASETS: LazyLock<Vec<Dataset>> = LazyLock::new(|| {
    let read = |text| toml::from_str(text).expect("a test reads every table of the catalogue");
    SETS.map(read).into()
});

/// All data sets, in alphabetical order.
pub fn datasets() -> &'static [Dataset] {
    &DATASETS
}

/// The data set of that name. Case, blanks, `-` and `_` do not count.
///
/// ```
/// use stiefel_eeg::catalogue::find;
/// assert_eq!(find("PhysionetMI")?.id, "eegmmidb");
/// assert!(
///     find("weibo2015")
///         .unwrap_err()
///         .to_string()
///         .contains("weibo2014")
/// );
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_read_and_listed() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/catalogue/sets");
        let files = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = files.map(|f| f.unwrap().file_name()).collect();
        names.sort();
        for text in SETS {
            toml::from_str::<Dataset>(text).unwrap();
        }
        let listed = datasets().iter().map(|d| format!("{}.toml", d.id).into());
        let listed: Vec<std::ffi::OsString> = listed.collect();
        assert_eq!(names, listed);
    }

    #[test]
    fn a_key_that_no_table_has_is_refused() {
        let misspelt = SETS[0].replace("title =", "heading =");
        let error = toml::from_str::<Dataset>(misspelt.leak()).unwrap_err();
        assert!(error.to_string().contains("heading"), "{error}");
    }
}
