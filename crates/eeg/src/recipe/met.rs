//! Recordings, trials and people that are met twice.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use stiefel_data::{Duplicates, Fingerprint, Recordings, subject_session};

use super::pipeline::trial_fingerprint;
use crate::io::path_text;
use crate::{EegError, Epochs, Recording, Result};

/// Where every recording, every trial that came alone and every person was met first.
#[derive(Debug, Default)]
pub(super) struct Met {
    duplicates: Duplicates,
    recordings: Recordings,
    places: Vec<String>,
    trials: Recordings,
    trial_places: Vec<(PathBuf, usize)>,
    people: BTreeMap<String, (PathBuf, PathBuf)>,
}

impl Met {
    pub(super) fn new(duplicates: Duplicates) -> Self {
        Self {
            duplicates,
            ..Self::default()
        }
    }

    /// Takes a recording in. One that was met before is refused, or left out for the reason
    /// returned.
    pub(super) fn recording(
        &mut self,
        found: &Fingerprint,
        path: &Path,
        run: Option<&str>,
    ) -> Result<Option<String>> {
        if let Some(first) = self.recordings.find(found) {
            let twice = format!("it is the same recording as {}", self.places[first]);
            let remedy = "remove one of the copies, or keep the first of them (duplicates: first)";
            return self.allowed(&twice, remedy).map(|()| Some(twice));
        }
        self.recordings.add(found);
        self.places.push(match run {
            Some(run) => format!("{} (run {run})", path_text(path)),
            None => path_text(path),
        });
        Ok(None)
    }

    /// Finds trials that a recording has twice: two of the chosen events on one sample.
    pub(super) fn events(
        &self,
        recording: Recording,
        classes: &[(String, String)],
    ) -> Result<(Recording, Option<String>)> {
        let mut first: BTreeMap<usize, String> = BTreeMap::new();
        let mut twice: Option<String> = None;
        let mut kept = recording.events().to_vec();
        kept.retain(|event| {
            if !classes.iter().any(|(label, _)| *label == event.label) {
                return true;
            }
            let Some(label) = first.insert(event.sample, event.label.clone()) else {
                return true;
            };
            first.insert(event.sample, label.clone());
            twice.get_or_insert_with(|| {
                format!(
                    "a trial occurs twice: the events {label:?} and {:?} are both at {} s",
                    event.label, event.onset
                )
            });
            false
        });
        let Some(twice) = twice else {
            return Ok((recording, None));
        };
        let remedy = "remove one of the events, or keep the first of them (duplicates: first)";
        self.allowed(&twice, remedy)?;
        Ok((recording.with_events(kept), Some(twice)))
    }

    /// Takes trials in that came alone. Those of the chosen labels that were met before are
    /// refused, or left out for the reason returned.
    pub(super) fn epochs(
        &mut self,
        epochs: Epochs,
        classes: &[(String, String)],
        path: &Path,
    ) -> Result<(Epochs, Option<String>)> {
        let mut kept = Vec::new();
        let mut twice = None;
        for (trial, info) in epochs.trials().iter().enumerate() {
            if !classes.is_empty() && !classes.iter().any(|(label, _)| *label == info.label) {
                kept.push(trial);
                continue;
            }
            let fingerprint = trial_fingerprint(&epochs, trial);
            let Some(first) = self.trials.find(&fingerprint) else {
                self.trials.add(&fingerprint);
                self.trial_places.push((path.to_path_buf(), trial));
                kept.push(trial);
                continue;
            };
            let (file, first) = &self.trial_places[first];
            twice.get_or_insert_with(|| {
                let file = path_text(file);
                format!("trial {trial} is the same as trial {first} of {file}")
            });
        }
        let Some(twice) = twice else {
            return Ok((epochs, None));
        };
        let remedy = "leave one of them out, or keep the first of them (duplicates: first)";
        self.allowed(&twice, remedy)?;
        let count = epochs.trials().len() - kept.len();
        let note = format!("{count} trials left out; {twice}");
        Ok((epochs.select(&kept)?, Some(note)))
    }

    /// Takes a person in. A name that is met in another folder may be of somebody else.
    pub(super) fn person(&mut self, domain: &str, home: Option<&Path>, path: &Path) -> Result<()> {
        let Some(home) = home else { return Ok(()) };
        let (subject, _) = subject_session(domain);
        let new = || (home.to_path_buf(), path.to_path_buf());
        let (first_home, first) = self.people.entry(subject.to_owned()).or_insert_with(new);
        if first_home == home {
            return Ok(());
        }
        let first = path_text(first);
        Err(EegError::setting(
            format!(
                "it is called {subject}, as {first} in another folder is: they may be two people"
            ),
            "say what a name is (domain: person, where equal names are one person; session, where \
             folders are sessions of one person; folder, where folders are people)",
        ))
    }

    fn allowed(&self, twice: &str, remedy: &str) -> Result<()> {
        match self.duplicates {
            Duplicates::Refuse => Err(EegError::setting(twice, remedy)),
            Duplicates::First => Ok(()),
        }
    }
}
