//! BIDS: what lies beside a recording says more than the recording.
//!
//! ```text
//! sub-01/eeg/sub-01_task-mi_run-1_eeg.edf      the recording
//!            sub-01_task-mi_run-1_events.tsv   onset, duration, trial_type (or value)   ─▶ its events, in the place of the file's own
//!            sub-01_task-mi_run-1_channels.tsv name, type, units, status                ─▶ kinds, units that the file lacks, bad channels
//!            sub-01_task-mi_run-1_eeg.json     SamplingFrequency                        ─▶ compared
//! ```
//!
//! A file that is not beside the recording is looked for in the folders above it, up to the one of
//! the subject and one above, where it may leave out parts of the name (the inheritance principle).
//! Everything that was taken is noted.
//!
//! Source: Pernet et al., *EEG-BIDS*, Sci Data 6 (2019); the BIDS specification 1.9.

mod tables;

use std::path::{Path, PathBuf};

use super::events::place;
use super::units::{bad_note, listed, microvolts_per};
use super::{Content, MarkerRule, ReadOptions, Source};
use crate::{ChannelKind, Recording, Result};
use tables::{Described, Table};

/// Folders above the recording's that are looked into: session, subject, data set.
const ABOVE: usize = 4;
/// Tables and descriptions are short.
const LONGEST: u64 = 1 << 26;

/// The texts beside a recording.
pub(super) struct Sidecars {
    events: Option<(String, String)>,
    channels: Option<(String, String)>,
    json: Option<(String, String)>,
}

/// The name of a recording: its parts, without the kind of data at the end.
fn entities(path: &Path) -> Option<Vec<String>> {
    let name = path.file_name()?.to_str()?;
    let stem = name.split('.').next()?;
    let base = stem.strip_suffix("_eeg")?;
    base.starts_with("sub-")
        .then(|| base.split('_').map(str::to_owned).collect())
}

/// Whether a file describes recordings and is none.
pub fn is_sidecar(path: &Path) -> bool {
    let name = path
        .file_name()
        .and_then(|n| n.to_str())
        .unwrap_or_default();
    let endings = [
        "_events.tsv",
        "_channels.tsv",
        "_electrodes.tsv",
        "_scans.tsv",
        "_sessions.tsv",
        "participants.tsv",
        "_physio.tsv",
    ];
    endings.iter().any(|e| name.ends_with(e))
}

/// The task of a recording by its name.
pub fn task(path: &Path) -> Option<String> {
    let parts = entities(path)?;
    parts
        .iter()
        .find_map(|p| p.strip_prefix("task-").map(str::to_owned))
}

impl Sidecars {
    /// What there is beside a recording with a name of BIDS; nothing for other names.
    pub(super) fn beside(source: &Source<'_>) -> Result<Option<Self>> {
        let Some(parts) = entities(source.path()) else {
            return Ok(None);
        };
        let find = |ending: &str| look(source, &parts, ending);
        let found = Self {
            events: find("events.tsv")?,
            channels: find("channels.tsv")?,
            json: find("eeg.json")?,
        };
        let any = found.events.is_some() || found.channels.is_some() || found.json.is_some();
        Ok(any.then_some(found))
    }

    /// The rule for marker channels: events of a table stand for theirs, unless a channel is asked
    /// for.
    pub(super) fn markers(&self, rule: &MarkerRule) -> MarkerRule {
        let mut rule = rule.clone();
        if self.events.is_some() && rule.channels.is_empty() {
            rule.read = false;
        }
        rule
    }

    /// Adds what the tables say to a recording.
    pub(super) fn apply(&self, content: Content, options: &ReadOptions) -> Result<Content> {
        match content {
            // Stretches of a file with gaps have times of their own.
            Content::Recordings(all) if all.len() == 1 => {
                let all = all.into_iter().map(|r| self.describe(r, options));
                Ok(Content::Recordings(all.collect::<Result<_>>()?))
            }
            Content::Recordings(mut all) => {
                if let Some(first) = all.first_mut() {
                    let note =
                        "the recording has gaps: the tables beside it were not used".to_string();
                    *first = first.clone().with_notes(vec![note]);
                }
                Ok(Content::Recordings(all))
            }
            epochs @ Content::Epochs(_) => Ok(epochs),
        }
    }

    fn describe(&self, mut recording: Recording, options: &ReadOptions) -> Result<Recording> {
        let mut notes = Vec::new();
        if let Some((name, text)) = &self.channels {
            let table = Table::parse(name, text)?;
            let unknown = describe_channels(&mut recording, &table.channels(name)?, &mut notes);
            // Where some channels were asked for, the others are there and were not read.
            if options.channels.is_none() && !unknown.is_empty() {
                notes.push(format!(
                    "channels.tsv describes channels that the recording does not have: {}",
                    listed(&unknown)
                ));
            }
        }
        if let Some((name, text)) = &self.json {
            let told = serde_json::from_str::<serde_json::Value>(text).ok();
            let rate = told.and_then(|v| v["SamplingFrequency"].as_f64());
            let own = recording.sampling_rate();
            if let Some(rate) = rate.filter(|r| (r - own).abs() > 1e-6 * own) {
                notes.push(format!(
                    "{name} says {rate} Hz, but the recording says {own} Hz; the rate of the \
                     recording was taken"
                ));
            }
        }
        if let Some((name, text)) = &self.events {
            let markers = Table::parse(name, text)?.events(name)?;
            let (rate, samples) = (recording.sampling_rate(), recording.samples());
            let own = recording.events().len();
            let events = place(markers, rate, samples, &mut notes);
            let stead = if own > 0 {
                format!(", instead of the {own} events of the file itself")
            } else {
                String::new()
            };
            notes.push(format!(
                "{} events were read from {name}{stead}",
                events.len()
            ));
            recording = recording.with_events(events);
        }
        Ok(recording.with_notes(notes))
    }
}

/// Kinds, units and bad channels; the names of those that are not there.
fn describe_channels(
    recording: &mut Recording,
    table: &[Described],
    notes: &mut Vec<String>,
) -> Vec<String> {
    let mut bad = Vec::new();
    let mut unknown = Vec::new();
    let names: Vec<String> = recording
        .channels()
        .iter()
        .map(|c| c.name.clone())
        .collect();
    for described in table {
        // Dots that fill a name are not part of it in memory.
        let bare = described.name.trim_end_matches(['.', ' ']);
        let Some(i) = (names.iter()).position(|n| *n == described.name || n == bare) else {
            unknown.push(described.name.clone());
            continue;
        };
        if let Some(kind) = described.kind {
            recording.channels_mut()[i].kind = kind;
        }
        // The file knows its own unit better; where it has none, the table's counts.
        let (channels, samples, data) = recording.parts_mut();
        let own = channels[i].unit.as_str();
        let told = microvolts_per(&described.unit);
        let marker = channels[i].kind == ChannelKind::Stim;
        if let (Some(scale), "" | "n/a", false) = (told, own, marker) {
            for value in &mut data[i * samples..(i + 1) * samples] {
                *value *= scale;
            }
            recording.channels_mut()[i].unit = "µV".into();
        }
        if described.bad {
            bad.push(described.name.clone());
        }
    }
    notes.extend(bad_note(&bad));
    unknown
}

/// A text by its ending: beside the recording, or above it with fewer parts in its name.
fn look(source: &Source<'_>, parts: &[String], ending: &str) -> Result<Option<(String, String)>> {
    let exact = format!("{}_{ending}", parts.join("_"));
    if let Ok(file) = source.sibling(&exact) {
        return text(file, &exact).map(Some);
    }
    let Some(folder) = source.folder() else {
        return Ok(None);
    };
    for above in folder.ancestors().take(ABOVE + 1) {
        let mut candidates: Vec<PathBuf> = std::fs::read_dir(above)
            .map(|entries| entries.flatten().map(|e| e.path()).collect())
            .unwrap_or_default();
        candidates.retain(|path| covers(path, parts, ending));
        // The one that says most.
        candidates.sort_by_key(|p| std::cmp::Reverse(p.as_os_str().len()));
        if let Some(path) = candidates.first() {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            return text(Source::open(path)?, &name).map(Some);
        }
        // Above the data set nothing belongs to it.
        if above.join("dataset_description.json").is_file() {
            break;
        }
    }
    Ok(None)
}

/// Whether all parts of a name are parts of the recording's.
fn covers(path: &Path, parts: &[String], ending: &str) -> bool {
    let name = path
        .file_name()
        .and_then(|n| n.to_str())
        .unwrap_or_default();
    let base = match name.strip_suffix(ending) {
        Some("") => return true,
        Some(base) => base.strip_suffix('_'),
        None => None,
    };
    base.is_some_and(|b| b.split('_').all(|part| parts.iter().any(|p| p == part)))
}

fn text(mut file: Source<'_>, name: &str) -> Result<(String, String)> {
    if file.len() > LONGEST {
        return Err(file.malformed(0, format!("a description of {} bytes", file.len())));
    }
    let bytes = file.read_vec(file.len(), "the text")?;
    Ok((
        name.to_string(),
        String::from_utf8_lossy(&bytes).into_owned(),
    ))
}
