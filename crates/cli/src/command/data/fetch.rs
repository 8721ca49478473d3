//! `stiefel data fetch`.

use clap::{Args, value_parser};
use serde_json::{Value, json};
use stiefel::eeg::catalogue::{
    Cache, CatalogueError, Dataset, FetchOptions, Fetcher, LocalFile, Place, Selection,
};

use super::Wanted;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::progress::Downloads;

#[derive(Debug, Args)]
#[command(after_help = "\
If a download is stopped, what has arrived is kept: run the same command again, and it continues
from there. If all files are here, no network is needed. Every file is compared with its published SHA-256, or with the one recorded at the
first fetch.

Environment: STIEFEL_DATA (folder for data), STIEFEL_MIRROR (like --mirror), MNE_DATA (files of MNE and
MOABB), HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY, SSL_CERT_FILE.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    wanted: Wanted,
    /// Fetch from this server: it takes the place of scheme and host in every address
    #[arg(long, value_name = "URL")]
    mirror: Option<String>,
    /// Files fetched at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = value_parser!(u8).range(1..=16))]
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
        let from_env = FetchOptions::from_env();
        let options = FetchOptions {
            mirror: self.mirror.or(from_env.mirror.clone()),
            jobs: self.jobs.into(),
            ..from_env
        };
        let fetcher = Fetcher::new(Cache::from_env()?, options)?;
        let downloads = Downloads::new(self.quiet);
        let licence = dataset.licence;
        downloads.say(&format!(
            "{}: licence {}: {}",
            dataset.id, licence.name, licence.allows
        ));
        let files = fetcher
            .fetch(dataset, &selection, &downloads)
            .map_err(|error| with_the_way_by_hand(error, &fetcher, dataset, &selection))?;
        let folder = fetcher.cache().folder(dataset);
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
}

/// Where no server gives a file, somebody else may: says where it goes.
fn with_the_way_by_hand(
    error: CatalogueError,
    fetcher: &Fetcher,
    dataset: &'static Dataset,
    selection: &Selection,
) -> Failure {
    let unreached = matches!(
        error,
        CatalogueError::Network { .. } | CatalogueError::Refused { .. }
    );
    let files = dataset.files(selection).unwrap_or_default();
    let (true, Some(first)) = (unreached, files.first()) else {
        return error.into();
    };
    Failure::Failed(format!(
        "{error}\n\
         If you have the files from elsewhere, put them into {} under their own names (the first of {} is {}), and give the same command again: it \
         checks them and fetches only what is missing.",
        fetcher.cache().folder(dataset).display(),
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
