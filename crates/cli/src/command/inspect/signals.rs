//! Recordings and trials.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use stiefel::data::Quality;
use stiefel::eeg::recipe::quality_of;
use stiefel::eeg::{Channel, Epochs, Recording};

use super::{Description, quality};
use crate::table::{SCREEN, columns, within};

/// Continuous recordings of one file.
pub(super) fn recordings(path: &Path, all: &[Recording]) -> Description {
    let mut lines = vec![entry("file", &path.display().to_string())];
    let mut values = Vec::new();
    for (i, r) in all.iter().enumerate() {
        if all.len() > 1 {
            lines.push(format!("\nrecording {} of {}", i + 1, all.len()));
        }
        if r.channels().is_empty() {
            lines.push(entry("signal", "none"));
        } else {
            lines.push(entry("signal", &signal_text(r)));
            lines.push(entry("channels", &channel_text(r.channels())));
        }
        lines.push(entry("events", &event_text(r)));
        lines.extend(r.notes().iter().map(|note| entry("note", note)));
        let found = look(path, r);
        if let Ok(quality) = &found {
            lines.extend(quality.sentences().iter().map(|s| entry("signal", s)));
            lines.extend(quality::table(quality));
        }
        let mut value = value(r);
        value["quality"] = match found {
            Ok(quality) => json!(quality),
            Err(error) => json!({ "missing": error.to_string() }),
        };
        values.push(value);
    }
    Description {
        text: lines.join("\n"),
        value: json!({ "kind": "recordings", "file": path, "recordings": values }),
    }
}

/// Looks at the signals of a recording, under the name of its file.
fn look(path: &Path, recording: &Recording) -> stiefel::eeg::Result<Quality> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    quality_of(recording, &name)
}

/// Trials of one file.
pub(super) fn epochs(path: &Path, epochs: &Epochs) -> Description {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for trial in epochs.trials() {
        *counts.entry((&trial.domain, &trial.label)).or_default() += 1;
    }
    let mut rows = vec![["DOMAIN", "CLASS", "TRIALS"].map(String::from).to_vec()];
    rows.extend((counts.iter()).map(|((d, c), n)| vec![(*d).into(), (*c).into(), n.to_string()]));
    let seconds = epochs.samples() as f64 / epochs.sampling_rate();
    let lines = [
        entry("file", &path.display().to_string()),
        entry(
            "trials",
            &format!(
                "{} of {}, {} Hz, {seconds:.2} s ({} samples) each",
                epochs.trials().len(),
                counted(epochs.channels().len(), "channel"),
                epochs.sampling_rate(),
                epochs.samples()
            ),
        ),
        entry("channels", &channel_text(epochs.channels())),
    ];
    let notes = epochs.notes().iter().map(|note| entry("note", note));
    let lines: Vec<String> = (lines.into_iter().chain(notes))
        .chain([String::new(), columns(&rows)])
        .collect();
    let counts: Vec<Value> = (counts.iter())
        .map(|((d, c), n)| json!({ "domain": d, "class": c, "trials": n }))
        .collect();
    Description {
        text: lines.join("\n"),
        value: json!({
            "kind": "epochs", "file": path, "channels": channels(epochs.channels()),
            "sampling_rate": epochs.sampling_rate(), "samples": epochs.samples(), "seconds": seconds,
            "trials": epochs.trials().len(), "counts": counts, "notes": epochs.notes(),
        }),
    }
}

fn entry(name: &str, text: &str) -> String {
    within(SCREEN, name, text, 12)
}

/// `1 channel`, `2 channels`.
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn signal_text(r: &Recording) -> String {
    format!(
        "{}, {} Hz, {:.1} s ({} samples)",
        counted(r.channels().len(), "channel"),
        r.sampling_rate(),
        seconds(r),
        r.samples()
    )
}

pub(super) fn seconds(r: &Recording) -> f64 {
    r.samples() as f64 / r.sampling_rate()
}

fn counts(r: &Recording) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for event in r.events() {
        *counts.entry(event.label.as_str()).or_default() += 1;
    }
    counts
}

pub(super) fn event_text(r: &Recording) -> String {
    let each: Vec<String> = (counts(r).iter())
        .map(|(l, n)| format!("{l} ×{n}"))
        .collect();
    if each.is_empty() {
        return "none".into();
    }
    each.join(", ")
}

fn channel_text(channels: &[Channel]) -> String {
    let names: Vec<String> = (channels.iter())
        .map(|c| match c.kind {
            stiefel::eeg::ChannelKind::Eeg => c.name.clone(),
            kind => format!("{} ({kind:?})", c.name),
        })
        .collect();
    names.join(" ")
}

fn channels(channels: &[Channel]) -> Vec<Value> {
    let one = |c: &Channel| json!({ "name": c.name, "kind": format!("{:?}", c.kind).to_lowercase(), "unit": c.unit });
    channels.iter().map(one).collect()
}

pub(super) fn value(r: &Recording) -> Value {
    json!({
        "channels": channels(r.channels()), "sampling_rate": r.sampling_rate(), "samples": r.samples(), "seconds": seconds(r),
        "events": counts(r), "notes": r.notes(), "started": r.started(),
    })
}
