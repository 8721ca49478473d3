//! Signals as text: CSV and TSV with a header of channels, and OpenBCI's own files.
//!
//! ```text
//! time,C3,Cz (mV),C4,marker            a line per sample; separators: tab, semicolon, comma
//! %OpenBCI Raw EEG Data … %Sample Rate = 250 Hz … Sample Index, EXG Channel 0, …, Timestamp
//! %OpenBCI Raw EEG Data … %Sample Rate = 250.0 Hz … 0, -12.5, …      older ones have no line of names
//! ```
//!
//! * **Columns.** A time column (`time`, `timestamp`, `seconds`, `t`; `ms` in its name means
//!   milliseconds) gives the rate; without one the rate must be told. A marker column (`marker`,
//!   `event`, `trigger`, `label`, `class`, …) of numbers is a marker channel as in every format; of
//!   text, an event wherever the text changes to something. Counters (`sample index`) are passed
//!   over. All others are channels, in µV unless their name ends in a unit.
//! * **Rate.** The median step of the time column, rounded to a thousandth of a hertz where it is
//!   that close; steps that jump by more than one sample are noted.
//! * A semicolon as separator allows a comma as decimal point.

mod columns;
mod openbci;

use super::events::{Marker, place};
use super::units::excerpt;
use super::{Content, Format, Head, ReadOptions, Reader, Source};
use crate::{FormatError, Recording, Result};
use columns::{Column, Role, columns};

/// CSV in the registry of formats.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Csv;

/// CSV, TSV and OpenBCI's text files.
pub const FORMAT: Format = Format {
    name: "CSV and TSV",
    extensions: &[],
};

/// How the names of text files end. Folders are searched for them only where nothing else is a
/// recording.
pub const EXTENSIONS: [&str; 3] = ["csv", "tsv", "txt"];

const OPENBCI: &[u8] = b"%OpenBCI";

impl Reader for Csv {
    fn format(&self) -> Format {
        FORMAT
    }

    fn recognises(&self, head: &Head<'_>) -> bool {
        let text = !head.bytes.is_empty() && !head.bytes.contains(&0);
        let separated = |line: &[u8]| line.iter().any(|b| matches!(b, b',' | b';' | b'\t'));
        let first = head.bytes.split(|&b| b == b'\n').next().unwrap_or_default();
        head.bytes.starts_with(OPENBCI)
            || (text && head.has_extension(&EXTENSIONS) && separated(first))
    }

    fn read(&self, mut source: Source<'_>, options: &ReadOptions) -> Result<Content> {
        let bytes = source.read_vec(source.len(), "the text")?;
        let text = String::from_utf8_lossy(&bytes);
        let table = Table::parse(&source, &text)?;
        table
            .recording(&source, options)
            .map(|r| Content::Recordings(vec![r]))
    }
}

/// Header and rows of a text file.
struct Table<'t> {
    columns: Vec<Column>,
    rows: Vec<(usize, &'t str)>,
    separator: char,
    /// Samples per second that comments tell.
    rate: Option<f64>,
}

impl<'t> Table<'t> {
    fn parse(source: &Source<'_>, text: &'t str) -> Result<Self> {
        let (mut rate, mut count, mut comments) = (None, None, 0);
        let mut lines = text
            .trim_start_matches('\u{feff}')
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty());
        let header = loop {
            let Some((_, line)) = lines.next() else {
                return Err(source.malformed(0, "the text has no header"));
            };
            let Some(comment) = line.strip_prefix(['%', '#']) else {
                break line;
            };
            let comment = comment.to_ascii_lowercase();
            comments += 1;
            if let Some((_, value)) = comment.split_once("number of channels") {
                let digits = value.trim_matches(|c: char| !c.is_ascii_digit());
                count = digits.parse().ok();
            }
            if let Some((_, value)) = comment.split_once("sample rate") {
                let digits = value.trim_matches(|c: char| !c.is_ascii_digit());
                rate = digits.parse().ok();
            }
        };
        let separator = ['\t', ';', ',']
            .into_iter()
            .find(|&s| header.contains(s))
            .unwrap_or(',');
        let mut rows: Vec<(usize, &str)> = lines.collect();
        let numeric = |cell: &str| number(cell, separator).is_some();
        let first = split(header, separator);
        let mut columns = columns(&first);
        if text.as_bytes().starts_with(OPENBCI) && numeric(first[0]) {
            // Before version 5 there is no line of names.
            columns =
                openbci::columns(&first, count).map_err(|reason| source.malformed(0, reason))?;
            rows.insert(0, (comments, header));
        }
        if columns.iter().all(|c| numeric(&c.name)) {
            let reason = "the first line holds numbers, but it must hold the names of the channels";
            return Err(source.malformed(0, reason));
        }
        // A marker column is text where one of its cells is.
        for (i, column) in columns.iter_mut().enumerate() {
            if column.role == Role::Marker {
                let cell = |(_, row): &(usize, &str)| {
                    let cell = row.split(separator).nth(i).unwrap_or_default().trim();
                    !(cell.is_empty() || numeric(cell))
                };
                column.text = rows.iter().any(cell);
            }
        }
        Ok(Self {
            columns,
            rows,
            separator,
            rate,
        })
    }

    fn recording(self, source: &Source<'_>, options: &ReadOptions) -> Result<Recording> {
        let samples = self.rows.len();
        let kept: Vec<usize> = (0..self.columns.len())
            .filter(|&i| self.columns[i].is_signal())
            .collect();
        let signals = (self.columns.iter())
            .filter(|c| c.role == Role::Signal)
            .count();
        if signals == 0 || samples == 0 {
            let reason = format!("the text has {signals} columns of signal and {samples} rows");
            return Err(source.malformed(0, reason));
        }
        let mut data = source.zeros(samples, kept.len())?;
        let mut times = Vec::new();
        let mut markers: Vec<(usize, String)> = Vec::new();
        let mut before = String::new();
        for (s, (line, row)) in self.rows.iter().enumerate() {
            let cells = split(row, self.separator);
            let mut next = 0;
            for (i, column) in self.columns.iter().enumerate() {
                let cell = cells.get(i).copied().unwrap_or_default();
                if column.role == Role::Marker && column.text {
                    let cell = cell.trim_matches('"');
                    let empty = cell.is_empty() || cell == "0" || cell.eq_ignore_ascii_case("nan");
                    if !empty && cell != before {
                        markers.push((s, cell.to_string()));
                    }
                    before = cell.to_string();
                    continue;
                }
                if !column.is_signal() && column.role != Role::Time {
                    continue;
                }
                // No marker, no number.
                let cell = if column.role == Role::Marker && cell.is_empty() {
                    "0"
                } else {
                    cell
                };
                let Some(value) = number(cell, self.separator) else {
                    return Err(source.malformed(
                        0,
                        format!(
                            "line {}, column {}: expected a number, found \"{}\"",
                            line + 1,
                            excerpt(&column.name),
                            excerpt(cell)
                        ),
                    ));
                };
                if column.role == Role::Time {
                    times.push(value * column.scale);
                } else {
                    data[next * samples + s] = value * column.scale;
                    next += 1;
                }
            }
        }
        let mut notes = Vec::new();
        let told = self.rate.or(options.sampling_rate);
        let rate = match told {
            Some(rate) => rate,
            None => rate_of(&times, &mut notes).ok_or_else(|| {
                FormatError::setting(
                    format!(
                        "{}: the file does not give its rate, and no column holds times that \
                         increase",
                        source.path().display()
                    ),
                    "give the option `sampling_rate`",
                )
            })?,
        };
        let marker = |(s, label): (usize, String)| Marker {
            onset: s as f64 / rate,
            duration: 0.0,
            label,
        };
        let events = place(
            markers.into_iter().map(marker).collect(),
            rate,
            samples,
            &mut notes,
        );
        let channels = kept.iter().map(|&i| self.columns[i].channel()).collect();
        Ok(Recording::new(channels, rate, data, events)
            .map_err(|e| source.malformed(0, e.to_string()))?
            .with_notes(notes))
    }
}

/// The cells of a line; a separator within quotes is text.
fn split(line: &str, separator: char) -> Vec<&str> {
    let mut cells = Vec::new();
    let (mut from, mut quoted) = (0, false);
    for (at, c) in line.char_indices() {
        if c == '"' {
            quoted = !quoted;
        } else if c == separator && !quoted {
            cells.push(line[from..at].trim());
            from = at + c.len_utf8();
        }
    }
    cells.push(line[from..].trim());
    cells
}

fn number(cell: &str, separator: char) -> Option<f64> {
    let cell = cell.trim().trim_matches('"');
    let value = if separator == ';' {
        cell.replace(',', ".").parse::<f64>()
    } else {
        cell.parse::<f64>()
    };
    value.ok().filter(|v| v.is_finite())
}

/// Samples per second by the median step of a time that runs on.
fn rate_of(times: &[f64], notes: &mut Vec<String>) -> Option<f64> {
    let mut steps: Vec<f64> = times.windows(2).map(|w| w[1] - w[0]).collect();
    steps.sort_by(f64::total_cmp);
    let step = *steps.get(steps.len() / 2)?;
    // Stamps are written with a few digits: their mean is nearer than one step.
    let span = times.last()? - times.first()?;
    let mean = span / steps.len() as f64;
    if !(step > 0.0 && mean > 0.0) {
        return None;
    }
    let jumps = steps.iter().filter(|&&s| s > 2.0 * step || s < 0.0).count();
    if jumps > 0 {
        notes.push(format!(
            "the time column jumps at {jumps} of {} steps: samples are missing or doubled there",
            steps.len()
        ));
    }
    let rate = if jumps == 0 { 1.0 / mean } else { 1.0 / step };
    let rounded = rate.round();
    Some(if (rate - rounded).abs() < 1e-3 * rate {
        rounded
    } else {
        rate
    })
}
