//! The choices of the preset, checked once, at the door.

use crate::{ModelError, Preconditioning, Result};
use serde::{Deserialize, Serialize};

/// The head: how far domains may differ, and which penalties are tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeadConfig {
    /// ρ: prior variance of a domain's own weights over that of the shared ones. 0 gives everybody the same head.
    pub ratio: f64,
    /// The inverse penalties `C` tried on the validation trials.
    pub candidates: Vec<f64>,
}

impl Default for HeadConfig {
    fn default() -> Self {
        Self {
            ratio: 8.0,
            candidates: vec![1.0, 3.0, 10.0, 30.0],
        }
    }
}

impl HeadConfig {
    /// One head for everybody.
    pub fn shared() -> Self {
        Self {
            ratio: 0.0,
            ..Self::default()
        }
    }

    /// An error where a number is out of its range.
    pub fn check(&self) -> Result<()> {
        let op = "routed head";
        let wrong = |name, value, expected| {
            Err(ModelError::Parameter {
                op,
                name,
                value,
                expected,
            })
        };
        if !(self.ratio.is_finite() && self.ratio >= 0.0) {
            return wrong("ρ", self.ratio, "a finite number, zero or above");
        }
        if self.candidates.is_empty() {
            return wrong("the number of penalties to try", 0.0, "at least 1");
        }
        match self
            .candidates
            .iter()
            .find(|c| !(c.is_finite() && **c > 0.0))
        {
            Some(&c) => wrong("C", c, "a finite number above 0"),
            None => Ok(()),
        }
    }

    /// Prior variances of `w_0` and of the `δ_d` at an inverse penalty `C`.
    pub fn variances(&self, c: f64) -> (f64, f64) {
        let unit = c / (1.0 + self.ratio);
        (unit, self.ratio * unit)
    }
}

/// Everything that is decided before fitting; the default is the preset `recommended`.
///
/// ```
/// use stiefel_model::pooled::{HeadConfig, PooledConfig};
///
/// let recommended = PooledConfig::default();
/// assert_eq!((recommended.filters, recommended.head.ratio), (16, 8.0));
/// // The same filter with one head for everybody.
/// let shared = PooledConfig { head: HeadConfig::shared(), ..PooledConfig::default() };
/// assert_eq!(shared.head.ratio, 0.0);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PooledConfig {
    /// How covariances are whitened and scaled.
    pub preconditioning: Preconditioning,
    /// Directions kept, `k`; all of them where there are fewer channels.
    pub filters: usize,
    /// The head.
    pub head: HeadConfig,
    /// Whether, once the validation trials have chosen `C`, everything is fitted again on training and validation trials together. On by
    /// default: nothing is left to choose then, and trials are few. Turn it off to compare with networks that only watch the
    /// validation trials.
    #[serde(default = "yes")]
    pub refit: bool,
}

fn yes() -> bool {
    true
}

impl Default for PooledConfig {
    fn default() -> Self {
        Self {
            preconditioning: Preconditioning::default(),
            filters: 16,
            head: HeadConfig::default(),
            refit: true,
        }
    }
}

impl PooledConfig {
    /// An error where a number is out of its range.
    pub fn check(&self) -> Result<()> {
        self.head.check()?;
        if self.filters > 0 {
            return Ok(());
        }
        Err(ModelError::Parameter {
            op: "recommended preset",
            name: "k, the directions the filter keeps,",
            value: 0.0,
            expected: "at least 1",
        })
    }
}
