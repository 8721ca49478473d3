//! How files are read: what a recipe does not say, because it changes no number of a trial.

use crate::DataError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How files are read, and which of them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Input {
    /// Subjects counted from 1, `1-9,12`: by number in a public dataset, by place in the order of
    /// names for files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subjects: Option<String>,
    /// Runs by name (`R06`) or number (`6`); all without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<Vec<String>>,
    /// What names the domain of a file.
    pub domain: DomainFrom,
    /// The task of BIDS recordings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The pattern of file names, where it tells subject, class and run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Whether the complete part of a file that was cut short is taken.
    pub partial: bool,
    /// Samples per second where a file does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling_rate: Option<f64>,
    /// How events are read off marker channels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub markers: Option<String>,
    /// What is what in MATLAB files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mat: Option<String>,
    /// The stream of XDF files that is the signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
    /// Whether files that cannot be read are left out.
    pub skip_unreadable: bool,
    /// What is done about a recording that occurs twice.
    pub duplicates: Duplicates,
    /// Bytes that packed files may expand to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_expanded: Option<u64>,
}

impl Input {
    /// Returns how files are read, whichever they are.
    pub fn reading(&self) -> Self {
        Self {
            subjects: None,
            runs: None,
            task: None,
            pattern: None,
            ..self.clone()
        }
    }
}

/// What is done about a recording that occurs twice, under whichever names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Duplicates {
    /// It is refused, with both places.
    #[default]
    Refuse,
    /// The first one is kept, the others are left out.
    First,
}

impl FromStr for Duplicates {
    type Err = DataError;

    fn from_str(name: &str) -> Result<Self, DataError> {
        match name {
            "refuse" => Ok(Self::Refuse),
            "first" => Ok(Self::First),
            other => Err(DataError::Setting {
                what: format!("\"{other}\" does not say what is done about duplicates"),
                remedy: "choose refuse or first",
            }),
        }
    }
}

/// What of a path names the domain.
///
/// But for `person` and names after BIDS, equal names in different folders may be of two people,
/// and are refused.
///
/// | rule | `eeg/S001R04.edf` | `sub-03_ses-2_task-mi_run-1_eeg.edf` |
/// |---|---|---|
/// | `auto` | as `prefix` | BIDS: domain `sub-03-2` (session 2 of `sub-03`), run `1` |
/// | `prefix` | letters, then digits: domain `S001`, run `R04` | domain `sub-03`, run `ses-2_task-mi_run-1_eeg` |
/// | `person` | as `auto`; equal names are one person, in whichever folders | as `auto` |
/// | `session` | as `auto`, with the folder as session: domain `S001-eeg`, run `R04` | as `auto` |
/// | `folder` | domain `eeg`, run `S001R04` | the folder, the name |
/// | `file` | domain `S001R04` | every file is a domain |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DomainFrom {
    /// BIDS names (`sub-XX_ses-YY`), else the start of the file's name.
    #[default]
    Auto,
    /// The start of the file's name: letters, then digits.
    Prefix,
    /// As `Auto`; equal names are one person, in whichever folders.
    Person,
    /// As `Auto`, with the folder as session of the person.
    Session,
    /// The folder.
    Folder,
    /// The whole name of the file.
    File,
}

impl DomainFrom {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Auto,
        Self::Prefix,
        Self::Person,
        Self::Session,
        Self::Folder,
        Self::File,
    ];

    /// Returns the name used on command lines and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Prefix => "prefix",
            Self::Person => "person",
            Self::Session => "session",
            Self::Folder => "folder",
            Self::File => "file",
        }
    }
}

impl fmt::Display for DomainFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for DomainFrom {
    type Err = DataError;

    fn from_str(name: &str) -> Result<Self, DataError> {
        let found = Self::ALL.into_iter().find(|rule| rule.name() == name);
        found.ok_or_else(|| DataError::Setting {
            what: format!("\"{name}\" does not say what names a domain"),
            remedy: "choose auto, prefix, person, session, folder or file",
        })
    }
}
