//! Tables of a study: each column is defined once, for the terminal, the page and the CSV file.
//!
//! Nothing that is printed differs from run to run; times are on the page and in the file alone.

mod numbers;
mod others;
mod results;

use crate::StudySummary;

pub(crate) use numbers::{figure, p_value, signed};
pub(crate) use others::{controls, signals, subjects, tests};
pub(crate) use results::results;

/// A table.
#[derive(Debug)]
pub(crate) struct Table {
    pub name: &'static str,
    /// The name of its CSV file, where it has one.
    pub file: &'static str,
    /// The heading of the first column, which names the rows.
    pub first: &'static str,
    pub columns: Vec<Column>,
    pub lines: Vec<Line>,
    /// How to read it, for the page.
    pub note: String,
}

/// A column.
#[derive(Debug, Clone, Default)]
pub(crate) struct Column {
    /// The heading on the page; nothing where the column is for the file alone.
    pub head: String,
    /// The heading on the terminal; nothing where it is left out there.
    pub brief: String,
    /// What it is, below its heading.
    pub about: String,
    /// The names of its fields in the file.
    pub fields: Vec<String>,
}

/// A row.
#[derive(Debug)]
pub(crate) struct Line {
    /// What stands in its first column.
    pub label: String,
    /// What stands there in the file.
    pub key: String,
    /// What it is, below the label.
    pub about: String,
    /// Its class in the style sheet.
    pub class: &'static str,
    pub cells: Vec<Cell>,
}

/// A place in a row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    /// What is shown.
    pub shown: String,
    /// What is shown on the terminal, where it is shorter.
    pub brief: Option<String>,
    /// The figure it is sorted by.
    pub sort: Option<f64>,
    pub class: &'static str,
    /// Its fields in the file.
    pub fields: Vec<String>,
}

impl Column {
    /// Returns a column with one field and one heading.
    pub(crate) fn new(head: &str, about: &str, field: &str) -> Self {
        Self {
            head: head.to_owned(),
            brief: head.to_owned(),
            about: about.to_owned(),
            fields: vec![field.to_owned()],
        }
    }
}

impl Cell {
    /// Returns a figure, and how it is shown.
    pub(crate) fn new(value: Option<f64>, shown: String) -> Self {
        Self {
            shown,
            sort: value.filter(|v| v.is_finite()),
            fields: vec![numbers::field(value)],
            ..Self::default()
        }
    }

    /// Returns a text.
    pub(crate) fn text(text: &str) -> Self {
        Self {
            shown: text.to_owned(),
            fields: vec![csv_field(text)],
            class: "name",
            ..Self::default()
        }
    }
}

impl Table {
    /// Returns it with full figures, an empty field where there is none (RFC 4180).
    pub(crate) fn csv(&self) -> String {
        let names = self.columns.iter().flat_map(|c| &c.fields);
        let mut lines = vec![
            std::iter::once(self.first)
                .chain(names.map(String::as_str))
                .map(csv_field)
                .collect(),
        ];
        for line in &self.lines {
            let mut fields: Vec<String> = vec![csv_field(&line.key)];
            for (column, cell) in self.columns.iter().zip(&line.cells) {
                let each = 0..column.fields.len();
                fields.extend(each.map(|i| cell.fields.get(i).cloned().unwrap_or_default()));
            }
            lines.push(fields);
        }
        lines
            .iter()
            .map(|fields| fields.join(",") + "\r\n")
            .collect()
    }

    /// Returns it as people read it on a terminal.
    fn text(&self) -> String {
        let shown = |i: &usize| !self.columns[*i].brief.is_empty();
        let at: Vec<usize> = (0..self.columns.len()).filter(shown).collect();
        let mut head = vec![self.first.to_owned()];
        head.extend(at.iter().map(|&i| self.columns[i].brief.clone()));
        let mut rows = vec![head];
        for line in &self.lines {
            let mut row = vec![line.label.clone()];
            row.extend(at.iter().map(|&i| {
                let cell = &line.cells[i];
                cell.brief.as_ref().unwrap_or(&cell.shown).clone()
            }));
            rows.push(row);
        }
        aligned(&rows)
    }
}

/// Returns the results, the controls, the tests and the verdict as text.
pub fn text(summary: &StudySummary) -> String {
    let tables = [results(summary), controls(summary), tests(summary)];
    let shown = tables.iter().filter(|t| !t.lines.is_empty());
    let mut parts: Vec<String> = shown.map(Table::text).collect();
    if !summary.verdict.is_empty() {
        parts.push(summary.verdict.join("\n") + "\n");
    }
    parts.join("\n")
}

/// Pads columns to their widest cell, the first to the left, the others to the right. Widths are
/// counted in characters that take a place (a combining bar takes none).
fn aligned(lines: &[Vec<String>]) -> String {
    let width = |text: &str| text.chars().filter(|c| *c != '\u{304}').count();
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |c: usize| {
        let cells = lines.iter().filter_map(|line| line.get(c));
        cells.map(|cell| width(cell)).max().unwrap_or(0)
    };
    let widest: Vec<usize> = (0..columns).map(widest).collect();
    let mut out = String::new();
    for line in lines {
        for (c, cell) in line.iter().enumerate() {
            let pad = " ".repeat(widest[c] - width(cell));
            let parts = match c {
                0 => ["", cell, &pad],
                _ => ["  ", &pad, cell],
            };
            out.extend(parts);
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
    out
}

/// Returns a text as a field of CSV (RFC 4180). A name that a spreadsheet would run as a formula is
/// led by an apostrophe.
///
/// ```
/// use stiefel_study::table::csv_field;
///
/// assert_eq!(csv_field("S 01"), "S 01");
/// assert_eq!(csv_field("a,\"b\""), "\"a,\"\"b\"\"\"");
/// assert_eq!(csv_field("=HYPERLINK(1)"), "'=HYPERLINK(1)");
/// ```
pub fn csv_field(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if formula {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}
