//! How covariances were made of a signal: what `prepare` did, and what whoever decodes must do again.
//!
//! ```text
//! recording ─▶ channels ─▶ rate ─▶ band-pass (order, phase) ─▶ window around the event ─▶ covariance
//! ```
//!
//! [`Steps`] is made once, travels with the dataset file and the model file, and is obeyed by everything that turns a signal into matrices for
//! that model. Covariances that came from elsewhere have [`Preparation::Unknown`], and who needs the steps must then be told.

use crate::DataError;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How a covariance is estimated from the samples of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// Demeaned, divided by `T − 1`. Singular where `T ≤ n`.
    #[default]
    Sample,
    /// Shrunk to a multiple of the identity by the rule of Ledoit and Wolf.
    LedoitWolf,
    /// Shrunk to a multiple of the identity by the oracle approximating rule.
    Oas,
    /// Correlations shrunk to zero by the rule of Schäfer and Strimmer; variances stay.
    SchaeferStrimmer,
}

impl Estimator {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Sample,
        Self::LedoitWolf,
        Self::Oas,
        Self::SchaeferStrimmer,
    ];

    /// The name used on command lines and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sample => "sample",
            Self::LedoitWolf => "ledoit-wolf",
            Self::Oas => "oas",
            Self::SchaeferStrimmer => "schaefer-strimmer",
        }
    }
}

impl fmt::Display for Estimator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Estimator {
    type Err = DataError;

    fn from_str(name: &str) -> Result<Self, DataError> {
        let found = Self::ALL.into_iter().find(|e| e.name() == name);
        found.ok_or_else(|| DataError::Impossible {
            op: "covariance",
            why: format!("there is no estimator {name:?}"),
            remedy: "choose among sample, ledoit-wolf, oas and schaefer-strimmer",
        })
    }
}

/// Which way the filter runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Forwards and backwards: no delay, and the future is needed.
    #[default]
    Zero,
    /// Forwards only, as a live stream must.
    Causal,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Zero => "zero-phase",
            Self::Causal => "causal",
        })
    }
}

/// One covariance of a trial: a band and a window.
///
/// ```
/// use stiefel_data::View;
///
/// let view: View = "8-32@-0.5-3.5".parse()?;
/// assert_eq!((view.band, view.window), ([8.0, 32.0], [-0.5, 3.5]));
/// assert!("32-8@0.5-3.5".parse::<View>().is_err());
/// # Ok::<(), stiefel_data::DataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct View {
    /// Pass band in hertz.
    pub band: [f64; 2],
    /// Seconds from the event.
    pub window: [f64; 2],
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([low, high], [from, to]) = (self.band, self.window);
        write!(f, "{low}–{high} Hz, {from}–{to} s")
    }
}

impl FromStr for View {
    type Err = DataError;

    /// `LOW-HIGH@FROM-TO`, in hertz and seconds.
    fn from_str(text: &str) -> Result<Self, DataError> {
        let pair = |part: &str| -> Option<[f64; 2]> {
            let dash = (part.char_indices().skip(1)).find(|(_, c)| *c == '-')?.0;
            let number = |text: &str| text.trim().parse().ok().filter(|x: &f64| x.is_finite());
            let found = [number(&part[..dash])?, number(&part[dash + 1..])?];
            (found[0] < found[1]).then_some(found)
        };
        let parts = text.trim().split_once('@');
        let found = parts.and_then(|(band, window)| {
            Some(Self {
                band: pair(band.trim())?,
                window: pair(window.trim())?,
            })
        });
        found.ok_or_else(|| DataError::Impossible {
            op: "views",
            why: format!("{text:?} is not a view"),
            remedy: "give a band in hertz and a window in seconds from the event, the smaller number first, for example 8-32@0.5-3.5",
        })
    }
}

/// What was done to a signal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Steps {
    /// Band and window of every view; the first is the broad one.
    pub views: Vec<View>,
    /// Order of the Butterworth filter.
    pub order: usize,
    /// Which way it ran.
    pub phase: Phase,
    /// Samples per second of the recordings.
    pub recorded_rate: f64,
    /// Samples per second that were filtered.
    pub rate: f64,
    /// The reference of the voltages; signals keep the one they were recorded with.
    pub reference: String,
    /// Names of the channels, in the order of the rows.
    pub channels: Vec<String>,
    /// How covariances were estimated.
    pub estimator: Estimator,
    /// Trials whose peak exceeds median + this many MAD of their domain were left out.
    pub rejection: Option<f64>,
    /// The unit of the samples.
    pub unit: String,
    /// Labels of events, and the class each stands for.
    pub classes: Vec<(String, String)>,
    /// Whether the signal came in trials, which were filtered one by one.
    pub trialwise: bool,
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

impl Steps {
    /// Band and window of the broad view.
    pub fn broad(&self) -> View {
        let whole = View {
            band: [0.0, f64::INFINITY],
            window: [0.0, 0.0],
        };
        self.views.first().copied().unwrap_or(whole)
    }

    /// The first step in which matrices made one way do not compare with matrices made the other way. Rejection, classes and the rate of the
    /// recordings make no difference to a matrix; the channels are compared by whoever picks them.
    pub fn contradiction(&self, other: &Self) -> Option<Contradiction> {
        let views = |s: &Self| {
            let each: Vec<String> = s.views.iter().map(ToString::to_string).collect();
            each.join("; ")
        };
        let filter = |s: &Self| format!("{} filter of order {}", s.phase, s.order);
        let rate = |s: &Self| format!("{} Hz", s.rate);
        let said: [(&'static str, String, String); 6] = [
            ("bands and windows", views(self), views(other)),
            ("filter", filter(self), filter(other)),
            ("sampling rate", rate(self), rate(other)),
            (
                "estimator",
                self.estimator.to_string(),
                other.estimator.to_string(),
            ),
            ("reference", self.reference.clone(), other.reference.clone()),
            ("unit", self.unit.clone(), other.unit.clone()),
        ];
        let differs = said.into_iter().find(|(_, a, b)| a != b);
        differs.map(|(what, expected, found)| Contradiction {
            what,
            expected,
            found,
        })
    }
}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rate != self.recorded_rate {
            write!(f, "resampled from {} to ", self.recorded_rate)?;
        }
        write!(f, "{} Hz, ", self.rate)?;
        let broad = self.broad();
        let ([low, high], [from, to]) = (broad.band, broad.window);
        let each = if self.trialwise {
            ", trial by trial"
        } else {
            ""
        };
        write!(
            f,
            "{low}–{high} Hz ({} Butterworth, order {}{each}), {from}–{to} s, ",
            self.phase, self.order
        )?;
        if self.views.len() > 1 {
            write!(f, "{} views, ", self.views.len())?;
        }
        write!(f, "{} covariance, ", self.estimator)?;
        match self.rejection {
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
    /// From a signal, in these steps.
    Made(Box<Steps>),
}

impl Preparation {
    /// The steps, where they are known.
    pub fn steps(&self) -> Option<&Steps> {
        match self {
            Self::Unknown => None,
            Self::Made(steps) => Some(steps),
        }
    }

    /// Where both are known and differ, in what.
    pub fn contradiction(&self, other: &Self) -> Option<Contradiction> {
        self.steps()?.contradiction(other.steps()?)
    }
}

impl fmt::Display for Preparation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("not known: the covariances came without it"),
            Self::Made(steps) => steps.fmt(f),
        }
    }
}
