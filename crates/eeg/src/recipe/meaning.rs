//! Labels that mean two things.
//!
//! `T1` of EEGMMIDB is the left fist in runs 4, 8, 12 and both fists in runs 6, 10, 14, and nothing in the files says so. The catalogue does:
//! recordings that are files of a public data set, by name, channels and rate, are known by their task.

use std::collections::BTreeMap;
use std::path::Path;

use crate::catalogue::task_of;
use crate::io::excerpt;
use crate::{EegError, Event, Recording, Result};

/// Labels of events that mean what one run says: `R0[48]:T1=left` is about the label `T1` in runs that fit `R0[48]`. There the event is called
/// `R0[48]:T1` from now on, which is what its class goes by.
pub(super) fn by_run(
    recording: Recording,
    run: Option<&str>,
    classes: &[(String, String)],
) -> Recording {
    let rules: Vec<(&str, &str, &str)> = (classes.iter())
        .filter_map(|(key, _)| {
            let (runs, label) = key.split_once(':')?;
            Some((key.as_str(), runs, label))
        })
        .collect();
    if rules.is_empty() {
        return recording;
    }
    let run = run.unwrap_or_default();
    let last = run.rsplit('/').next().unwrap_or(run);
    let fits = |runs: &str| glob(runs, run) || glob(runs, last);
    let mut events = recording.events().to_vec();
    for event in &mut events {
        // A label that is spelt out is itself: `TRIG1:1`.
        if classes.iter().any(|(key, _)| *key == event.label) {
            continue;
        }
        let rule = rules
            .iter()
            .find(|(_, runs, label)| *label == event.label && fits(runs));
        if let Some((key, _, _)) = rule {
            event.label = (*key).to_string();
        }
    }
    recording.with_events(events)
}

/// Whether a text fits a pattern: `*` is anything, `?` one letter, `[48]` or `[4-8]` one of these. Capitals do not matter.
fn glob(pattern: &str, text: &str) -> bool {
    let lower = |t: &str| t.to_lowercase().chars().collect::<Vec<char>>();
    fits(&lower(pattern), &lower(text))
}

fn fits(pattern: &[char], text: &[char]) -> bool {
    match (pattern, text) {
        ([], []) => true,
        (['*', rest @ ..], _) => (0..=text.len()).any(|n| fits(rest, &text[n..])),
        (['?', rest @ ..], [_, more @ ..]) => fits(rest, more),
        (['[', inside @ ..], [letter, more @ ..]) => {
            let Some(end) = inside.iter().position(|c| *c == ']') else {
                return false;
            };
            let set = &inside[..end];
            let range = |w: &[char]| w[1] == '-' && (w[0]..=w[2]).contains(letter);
            let one = set.contains(letter) || set.windows(3).any(range);
            one && fits(&inside[end + 1..], more)
        }
        ([first, rest @ ..], [letter, more @ ..]) => first == letter && fits(rest, more),
        _ => false,
    }
}

/// `T0 ×15, T1 ×8`.
pub(super) fn labels(events: &[Event]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for event in events {
        *counts.entry(&event.label).or_default() += 1;
    }
    counted(&counts)
}

pub(super) fn counted(counts: &BTreeMap<&str, usize>) -> String {
    if counts.is_empty() {
        return "no events".into();
    }
    let each: Vec<String> = counts
        .iter()
        .map(|(l, c)| format!("{} ×{c}", excerpt(l)))
        .collect();
    each.join(", ")
}

/// Where a label has a meaning, and how often.
#[derive(Debug, Default)]
struct Place {
    events: usize,
    runs: Vec<String>,
}

/// The meanings of the labels of all recordings.
#[derive(Debug, Default)]
pub(super) struct Meanings(BTreeMap<String, BTreeMap<&'static str, Place>>);

impl Meanings {
    /// Takes in the labels of a recording and the name of its run.
    pub(super) fn hear(
        &mut self,
        path: &Path,
        run: Option<&str>,
        recording: &Recording,
        classes: &[(String, String)],
    ) {
        let Some(task) = task_of(path, recording) else {
            return;
        };
        for (label, _) in classes {
            let events = recording.events().iter().filter(|e| e.label == *label);
            let (events, class) = (events.count(), task.classes.iter());
            let Some(class) = class.into_iter().find(|c| c.is_called(label)) else {
                continue;
            };
            if events > 0 {
                let meanings = self.0.entry(label.clone()).or_default();
                let place = meanings.entry(class.name).or_default();
                place.events += events;
                let known = |run: &str| place.runs.iter().any(|r| r == run);
                place
                    .runs
                    .extend(run.filter(|r| !known(r)).map(str::to_owned));
            }
        }
    }

    /// An error where a label has two.
    pub(super) fn check(&self) -> Result<()> {
        let Some((label, meanings)) = self.0.iter().find(|(_, meanings)| meanings.len() > 1) else {
            return Ok(());
        };
        let runs = |place: &Place| place.runs.join(",");
        let each: Vec<String> = (meanings.iter())
            .map(|(class, place)| {
                format!("{class} in runs {} ({} events)", runs(place), place.events)
            })
            .collect();
        let first = meanings.values().next().map(runs).unwrap_or_default();
        Err(EegError::setting(
            format!("the label {label} means {}", each.join(" and ")),
            format!(
                "choose the runs of one task, for example --runs {first}, or say what it means in each run, for example --classes 'R0[48]:{label}=left'"
            ),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Channel, ChannelKind};

    #[test]
    fn a_label_means_what_its_run_says() {
        let event = |sample, label: &str| Event {
            sample,
            onset: sample as f64,
            duration: 0.0,
            label: label.into(),
        };
        let channel = Channel {
            name: "Cz".into(),
            kind: ChannelKind::Eeg,
            unit: String::new(),
        };
        let recording = Recording::new(
            vec![channel],
            1.0,
            vec![0.0; 9],
            vec![event(1, "T1"), event(2, "T2"), event(3, "TRIG1:1")],
        );
        let recording = recording.unwrap();
        let classes = ["R0[48]:T1", "R*6:T1", "TRIG1:1"].map(|k| (k.to_string(), "x".to_string()));
        let seen = |run: &str| {
            let read = by_run(recording.clone(), Some(run), &classes);
            read.events()
                .iter()
                .map(|e| e.label.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(seen("R04"), ["R0[48]:T1", "T2", "TRIG1:1"]);
        assert_eq!(seen("R06")[0], "R*6:T1");
        assert_eq!(seen("T/r08")[0], "R0[48]:T1");
        assert_eq!(seen("R12")[0], "T1");
        assert!(glob("[1-3]?", "2x") && !glob("[1-3]", "4") && !glob("[1", "1") && glob("*", ""));
    }
}
