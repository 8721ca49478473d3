//! A setting that cannot be had.

use super::near;
use serde_json::Value;
use std::fmt;

/// A name that no setting has, or a value outside of its type or range.
///
/// A door writes the setting as its caller wrote it and puts [`sentence`](Self::sentence) behind.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingError {
    /// A name that no setting has.
    Unknown {
        /// What was to be set.
        owner: String,
        /// The name.
        name: String,
        /// The setting that is probably meant.
        near: Option<String>,
        /// The settings there are.
        known: Vec<String>,
    },
    /// A value outside of the type or range of its setting.
    Value {
        /// The name, as it was given, or the path.
        name: String,
        /// The value.
        value: Value,
        /// The values it may have.
        wanted: String,
    },
}

impl SettingError {
    /// Returns the error of a name that is not among those known, with the nearest of these.
    pub fn unknown(owner: impl Into<String>, name: &str, known: Vec<String>) -> Self {
        let last = name.rsplit('.').next().unwrap_or(name);
        Self::Unknown {
            owner: owner.into(),
            name: name.to_owned(),
            near: near::nearest(last, &known).map(ToOwned::to_owned),
            known,
        }
    }

    /// Returns the name of the setting, as it was given.
    pub fn name(&self) -> &str {
        match self {
            Self::Unknown { name, .. } | Self::Value { name, .. } => name,
        }
    }

    /// Says what is wrong, without the name and the value.
    pub fn sentence(&self) -> String {
        match self {
            Self::Value { wanted, .. } => format!("must be {wanted}"),
            Self::Unknown {
                owner, near, known, ..
            } => {
                let near = near.as_ref().map(|near| format!("; did you mean {near}?"));
                let near = near.unwrap_or_else(|| ";".into());
                let known = known.join(", ");
                format!("{owner} has no such setting{near} its settings are {known}")
            }
        }
    }
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, .. } => write!(f, "{name}: {}", self.sentence()),
            Self::Value { name, value, .. } => write!(f, "{name} = {value}: {}", self.sentence()),
        }
    }
}
