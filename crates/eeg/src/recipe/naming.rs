//! Whose recording a file holds, read off its name; the rules are at [`DomainFrom`].

use std::path::{Path, PathBuf};

use stiefel_data::{DomainFrom, subject_session};

use crate::io::name_text;

/// Returns domain and, where something is left of the name, run.
pub(super) fn domain_of(rule: DomainFrom, path: &Path) -> (String, Option<String>) {
    let stem = stem(path);
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let auto = || bids(&stem).unwrap_or_else(|| prefix(&stem));
    match rule {
        DomainFrom::Auto | DomainFrom::Person => auto(),
        DomainFrom::Session => {
            let (domain, run) = auto();
            match folder(path) {
                Some(session) if bids(&stem).is_none() => (in_session(&domain, &session), run),
                _ => (domain, run),
            }
        }
        DomainFrom::Prefix => prefix(&stem),
        DomainFrom::File => (stem, None),
        DomainFrom::Folder => match folder(path) {
            Some(folder) => (folder, some(&stem)),
            None => (stem, None),
        },
    }
}

/// Returns the folder within which equal names are one person; none where they are one everywhere.
pub(super) fn home_of(rule: DomainFrom, path: &Path) -> Option<PathBuf> {
    let parent = path.parent().unwrap_or(Path::new(""));
    let parent = if parent.as_os_str().is_empty() {
        Path::new(".")
    } else {
        parent
    };
    let parent = parent
        .canonicalize()
        .unwrap_or_else(|_| parent.to_path_buf());
    let above = || Some(parent.parent().unwrap_or(&parent).to_path_buf());
    match rule {
        DomainFrom::Person => None,
        DomainFrom::Folder => above(),
        DomainFrom::Prefix | DomainFrom::File => Some(parent),
        DomainFrom::Auto | DomainFrom::Session => match bids(&stem(path)) {
            // One data set is one folder of people: `sub-01/ses-1/eeg`.
            Some((domain, _)) => {
                let own = |folder: &&Path| folder.ends_with(subject_session(&domain).0);
                Some(parent.ancestors().find(own)?.parent()?.to_path_buf())
            }
            None if rule == DomainFrom::Session => above(),
            None => Some(parent),
        },
    }
}

/// Returns the name of a file without its ending, and without that of its packing.
fn stem(path: &Path) -> String {
    let packed = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("gz"));
    let name = path.file_stem().unwrap_or_default();
    let name = if packed {
        Path::new(name).file_stem().unwrap_or(name)
    } else {
        name
    };
    name_text(name)
}

fn folder(path: &Path) -> Option<String> {
    path.parent().and_then(Path::file_name).map(name_text)
}

/// Names the session of a subject, in the form that tells the two apart again.
fn in_session(subject: &str, session: &str) -> String {
    let session = session.replace('-', "_");
    let named = format!("{subject}-{session}");
    if subject_session(&named).1.is_some() {
        named
    } else {
        format!("sub-{named}")
    }
}

/// `sub-XX[_ses-YY]…[_run-ZZ]`; the task is part of the run where there is no number, since it
/// tells files apart.
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
        use DomainFrom::{Auto, File, Folder, Person, Prefix, Session};
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
            (Auto, "a/S001R04.edf.gz", "S001", Some("R04")),
            (Person, "a/S001R04.edf", "S001", Some("R04")),
            (Session, "day-1/S001R04.edf", "S001-day_1", Some("R04")),
            (Session, "day1/alice.edf", "sub-alice-day1", None),
            (
                Session,
                "x/sub-03_ses-2_run-1_eeg.edf",
                "sub-03-2",
                Some("1"),
            ),
        ] {
            let expected = (domain.to_owned(), run.map(str::to_owned));
            assert_eq!(
                domain_of(rule, Path::new(path)),
                expected,
                "{rule:?} {path}"
            );
        }
    }
    #[test]
    fn equal_names_are_one_person_within_a_folder() {
        use DomainFrom::{Auto, File, Folder, Person, Session};
        for (rule, one, other, same) in [
            (Auto, "/x/S1R1.edf", "/x/S1R2.edf", true),
            (Auto, "/x/S1R1.edf", "/y/S1R2.edf", false),
            (File, "/x/S1.edf", "/y/S1.edf", false),
            (Folder, "/x/S1/a.edf", "/x/S1/b.edf", true),
            (Folder, "/x/S1/a.edf", "/y/S1/b.edf", false),
            (Person, "/x/S1R1.edf", "/y/S1R2.edf", true),
            (Session, "/x/1/S1R1.edf", "/x/2/S1R1.edf", true),
            (Session, "/x/1/S1R1.edf", "/y/2/S1R1.edf", false),
            (Auto, "/x/sub-1_eeg.edf", "/y/sub-1_eeg.edf", true),
            (
                Auto,
                "/x/sub-1/ses-1/eeg/sub-1_ses-1_eeg.edf",
                "/x/sub-1/sub-1_eeg.edf",
                true,
            ),
            (
                Auto,
                "/x/sub-1/sub-1_eeg.edf",
                "/y/sub-1/sub-1_eeg.edf",
                false,
            ),
        ] {
            let home = |path| home_of(rule, Path::new(path));
            assert_eq!(home(one) == home(other), same, "{rule:?} {one} {other}");
        }
    }
}
