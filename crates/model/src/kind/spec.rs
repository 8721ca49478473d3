//! A kind with its settings: everything that decides a fit, but the trials.

use super::Kind;
use crate::Result;
use crate::scaling::Recommendation;
use serde::Serialize;
use serde_json::{Value, json};
use stiefel_data::settings::{self, Settings};

/// A kind with its complete settings.
///
/// Written as `{"kind": "choir", "settings": {…}}`; settings that are left out have the defaults of
/// a kind whose defaults do not depend on the data.
#[derive(Debug, Clone)]
pub struct ModelSpec {
    kind: &'static dyn Kind,
    settings: Value,
    pub(crate) all_views: bool,
    /// Why the sizes were chosen, where a rule chose them.
    pub scaling: Option<Recommendation>,
}

impl ModelSpec {
    /// Returns the spec of typed settings; they are checked when they fit.
    pub(crate) fn from_settings<S: Serialize>(kind: &'static dyn Kind, settings: &S) -> Self {
        Self {
            kind,
            // Settings that JSON cannot hold are refused with the fit.
            settings: serde_json::to_value(settings).unwrap_or_default(),
            all_views: kind.takes_views(),
            scaling: None,
        }
    }

    /// Returns the spec of complete settings.
    pub fn complete(kind: &'static dyn Kind, settings: Value) -> Result<Self> {
        Settings::new(kind.name(), kind.schema(), settings.clone()).check(&settings)?;
        kind.check(&settings)?;
        Ok(Self {
            kind,
            settings,
            all_views: kind.takes_views(),
            scaling: None,
        })
    }

    /// Returns the kind.
    pub fn kind(&self) -> &'static dyn Kind {
        self.kind
    }

    /// Returns all settings.
    pub fn settings(&self) -> &Value {
        &self.settings
    }

    /// Returns the value of one setting.
    pub fn setting(&self, name: &str) -> Option<&Value> {
        settings::get(&self.settings, name)
    }

    /// Changes one setting.
    pub fn with(mut self, name: &str, value: &Value) -> Result<Self> {
        let known = Settings::new(self.kind.name(), self.kind.schema(), self.settings.clone());
        known.set(&mut self.settings, name, value)?;
        self.kind.check(&self.settings)?;
        Ok(self)
    }

    /// Changes those of the given settings that the kind has.
    pub fn with_known(mut self, given: &Value) -> Result<Self> {
        for (name, value) in settings::object(given)? {
            if self.setting(name).is_some() {
                self = self.with(name, value)?;
            }
        }
        Ok(self)
    }

    /// Changes the seed, where the kind has one.
    pub fn seeded(self, seed: u64) -> Result<Self> {
        self.with_known(&json!({ "seed": seed }))
    }

    /// Tells whether it takes all views of a trial.
    pub fn takes_views(&self) -> bool {
        self.all_views
    }

    /// Makes it take all views of a trial.
    pub fn on_all_views(mut self) -> Self {
        self.all_views = true;
        self
    }

    /// Returns the control with a single expert, where trials are routed.
    pub fn single_expert(&self) -> Result<Option<Self>> {
        let settings = self.kind.single_expert(&self.settings)?;
        let spec = settings.map(|settings| Self {
            settings,
            scaling: None,
            ..self.clone()
        });
        Ok(spec)
    }
}

impl PartialEq for ModelSpec {
    fn eq(&self, other: &Self) -> bool {
        (self.kind.name(), &self.settings, self.all_views)
            == (other.kind.name(), &other.settings, other.all_views)
    }
}
