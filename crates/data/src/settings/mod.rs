//! Settings: each described once, found at every door.
//!
//! A configuration is a serde struct whose fields have a doc line, a default and a range, and which
//! derives [`schemars::JsonSchema`]. [`Settings`] reads that schema: it lists what there is, finds
//! a setting by its name, and checks a value against its type and range. Command lines, files,
//! Python and the documentation ask it and describe nothing themselves.
//!
//! A setting is addressed by its path (`training.epochs`), or by the end of it (`epochs`): of
//! several that end so, the outermost is meant.
//!
//! ```
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//! use serde_json::json;
//! use stiefel_data::settings::Settings;
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! struct Example {
//!     /// Directions that are kept.
//!     #[schemars(range(min = 1))]
//!     filters: usize,
//! }
//!
//! let settings = Settings::of("an example", &Example { filters: 16 });
//! assert_eq!(settings.all()[0].about, "Directions that are kept.");
//! assert_eq!(settings.all()[0].values, "a whole number of at least 1");
//! assert_eq!(settings.with(&json!({ "filters": 4 }))?, json!({ "filters": 4 }));
//! let error = settings.with(&json!({ "filter": 4 })).unwrap_err();
//! assert!(error.sentence().contains("did you mean filters?"));
//! # Ok::<(), stiefel_data::settings::SettingError>(())
//! ```

mod check;
mod error;
mod near;
mod node;
mod schema;
mod tree;

pub use error::SettingError;
pub use tree::{get, leaves, object, paths, resolve};

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::Value;
use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

/// Returns the schema of a configuration, without references.
pub fn schema_of<T: JsonSchema + 'static>() -> &'static Value {
    static ALL: LazyLock<Mutex<HashMap<TypeId, &'static Value>>> = LazyLock::new(Mutex::default);
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    all.entry(TypeId::of::<T>()).or_insert_with(|| {
        let settings = SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true);
        let schema = settings.into_generator().into_root_schema_for::<T>();
        // One per type, for as long as the program runs.
        Box::leak(Box::new(schema.to_value()))
    })
}

/// Checks types and ranges of a configuration, which messages call `owner`.
///
/// Rules between several settings are checked where these are used.
pub fn check<T>(owner: &str, settings: &T) -> Result<(), SettingError>
where
    T: JsonSchema + Serialize + 'static,
{
    Settings::of(owner, settings).check(&serde_json::to_value(settings).unwrap_or_default())
}

/// One setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Its path, `training.epochs`.
    pub path: String,
    /// The shortest name that stands for it, `epochs`.
    pub name: String,
    /// What it is, as its doc comment says.
    pub about: String,
    /// The values it may have, in words.
    pub values: String,
    /// Its default.
    pub default: Value,
    /// Its schema.
    pub schema: Value,
    /// Whether it holds other settings of the list.
    pub is_group: bool,
}

/// All settings of a configuration.
#[derive(Debug, Clone)]
pub struct Settings {
    owner: String,
    schema: Value,
    defaults: Value,
    all: Vec<Setting>,
}

impl Settings {
    /// Describes a configuration by its schema and its complete default values; messages call it
    /// `owner`.
    pub fn new(owner: impl Into<String>, schema: &Value, defaults: Value) -> Self {
        Self {
            owner: owner.into(),
            all: schema::list(schema, &defaults),
            schema: schema.clone(),
            defaults,
        }
    }

    /// Describes a typed configuration by its default values.
    pub fn of<T>(owner: impl Into<String>, defaults: &T) -> Self
    where
        T: JsonSchema + Serialize + 'static,
    {
        // A default that JSON cannot hold is missing, and found where values are checked.
        let defaults = serde_json::to_value(defaults).unwrap_or_default();
        Self::new(owner, schema_of::<T>(), defaults)
    }

    /// Lists the settings in the order of their paths, groups before what they hold.
    pub fn all(&self) -> &[Setting] {
        &self.all
    }

    /// Returns the defaults as a tree.
    pub fn defaults(&self) -> &Value {
        &self.defaults
    }

    /// Finds a setting by its path or by the end of it.
    pub fn find(&self, name: &str) -> Result<&Setting, SettingError> {
        let paths = || self.all.iter().map(|s| s.path.as_str());
        let found = tree::outermost(paths(), name);
        let found = found.and_then(|path| self.all.iter().find(|s| s.path == path));
        found.ok_or_else(|| {
            let single = self.all.iter().filter(|s| !s.is_group);
            let known: Vec<String> = single.map(|s| s.name.clone()).collect();
            SettingError::unknown(&self.owner, name, known)
        })
    }

    /// Sets one setting of a complete tree, after a check of its type and range.
    ///
    /// An object that names settings of a group changes these alone; any other value takes the
    /// place of what was there. The name of a choice stands for the choice with the defaults of its
    /// own settings, and `"none"` turns off what may be absent.
    pub fn set(&self, tree: &mut Value, name: &str, value: &Value) -> Result<(), SettingError> {
        let setting = self.find(name)?;
        let complete = schema::completed(&setting.schema, value);
        let blank = Value::Null;
        let old = tree
            .pointer(&tree::pointer(&setting.path))
            .unwrap_or(&blank);
        let new = schema::merged(&setting.schema, old, complete);
        check::node(&setting.schema, &new, "")
            .map_err(|wrong| wrong.named(&self.owner, name, value))?;
        tree::put(tree, &setting.path, new);
        Ok(())
    }

    /// Returns the defaults, changed by the settings of an object.
    pub fn with(&self, given: &Value) -> Result<Value, SettingError> {
        let mut tree = self.defaults.clone();
        for (name, value) in object(given)? {
            self.set(&mut tree, name, value)?;
        }
        Ok(tree)
    }

    /// Checks names, types and ranges of a complete tree.
    pub fn check(&self, tree: &Value) -> Result<(), SettingError> {
        check::node(&self.schema, tree, "").map_err(|wrong| wrong.named(&self.owner, "", tree))
    }
}
