//! How a set of covariances was made: the recipe, and what the recordings were like.
//!
//! It travels with the dataset file and the model file, and is obeyed by everything that turns a
//! signal into matrices for that model. Covariances that came from elsewhere have
//! [`Preparation::Unknown`], and who needs the recipe must then be told.

use crate::{Input, Labels, Recipe, View};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A recipe that was run, and the signals it was run on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The recipe, with rate and channels as they were found where it did not say.
    pub recipe: Recipe,
    /// Samples per second of the recordings.
    pub recorded_rate: f64,
    /// The unit of the samples.
    pub unit: String,
    /// Whether the signal came in trials, which were filtered one by one.
    pub trialwise: bool,
    /// How the files were read.
    #[serde(default)]
    pub input: Input,
    /// The classes that the labels of events stood for, run by run.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
}

/// Two preparations, or a preparation and an option, that say different things.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// What they speak of.
    pub what: &'static str,
    /// What the first says.
    pub expected: String,
    /// What the second says.
    pub found: String,
}

impl fmt::Display for Contradiction {
    /// What a model says, and what the data say that contradict it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: the model was trained with {}, but the trials have {}",
            self.what, self.expected, self.found
        )
    }
}

impl Provenance {
    /// Returns the samples per second that were filtered.
    pub fn rate(&self) -> f64 {
        self.recipe.rate.unwrap_or(self.recorded_rate)
    }

    /// Returns the names of the channels, in the order of the rows.
    pub fn channels(&self) -> &[String] {
        self.recipe.channels.as_deref().unwrap_or_default()
    }

    /// Returns band and window of every view, the broad one first.
    pub fn views(&self) -> &[View] {
        &self.recipe.views
    }

    /// Finds the first step in which matrices made one way do not compare with matrices made the
    /// other way, or a label of events that says something else. Rejection, classes without events
    /// and the rate of the recordings make no difference; the channels are compared by whoever picks
    /// them.
    pub fn contradiction(&self, other: &Self) -> Option<Contradiction> {
        let views = |s: &Self| {
            let each: Vec<String> = s.views().iter().map(ToString::to_string).collect();
            each.join("; ")
        };
        let filter = |s: &Self| format!("{} filter of order {}", s.recipe.phase, s.recipe.order);
        let rate = |s: &Self| format!("{} Hz", s.rate());
        let estimator = |s: &Self| s.recipe.estimator.to_string();
        let reference = |s: &Self| s.recipe.reference.to_string();
        let said: [(&'static str, String, String); 6] = [
            ("bands and windows", views(self), views(other)),
            ("filter", filter(self), filter(other)),
            ("sampling rate", rate(self), rate(other)),
            ("estimator", estimator(self), estimator(other)),
            ("reference", reference(self), reference(other)),
            ("unit", self.unit.clone(), other.unit.clone()),
        ];
        let differs = said.into_iter().find(|(_, a, b)| a != b);
        let differs = differs.map(|(what, expected, found)| Contradiction {
            what,
            expected,
            found,
        });
        differs.or_else(|| self.labels.contradiction(&other.labels))
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let recipe = &self.recipe;
        if self.rate() != self.recorded_rate {
            write!(f, "resampled from {} to ", self.recorded_rate)?;
        }
        write!(f, "{} Hz, ", self.rate())?;
        if recipe.reference != crate::Reference::AsRecorded {
            write!(f, "reference {}, ", recipe.reference)?;
        }
        let broad = recipe.broad();
        let ([low, high], [from, to]) = (broad.band, broad.window);
        let each = if self.trialwise {
            ", trial by trial"
        } else {
            ""
        };
        write!(
            f,
            "{low}–{high} Hz ({} Butterworth, order {}{each}), {from}–{to} s, ",
            recipe.phase, recipe.order
        )?;
        if recipe.views.len() > 1 {
            write!(f, "{} views, ", recipe.views.len())?;
        }
        write!(f, "{} covariance, ", recipe.estimator)?;
        match recipe.reject {
            Some(c) => write!(
                f,
                "trials above median + {c} MAD of their domain's peaks left out (no label read)"
            ),
            None => f.write_str("no trial left out"),
        }
    }
}

/// How a set of covariances was made.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preparation {
    /// Nobody said.
    #[default]
    Unknown,
    /// From a signal, by a recipe.
    Known(Box<Provenance>),
}

impl From<Provenance> for Preparation {
    fn from(provenance: Provenance) -> Self {
        Self::Known(Box::new(provenance))
    }
}

impl Preparation {
    /// Returns the recipe and its signals, where they are known.
    pub fn known(&self) -> Option<&Provenance> {
        match self {
            Self::Unknown => None,
            Self::Known(provenance) => Some(provenance),
        }
    }

    /// Returns the recipe, where it is known.
    pub fn recipe(&self) -> Option<&Recipe> {
        self.known().map(|provenance| &provenance.recipe)
    }

    /// Finds in what two differ, where both are known.
    pub fn contradiction(&self, other: &Self) -> Option<Contradiction> {
        self.known()?.contradiction(other.known()?)
    }
}

impl fmt::Display for Preparation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("not known: the covariances came without it"),
            Self::Known(provenance) => provenance.fmt(f),
        }
    }
}
