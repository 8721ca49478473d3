//! Zips that hold the files of several subjects: fetched, unpacked, removed.

use std::fs;
use std::path::Path;

use super::super::Sha256;
use super::super::cache::expected;
use super::super::dataset::Dataset;
use super::super::disk::{create_folder, remove};
use super::super::files::{Archive, Kind};
use super::super::lock::Lock;
use super::super::records::{Record, Records, remember};
use super::super::unzip::{Member, unzip};
use super::Context;
use super::observer::Progress;
use crate::error::catalogue::{CatalogueError, Result};

/// Makes sure that every file of the archive is in the data set's folder.
pub(super) fn fetch_archive(
    context: &Context<'_>,
    dataset: &'static Dataset,
    archive: &'static Archive,
) -> Result<()> {
    let cache = &context.fetcher.cache;
    let folder = cache.folder(dataset);
    create_folder(&folder)?;
    let _lock = Lock::acquire(&folder, archive.name, || {
        context.tell(&Progress::Waiting { name: archive.name });
    })?;
    let wanted = || {
        let members = archive.members.iter().map(|&(subject, prefix)| Member {
            prefix,
            path: folder.join(dataset.member_name(subject)),
            name: dataset.member_name(subject),
        });
        let missing: Vec<Member> = members.filter(|m| !m.path.exists()).collect();
        missing
    };
    // Whoever held the lock may have unpacked it.
    let members = wanted();
    if members.is_empty() {
        return Ok(());
    }
    let path = folder.join(archive.name);
    if !path.is_file() {
        context.download(dataset, archive.name, archive.url, Kind::Zip, None, &path)?;
    }
    context.tell(&Progress::Unpacking { name: archive.name });
    if let Err(error) = unzip(&path, &members, context.fetcher.options.disk.as_ref()) {
        // A damaged archive would fail for ever; a full disk will not.
        if matches!(
            error,
            CatalogueError::Archive { .. } | CatalogueError::Read(_)
        ) {
            remove(&path);
        }
        return Err(error);
    }
    remove(&path);
    let records = cache.records(dataset)?;
    members
        .iter()
        .try_for_each(|member| check_or_record(&folder, &records, member, archive.url))
}

/// Compares an unpacked file with the checksum on record, or records it.
fn check_or_record(folder: &Path, records: &Records, member: &Member, url: &str) -> Result<()> {
    let found = Sha256::of_file(&member.path)?;
    let Some((expected, because)) = expected(None, records, &member.name) else {
        let record = Record {
            sha256: found,
            bytes: fs::metadata(&member.path).map_or(0, |m| m.len()),
            url: url.to_string(),
        };
        return remember(folder, &member.name, record);
    };
    if found == expected {
        return Ok(());
    }
    remove(&member.path);
    Err(CatalogueError::Checksum {
        path: member.path.clone(),
        expected: expected.to_string(),
        found: found.to_string(),
        because,
        action: "the unpacked file was deleted. If the publisher has replaced it, delete its \
                 entry in checksums.json"
            .into(),
    })
}
