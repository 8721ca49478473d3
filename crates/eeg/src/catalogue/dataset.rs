//! What is known of a data set: tables that are read from TOML.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

use super::Sha256;
use super::files::Files;

/// A public data set.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dataset {
    /// The name on command lines, in folders and in files: `bnci2014001`.
    pub id: &'static str,
    /// The name that papers use: `BNCI2014_001`.
    pub name: &'static str,
    /// Other names it answers to.
    #[serde(deserialize_with = "kept")]
    pub aliases: &'static [&'static str],
    /// One line.
    pub title: &'static str,
    /// What may be done with it.
    pub licence: Licence,
    /// What to cite.
    pub citation: Citation,
    /// Subjects are numbered from 1 to this.
    pub subjects: u16,
    /// Subjects that are not offered, with the reason.
    #[serde(default, deserialize_with = "kept")]
    pub left_out: &'static [LeftOut],
    /// Days of recording.
    #[serde(deserialize_with = "kept")]
    pub sessions: &'static [Session],
    /// Runs and trials of one session, in words.
    pub structure: &'static str,
    /// What people did; the first task is the default.
    #[serde(deserialize_with = "kept")]
    pub tasks: &'static [Task],
    /// Samples per second.
    pub sampling_rate: f64,
    /// Seconds of a trial where recordings hold no events: each is cut into consecutive trials,
    /// labelled `run N`.
    pub trial_seconds: Option<f64>,
    /// The window of a trial that decoding uses, in seconds from the event.
    pub window: Interval,
    /// What the event marks: where the window counts from.
    pub window_from: &'static str,
    /// The pass band in hertz that suits the task, where it is not the usual one.
    pub band: Option<[f64; 2]>,
    /// What counts as one domain unless asked otherwise.
    pub domain: DomainUnit,
    /// What a user should know.
    #[serde(default, deserialize_with = "kept")]
    pub notes: &'static [&'static str],
    /// The names of the EEG channels, separated by blanks.
    #[serde(rename = "channels")]
    pub(super) channel_names: &'static str,
    /// Where the files are.
    pub(super) files: Files,
    /// The checksums of files that are known beforehand, by path.
    #[serde(default)]
    pub(super) sha256: BTreeMap<&'static str, Sha256>,
}

/// The terms of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Licence {
    /// The short name: `CC BY-ND 4.0`.
    pub name: &'static str,
    /// The full text.
    pub url: &'static str,
    /// What it allows and forbids, in plain words.
    pub allows: &'static str,
}

/// What to cite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Citation {
    /// A BibTeX entry, or several.
    pub bibtex: &'static str,
    /// The DOI of the paper.
    pub doi: &'static str,
}

/// A subject that is not offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// The subject's number.
    pub subject: u16,
    /// Why.
    pub reason: &'static str,
}

/// One day of recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// The label in file names (`T`, `A`), `1` where there is only one.
    pub label: &'static str,
    /// What it was.
    pub meaning: &'static str,
    /// The first and last subject who had it; `None`: all.
    pub(super) subjects: Option<(u16, u16)>,
}

/// What people were asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// The name on command lines.
    pub name: &'static str,
    /// What it was.
    pub meaning: &'static str,
    /// The runs it was done in, where every run has a file of its own.
    #[serde(default, deserialize_with = "kept")]
    pub runs: &'static [u8],
    /// The classes.
    #[serde(deserialize_with = "kept")]
    pub classes: &'static [Class],
}

/// A class of trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// The name: `left_hand`, `right_hand`, `both_hands`, `feet`, `tongue`, `rest`, ….
    pub name: &'static str,
    /// What the person did.
    pub meaning: &'static str,
    /// What stands for it in the files; the first is the code.
    #[serde(deserialize_with = "kept")]
    pub labels: &'static [&'static str],
    /// Whether it is taken when no classes are named.
    #[serde(default = "yes")]
    pub by_default: bool,
}

/// A stretch of time in seconds, `start ≤ t < end`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(from = "[f64; 2]")]
pub struct Interval {
    /// Its first moment.
    pub start: f64,
    /// Where it ends; the sample there is not included.
    pub end: f64,
}

/// What one domain is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DomainUnit {
    /// A person, whatever the session.
    Subject,
    /// A person on one day.
    SubjectSession,
}

/// Reads a list that is kept for as long as the program runs, as the catalogue is.
pub(super) fn kept<'de, D, T>(deserializer: D) -> Result<&'static [T], D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Vec::deserialize(deserializer).map(|list| &*list.leak())
}

fn yes() -> bool {
    true
}

impl Dataset {
    /// The names of the EEG channels in the order of the recordings.
    pub fn channels(&self) -> Vec<&'static str> {
        self.channel_names.split_ascii_whitespace().collect()
    }

    /// The subjects that are offered.
    pub fn offered(&self) -> impl Iterator<Item = u16> + '_ {
        (1..=self.subjects).filter(|s| self.left_out.iter().all(|l| l.subject != *s))
    }

    /// The sessions of a subject.
    pub fn sessions_of(&self, subject: u16) -> impl Iterator<Item = &'static Session> {
        let had = move |s: &&Session| {
            s.subjects
                .is_none_or(|(first, last)| (first..=last).contains(&subject))
        };
        self.sessions.iter().filter(had)
    }

    /// All classes of all tasks, each once.
    pub fn classes(&self) -> Vec<&'static Class> {
        let mut classes: Vec<&'static Class> = Vec::new();
        for class in self.tasks.iter().flat_map(|t| t.classes) {
            if classes.iter().all(|known| known.name != class.name) {
                classes.push(class);
            }
        }
        classes
    }

    /// The name of a domain: `S08` or `S08-C`.
    ///
    /// ```
    /// use stiefel_eeg::catalogue::{DomainUnit, find};
    /// let dataset = find("bnci2015001")?;
    /// assert_eq!(
    ///     dataset.domain_name(8, "C", DomainUnit::SubjectSession),
    ///     "S08-C"
    /// );
    /// assert_eq!(dataset.domain_name(8, "C", DomainUnit::Subject), "S08");
    /// # Ok::<(), stiefel_eeg::catalogue::CatalogueError>(())
    /// ```
    pub fn domain_name(&self, subject: u16, session: &str, unit: DomainUnit) -> String {
        let width = if self.subjects > 99 { 3 } else { 2 };
        match unit {
            DomainUnit::Subject => format!("S{subject:0width$}"),
            DomainUnit::SubjectSession => format!("S{subject:0width$}-{session}"),
        }
    }
}

impl Class {
    /// Whether a file's label stands for this class, whatever the case.
    pub fn is_called(&self, label: &str) -> bool {
        let label = label.trim();
        self.name.eq_ignore_ascii_case(label)
            || self.labels.iter().any(|l| l.eq_ignore_ascii_case(label))
    }
}

impl From<[f64; 2]> for Interval {
    fn from([start, end]: [f64; 2]) -> Self {
        Self { start, end }
    }
}

impl std::fmt::Display for Interval {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}–{} s", self.start, self.end)
    }
}
