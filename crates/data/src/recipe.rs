//! The recipe from a signal to covariances: everything that changes their numbers.
//!
//! ```text
//! recording ─▶ channels ─▶ reference ─▶ rate ─▶ band-pass (order, phase) ─▶ window around the event ─▶ covariance
//! ```
//!
//! One [`Recipe`] is what `prepare` is asked for, what dataset and model files keep, and what a
//! live chain runs. How files are read is [`Input`](crate::Input), beside it.

use crate::DataError;
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// Median absolute deviations above which a trial is left out, unless told otherwise.
const REJECT: f64 = 5.0;

/// Steps from a signal to the covariances of its trials.
///
/// ```
/// use stiefel_data::{Phase, Recipe, Reference};
///
/// let recipe = Recipe {
///     reference: Reference::Average,
///     views: vec!["8-32@0.5-3.5".parse()?, "10-14@0.25-2.25".parse()?],
///     classes: vec![("T1".into(), "hands".into()), ("T2".into(), "feet".into())],
///     ..Recipe::default()
/// };
/// let text = serde_json::to_string(&recipe).unwrap();
/// assert!(text.contains(r#""views":["8-32@0.5-3.5","10-14@0.25-2.25"]"#));
/// assert!(text.contains(r#""classes":["T1=hands","T2=feet"]"#));
/// assert_eq!(serde_json::from_str::<Recipe>(&text).unwrap(), recipe);
/// # Ok::<(), stiefel_data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Recipe {
    /// What voltages are measured against.
    pub reference: Reference,
    /// Samples per second to resample to; as recorded without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Channels, in the order of the rows; all EEG channels without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channels: Option<Vec<String>>,
    /// Band and window of each covariance of a trial, the broad one first.
    pub views: Vec<View>,
    /// Order of the Butterworth filter.
    pub order: usize,
    /// Which way it runs.
    pub phase: Phase,
    /// The estimator of covariances.
    pub estimator: Estimator,
    /// Trials whose peak exceeds median + this many MAD of their domain are left out; none keeps
    /// all.
    #[serde(with = "off")]
    pub reject: Option<f64>,
    /// Labels of events and the class each stands for; `R0[48]:T1` is the label `T1` in runs whose
    /// name fits `R0[48]`.
    #[serde(with = "pairs")]
    pub classes: Vec<(String, String)>,
}

impl Default for Recipe {
    fn default() -> Self {
        Self {
            reference: Reference::AsRecorded,
            rate: None,
            channels: None,
            views: vec![View {
                band: [8.0, 32.0],
                window: [0.5, 3.5],
            }],
            order: 4,
            phase: Phase::Zero,
            estimator: Estimator::Sample,
            reject: Some(REJECT),
            classes: Vec::new(),
        }
    }
}

impl Recipe {
    /// Returns the first view, which has the widest band of those of a model's own list.
    pub fn broad(&self) -> View {
        let whole = View {
            band: [0.0, f64::INFINITY],
            window: [0.0, 0.0],
        };
        self.views.first().copied().unwrap_or(whole)
    }

    /// Lists the classes, each once, in the order of their first label.
    pub fn class_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for (_, class) in &self.classes {
            if !names.contains(&class.as_str()) {
                names.push(class);
            }
        }
        names
    }

    /// Checks that every number has a meaning; whether a recording has room for a window is seen
    /// where it is cut.
    pub fn check(&self) -> Result<(), DataError> {
        let wrong = |what: String, remedy| DataError::Setting { what, remedy };
        let positive = |x: f64| x.is_finite() && x > 0.0;
        if let Some(rate) = self.rate.filter(|r| !positive(*r)) {
            return Err(wrong(
                format!("the rate to resample to is {rate} Hz"),
                "give a positive number of samples per second",
            ));
        }
        if let Some(c) = self.reject.filter(|c| !(c.is_finite() && *c >= 0.0)) {
            return Err(wrong(
                format!("the rejection threshold is {c} median absolute deviations"),
                "give a number that is not negative (5 is usual), or off",
            ));
        }
        if self.views.is_empty() {
            return Err(wrong(
                "there is no view".into(),
                "give at least one band and window, for example 8-32@0.5-3.5",
            ));
        }
        for (place, view) in self.views.iter().enumerate() {
            let [low, high] = view.band;
            if !(positive(low) && positive(high) && low < high) {
                return Err(wrong(
                    format!("the band is {low}–{high} Hz"),
                    "give a low and a higher frequency, for example 8 and 32 Hz",
                ));
            }
            if self.views[..place].contains(view) {
                return Err(wrong(
                    format!("the view {view} is given twice"),
                    "give every view once",
                ));
            }
        }
        Ok(())
    }
}

/// What voltages are measured against.
///
/// ```
/// use stiefel_data::Reference;
///
/// assert_eq!("average".parse(), Ok(Reference::Average));
/// assert_eq!(
///     "M1+M2".parse(),
///     Ok(Reference::Channels(vec!["M1".into(), "M2".into()]))
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Reference {
    /// The reference of the recording.
    #[default]
    AsRecorded,
    /// The mean of the recipe's channels.
    Average,
    /// The mean of named electrodes of the recording, whether or not they are among the channels.
    Channels(Vec<String>),
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AsRecorded => f.write_str("as-recorded"),
            Self::Average => f.write_str("average"),
            Self::Channels(names) => f.write_str(&names.join("+")),
        }
    }
}

impl FromStr for Reference {
    type Err = DataError;

    /// `as-recorded`, `average`, or names of electrodes joined by `+`.
    fn from_str(text: &str) -> Result<Self, DataError> {
        let names: Vec<String> = text.split('+').map(|name| name.trim().to_owned()).collect();
        match text.trim() {
            "as-recorded" => Ok(Self::AsRecorded),
            "average" => Ok(Self::Average),
            _ if names.iter().any(String::is_empty) => Err(DataError::Setting {
                what: format!("{text:?} is no reference"),
                remedy: "give as-recorded, average, or electrodes joined by +, for example M1+M2",
            }),
            _ => Ok(Self::Channels(names)),
        }
    }
}

impl From<Reference> for String {
    fn from(reference: Reference) -> Self {
        reference.to_string()
    }
}

impl TryFrom<String> for Reference {
    type Error = DataError;

    fn try_from(text: String) -> Result<Self, DataError> {
        text.parse()
    }
}

/// Reads labels and classes, `T1=hands`; a label alone stands for itself.
///
/// ```
/// use stiefel_data::class_rules;
///
/// let rules = class_rules(&["T1=hands", "R0[48]:T2=feet", "rest"])?;
/// assert_eq!(rules[2], ("rest".into(), "rest".into()));
/// assert!(class_rules(&["T1=hands", "T1=feet"]).is_err());
/// # Ok::<(), stiefel_data::DataError>(())
/// ```
pub fn class_rules(parts: &[impl AsRef<str>]) -> Result<Vec<(String, String)>, DataError> {
    let mut classes: Vec<(String, String)> = Vec::new();
    for part in parts.iter().map(|p| p.as_ref().trim()) {
        // Labels of events are somebody else's and may hold the sign.
        let (label, class) = part.rsplit_once('=').unwrap_or((part, part));
        let (label, class) = (label.trim(), class.trim());
        let twice = classes.iter().any(|(known, _)| known == label);
        if label.is_empty() || class.is_empty() || twice {
            return Err(DataError::Setting {
                what: format!("\"{part}\" does not give a class, or its label was given before"),
                remedy: "give labels and classes, each label once, for example T1=hands,T2=feet",
            });
        }
        classes.push((label.into(), class.into()));
    }
    Ok(classes)
}

/// Labels and classes as texts, `T1=hands`.
mod pairs {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        classes: &[(String, String)],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let texts: Vec<String> = classes.iter().map(|(l, c)| format!("{l}={c}")).collect();
        texts.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<(String, String)>, D::Error> {
        let texts = Vec::<String>::deserialize(deserializer)?;
        super::class_rules(&texts).map_err(D::Error::custom)
    }
}

/// A number, or `off`.
mod off {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Given {
        Number(f64),
        Text(String),
    }

    #[expect(clippy::ref_option, reason = "serde passes the field")]
    pub(super) fn serialize<S: Serializer>(
        value: &Option<f64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(number) => serializer.serialize_f64(*number),
            None => serializer.serialize_str("off"),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<f64>, D::Error> {
        match Given::deserialize(deserializer)? {
            Given::Number(number) => Ok(Some(number)),
            Given::Text(text) if text == "off" => Ok(None),
            Given::Text(text) => Err(D::Error::custom(format!(
                "{text:?} is no number, and not off"
            ))),
        }
    }
}

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
        found.ok_or_else(|| DataError::Setting {
            what: format!("there is no estimator {name:?}"),
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

impl FromStr for Phase {
    type Err = DataError;

    fn from_str(name: &str) -> Result<Self, DataError> {
        match name {
            "zero" => Ok(Self::Zero),
            "causal" => Ok(Self::Causal),
            other => Err(DataError::Setting {
                what: format!("there is no phase {other:?}"),
                remedy: "choose zero (forwards and backwards) or causal (forwards only)",
            }),
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Zero => "zero-phase",
            Self::Causal => "causal",
        })
    }
}

/// One covariance of a trial: a band and a window. Written as text, `8-32@0.5-3.5`.
///
/// ```
/// use stiefel_data::View;
///
/// let view: View = "8-32@-0.5-3.5".parse()?;
/// assert_eq!((view.band, view.window), ([8.0, 32.0], [-0.5, 3.5]));
/// assert!("32-8@0.5-3.5".parse::<View>().is_err());
/// # Ok::<(), stiefel_data::DataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "String")]
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

impl Serialize for View {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ([low, high], [from, to]) = (self.band, self.window);
        if ![low, high, from, to].iter().all(|x| x.is_finite()) {
            let error = format!("the view {self} has a number that is not finite");
            return Err(serde::ser::Error::custom(error));
        }
        serializer.collect_str(&format_args!("{low}-{high}@{from}-{to}"))
    }
}

impl TryFrom<String> for View {
    type Error = DataError;

    fn try_from(text: String) -> Result<Self, DataError> {
        text.parse()
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
        found.ok_or_else(|| DataError::Setting {
            what: format!("{text:?} is not a view"),
            remedy: "give a band in hertz and a window in seconds from the event, the smaller \
                     number first, for example 8-32@0.5-3.5",
        })
    }
}
