//! Specs by name.

use super::{find, kind};
use crate::kind::DataSizes;
use crate::{ModelError, ModelSpec, Result};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use stiefel_data::settings::Settings;

impl ModelSpec {
    /// Returns the spec of a kind or a variant, its defaults on data of these sizes changed by the
    /// settings that are given.
    pub fn named(name: &str, given: &Value, sizes: DataSizes) -> Result<Self> {
        let (kind, variant) = find(name)?;
        let defaults = kind.defaults(variant.map(|v| v.name), given, sizes)?;
        let tree = Settings::new(name, kind.schema(), defaults).with(given)?;
        let mut spec = Self::complete(kind, tree)?;
        spec.all_views |= variant.is_some_and(|v| v.all_views);
        spec.scaling = kind.scaling(spec.settings(), sizes)?;
        Ok(spec)
    }
}

impl Default for ModelSpec {
    /// CHOIR with its defaults.
    fn default() -> Self {
        crate::choir::ChoirConfig::default().into()
    }
}

impl Serialize for ModelSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        Written {
            kind: self.kind().name().into(),
            settings: self.settings().clone(),
            all_views: self.all_views,
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ModelSpec {
    fn deserialize<D>(deserializer: D) -> std::result::Result<Self, D::Error>
    where
        D: Deserializer<'de>,
    {
        let written = Written::deserialize(deserializer)?;
        let found = kind(&written.kind).ok_or_else(|| ModelError::UnknownName {
            what: "kind of model",
            found: written.kind.clone(),
            known: super::listed(),
        });
        let spec = found.and_then(|kind| Self::complete(kind, written.settings));
        let mut spec = spec.map_err(D::Error::custom)?;
        spec.all_views |= written.all_views;
        Ok(spec)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    kind: String,
    settings: Value,
    #[serde(default)]
    all_views: bool,
}
