//! What the columns of a text file are, by their names.

use crate::units::{channel, channel_of};
use crate::{Channel, ChannelKind};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Signal,
    Time,
    Marker,
    /// A counter, or text beside the signal.
    Other,
}

/// A column.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) name: String,
    unit: String,
    pub(super) role: Role,
    /// From the text's values to those in memory: µV, seconds.
    pub(super) scale: f64,
    /// Whether a marker column holds text.
    pub(super) text: bool,
}

const TIMES: [&str; 7] = [
    "time",
    "timestamp",
    "timestamps",
    "seconds",
    "t",
    "latency",
    "time_s",
];
const MARKERS: [&str; 14] = [
    "marker",
    "markers",
    "marker channel",
    "event",
    "events",
    "trigger",
    "triggers",
    "stim",
    "stimulus",
    "status",
    "label",
    "labels",
    "class",
    "annotation",
];
const OTHERS: [&str; 11] = [
    "sample index",
    "index",
    "sample",
    "samples",
    "timestamp (formatted)",
    "package num",
    "unnamed: 0",
    "",
    "epoch",
    "trial",
    "not used",
];

/// The columns of a header.
pub(super) fn columns(names: &[&str]) -> Vec<Column> {
    let mut columns: Vec<Column> = names.iter().map(|n| column(n)).collect();
    // One time is enough: the first.
    let mut timed = false;
    for column in &mut columns {
        if column.role == Role::Time && std::mem::replace(&mut timed, true) {
            column.role = Role::Other;
        }
    }
    columns
}

fn column(text: &str) -> Column {
    let text = text.trim().trim_matches('"').trim();
    let (name, unit) = match text.rsplit_once(['(', '[']) {
        Some((name, unit)) => (name.trim(), unit.trim_end_matches([')', ']']).trim()),
        None => (text, ""),
    };
    let (plain, lower) = (text.to_ascii_lowercase(), name.to_ascii_lowercase());
    let is = |list: &[&str]| list.contains(&lower.as_str()) || list.contains(&plain.as_str());
    let numbered = lower.starts_with("other") || lower.starts_with("digital channel");
    let role = if is(&OTHERS) || numbered {
        Role::Other
    } else if is(&TIMES) || lower == "time_ms" || lower == "timestamp_ms" {
        Role::Time
    } else if is(&MARKERS) {
        Role::Marker
    } else {
        Role::Signal
    };
    let milli = unit.eq_ignore_ascii_case("ms") || lower.ends_with("_ms");
    let scale = match role {
        Role::Time if milli => 1e-3,
        Role::Signal => channel(name, if unit.is_empty() { "µV" } else { unit }).1,
        _ => 1.0,
    };
    Column {
        name: name.to_string(),
        unit: if unit.is_empty() {
            "µV".into()
        } else {
            unit.to_string()
        },
        role,
        scale,
        text: false,
    }
}

impl Column {
    /// Whether the column becomes a channel.
    pub(super) fn is_signal(&self) -> bool {
        match self.role {
            Role::Signal => true,
            Role::Marker => !self.text,
            _ => false,
        }
    }

    pub(super) fn channel(&self) -> Channel {
        if self.role == Role::Marker {
            return channel_of(&self.name, "", ChannelKind::Stim).0;
        }
        let mut channel = channel(&self.name, &self.unit).0;
        let name = self.name.to_ascii_lowercase();
        if name.starts_with("accel channel") || name.starts_with("analog channel") {
            channel.kind = ChannelKind::Misc;
        }
        channel
    }
}
