//! A number that may not exist, with the reason where it does not.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A figure of a report: a finite number, or why there is none.
///
/// Serialised as `{"value": 0.5}` or `{"value": null, "reason": "…"}`.
///
/// ```
/// use stiefel_model::Measure;
///
/// let h = Measure::undefined("routing entropy needs at least two experts");
/// assert_eq!(h.value(), None);
/// assert_eq!(
///     h.to_string(),
///     "– (routing entropy needs at least two experts)"
/// );
/// assert_eq!(Measure::Value(0.25).value(), Some(0.25));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Plain", into = "Plain")]
pub enum Measure {
    /// It exists; finite.
    Value(f64),
    /// It does not, for this reason.
    Undefined(String),
}

impl Measure {
    /// It does not exist, for this reason.
    pub fn undefined(reason: impl Into<String>) -> Self {
        Self::Undefined(reason.into())
    }

    /// The number, if there is one.
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Value(x) => Some(*x),
            Self::Undefined(_) => None,
        }
    }

    /// Why there is no number, if there is none.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Value(_) => None,
            Self::Undefined(reason) => Some(reason),
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(x) => write!(f, "{x:.3}"),
            Self::Undefined(reason) => write!(f, "– ({reason})"),
        }
    }
}

/// How a measure is written down.
#[derive(Serialize, Deserialize)]
struct Plain {
    value: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl From<Measure> for Plain {
    fn from(m: Measure) -> Self {
        match m {
            Measure::Value(x) => Self {
                value: Some(x),
                reason: None,
            },
            Measure::Undefined(reason) => Self {
                value: None,
                reason: Some(reason),
            },
        }
    }
}

impl TryFrom<Plain> for Measure {
    type Error = String;

    fn try_from(plain: Plain) -> Result<Self, String> {
        match (plain.value, plain.reason) {
            (Some(x), None) if x.is_finite() => Ok(Self::Value(x)),
            (None, Some(reason)) => Ok(Self::Undefined(reason)),
            (value, reason) => Err(format!(
                "a measure is a finite value or a reason, found value {value:?} and reason \
                 {reason:?}"
            )),
        }
    }
}
