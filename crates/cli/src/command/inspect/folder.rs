//! A folder: a line for every file.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use stiefel::eeg::io::{
    Content, FormatError, ReadOptions, Source, check_apply, files_below, name_text, path_text,
    read_among,
};
use stiefel::eeg::{EegError, Recording};

use super::Description;
use super::signals::{counted, event_text, seconds, value};
use crate::bar::Bar;
use crate::failure::Failure;
use crate::table::{SCREEN, within};
use crate::voice::is_verbose;

/// Letters of a file's name; of a longer one the middle is left out.
const LONGEST_NAME: usize = 30;
/// Files that belong to a recording, or describe one: they are opened through it.
const BESIDE: [&str; 9] = [
    "vmrk", "amrk", "eeg", "fdt", "json", "tsv", "md", "txt", "py",
];

/// The recordings below a folder.
pub(super) fn describe(folder: &Path, options: &ReadOptions) -> Result<Description, Failure> {
    let files = files_of(folder)?;
    check_apply(options, &files)?;
    let mut rows = Vec::new();
    let (mut values, mut reasons) = (Vec::new(), Vec::new());
    let mut others: BTreeMap<String, usize> = BTreeMap::new();
    let (mut recordings, mut unread) = (0, 0);
    let bar = Bar::new("reading", files.len());
    for path in &files {
        bar.advance();
        let name = path.strip_prefix(folder).unwrap_or(path);
        match Source::open(path)
            .map_err(EegError::from)
            .and_then(|source| read_among(source, options))
        {
            Ok(content) => {
                recordings += 1;
                let (lines, value) = read(name, path, content);
                rows.extend(lines);
                values.push(value);
            }
            Err(error) => {
                if let Some(ending) = beside(path, &error) {
                    *others.entry(ending).or_default() += 1;
                    continue;
                }
                unread += 1;
                let reason = format!("cannot be read: {}", error.short());
                rows.push(Row::of(name, Cells::Unread(reason)));
                values.push(json!({ "file": path_text(path), "error": error.to_string() }));
                reasons.push(path_text(name));
                reasons.push(within(SCREEN, "", &error.to_string(), 4));
            }
        }
    }
    drop(bar);
    if recordings == 0 {
        let first = reasons.get(..2).map_or(String::new(), |r| {
            format!(
                "; {}: {}",
                r[0],
                r[1].split_whitespace().collect::<Vec<_>>().join(" ")
            )
        });
        return Err(Failure::Failed(format!(
            "{}: none of its {} files is a recording that can be read ({}){first}",
            folder.display(),
            files.len(),
            stiefel::eeg::io::formats()
        )));
    }
    let mut lines = vec![table(&rows)];
    if unread > 0 && is_verbose() {
        lines.push(String::new());
        lines.extend(reasons);
    } else if unread > 0 {
        lines.push(format!(
            "\n{} cannot be read; -v gives the whole reason",
            counted(unread, "file")
        ));
    }
    let count: usize = others.values().sum();
    if count > 0 {
        let each: Vec<String> = others.iter().map(|(e, n)| format!("{e} ×{n}")).collect();
        lines.push(format!(
            "{} ({})",
            counted(count, "other file"),
            each.join(", ")
        ));
    }
    Ok(Description {
        text: lines.join("\n"),
        value: json!({ "kind": "folder", "folder": folder, "files": values, "other_files": count }),
    })
}

/// What a line says of a file.
enum Cells {
    /// Channels, rate, seconds, events.
    Read([String; 4]),
    /// Why it cannot be read.
    Unread(String),
}

/// A line of the table.
struct Row {
    folder: PathBuf,
    name: String,
    cells: Cells,
}

impl Row {
    fn of(path: &Path, cells: Cells) -> Self {
        let name = name_text(path.file_name().unwrap_or_default());
        Self {
            folder: path.parent().unwrap_or(Path::new("")).to_path_buf(),
            name: shortened(&name, LONGEST_NAME),
            cells,
        }
    }
}

/// The table, folder by folder.
fn table(rows: &[Row]) -> String {
    let indent = if rows.iter().any(|r| !r.folder.as_os_str().is_empty()) {
        "  "
    } else {
        ""
    };
    let heading = ["CH", "HZ", "SECONDS", "EVENTS"].map(String::from);
    let mut widths = [
        0,
        heading[0].len(),
        heading[1].len(),
        heading[2].len(),
        heading[3].len(),
    ];
    for row in rows {
        widths[0] = widths[0].max(indent.len() + row.name.chars().count());
        if let Cells::Read(cells) = &row.cells {
            for (width, cell) in widths[1..4].iter_mut().zip(cells) {
                *width = (*width).max(cell.chars().count());
            }
        }
    }
    let line = |name: &str, cells: &[String]| {
        let mut line = format!("{name:<0$}", widths[0]);
        for (cell, width) in cells.iter().zip(&widths[1..]) {
            // Writing to a string cannot fail.
            let _ = write!(line, "  {cell:<width$}");
        }
        cut(line.trim_end(), SCREEN)
    };
    let mut lines = vec![line("FILE", &heading)];
    let mut folder = Path::new("");
    for row in rows {
        if row.folder != folder {
            folder = &row.folder;
            lines.push(format!("{}/", path_text(folder)));
        }
        let name = format!("{indent}{}", row.name);
        lines.push(match &row.cells {
            Cells::Read(cells) => line(&name, cells),
            Cells::Unread(reason) => cut(&format!("{name:<0$}  {reason}", widths[0]), SCREEN),
        });
    }
    lines.join("\n")
}

/// Rows and value of a file that was read.
fn read(name: &Path, path: &Path, content: Content) -> (Vec<Row>, Value) {
    match content {
        Content::Recordings(all) => {
            let row = |(i, r): (usize, &Recording)| {
                let cells = [
                    r.channels().len().to_string(),
                    number(r.sampling_rate(), 2),
                    format!("{:.1}", seconds(r)),
                    event_text(r),
                ];
                let mut row = Row::of(name, Cells::Read(cells));
                if all.len() > 1 {
                    row.name = format!("{} {}/{}", row.name, i + 1, all.len());
                }
                row
            };
            let each: Vec<Value> = all.iter().map(value).collect();
            (
                all.iter().enumerate().map(row).collect(),
                json!({ "file": path_text(path), "kind": "recordings", "recordings": each }),
            )
        }
        Content::Epochs(epochs) => {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            for trial in epochs.trials() {
                *counts.entry(&trial.label).or_default() += 1;
            }
            let each: Vec<String> = counts.iter().map(|(l, n)| format!("{l} ×{n}")).collect();
            let length = epochs.samples() as f64 / epochs.sampling_rate();
            let cells = [
                epochs.channels().len().to_string(),
                number(epochs.sampling_rate(), 2),
                format!("{length:.1}"),
                format!("{} trials: {}", epochs.trials().len(), each.join(", ")),
            ];
            (
                vec![Row::of(name, Cells::Read(cells))],
                json!({ "file": path_text(path), "kind": "epochs" }),
            )
        }
        Content::Trials(trials) => {
            let cells = [
                trials.channels_count().to_string(),
                "-".into(),
                "-".into(),
                format!("{} trials: covariances", trials.len()),
            ];
            (
                vec![Row::of(name, Cells::Read(cells))],
                json!({ "file": path_text(path), "kind": "covariances" }),
            )
        }
    }
}

/// A number with at most so many decimals.
fn number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The ending of a file that stands beside recordings.
fn beside(path: &Path, error: &EegError) -> Option<String> {
    // The system could not open it: that is about the file, whatever it is.
    if matches!(
        error,
        EegError::Io { .. } | EegError::Format(FormatError::Io { .. })
    ) {
        return None;
    }
    // README, LICENSE, CHANGES: no recorder names a recording without an ending, unless its content
    // says so.
    let Some(ending) = path.extension() else {
        return Some("no ending".into());
    };
    let ending = name_text(ending).to_ascii_lowercase();
    BESIDE.contains(&ending.as_str()).then_some(ending)
}

/// The start of a text that is too long.
fn cut(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_owned();
    }
    let short: String = text.chars().take(letters - 1).collect();
    format!("{}…", short.trim_end())
}

/// Start and end of a text that is too long.
fn shortened(text: &str, letters: usize) -> String {
    let count = text.chars().count();
    if count <= letters {
        return text.to_owned();
    }
    let end = letters / 2;
    let start: String = text.chars().take(letters - end - 1).collect();
    let end: String = text.chars().skip(count - end).collect();
    format!("{start}…{end}")
}

/// Files below a folder in the order of their names, those of folders below it after its own;
/// hidden ones are passed over.
fn files_of(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let hidden = |path: &Path| {
        let name = path.file_name().unwrap_or_default();
        name.as_encoded_bytes().starts_with(b".")
    };
    let mut files = files_below(folder, |path| !hidden(path))?;
    files.retain(|path| !hidden(path));
    files.sort_by(|a, b| (a.parent(), a.file_name()).cmp(&(b.parent(), b.file_name())));
    Ok(files)
}
