//! Labels that mean two things.
//!
//! `T1` of EEGMMIDB is the left fist in runs 4, 8, 12 and both fists in runs 6, 10, 14, and nothing in the files says so. The catalogue does:
//! recordings that are files of a public data set, by name, channels and rate, are known by their task.

use std::collections::BTreeMap;
use std::path::Path;

use crate::catalogue::task_of;
use crate::{EegError, Recording, Result};

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
            format!("choose the runs of one task, as --runs {first}"),
        ))
    }
}
