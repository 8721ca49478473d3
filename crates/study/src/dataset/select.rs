//! Which part of a dataset is wanted.

use super::{Dataset, Provenance};
use crate::{Result, StudyError};
use serde::{Deserialize, Serialize};
use stiefel_eeg::montage::{Montage, canonical};
use stiefel_linalg::MatBatch;
use stiefel_model::{Factor, Trials};

/// Which channels: a montage by name (`bnci2014001`: 22, `bnci2015001`: 13, `weibo2014`: 60), or a list of names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ChannelChoice {
    /// A montage.
    Montage(String),
    /// Names, in this order.
    Names(Vec<String>),
}

impl ChannelChoice {
    pub(crate) fn names(&self) -> Result<Vec<String>> {
        match self {
            Self::Names(names) => Ok(names.clone()),
            Self::Montage(name) => {
                if let Some(montage) = Montage::from_name(name) {
                    return Ok(montage.channels().into_iter().map(Into::into).collect());
                }
                let known: Vec<&str> = Montage::ALL.iter().map(|m| m.name()).collect();
                Err(StudyError::setting(
                    format!("there is no montage \"{name}\""),
                    format!(
                        "the montages are {}; or list the channels, separated by commas",
                        known.join(", ")
                    ),
                ))
            }
        }
    }
}

/// Which part of a dataset; what is not named is taken whole.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DataChoice {
    /// Channels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channels: Option<ChannelChoice>,
    /// Classes by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<Vec<String>>,
    /// Subjects by their place in the list, counted from 1: `1-26,30`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subjects: Option<String>,
    /// Pass band in hertz, where covariances are made from signals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub band: Option<[f64; 2]>,
    /// Seconds from the cue, where covariances are made from signals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<[f64; 2]>,
}

impl Dataset {
    /// The part that a choice names.
    pub fn choose(self, choice: &DataChoice) -> Result<Self> {
        let mut data = self;
        if let Some(subjects) = &choice.subjects {
            data = data.keep_subjects(subjects)?;
        }
        if let Some(classes) = &choice.classes {
            data = data.keep_classes(classes)?;
        }
        if let Some(channels) = &choice.channels {
            data = data.keep_channels(&channels.names()?)?;
        }
        Ok(data)
    }

    fn keep_subjects(self, text: &str) -> Result<Self> {
        let wanted = stiefel_eeg::catalogue::parse_subjects(text)?;
        let count = self.summary.subjects.len();
        if let Some(bad) = wanted.iter().find(|&&s| s == 0 || usize::from(s) > count) {
            return Err(StudyError::setting(
                format!("there is no subject {bad} among {count}"),
                format!("subjects are counted from 1 to {count} in the order of the dataset"),
            ));
        }
        let subjects = self.subjects();
        let keep: Vec<usize> = (0..self.trials.len())
            .filter(|&i| wanted.contains(&(subjects[i] as u16 + 1)))
            .collect();
        self.keep(&keep)
    }

    fn keep_classes(self, wanted: &[String]) -> Result<Self> {
        let known = self.trials.classes();
        for class in wanted {
            if !known.names().contains(class) {
                return Err(StudyError::setting(
                    format!("there is no class \"{class}\""),
                    format!("the classes are {}", known.names().join(", ")),
                ));
            }
        }
        let keep: Vec<usize> = (0..self.trials.len())
            .filter(|&i| wanted.iter().any(|w| w == known.name(known.indices()[i])))
            .collect();
        self.keep(&keep)
    }

    /// The trials at `indices`; names that no trial has left are dropped.
    pub(crate) fn keep(self, indices: &[usize]) -> Result<Self> {
        let part = self.trials.select(indices)?;
        let again = |f: &Factor| Factor::from_labels(f.indices().iter().map(|&i| f.name(i)));
        let runs = part.runs().map(again);
        let (classes, domains) = (again(part.classes()), again(part.domains()));
        let mut trials = part.with_classes(classes)?.with_domains(domains)?;
        if let Some(runs) = runs {
            trials = trials.with_runs(runs)?;
        }
        self.with_trials(trials)
    }

    /// The same dataset with other trials.
    pub(crate) fn with_trials(self, trials: Trials) -> Result<Self> {
        let provenance = Provenance::from(&self.summary);
        Self::new(self.summary.name, trials, provenance)
    }

    fn keep_channels(self, names: &[String]) -> Result<Self> {
        let key = |name: &str| canonical(name).to_lowercase();
        let have: Vec<String> = self.summary.channels.iter().map(|c| key(c)).collect();
        let mut at = Vec::with_capacity(names.len());
        for name in names {
            match have.iter().position(|h| *h == key(name)) {
                Some(place) => at.push(place),
                None => {
                    return Err(StudyError::setting(
                        format!("there is no channel \"{name}\""),
                        format!("the channels are {}", self.summary.channels.join(" ")),
                    ));
                }
            }
        }
        let trials = sub_montage(&self.trials, &at, &self.summary.channels)?;
        self.with_trials(trials)
    }
}

/// Rows and columns `at` of every covariance.
pub(crate) fn sub_montage(trials: &Trials, at: &[usize], names: &[String]) -> Result<Trials> {
    let (x, n) = (trials.covariances(), at.len());
    let part = MatBatch::from_fn(x.count(), n, n, |i, r, c| x.get(i, at[r], at[c]));
    let names = at.iter().map(|&c| names[c].clone()).collect();
    Ok(trials.with_covariances(part)?.with_channels(names)?)
}
