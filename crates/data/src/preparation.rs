//! How a set of covariances was made: the recipe, and what the recordings were like.
//!
//! It travels with the dataset file and the model file, and is obeyed by everything that turns a
//! signal into matrices for that model. Covariances that came from elsewhere have
//! [`Preparation::Unknown`], and who needs the recipe must then be told.

use crate::contradiction::Contradiction;
use crate::{Estimator, Input, Labels, Recipe, View};
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
}

/// What is known of covariances whose signal was filtered and cut before it came here: how it was
/// filtered is not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Elsewhere {
    /// The pass band of the signal, and its window.
    pub view: View,
    /// Samples per second.
    pub rate: f64,
    /// What the voltages are measured against, as a recipe says it; or `custom`.
    pub reference: String,
    /// The estimator of the covariances.
    pub estimator: Estimator,
    /// The unit of the samples.
    pub unit: String,
}

impl fmt::Display for Elsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { view, rate, .. } = self;
        write!(
            f,
            "{rate} Hz, {view} (filtered and cut before; filter not known), reference {}, {} \
             covariance",
            self.reference, self.estimator
        )
    }
}

/// What one preparation says, for comparison with another.
struct Said<'a> {
    views: &'a [View],
    /// Whether signals were filtered elsewhere; numbers then come from a file of single precision,
    /// and times from the nearest samples.
    elsewhere: bool,
    filter: Option<String>,
    rate: f64,
    estimator: Estimator,
    reference: String,
    unit: &'a str,
}

impl Said<'_> {
    fn bands_and_windows(&self) -> String {
        let each: Vec<String> = self.views.iter().map(ToString::to_string).collect();
        each.join("; ")
    }

    fn has_views_of(&self, other: &Self) -> bool {
        if !(self.elsewhere || other.elsewhere) {
            return self.views == other.views;
        }
        let sample = 1.5 / self.rate.min(other.rate);
        let near =
            |a: [f64; 2], b: [f64; 2], slack: f64| (0..2).all(|i| (a[i] - b[i]).abs() <= slack);
        let alike = |(a, b): (&View, &View)| {
            near(a.band, b.band, BAND_ROUNDING * a.band[1]) && near(a.window, b.window, sample)
        };
        self.views.len() == other.views.len() && self.views.iter().zip(other.views).all(alike)
    }

    fn contradiction(&self, other: &Self) -> Option<Contradiction> {
        let differs = |what, expected: String, found: String| {
            Some(Contradiction {
                what,
                expected,
                found,
            })
        };
        if !self.has_views_of(other) {
            let views = (self.bands_and_windows(), other.bands_and_windows());
            return differs("bands and windows", views.0, views.1);
        }
        if let (Some(a), Some(b)) = (&self.filter, &other.filter)
            && a != b
        {
            return differs("filter", a.clone(), b.clone());
        }
        if self.rate != other.rate {
            let hertz = |rate| format!("{rate} Hz");
            return differs("sampling rate", hertz(self.rate), hertz(other.rate));
        }
        if self.estimator != other.estimator {
            let names = (self.estimator.to_string(), other.estimator.to_string());
            return differs("estimator", names.0, names.1);
        }
        if self.reference != other.reference {
            return differs("reference", self.reference.clone(), other.reference.clone());
        }
        // An array does not say its unit.
        let told = !self.unit.is_empty() && !other.unit.is_empty();
        if told && self.unit != other.unit {
            return differs("unit", self.unit.to_owned(), other.unit.to_owned());
        }
        None
    }
}

/// Relative rounding of a band that a file holds in single precision.
const BAND_ROUNDING: f64 = 1e-5;

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
    /// From a signal that somebody else filtered and cut.
    Elsewhere(Box<Elsewhere>),
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
            Self::Unknown | Self::Elsewhere(_) => None,
            Self::Known(provenance) => Some(provenance),
        }
    }

    /// Returns the recipe, where it is known.
    pub fn recipe(&self) -> Option<&Recipe> {
        self.known().map(|provenance| &provenance.recipe)
    }

    /// Finds the first step in which matrices made one way do not compare with matrices made the
    /// other way, where both say it, or a label of events that says something else. Rejection,
    /// classes without events and the rate of the recordings make no difference; the channels are
    /// compared by whoever picks them.
    pub fn contradiction(&self, other: &Self) -> Option<Contradiction> {
        let made = self.said()?.contradiction(&other.said()?);
        made.or_else(|| self.known()?.labels.contradiction(&other.known()?.labels))
    }

    fn said(&self) -> Option<Said<'_>> {
        Some(match self {
            Self::Unknown => return None,
            Self::Known(made) => Said {
                views: made.views(),
                elsewhere: false,
                filter: Some(format!(
                    "{} filter of order {}",
                    made.recipe.phase, made.recipe.order
                )),
                rate: made.rate(),
                estimator: made.recipe.estimator,
                reference: made.recipe.reference.to_string(),
                unit: &made.unit,
            },
            Self::Elsewhere(made) => Said {
                views: std::slice::from_ref(&made.view),
                elsewhere: true,
                filter: None,
                rate: made.rate,
                estimator: made.estimator,
                reference: made.reference.clone(),
                unit: &made.unit,
            },
        })
    }
}

impl fmt::Display for Preparation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("not known: the covariances came without it"),
            Self::Known(provenance) => provenance.fmt(f),
            Self::Elsewhere(made) => made.fmt(f),
        }
    }
}
