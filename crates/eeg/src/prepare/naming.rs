//! Whose recording a file holds, read off its name; the rules are at [`DomainFrom`].

use serde::{Deserialize, Serialize};
use std::path::Path;
use std::str::FromStr;

use crate::EegError;
use crate::io::name_text;

/// What of a path names the domain.
///
/// | rule | `eeg/S001R04.edf` | `sub-03_ses-2_task-mi_run-1_eeg.edf` |
/// |---|---|---|
/// | `auto` | as `prefix` | BIDS: domain `sub-03-2` (session 2 of `sub-03`), run `1` |
/// | `prefix` | letters, then digits: domain `S001`, run `R04` | domain `sub-03`, run `ses-2_task-mi_run-1_eeg` |
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
    /// The folder.
    Folder,
    /// The whole name of the file.
    File,
}

impl DomainFrom {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Prefix, Self::Folder, Self::File];

    /// The name used on command lines and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Prefix => "prefix",
            Self::Folder => "folder",
            Self::File => "file",
        }
    }

    /// Domain and, where something is left of the name, run.
    ///
    /// ```
    /// use stiefel_eeg::prepare::DomainFrom;
    /// let (domain, run) = DomainFrom::Auto.of("eeg/S001R04.edf".as_ref());
    /// assert_eq!((domain.as_str(), run.as_deref()), ("S001", Some("R04")));
    /// ```
    pub fn of(self, path: &Path) -> (String, Option<String>) {
        let stem = name_text(path.file_stem().unwrap_or_default());
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        match self {
            Self::Auto => bids(&stem).unwrap_or_else(|| prefix(&stem)),
            Self::Prefix => prefix(&stem),
            Self::File => (stem, None),
            Self::Folder => {
                let folder = path.parent().and_then(Path::file_name);
                match folder {
                    Some(name) => (name_text(name), some(&stem)),
                    None => (stem, None),
                }
            }
        }
    }
}

impl FromStr for DomainFrom {
    type Err = EegError;

    fn from_str(name: &str) -> Result<Self, EegError> {
        let found = Self::ALL.into_iter().find(|d| d.name() == name);
        found.ok_or_else(|| {
            EegError::setting(
                format!("\"{name}\" is not a way to name domains"),
                format!("choose among {}", Self::ALL.map(Self::name).join(", ")),
            )
        })
    }
}

/// `sub-XX[_ses-YY]…[_run-ZZ]`; the task is part of the run where there is no number, since it tells files apart.
fn bids(stem: &str) -> Option<(String, Option<String>)> {
    let value = |key: &str| {
        stem.split('_')
            .find_map(|part| part.strip_prefix(key)?.strip_prefix('-'))
            .filter(|v| !v.is_empty())
    };
    let subject = value("sub")?;
    let domain = match value("ses") {
        Some(session) => format!("sub-{subject}-{session}"),
        None => format!("sub-{subject}"),
    };
    let run = value("run").or_else(|| value("task"));
    Some((domain, run.map(str::to_owned)))
}

/// Everything up to the end of the first digits, and what is left.
fn prefix(stem: &str) -> (String, Option<String>) {
    let Some(first) = stem.find(|c: char| c.is_ascii_digit()) else {
        return (stem.to_owned(), None);
    };
    let digits = stem[first..].find(|c: char| !c.is_ascii_digit());
    let (domain, rest) = stem.split_at(digits.map_or(stem.len(), |d| first + d));
    let rest = rest.trim_start_matches(['_', '-', ' ', '.']);
    (
        domain.to_owned(),
        (!rest.is_empty()).then(|| rest.to_owned()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_tell_domain_and_run() {
        use DomainFrom::{Auto, File, Folder, Prefix};
        for (rule, path, domain, run) in [
            (Auto, "a/S001R04.edf", "S001", Some("R04")),
            (Auto, "A01T.mat", "A01", Some("T")),
            (Auto, "subject_7.mat", "subject_7", None),
            (Auto, "alice.edf", "alice", None),
            (
                Auto,
                "sub-03_ses-2_task-mi_run-1_eeg.edf",
                "sub-03-2",
                Some("1"),
            ),
            (Auto, "sub-x_task-mi_eeg.vhdr", "sub-x", Some("mi")),
            (Auto, "sub-_eeg.edf", "sub-_eeg", None),
            (Prefix, "sub-03_run-1.edf", "sub-03", Some("run-1")),
            (Folder, "alice/one.edf", "alice", Some("one")),
            (Folder, "one.edf", "one", None),
            (File, "a/S001R04.edf", "S001R04", None),
        ] {
            let expected = (domain.to_owned(), run.map(str::to_owned));
            assert_eq!(rule.of(Path::new(path)), expected, "{rule:?} {path}");
        }
        assert!("everything".parse::<DomainFrom>().is_err());
    }
}
