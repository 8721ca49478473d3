//! The choices between a recording and its covariances.

use super::DomainFrom;
use crate::{ChannelChoice, DataChoice, Result, StudyError};
use serde::{Deserialize, Serialize};
use std::fmt;
use stiefel_eeg::covariance::Estimator;
use stiefel_eeg::signal::DEFAULT_DEVIATIONS;

/// From recordings to covariances: band-pass (zero-phase Butterworth of order 4), trials around events, rejection by amplitude within
/// each domain, one covariance per trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Preparation {
    /// Pass band in hertz.
    pub band: [f64; 2],
    /// Seconds from the event (from the first sample of data that comes in trials). Without it the dataset's own window; for files
    /// 0.5–3.5 s, or whole trials where they hold trials.
    pub window: Option<[f64; 2]>,
    /// Event labels and the class each stands for. Without it the classes of the dataset, or all labels of trials; continuous
    /// files have no default.
    pub classes: Vec<(String, String)>,
    /// Channels; all EEG channels without it.
    pub channels: Option<ChannelChoice>,
    /// Subjects counted from 1, `1-9,12`: by number in a public dataset, by place in the order of names for files.
    pub subjects: Option<String>,
    /// The estimator.
    #[serde(with = "estimator_name")]
    pub estimator: Estimator,
    /// Median absolute deviations above which a trial is left out; none keeps all.
    pub reject: Option<f64>,
    /// Samples per second to resample to before filtering.
    pub resample: Option<f64>,
    /// What names the domain of a file.
    pub domain: DomainFrom,
    /// Whether the complete part of a file that was cut short is taken.
    pub partial: bool,
}

impl Default for Preparation {
    fn default() -> Self {
        Self {
            band: [8.0, 32.0],
            window: None,
            classes: Vec::new(),
            channels: None,
            subjects: None,
            estimator: Estimator::Sample,
            reject: Some(DEFAULT_DEVIATIONS),
            resample: None,
            domain: DomainFrom::Auto,
            partial: false,
        }
    }
}

impl Preparation {
    /// The default steps on the part of a dataset that is wanted.
    pub fn of_choice(choice: &DataChoice) -> Self {
        let classes = choice.classes.iter().flatten();
        Self {
            band: choice.band.unwrap_or([8.0, 32.0]),
            window: choice.window,
            classes: classes.map(|c| (c.clone(), c.clone())).collect(),
            channels: choice.channels.clone(),
            subjects: choice.subjects.clone(),
            ..Self::default()
        }
    }

    /// Reads `T1=hands,T2=feet`; a label alone is its own class.
    ///
    /// ```
    /// use stiefel_study::prepare::Preparation;
    /// let classes = Preparation::parse_classes(&["T1=hands", "feet"])?;
    /// assert_eq!(classes[1], ("feet".to_string(), "feet".to_string()));
    /// # Ok::<(), stiefel_study::StudyError>(())
    /// ```
    pub fn parse_classes(parts: &[impl AsRef<str>]) -> Result<Vec<(String, String)>> {
        let mut classes: Vec<(String, String)> = Vec::new();
        for part in parts.iter().map(|p| p.as_ref().trim()) {
            let (label, class) = part.split_once('=').unwrap_or((part, part));
            let (label, class) = (label.trim(), class.trim());
            let twice = classes.iter().any(|(known, _)| known == label);
            if label.is_empty() || class.is_empty() || twice {
                return Err(StudyError::setting(
                    format!("\"{part}\" is no class, or its label was given before"),
                    "give labels and classes as T1=hands,T2=feet, each label once",
                ));
            }
            classes.push((label.into(), class.into()));
        }
        Ok(classes)
    }

    /// Names of the classes, each once.
    pub(super) fn class_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for (_, class) in &self.classes {
            if !names.contains(&class.as_str()) {
                names.push(class);
            }
        }
        names
    }

    /// An error where a number cannot be; the filter and the window check the rest against the data.
    pub(super) fn check(&self) -> Result<()> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        if let Some(rate) = self.resample.filter(|r| !positive(*r)) {
            return Err(StudyError::setting(
                format!("the rate to resample to is {rate} Hz"),
                "give a positive number of samples per second",
            ));
        }
        if let Some(c) = self.reject.filter(|c| !(c.is_finite() && *c >= 0.0)) {
            return Err(StudyError::setting(
                format!("the rejection threshold is {c} median absolute deviations"),
                "give a number that is not negative (5 is usual), or off",
            ));
        }
        let [low, high] = self.band;
        if !(positive(low) && positive(high) && low < high) {
            return Err(StudyError::setting(
                format!("the band is {low}–{high} Hz"),
                "give a low and a higher frequency, as 8,32",
            ));
        }
        Ok(())
    }
}

impl fmt::Display for Preparation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(rate) = self.resample {
            write!(f, "resampled to {rate} Hz, ")?;
        }
        let [low, high] = self.band;
        write!(f, "{low}–{high} Hz (zero-phase Butterworth, order 4), ")?;
        if let Some([from, to]) = self.window {
            write!(f, "{from}–{to} s, ")?;
        }
        write!(f, "{} covariance, ", self.estimator.name())?;
        match self.reject {
            Some(c) => write!(
                f,
                "trials above median + {c} MAD of their domain's peaks left out (no label read)"
            ),
            None => f.write_str("no trial left out"),
        }
    }
}

/// An estimator by its name.
mod estimator_name {
    use super::Estimator;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[allow(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde asks for a reference"
    )]
    pub(super) fn serialize<S: Serializer>(e: &Estimator, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(e.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Estimator, D::Error> {
        let name = String::deserialize(from)?;
        name.parse().map_err(D::Error::custom)
    }
}
