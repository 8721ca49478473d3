//! The registry of kinds, which every door reads.
//!
//! ```
//! use stiefel_model::kind::DataSizes;
//! use stiefel_model::registry;
//! use stiefel_model::ModelSpec;
//!
//! let sizes = DataSizes { channels: 22, domains: 9 };
//! let spec = ModelSpec::named("dasp", &serde_json::json!({ "experts": 4 }), sizes)?;
//! assert_eq!(spec.setting("experts"), Some(&4.into()));
//! assert!(ModelSpec::named("dasp", &serde_json::json!({ "expert": 4 }), sizes).is_err());
//! assert!(registry::names().contains(&"choir"));
//! # Ok::<(), stiefel_model::ModelError>(())
//! ```
//!
//! A new kind takes one file and one line in [`KINDS`].

mod spec;
#[cfg(feature = "test-kind")]
mod toy;

use crate::choir::ChoirKind;
use crate::kind::{DataSizes, Kind, Variant};
use crate::network::NetworkKind;
use crate::peers::PEERS;
use crate::{ModelError, Result};
use serde_json::Value;
use stiefel_data::settings::Settings;

/// The name of the kind that doors take unless they are told another.
pub const DEFAULT: &str = "choir";

/// All kinds, in the order of lists and tables.
pub static KINDS: &[&dyn Kind] = &[
    &ChoirKind,
    &NetworkKind::DASP,
    &NetworkKind::SPDNET,
    &PEERS[0],
    &PEERS[1],
    &PEERS[2],
    &PEERS[3],
    &PEERS[4],
    &PEERS[5],
    &PEERS[6],
    &PEERS[7],
    #[cfg(feature = "test-kind")]
    &toy::ToyKind,
];

/// Finds a kind by its name.
pub fn kind(name: &str) -> Option<&'static dyn Kind> {
    all().find(|k| k.name() == name)
}

/// Finds a kind, or the kind of a variant, by name.
pub fn find(name: &str) -> Result<(&'static dyn Kind, Option<Variant>)> {
    if let Some(found) = kind(name) {
        return Ok((found, None));
    }
    let variant = |kind: &'static dyn Kind| {
        let variants = kind.variants().iter();
        let found = variants.copied().find(|v| v.name == name)?;
        Some((kind, Some(found)))
    };
    let found = all().find_map(variant);
    found.ok_or_else(|| ModelError::UnknownName {
        what: "model",
        found: name.to_owned(),
        known: names().join(", "),
    })
}

/// Lists the names of all kinds, and after them those of all variants.
pub fn names() -> Vec<&'static str> {
    let variants = all().flat_map(Kind::variants);
    all()
        .map(Kind::name)
        .chain(variants.map(|v| v.name))
        .collect()
}

/// Describes the kind or the variant of a name in one line.
pub fn about(name: &str) -> Option<&'static str> {
    let (kind, variant) = find(name).ok()?;
    Some(variant.map_or_else(|| kind.about(), |v| v.about))
}

/// Describes the settings of a kind or a variant on data of these sizes.
///
/// ```
/// use stiefel_model::{kind::DataSizes, registry};
///
/// let sizes = DataSizes {
///     channels: 22,
///     domains: 9,
/// };
/// let settings = registry::settings("choir", sizes)?;
/// assert_eq!(settings.find("shared")?.values, "a number above 0");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn settings(name: &str, sizes: DataSizes) -> Result<Settings> {
    let (kind, variant) = find(name)?;
    let defaults = kind.defaults(variant.map(|v| v.name), &Value::Null, sizes)?;
    Ok(Settings::new(name, kind.schema(), defaults))
}

/// Joins the names of all kinds, for messages.
pub(crate) fn listed() -> String {
    all().map(Kind::name).collect::<Vec<_>>().join(", ")
}

fn all() -> impl Iterator<Item = &'static dyn Kind> {
    KINDS.iter().copied()
}
