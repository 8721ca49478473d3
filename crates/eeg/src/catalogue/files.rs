//! The files of a data set: names, addresses, checksums.
//!
//! Tables hold patterns: `{subject}`, `{subject:02}`, `{subject:03}`, `{session}` and `{run:02}` are filled in.

use super::Sha256;
use super::dataset::{Dataset, Task};
use super::selection::Selection;
use crate::error::catalogue::Result;

/// Where the files of a data set come from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Origin {
    /// One address per file.
    Files {
        /// Pattern of the address.
        url: &'static str,
        /// Pattern of the path inside the data set's folder.
        path: &'static str,
        kind: Kind,
        /// Lines of path and SHA-256; empty where none are known.
        checksums: &'static str,
        /// `MNE_DATASETS_<key>_PATH` may say where MNE keeps it.
        mne_key: &'static str,
        /// Patterns of the path inside MNE's folder.
        mne: &'static [&'static str],
    },
    /// Zips that hold a MATLAB file of each of several subjects.
    Archives {
        path: &'static str,
        mne_key: &'static str,
        mne: &'static [&'static str],
        archives: &'static [Archive],
    },
}

/// A zip with the files of several subjects.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Archive {
    pub(super) name: &'static str,
    pub(super) url: &'static str,
    /// A subject and how the name of the file in the zip starts.
    pub(super) members: &'static [(u16, &'static str)],
}

/// What a file should be, told by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Matlab,
    Edf,
    Zip,
}

/// One file of a data set.
#[derive(Debug, Clone)]
pub struct DataFile {
    /// Whose data set it is.
    pub dataset: &'static Dataset,
    /// The subject.
    pub subject: u16,
    /// The session's label.
    pub session: &'static str,
    /// The run, where every run has a file.
    pub run: Option<u8>,
    /// The path inside the data set's folder, with `/`.
    pub name: String,
    /// The address: of the file, or of the archive that holds it.
    pub url: String,
    /// The SHA-256, where it is known beforehand.
    pub sha256: Option<Sha256>,
    /// The task it belongs to.
    pub(super) task: &'static Task,
    pub(super) kind: Kind,
    pub(super) archive: Option<&'static Archive>,
    /// Where MNE and MOABB put it, inside their folder.
    pub(super) mne: Vec<String>,
}

impl Dataset {
    /// The files of a selection: by subject, session, then run.
    pub fn files(&'static self, selection: &Selection) -> Result<Vec<DataFile>> {
        let chosen = self.choose(selection)?;
        let mut files = Vec::new();
        for &subject in &chosen.subjects {
            for session in self.sessions_of(subject) {
                let mut runs: Vec<(Option<u8>, &'static Task)> = Vec::new();
                for &task in &chosen.tasks {
                    runs.extend(task.runs.iter().map(|&run| (Some(run), task)));
                    if task.runs.is_empty() {
                        runs.push((None, task));
                    }
                }
                runs.sort_by_key(|(run, _)| *run);
                let file = |(run, task)| self.file(subject, session.label, run, task);
                files.extend(runs.into_iter().map(file));
            }
        }
        Ok(files)
    }

    fn file(
        &'static self,
        subject: u16,
        session: &'static str,
        run: Option<u8>,
        task: &'static Task,
    ) -> DataFile {
        let fill = |pattern: &str| expand(pattern, subject, session, run);
        let (name, url, kind, mne, archive, sha256) = match self.origin {
            Origin::Files {
                url,
                path,
                kind,
                checksums,
                mne,
                ..
            } => {
                let name = fill(path);
                let sha256 = known(checksums, &name);
                (name, fill(url), kind, mne, None, sha256)
            }
            Origin::Archives {
                path,
                mne,
                archives,
                ..
            } => {
                let holds = |a: &&Archive| a.members.iter().any(|m| m.0 == subject);
                let archive = archives.iter().find(holds);
                let url = archive.map_or(String::new(), |a| a.url.to_string());
                (fill(path), url, Kind::Matlab, mne, archive, None)
            }
        };
        DataFile {
            dataset: self,
            subject,
            session,
            run,
            name,
            url,
            sha256,
            task,
            kind,
            archive,
            mne: mne.iter().map(|pattern| fill(pattern)).collect(),
        }
    }

    /// The `<key>` of `MNE_DATASETS_<key>_PATH`.
    pub(super) fn mne_key(&self) -> &'static str {
        match self.origin {
            Origin::Files { mne_key, .. } | Origin::Archives { mne_key, .. } => mne_key,
        }
    }

    /// The path of a subject's file in a data set that comes in archives.
    pub(super) fn member_name(&self, subject: u16) -> String {
        match self.origin {
            Origin::Files { path, .. } | Origin::Archives { path, .. } => {
                expand(path, subject, "", None)
            }
        }
    }
}

fn expand(pattern: &str, subject: u16, session: &str, run: Option<u8>) -> String {
    pattern
        .replace("{subject}", &subject.to_string())
        .replace("{subject:02}", &format!("{subject:02}"))
        .replace("{subject:03}", &format!("{subject:03}"))
        .replace("{session}", session)
        .replace("{run:02}", &format!("{:02}", run.unwrap_or(0)))
}

/// Looks a path up in lines of path and SHA-256.
fn known(checksums: &str, name: &str) -> Option<Sha256> {
    let mut lines = checksums.lines();
    let rest = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    rest.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::datasets;
    use super::*;

    #[test]
    fn every_archive_member_is_a_subject_once() {
        for dataset in datasets() {
            let Origin::Archives { archives, .. } = dataset.origin else {
                continue;
            };
            let mut subjects: Vec<u16> = archives
                .iter()
                .flat_map(|a| a.members.iter().map(|m| m.0))
                .collect();
            subjects.sort_unstable();
            assert_eq!(subjects, (1..=dataset.subjects).collect::<Vec<_>>());
        }
    }

    #[test]
    fn every_known_checksum_belongs_to_a_file() {
        let selection = Selection::all().with_tasks(["all"]);
        for dataset in datasets() {
            let Origin::Files { checksums, .. } = dataset.origin else {
                continue;
            };
            let lines = checksums.lines().filter(|l| !l.starts_with('#')).count();
            let files = dataset.files(&selection).unwrap();
            let with = files.iter().filter(|f| f.sha256.is_some()).count();
            assert_eq!(lines, with, "{}", dataset.id);
        }
    }
}
