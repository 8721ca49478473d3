//! Settings of a study by name, as command lines and scripts give them.

use crate::{Result, Study, StudyConfig, StudyError};
use serde_json::Value;
use stiefel_data::settings::{Settings, schema_of};

impl StudyConfig {
    /// Describes the settings of a study.
    pub fn settings(study: Study) -> Settings {
        let defaults = serde_json::to_value(Self::new(study, "")).unwrap_or_default();
        Settings::new(format!("the study {study}"), schema_of::<Self>(), defaults)
    }

    /// Returns the defaults of a study with some settings given by name.
    ///
    /// ```
    /// use serde_json::json;
    /// use stiefel_study::{Study, StudyConfig};
    ///
    /// let given = |name: &str, value| [(name.to_owned(), value)];
    /// let data = "synthetic:weibo2014";
    /// let pooled = given("adapt", json!("pooled"));
    /// let config = StudyConfig::with_settings(Study::Loso, data, pooled)?;
    /// assert_eq!(config.training.epochs, 40);
    /// let wrong = given("epoch", json!(3));
    /// assert!(StudyConfig::with_settings(Study::Main, data, wrong).is_err());
    /// # Ok::<(), stiefel_study::StudyError>(())
    /// ```
    pub fn with_settings(
        study: Study,
        data: &str,
        given: impl IntoIterator<Item = (String, Value)>,
    ) -> Result<Self> {
        let settings = Self::settings(study);
        let mut tree = settings.defaults().clone();
        for (name, value) in given {
            applies(study, &settings.find(&name)?.path, &name)?;
            settings.set(&mut tree, &name, &value)?;
        }
        tree["data"] = data.into();
        serde_json::from_value(tree).map_err(|error| {
            StudyError::setting(format!("a setting is wrong: {error}"), "correct it")
        })
    }
}

/// Refuses a setting that a study would not look at.
fn applies(study: Study, path: &str, name: &str) -> Result<()> {
    let why = match path {
        "adapt" if study == Study::Online => {
            "it always whitens by the running mean of the trials so far"
        }
        "adapt" if study == Study::Calibration => {
            "it takes the mean of all unlabelled trials, and the running mean beside it"
        }
        "adapt" if study != Study::Loso => "everybody in it has training trials",
        "split" if study.has_own_folds() => "it holds out whole people or sessions",
        "training.seed" => "it trains with each of its seeds",
        _ => return Ok(()),
    };
    Err(StudyError::setting(
        format!("the study {study} does not use \"{name}\": {why}"),
        format!("leave {name} out"),
    ))
}
