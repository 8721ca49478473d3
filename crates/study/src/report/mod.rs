//! The report of a study: one self-contained HTML file, the same figures as SVG files and its
//! tables as CSV files.
//!
//! ```text
//! StudySummary ─▶ figures (base: text, colours, SVG; chart: rows, matrix, lines, scatter, heads) ─▶ page ─▶ report.html, *.csv, figures/*.svg
//! ```
//!
//! Nothing is loaded from elsewhere. One script of a few lines sorts tables; without it everything
//! is there. Light and dark follow the reader's setting; print is light. Colours are told apart by
//! colour-blind readers, each figure has alternative text, every name is escaped, and a value that
//! does not exist reads `–`.
//!
//! Experts of different folds and seeds have nothing to do with each other, so the figures of a
//! router (weights by domain, queries, angles, scalp maps) show one unit, the first fold of the
//! first seed, and say so.

mod base;
mod chart;
mod figures;
mod page;

use crate::{Result, StudyError, StudySummary, write_atomically};
pub(crate) use base::text::Html;
use figures::Gallery;
use std::path::{Path, PathBuf};

/// The report as one HTML page.
///
/// ```
/// # let summary = serde_json::from_str::<stiefel_study::StudySummary>(r#"{"study": "main", "dataset": {"name": "a<b", "fingerprint": "",
/// #   "trials": 0, "channels": [], "classes": [], "domains": [], "subjects": [], "subject_of_domain": [], "rejected": [],
/// #   "preparation": null, "licence": null, "citation": null}, "protocol": "", "settings": null, "code": "", "rows": [],
/// #   "comparisons": [], "paper": [], "verdict": [], "methods": "", "units": []}"#).unwrap();
/// // `summary` is a StudySummary.
/// let page = stiefel_study::report::html(&summary)?;
/// assert!(page.starts_with("<!doctype html>"));
/// assert!(page.contains("a&lt;b"));
/// # Ok::<(), stiefel_study::StudyError>(())
/// ```
pub fn html(summary: &StudySummary) -> Result<String> {
    page::html(summary, &Gallery::new(summary))
}

/// The figures of the report as files: name and SVG text.
///
/// Names are made of the kind of figure and the method (`routing-dasp.svg`), and all differ.
pub fn figures(summary: &StudySummary) -> Vec<(String, String)> {
    files(&Gallery::new(summary))
}

fn files(gallery: &Gallery) -> Vec<(String, String)> {
    let file = |f: &figures::Figure| {
        let svg = f.drawing.standalone(&f.title, &f.alt);
        (format!("{}.svg", f.name), svg)
    };
    gallery.figures.iter().map(file).collect()
}

/// The tables of the report as CSV files: name and text. Figures are those of the page, with all
/// their digits.
pub fn tables(summary: &StudySummary) -> Vec<(&'static str, String)> {
    page::csv_files(summary)
}

/// Writes `report.html`, its tables (`results.csv`, `tests.csv`, `subjects.csv`) and
/// `figures/*.svg` into a folder, which is made where it does not exist, and gives the page's path.
///
/// Each file is written under another name and renamed: a reader never sees half a file. The page
/// comes last, and does not need the figures' files.
pub fn write(summary: &StudySummary, folder: impl AsRef<Path>) -> Result<PathBuf> {
    let folder = folder.as_ref();
    let gallery = Gallery::new(summary);
    let figures = folder.join("figures");
    std::fs::create_dir_all(&figures).map_err(|e| {
        StudyError::file(&figures, e, "may the folder be written, and is there room?")
    })?;
    for (name, svg) in files(&gallery) {
        write_atomically(&figures.join(name), svg.as_bytes())?;
    }
    for (name, text) in tables(summary) {
        write_atomically(&folder.join(name), text.as_bytes())?;
    }
    let page = folder.join("report.html");
    write_atomically(&page, page::html(summary, &gallery)?.as_bytes())?;
    Ok(page)
}
