//! Which model, and how it is fitted: a kind or a variant by its name, with what the user changes.

use clap::Args;
use serde_json::{Map, Value, json};
use stiefel::model::kind::DataSizes;
use stiefel::model::registry;
use stiefel::model::{ModelError, ModelSpec};

use crate::failure::Failure;

#[derive(Debug, Args)]
pub(super) struct Options {
    /// The model, by the name it has in studies
    #[arg(long, value_name = "NAME", default_value = registry::DEFAULT)]
    pub(super) model: String,
    /// Seed of the split and, in networks, of the first values and the order of trials
    #[arg(long, default_value_t = 0)]
    pub(super) seed: u64,
    /// Epochs of a network at most
    #[arg(long, value_name = "N")]
    epochs: Option<usize>,
    /// Change a setting of the model; may be given several times. A wrong name lists the settings
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = setting)]
    set: Vec<(String, Value)>,
}

/// A setting and its value: JSON, or text.
fn setting(text: &str) -> Result<(String, Value), String> {
    let (key, value) = text
        .split_once('=')
        .ok_or("give a name and a value, for example --set filters=12")?;
    let value = value.trim();
    let parsed = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
    Ok((key.trim().to_owned(), parsed))
}

impl Options {
    /// Refuses a name that no model has, before anything is loaded.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let found = registry::find(&self.model);
        found.map_err(|error| Failure::Misuse(format!("--model {}: {error}", self.model)))?;
        Ok(())
    }

    /// Returns what is to be fitted on data of these sizes.
    pub(super) fn spec(&self, sizes: DataSizes) -> Result<ModelSpec, Failure> {
        let mut given: Map<String, Value> = self.set.iter().cloned().collect();
        given.extend(
            self.epochs
                .map(|epochs| ("epochs".to_owned(), json!(epochs))),
        );
        let spec = ModelSpec::named(&self.model, &Value::Object(given), sizes);
        let spec = spec.map_err(|error| Failure::Misuse(self.blamed(sizes, &error)))?;
        Ok(spec.seeded(self.seed)?)
    }

    /// Explains why the settings cannot be had, and names the option that is wrong by itself.
    fn blamed(&self, sizes: DataSizes, error: &ModelError) -> String {
        let wrong = |name: &str, value: &Value| {
            ModelSpec::named(&self.model, &json!({ name: value }), sizes).err()
        };
        let epochs = self.epochs.and_then(|n| {
            let error = wrong("epochs", &json!(n))?;
            Some(format!("--epochs {n}: {error}"))
        });
        let mut set = self.set.iter().filter_map(|(name, value)| {
            let error = wrong(name, value)?;
            Some(format!("--set {name}={value}: {error}"))
        });
        let found = epochs.or_else(|| set.next());
        found.unwrap_or_else(|| error.to_string())
    }
}
