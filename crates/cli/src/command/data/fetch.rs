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
from there. If all files are here, no network is needed. Every file is compared with its published SHA-256, or with the one recorded at the
first fetch.

Environment: STIEFEL_DATA (folder for data), STIEFEL_MIRROR (like --mirror), MNE_DATA (files of MNE and
MOABB), HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY, SSL_CERT_FILE.";

#[cfg(not(feature = "download"))]
const MORE: &str = "\
This program was built without downloads: it says which files are here, and where those that are missing belong. To build it with downloads:
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
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
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
        if self.quiet {
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
        let downloads = crate::downloads::Downloads::new(self.quiet);
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
#[cfg(not(feature = "download"))]
fn present(
    cache: &Cache,
    dataset: &'static Dataset,
    selection: &Selection,
) -> Result<Vec<LocalFile>, Failure> {
    // A selection that makes no sense is misuse, whatever is here.
    let inventory = cache.inventory(dataset, selection)?;
    let missing = inventory.iter().filter(|(_, copy)| copy.is_none()).count();
    if missing > 0 {
        let says = format!(
            "{missing} of {} files of {} are not here, and this program was built without downloads. To build it with them: \
             cargo build --release --features download",
            inventory.len(),
            dataset.id,
        );
        let then = "it checks them";
        return Err(by_hand(&says, then, cache, dataset, selection));
    }
    let files: Vec<_> = inventory.into_iter().filter_map(|(_, copy)| copy).collect();
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
        "{says}\n\
         If you have the files from elsewhere, put them into {} under their own names (the first of {} is {}), and give the same command again: {then}.",
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
