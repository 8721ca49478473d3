//! The files of a data set: names, addresses, checksums.
//!
//! Paths are patterns with `{subject}`, `{subject-1}` (where files count from 0), `{session}`,
//! `{run}` and `{record}`; `{subject:03}` fills up with zeros.

use serde::Deserialize;

use super::Sha256;
use super::dataset::{Dataset, Session, Task, kept};
use super::selection::Selection;
use crate::error::catalogue::Result;

/// Where the files of a data set come from.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Files {
    pub(super) format: Kind,
    /// Pattern of the path inside the data set's folder.
    pub(super) path: &'static str,
    /// Pattern of the path of the list of events, where it is a file of its own.
    pub(super) events: Option<&'static str>,
    /// The address of the folder that the paths count from.
    #[serde(default)]
    pub(super) url: &'static str,
    /// Zips that hold the files of several subjects, where they come that way.
    #[serde(default, deserialize_with = "kept")]
    pub(super) archives: &'static [Archive],
    /// The names of the runs of each subject, where they follow no pattern.
    #[serde(default)]
    pub(super) records: Vec<Vec<&'static str>>,
    /// `MNE_DATASETS_<key>_PATH` may say where MNE keeps them.
    #[serde(default)]
    pub(super) mne_key: &'static str,
    /// The folders in MNE's folder that the paths count from.
    #[serde(default)]
    pub(super) mne: Vec<&'static str>,
}

/// A zip with the files of several subjects.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Archive {
    pub(super) name: &'static str,
    pub(super) url: &'static str,
    /// A subject and how the name of the file in the zip starts.
    #[serde(deserialize_with = "kept")]
    pub(super) members: &'static [(u16, &'static str)],
}

/// What a file should be, told by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    Matlab,
    Edf,
    Fif,
    #[serde(skip)]
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
    /// The files of a selection: by subject, session, then run; the list of a recording's events
    /// follows it.
    pub fn files(&'static self, selection: &Selection) -> Result<Vec<DataFile>> {
        let chosen = self.choose(selection)?;
        let mut files = Vec::new();
        for &subject in &chosen.subjects {
            for session in self.sessions_of(subject) {
                let runs = |&task| {
                    self.runs_of(subject, task)
                        .into_iter()
                        .map(move |r| (r, task))
                };
                let mut runs: Vec<_> = chosen.tasks.iter().flat_map(runs).collect();
                runs.sort_by_key(|(run, _)| *run);
                for (run, task) in runs {
                    let patterns = [Some(self.files.path), self.files.events];
                    let file = |pattern| self.file(pattern, subject, session, run, task);
                    files.extend(patterns.into_iter().flatten().map(file));
                }
            }
        }
        Ok(files)
    }

    /// The runs of a task that have a file of their own.
    fn runs_of(&self, subject: u16, task: &Task) -> Vec<Option<u8>> {
        let count = self.records_of(subject).len() as u8;
        match (count, task.runs) {
            (0, []) => vec![None],
            (0, runs) => runs.iter().copied().map(Some).collect(),
            (count, _) => (1..=count).map(Some).collect(),
        }
    }

    /// The names of a subject's runs, where they follow no pattern.
    fn records_of(&self, subject: u16) -> &[&'static str] {
        let place = usize::from(subject).wrapping_sub(1);
        self.files.records.get(place).map_or(&[], Vec::as_slice)
    }

    fn file(
        &'static self,
        pattern: &str,
        subject: u16,
        session: &'static Session,
        run: Option<u8>,
        task: &'static Task,
    ) -> DataFile {
        let name = self.fill(pattern, subject, session.label, run);
        let holds = |a: &&Archive| a.members.iter().any(|m| m.0 == subject);
        let archive = self.files.archives.iter().find(holds);
        DataFile {
            dataset: self,
            subject,
            session: session.label,
            run,
            url: match archive {
                Some(archive) => archive.url.into(),
                None => self.files.url.to_owned() + &name.replace('[', "%5B").replace(']', "%5D"),
            },
            sha256: self.sha256.get(name.as_str()).copied(),
            task,
            kind: self.files.format,
            archive,
            mne: self
                .files
                .mne
                .iter()
                .map(|folder| format!("{folder}{name}"))
                .collect(),
            name,
        }
    }

    /// The path of a subject's file in a data set that comes in archives.
    pub(super) fn member_name(&self, subject: u16) -> String {
        self.fill(self.files.path, subject, "", None)
    }

    fn fill(&self, pattern: &str, subject: u16, session: &str, run: Option<u8>) -> String {
        let run = u16::from(run.unwrap_or(0));
        // Literal text and names take turns.
        let filled = pattern.split(['{', '}']).enumerate().map(|(i, part)| {
            let (name, width) = part.split_once(":0").unwrap_or((part, "0"));
            let number = |value: u16| format!("{value:0w$}", w = width.parse().unwrap_or(0));
            match name {
                _ if i % 2 == 0 => part.to_owned(),
                "subject" => number(subject),
                "subject-1" => number(subject - 1),
                "run" => number(run),
                "session" => session.to_owned(),
                "record" => self.records_of(subject)[usize::from(run) - 1].to_owned(),
                _ => format!("{{{part}}}"),
            }
        });
        filled.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::datasets;
    use super::*;

    #[test]
    fn every_archive_member_is_a_subject_once() {
        for dataset in datasets().iter().filter(|d| !d.files.archives.is_empty()) {
            let archives = dataset.files.archives.iter();
            let mut subjects: Vec<u16> = archives
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
            let files = dataset.files(&selection).unwrap();
            let with = files.iter().filter(|f| f.sha256.is_some()).count();
            assert_eq!(dataset.sha256.len(), with, "{}", dataset.id);
        }
    }

    #[test]
    fn every_pattern_can_be_filled_and_every_address_is_one() {
        let selection = Selection::all().with_tasks(["all"]);
        for dataset in datasets() {
            let records = dataset.files.records.len();
            assert!(records == 0 || records == usize::from(dataset.subjects));
            let files = dataset.files(&selection).unwrap();
            for file in &files {
                assert!(!file.name.contains(['{', '}']), "{}", file.name);
                assert!(file.url.starts_with("https://") && !file.url.contains(['[', ']', ' ']));
            }
            let mut names: Vec<_> = files.iter().map(|f| &f.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), files.len(), "{}", dataset.id);
        }
    }
}
