//! Which model, and how it is fitted: a kind or a variant by its name, with what the user changes.

use clap::Args;
use serde_json::Value;
use stiefel::model::ModelSpec;
use stiefel::model::kind::DataSizes;
use stiefel::model::registry;

use crate::failure::Failure;
use crate::settings::Given;

#[derive(Debug, Args)]
pub(super) struct Options {
    /// The model, by the name it has in studies
    #[arg(long, value_name = "NAME", default_value = registry::DEFAULT)]
    pub(super) model: String,
    /// Seed of the split and, in networks, of the first values and the order of trials
    #[arg(long, default_value_t = 0)]
    pub(super) seed: u64,
    #[command(flatten)]
    given: Given,
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
        let given = self.given.all();
        if let Some(name) = given.keys().find(|k| k.rsplit('.').next() == Some("seed")) {
            let why = "the seed is that of the split too; give it with --seed";
            return Err(Failure::Misuse(format!("--set {name}: {why}")));
        }
        let given = Value::Object(given);
        let spec = ModelSpec::named(&self.model, &given, sizes);
        let spec = spec.map_err(|error| self.given.model_failure(error))?;
        Ok(spec.seeded(self.seed)?)
    }
}
