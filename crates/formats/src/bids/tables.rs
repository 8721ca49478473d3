//! Tables of tab-separated values: `n/a` where something is not known.

use std::path::PathBuf;

use crate::events::Marker;
use crate::units::excerpt;
use crate::{ChannelKind, FormatError, Result};

/// A table with its header.
pub(super) struct Table<'t> {
    header: Vec<&'t str>,
    rows: Vec<Vec<&'t str>>,
}

/// What a table says of a channel.
pub(super) struct Described {
    pub(super) name: String,
    pub(super) kind: Option<ChannelKind>,
    pub(super) unit: String,
    pub(super) bad: bool,
}

fn wrong(name: &str, reason: String) -> FormatError {
    FormatError::Malformed {
        path: PathBuf::from(name),
        offset: 0,
        reason,
    }
}

impl<'t> Table<'t> {
    pub(super) fn parse(name: &str, text: &'t str) -> Result<Self> {
        let text = text.trim_start_matches('\u{feff}');
        let mut lines = text.lines().filter(|l| !l.trim().is_empty());
        let cells = |line: &'t str| line.split('\t').map(str::trim).collect::<Vec<_>>();
        let Some(header) = lines.next().map(cells) else {
            return Err(wrong(name, "the table has no header".into()));
        };
        let rows = lines.map(cells).collect();
        Ok(Self { header, rows })
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.header
            .iter()
            .position(|h| h.eq_ignore_ascii_case(name))
    }

    /// The cell of a row, unless it says that nothing is known.
    fn cell(row: &[&'t str], column: Option<usize>) -> Option<&'t str> {
        let cell = *row.get(column?)?;
        (!(cell.is_empty() || cell.eq_ignore_ascii_case("n/a"))).then_some(cell)
    }

    /// The events: where `trial_type` is not known, `value` is the label.
    pub(super) fn events(&self, name: &str) -> Result<Vec<Marker>> {
        let Some(onset) = self.column("onset") else {
            return Err(wrong(name, "the events have no column onset".into()));
        };
        let kinds = ["trial_type", "value", "event_type", "stim_type"].map(|c| self.column(c));
        let duration = self.column("duration");
        let mut markers = Vec::with_capacity(self.rows.len());
        for (i, row) in self.rows.iter().enumerate() {
            let Some(text) = Self::cell(row, Some(onset)) else {
                continue;
            };
            let seconds = |text: &str| text.parse::<f64>().ok().filter(|v| v.is_finite());
            let Some(at) = seconds(text) else {
                let reason = format!("the onset of event {} is \"{}\"", i + 1, excerpt(text));
                return Err(wrong(name, reason));
            };
            let label = kinds.iter().find_map(|&k| Self::cell(row, k));
            markers.push(Marker {
                onset: at,
                duration: Self::cell(row, duration).and_then(seconds).unwrap_or(0.0),
                label: label.unwrap_or("event").to_string(),
            });
        }
        Ok(markers)
    }

    pub(super) fn channels(&self, name: &str) -> Result<Vec<Described>> {
        let Some(names) = self.column("name") else {
            return Err(wrong(name, "the channels have no column name".into()));
        };
        let (kind, unit, status) = (
            self.column("type"),
            self.column("units"),
            self.column("status"),
        );
        let described = |row: &Vec<&'t str>| {
            let kind = Self::cell(row, kind).map(str::to_ascii_uppercase);
            Some(Described {
                name: Self::cell(row, Some(names))?.to_string(),
                kind: kind.map(|k| match k.as_str() {
                    "EEG" => ChannelKind::Eeg,
                    "EOG" | "VEOG" | "HEOG" => ChannelKind::Eog,
                    "EMG" => ChannelKind::Emg,
                    "ECG" => ChannelKind::Ecg,
                    "TRIG" | "STIM" => ChannelKind::Stim,
                    _ => ChannelKind::Misc,
                }),
                unit: Self::cell(row, unit).unwrap_or_default().to_string(),
                bad: Self::cell(row, status).is_some_and(|s| s.eq_ignore_ascii_case("bad")),
            })
        };
        Ok(self.rows.iter().filter_map(described).collect())
    }
}
