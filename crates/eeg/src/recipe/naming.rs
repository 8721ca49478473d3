//! Whose recording a file holds, read off its name; the rules are at [`DomainFrom`].

use std::path::Path;

use stiefel_data::DomainFrom;

use crate::io::name_text;

/// Returns domain and, where something is left of the name, run.
pub(super) fn domain_of(rule: DomainFrom, path: &Path) -> (String, Option<String>) {
    let stem = name_text(path.file_stem().unwrap_or_default());
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    match rule {
        DomainFrom::Auto => bids(&stem).unwrap_or_else(|| prefix(&stem)),
        DomainFrom::Prefix => prefix(&stem),
        DomainFrom::File => (stem, None),
        DomainFrom::Folder => {
            let folder = path.parent().and_then(Path::file_name);
            match folder {
                Some(name) => (name_text(name), some(&stem)),
                None => (stem, None),
            }
        }
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
            assert_eq!(
                domain_of(rule, Path::new(path)),
                expected,
                "{rule:?} {path}"
            );
        }
    }
}
