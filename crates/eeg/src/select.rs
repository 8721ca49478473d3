//! Which part of a set of trials is wanted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stiefel_data::{Duplicates, Origin, Trials};

use crate::catalogue::parse_subjects;
use crate::io::{excerpt, listed};
use crate::montage::{Montage, canonical};
use crate::{EegError, Result};

/// Which channels: a montage by name (`bnci2014001`: 22, `bnci2015001`: 13, `weibo2014`: 60), one
/// channel, or a list of names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ChannelChoice {
    /// A montage; a channel where there is no montage of that name.
    One(String),
    /// Names, in this order.
    Names(Vec<String>),
}

impl ChannelChoice {
    /// The names of the channels.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Names(names) => names.clone(),
            Self::One(name) => match Montage::from_name(name) {
                Some(montage) => montage.channels().into_iter().map(Into::into).collect(),
                None => vec![name.clone()],
            },
        }
    }
}

/// From names as a command line gives them.
impl From<Vec<String>> for ChannelChoice {
    fn from(mut names: Vec<String>) -> Self {
        match names.len() {
            1 => Self::One(names.remove(0)),
            _ => Self::Names(names),
        }
    }
}

/// Which part of a dataset; what is not named is taken whole.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Selection {
    /// Channels by name, or a montage: bnci2014001, bnci2015001, weibo2014 or eegmmidb.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channels: Option<ChannelChoice>,
    /// Classes by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<Vec<String>>,
    /// Subjects by their place in the list, counted from 1: `1-26,30`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subjects: Option<String>,
    /// What is done about recordings and trials that occur twice.
    #[serde(skip_serializing_if = "is_usual")]
    pub duplicates: Duplicates,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field")]
fn is_usual(duplicates: &Duplicates) -> bool {
    *duplicates == Duplicates::default()
}

impl Selection {
    /// Returns the part of a set of trials that is wanted.
    pub fn of(&self, trials: &Trials) -> Result<Trials> {
        let mut part = trials.clone();
        if let Some(subjects) = &self.subjects {
            part = keep_subjects(&part, subjects)?;
        }
        if let Some(classes) = &self.classes {
            part = keep_classes(&part, classes)?;
        }
        if let Some(channels) = &self.channels {
            part = pick_channels(&part, &channels.names())?;
        }
        Ok(part)
    }
}

/// Refuses trials that occur twice, or keeps the first of each and notes it.
///
/// ```
/// use stiefel_data::Duplicates;
/// use stiefel_eeg::{
///     load,
///     select::{Selection, without_repeats},
/// };
///
/// let once = load(
///     "synthetic:bnci2014001,subjects=1,sessions=1,trials=6",
///     &Selection::default(),
/// )?;
/// let twice = once.joined(&once.select(&[5, 2])?)?;
/// let error = without_repeats(twice.clone(), Duplicates::Refuse).unwrap_err();
/// let count = once.len();
/// assert!(
///     error
///         .to_string()
///         .contains(&format!("trial {count} is the same as trial 5"))
/// );
/// assert_eq!(without_repeats(twice, Duplicates::First)?.len(), count);
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
pub fn without_repeats(trials: Trials, duplicates: Duplicates) -> Result<Trials> {
    let repeated = trials.repeated();
    let Some((trial, first)) = repeated.first() else {
        return Ok(trials);
    };
    let twice = format!("trial {trial} is the same as trial {first}");
    if duplicates == Duplicates::Refuse {
        let more = match repeated.len() {
            1 => String::new(),
            count => format!(", and {} more occur twice", count - 1),
        };
        return Err(EegError::setting(
            format!("{twice}{more}"),
            "leave the copies out, or keep the first of each (duplicates: first)",
        ));
    }
    let mut keep = vec![true; trials.len()];
    for (trial, _) in &repeated {
        keep[*trial] = false;
    }
    let keep: Vec<usize> = (0..trials.len()).filter(|&i| keep[i]).collect();
    let mut origin: Origin = trials.origin().clone();
    let count = repeated.len();
    (origin.notes).push(format!(
        "{count} trials left out, because they occur twice: {twice}"
    ));
    Ok(trials.keep(&keep)?.with_origin(origin))
}

fn keep_subjects(trials: &Trials, text: &str) -> Result<Trials> {
    let wanted = parse_subjects(text)?;
    let subjects = trials.subjects();
    let count = subjects.names().len();
    if let Some(bad) = wanted.iter().find(|&&s| s == 0 || usize::from(s) > count) {
        return Err(EegError::setting(
            format!("there is no subject {bad}: there are {count} subjects"),
            format!("they are counted from 1 to {count} in the order of the dataset"),
        ));
    }
    let keep: Vec<usize> = (0..trials.len())
        .filter(|&i| wanted.contains(&(subjects.indices()[i] as u16 + 1)))
        .collect();
    Ok(trials.keep(&keep)?)
}

fn keep_classes(trials: &Trials, wanted: &[String]) -> Result<Trials> {
    let known = trials.classes();
    for class in wanted {
        if !known.names().contains(class) {
            return Err(EegError::setting(
                format!("there is no class \"{class}\""),
                format!("the classes are {}", listed(known.names())),
            ));
        }
    }
    let keep: Vec<usize> = (0..trials.len())
        .filter(|&i| wanted.iter().any(|w| w == known.name(known.indices()[i])))
        .collect();
    Ok(trials.keep(&keep)?)
}

/// The trials with these channels, in this order; names are compared in their usual spelling.
pub fn pick_channels(trials: &Trials, names: &[String]) -> Result<Trials> {
    let key = |name: &str| canonical(name).to_lowercase();
    let own = trials.channel_names();
    if own == names {
        return Ok(trials.clone());
    }
    let have: Vec<String> = own.iter().map(|c| key(c)).collect();
    let mut at = Vec::with_capacity(names.len());
    for name in names {
        match have.iter().position(|h| *h == key(name)) {
            Some(place) => at.push(place),
            None => {
                return Err(EegError::setting(
                    format!("there is no channel \"{}\"", excerpt(name)),
                    format!("the channels are {}", listed(&own)),
                ));
            }
        }
    }
    Ok(trials.pick(&at)?)
}
