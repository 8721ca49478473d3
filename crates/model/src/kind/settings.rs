//! Settings of a kind between their type and a tree of JSON values; see [`stiefel_data::settings`].

use crate::{ModelError, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

const OP: &str = "settings";

/// Converts settings to their type; an error names the setting that is wrong.
pub fn parse<T: DeserializeOwned>(kind: &str, settings: &Value) -> Result<T> {
    T::deserialize(settings).map_err(|error| ModelError::Impossible {
        op: OP,
        why: format!("a setting of {kind} is wrong: {error}"),
        remedy: "correct it, or leave it out",
    })
}

/// Writes typed settings as a tree.
pub fn tree<T: Serialize>(settings: &T) -> Result<Value> {
    serde_json::to_value(settings).map_err(|error| ModelError::Impossible {
        op: OP,
        why: format!("the settings cannot be written: {error}"),
        remedy: "give finite numbers",
    })
}
