//! `stiefel data fetch`.

use clap::Args;
use serde_json::{Value, json};
use stiefel::eeg::catalogue::{Cache, Dataset, LocalFile, Place, Selection};

use super::Wanted;
use crate::failure::{Failure, Outcome};
use crate::output::Output;

#[cfg(feature = "download")]
const MORE: &str = "\
If a download is stopped, what has arrived is kept: run the same command again, and it continues
from there. If all files are here, no network is needed. Every file is compared with its published \
                    SHA-256, or with the one recorded at the
first fetch.

Environment: STIEFEL_DATA (folder for data), STIEFEL_MIRROR (like --mirror), MNE_DATA (files of \
                    MNE and
MOABB), HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY, SSL_CERT_FILE.";

#[cfg(not(feature = "download"))]
const MORE: &str = "\
This program was built without downloads: it says which files are here, and where those that are \
                    missing belong. To build it with downloads:
cargo build --release --features download

Environment: STIEFEL_DATA (folder for data), MNE_DATA (files of MNE and MOABB).";

#[derive(Debug, Args)]
#[command(after_help = MORE)]
pub(crate) struct Arguments {
    #[command(flatten)]
    wanted: Wanted,
    /// Fetch from this server: it takes the place of scheme and host in every address
    #[cfg(feature = "download")]
    #[arg(long, value_name = "URL")]
    mirror: Option<String>,
    /// Files fetched at the same time
    #[cfg(feature = "download")]
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=16))]
    jobs: u8,
    /// Print the files as JSON
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        let (dataset, selection) = self.wanted.resolve()?;
        let cache = Cache::from_env()?;
        let folder = cache.folder(dataset);
        #[cfg(feature = "download")]
        let files = self.fetched(cache, dataset, &selection)?;
        #[cfg(not(feature = "download"))]
        let files = present(&cache, dataset, &selection)?;
        if self.json {
            return output.json(&json!({
                "dataset": dataset.id,
                "folder": folder,
                "files": files.iter().map(value).collect::<Vec<_>>(),
            }));
        }
        if crate::voice::is_quiet() {
            return Ok(());
        }
        let elsewhere = files.iter().filter(|f| f.place == Place::Mne).count();
        let here = files.len() - elsewhere;
        let mne = if elsewhere > 0 {
            format!(", {elsewhere} where MNE keeps them")
        } else {
            String::new()
        };
        output.line(&format!(
            "{}: {here} files in {}{mne}",
            dataset.id,
            folder.display()
        ))
    }

    /// The files, those that were missing fetched.
    #[cfg(feature = "download")]
    fn fetched(
        &self,
        cache: Cache,
        dataset: &'static Dataset,
        selection: &Selection,
    ) -> Result<Vec<LocalFile>, Failure> {
        use stiefel::eeg::catalogue::{CatalogueError, FetchOptions, Fetcher};

        let from_env = FetchOptions::from_env();
        let options = FetchOptions {
            mirror: self.mirror.clone().or(from_env.mirror.clone()),
            jobs: self.jobs.into(),
            ..from_env
        };
        let fetcher = Fetcher::new(cache, options)?;
        let downloads = crate::downloads::Downloads::new();
        let licence = dataset.licence;
        downloads.say(&format!(
            "{}: licence {}: {}",
            dataset.id, licence.name, licence.allows
        ));
        fetcher
            .fetch(dataset, selection, &downloads)
            .map_err(|error| match error {
                CatalogueError::Network { .. } | CatalogueError::Refused { .. } => {
                    let says = error.to_string();
                    let then = "it checks them and fetches only what is missing";
                    by_hand(&says, then, fetcher.cache(), dataset, selection)
                }
                other => other.into(),
            })
    }
}

/// The files, all of them here and whole.
#[cfg(any(not(feature = "download"), test))]
fn present(
    cache: &Cache,
    dataset: &'static Dataset,
    selection: &Selection,
) -> Result<Vec<LocalFile>, Failure> {
    use stiefel::eeg::catalogue::CatalogueError;

    let files = cache
        .locate(dataset, selection)
        .map_err(|error| match error {
            CatalogueError::Missing {
                missing, wanted, ..
            } => {
                let says = format!(
                    "{missing} of {wanted} files of {} are not here, and this program was built \
                     without downloads. To build it with them: cargo build --release --features \
                     download",
                    dataset.id,
                );
                by_hand(&says, "it checks them", cache, dataset, selection)
            }
            other => other.into(),
        })?;
    for file in &files {
        file.verify(cache)?;
    }
    Ok(files)
}

/// Where no server gives a file, somebody else may: says where it goes.
fn by_hand(
    says: &str,
    then: &str,
    cache: &Cache,
    dataset: &'static Dataset,
    selection: &Selection,
) -> Failure {
    let files = dataset.files(selection).unwrap_or_default();
    let Some(first) = files.first() else {
        return Failure::Failed(says.into());
    };
    Failure::Failed(format!(
        "{says}\nIf you have the files from elsewhere, put them into {} under their own names \
         (the first of {} is {}), and give the same command again: {then}.",
        cache.folder(dataset).display(),
        files.len(),
        first.name,
    ))
}

pub(super) fn value(local: &LocalFile) -> Value {
    json!({
        "subject": local.file.subject,
        "session": local.file.session,
        "run": local.file.run,
        "name": local.file.name,
        "path": local.path,
        "url": local.file.url,
        "kept_by": match local.place {
            Place::Own => "stiefel",
            Place::Mne => "mne",
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiefel::eeg::catalogue::{Folders, find};

    #[test]
    fn without_downloads_files_are_found_or_the_way_to_them_is_said() {
        let folder = std::env::temp_dir().join(format!("stiefel-present-{}", std::process::id()));
        let cache = Cache::new(Folders::only(&folder));
        let selection = Selection::subjects([1]);
        let look = |name: &str| present(&cache, find(name).unwrap(), &selection);
        let Err(Failure::Failed(says)) = look("bnci2014001") else {
            panic!("nothing is there");
        };
        for part in [
            "2 of 2 files",
            "--features download",
            "the first of 2 is A01T.mat",
        ] {
            assert!(says.contains(part), "{says}");
        }

        for name in ["bnci2014001", "eegmmidb"] {
            for file in find(name).unwrap().files(&selection).unwrap() {
                let path = cache.own_path(&file);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, "something else").unwrap();
            }
        }
        let (unknown, published) = (look("bnci2014001"), look("eegmmidb"));
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(unknown.unwrap().len(), 2, "there is no sum to compare with");
        let Err(Failure::Failed(says)) = published else {
            panic!("these are not the published files");
        };
        assert!(says.contains("published with the data set"), "{says}");
    }
}
