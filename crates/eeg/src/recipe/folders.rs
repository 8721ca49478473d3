//! The recordings of a folder: files by their endings, without those that stand beside a recording.

use std::path::{Path, PathBuf};

use crate::io::{Reader, Source, bci2000, bids, csv, detect, files_below, listed, readers};
use crate::{EegError, Result};

/// How the names of FIF files end that hold no recording.
const DERIVED: [&str; 14] = [
    "-eve", "_eve", "-annot", "_annot", "-ave", "_ave", "-cov", "-fwd", "-inv", "-trans", "-proj",
    "-ica", "-bem", "-src",
];

/// What files in a folder are taken; named ones may have any name.
fn extensions() -> Vec<&'static str> {
    let of = |reader: &&'static dyn Reader| reader.format().extensions.iter().copied();
    readers().iter().flat_map(of).collect()
}

/// The recordings below a folder, in the order of their names; an error where there is none.
pub(super) fn recordings_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let all = files_below(folder, |_| true)?;
    let mut files = with_endings(&all, &extensions());
    if files.is_empty() {
        // Text is a recording where nothing else is one.
        files = with_endings(&all, &csv::EXTENSIONS);
    }
    if files.is_empty() {
        return Err(EegError::setting(
            format!("there is no recording in {}", folder.display()),
            format!(
                "recordings are files that end in {} or {}",
                extensions().join(", "),
                csv::EXTENSIONS.join(", ")
            ),
        ));
    }
    Ok(files)
}

/// The recordings of a task, by the names of BIDS.
pub(super) fn of_task(files: Vec<PathBuf>, task: &str) -> Result<Vec<PathBuf>> {
    let mut known: Vec<String> = files.iter().filter_map(|f| bids::task(f)).collect();
    known.sort();
    known.dedup();
    let is = |path: &PathBuf| bids::task(path).is_some_and(|t| t.eq_ignore_ascii_case(task));
    let chosen: Vec<PathBuf> = files.into_iter().filter(is).collect();
    if chosen.is_empty() {
        let names = if known.is_empty() {
            "no file has a BIDS name (sub-01_task-mi_eeg.edf)".into()
        } else {
            format!("the tasks are {}", listed(&known))
        };
        return Err(EegError::setting(format!("there is no task {task}"), names));
    }
    Ok(chosen)
}

/// Whether a file belongs to a recording, or comes from one, and is none.
fn is_beside(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default();
    let derived =
        name.to_ascii_lowercase().contains(".fif") && DERIVED.iter().any(|d| stem.ends_with(d));
    // BrainVision and EEGLAB call their data .dat too.
    let data = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("dat"))
        && !Source::open(path)
            .and_then(|mut source| detect(&mut source))
            .is_ok_and(|format| format == bci2000::FORMAT);
    derived || data || bids::is_sidecar(path) || is_later_part(path)
}

/// Whether a file is a later part of a split recording, which its first part leads to.
fn is_later_part(path: &Path) -> bool {
    let name = path
        .file_name()
        .and_then(|n| n.to_str())
        .unwrap_or_default();
    let Some((stem, ending)) = name.split_once('.') else {
        return false;
    };
    if !ending.to_ascii_lowercase().starts_with("fif") {
        return false;
    }
    if let Some((_, rest)) = stem.split_once("_split-") {
        let number = rest.split('_').next().and_then(|n| n.parse::<u32>().ok());
        return number.is_some_and(|n| n > 1);
    }
    match stem.rsplit_once('-') {
        Some((base, digits))
            if digits.bytes().all(|b| b.is_ascii_digit()) && !digits.is_empty() =>
        {
            path.with_file_name(format!("{base}.{ending}")).is_file()
        }
        _ => false,
    }
}

/// The files with one of these endings that are no part of another recording.
fn with_endings(files: &[PathBuf], endings: &[&str]) -> Vec<PathBuf> {
    let ends = |path: &&PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.to_ascii_lowercase();
        let ends = |e: &&str| name.strip_suffix(*e).is_some_and(|n| n.ends_with('.'));
        endings.iter().any(ends) && !is_beside(path)
    };
    files.iter().filter(ends).cloned().collect()
}
