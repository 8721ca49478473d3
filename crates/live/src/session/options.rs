//! How a session decides.

use serde::{Deserialize, Serialize};
use stiefel_model::tolerance::UNFAMILIAR;

use crate::{LiveError, Result};

/// How a session decides; the signal is treated as the model says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Seconds from one decision to the next; none where cues alone say when to decide.
    pub hop: Option<f64>,
    /// The least probability of a class for a decision.
    pub threshold: Option<f64>,
    /// Time constant of the evidence over time, in seconds.
    pub time_constant: f64,
    /// How many times the distance of 99 % of the training trials is unfamiliar; none checks
    /// nothing.
    pub unfamiliar: Option<f64>,
    /// Whether a new domain's running mean stays as it is.
    pub freeze: bool,
    /// Labels of markers that are cues without a class.
    pub cues: Vec<String>,
    /// Whether the names of classes are labels of cues too, beside those of the recipe.
    pub class_cues: bool,
    /// Whether the samples are filtered already.
    pub filtered: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            hop: Some(0.25),
            threshold: None,
            time_constant: 1.0,
            unfamiliar: Some(UNFAMILIAR),
            freeze: false,
            cues: Vec::new(),
            class_cues: true,
            filtered: false,
        }
    }
}

impl Options {
    pub(super) fn check(&self) -> Result<()> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let bad = [
            (
                "a hop of",
                self.hop.filter(|h| !positive(*h)),
                "seconds above 0",
            ),
            (
                "a threshold of",
                self.threshold.filter(|t| !(0.0..=1.0).contains(t)),
                "a probability between 0 and 1",
            ),
            (
                "a time constant of",
                Some(self.time_constant).filter(|t| !positive(*t)),
                "seconds above 0",
            ),
            (
                "a limit of familiarity of",
                self.unfamiliar.filter(|u| !positive(*u)),
                "a number above 0",
            ),
        ];
        match bad
            .iter()
            .find_map(|(what, value, remedy)| value.map(|v| (what, v, remedy)))
        {
            None => Ok(()),
            Some((what, value, remedy)) => Err(LiveError::setting(
                format!("{what} {value} was asked for"),
                format!("give {remedy}"),
            )),
        }
    }
}
