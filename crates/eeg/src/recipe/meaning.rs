//! Labels that mean two things.
//!
//! `T1` of EEGMMIDB is the left fist in runs 4, 8, 12 and both fists in runs 6, 10, 14, and nothing
//! in the files says so. The catalogue does: recordings that are files of a public data set, by
//! name, channels and rate, are known by their task.

use std::collections::BTreeMap;
use std::path::Path;

use stiefel_data::{Fingerprint, LabelUse, Labels, Provenance, TrialId};

use super::inputs::{Opened, open_file};
use super::pipeline::fingerprint;
use crate::catalogue::{Signal, task_of};
use crate::io::{excerpt, listed};
use crate::{EegError, Event, Recording, Result};

/// A recording as a recipe takes it: its events carry the labels of the recipe, `R0[48]:T1` where a
/// rule is about the label `T1` in runs that fit `R0[48]`.
///
/// Whatever cuts trials out of a file, or plays it as if it were recorded now, finds its events
/// here.
#[derive(Debug, Clone)]
pub struct LabelledRecording {
    /// The signal, with the events as the recipe calls them.
    pub recording: Recording,
    /// The name of the run, where the file has one.
    pub run: Option<String>,
    /// What its labels stand for.
    pub labels: Labels,
    /// The recording, known by its samples.
    pub fingerprint: Fingerprint,
    classes: Vec<(String, String)>,
}

/// An event that stands for a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cue<'a> {
    /// The sample it came at.
    pub sample: u64,
    /// Its label, as the recipe has it.
    pub label: &'a str,
    /// The trial that it begins.
    pub trial: TrialId,
}

impl LabelledRecording {
    /// Calls the events of a recording as the rules for its run say. A public data set that the
    /// file is part of says what they mean.
    pub fn new(
        path: &Path,
        recording: Recording,
        run: Option<&str>,
        classes: &[(String, String)],
    ) -> Self {
        let task = task_of(path, &recording);
        let mut labels = Labels::default();
        let mut events = recording.events().to_vec();
        for event in &mut events {
            let Some((key, class)) = rule_for(&event.label, run, classes) else {
                continue;
            };
            let known = task.and_then(|t| t.classes.iter().find(|c| c.is_called(&event.label)));
            let by_run = *key != event.label;
            let label = std::mem::replace(&mut event.label, key.clone());
            labels.add(LabelUse {
                label,
                class: class.clone(),
                by_run,
                meaning: known.map(|c| c.name.to_owned()),
                runs: run.map(str::to_owned).into_iter().collect(),
                events: 1,
            });
        }
        Self {
            fingerprint: fingerprint(&recording),
            recording: recording.with_events(events),
            run: run.map(str::to_owned),
            labels,
            classes: classes.to_vec(),
        }
    }

    /// Lists the events that stand for a class.
    pub fn cues(&self) -> impl Iterator<Item = Cue<'_>> {
        let rate = self.recording.sampling_rate();
        let chosen = |e: &&Event| self.classes.iter().any(|(label, _)| *label == e.label);
        self.recording.events().iter().filter(chosen).map(move |e| {
            let sample = sample_at(e.onset, rate);
            Cue {
                sample,
                label: &e.label,
                trial: TrialId::at(&self.fingerprint, sample),
            }
        })
    }

    /// Says which events it has, where none of them stands for a class.
    pub fn without_cue(&self) -> Option<String> {
        if self.cues().next().is_some() {
            return None;
        }
        let events = labels(self.recording.events());
        Some(match self.elsewhere() {
            Some(why) => format!("{events}; {why}"),
            None => events,
        })
    }

    /// Says which rules are about its labels, in other runs.
    pub(super) fn elsewhere(&self) -> Option<String> {
        let events = self.recording.events();
        let about = |key: &str| {
            let label = key.split_once(':').map(|(_, label)| label);
            events.iter().any(|e| label == Some(e.label.as_str()))
        };
        let keys = self.classes.iter().map(|(key, _)| key.as_str());
        let rules: Vec<&str> = keys.filter(|key| about(key)).collect();
        let run = self.run.as_deref().unwrap_or("without a name");
        (!rules.is_empty()).then(|| format!("this is run {run}, the rules are {}", listed(&rules)))
    }
}

/// Reads the recordings of a file, once, as a model that was trained on trials made so takes them.
/// Refuses labels that say something else than those the model was trained on.
pub fn labelled_recordings(path: &Path, made: &Provenance) -> Result<Vec<LabelledRecording>> {
    let classes = &made.recipe.classes;
    let what = || format!("{} holds trials, not a recording", path.display());
    let none = || EegError::setting(what(), "give a recording with a signal that goes on");
    let Opened::Signals(inputs) = open_file(path, &made.input.reading(), &made.recipe)? else {
        return Err(none());
    };
    let mut all = Vec::new();
    for item in inputs.items {
        let item = item?;
        let Signal::Recording(recording) = item.signal else {
            return Err(none());
        };
        let run = item.run.as_deref();
        let found = LabelledRecording::new(path, recording, run, classes);
        if let Some(contradiction) = made.labels.contradiction(&found.labels) {
            let remedy = "give a recording whose labels mean what the model was trained on";
            return Err(EegError::setting(contradiction.to_string(), remedy).in_file(path));
        }
        all.push(found);
    }
    let silent = all.iter().all(|found| found.cues().next().is_none());
    if let Some(why) = all
        .iter()
        .find_map(LabelledRecording::elsewhere)
        .filter(|_| silent)
    {
        return Err(EegError::setting(
            format!("no event of {} has a class: {why}", path.display()),
            "give a recording of a run that the model was trained on",
        ));
    }
    Ok(all)
}

/// Returns the sample that is nearest to an onset in seconds, halves rounded to even.
pub fn sample_at(onset: f64, rate: f64) -> u64 {
    (onset * rate).round_ties_even().max(0.0) as u64
}

/// Finds the rule for a label in a run: one for runs that fit before one for all.
fn rule_for<'c>(
    label: &str,
    run: Option<&str>,
    classes: &'c [(String, String)],
) -> Option<&'c (String, String)> {
    let run = run.unwrap_or_default();
    let last = run.rsplit('/').next().unwrap_or(run);
    let by_run = |(key, _): &&(String, String)| {
        key.split_once(':')
            .is_some_and(|(runs, of)| of == label && (glob(runs, run) || glob(runs, last)))
    };
    let plain = || classes.iter().find(|(key, _)| *key == label);
    classes.iter().find(by_run).or_else(plain)
}

/// Tells whether a text fits a pattern: `*` is anything, `?` one letter, `[48]` or `[4-8]` one of
/// these. Capitals do not matter.
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
fn labels(events: &[Event]) -> String {
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

/// Refuses labels that mean two things though one rule covers both.
pub(super) fn check_meanings(heard: &Labels) -> Result<()> {
    let Some([first, second]) = heard.ambiguous() else {
        return Ok(());
    };
    let mut both = [first, second];
    both.sort_by(|a, b| a.meaning.cmp(&b.meaning));
    let each = both.map(|u| {
        let meaning = u.meaning.as_deref().unwrap_or_default();
        format!(
            "{meaning} in runs {} ({} events)",
            u.runs.join(","),
            u.events
        )
    });
    let label = &first.label;
    Err(EegError::setting(
        format!("the label {label} means {}", each.join(" and ")),
        format!(
            "choose the runs of one task, for example the runs {}, or say what it means in each \
             run, for example with the class rule R0[48]:{label}=left",
            both[0].runs.join(",")
        ),
    ))
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
        let labelled = |run: &str| {
            LabelledRecording::new(Path::new("x.edf"), recording.clone(), Some(run), &classes)
        };
        let seen = |run: &str| {
            let read = labelled(run).recording;
            read.events()
                .iter()
                .map(|e| e.label.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(seen("R04"), ["R0[48]:T1", "T2", "TRIG1:1"]);
        assert_eq!(seen("R06")[0], "R*6:T1");
        assert_eq!(seen("T/r08")[0], "R0[48]:T1");
        assert_eq!(seen("R12")[0], "T1");
        let found = labelled("R04");
        let uses = found.labels.uses().iter().map(|u| (&*u.label, u.by_run));
        assert_eq!(uses.collect::<Vec<_>>(), [("T1", true), ("TRIG1:1", false)]);
        assert_eq!(found.cues().map(|c| c.sample).collect::<Vec<_>>(), [1, 3]);
        assert!(glob("[1-3]?", "2x") && !glob("[1-3]", "4") && !glob("[1", "1") && glob("*", ""));
    }
}
