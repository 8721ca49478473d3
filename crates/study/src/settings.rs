//! Settings by name, as command lines and scripts give them, and their places in a [`StudyConfig`].

use crate::{Result, Study, StudyConfig, StudyError};
use serde_json::{Value, json};
use stiefel_model::precondition::Adaptation;

/// Name and place of every setting.
const PLACES: [(&str, &str); 19] = [
    ("channels", "/choice/channels"),
    ("classes", "/choice/classes"),
    ("subjects", "/choice/subjects"),
    ("band", "/choice/band"),
    ("window", "/choice/window"),
    ("methods", "/methods"),
    ("split", "/split"),
    ("seeds", "/seeds"),
    ("preset", "/sizing"),
    ("epochs", "/training/epochs"),
    ("patience", "/training/patience"),
    ("batch", "/training/batch"),
    ("learning_rate", "/training/adam/learning_rate"),
    ("precision", "/precision"),
    ("orthogonality", "/orthogonality"),
    ("whitening", "/whitening"),
    ("scaling", "/scaling"),
    ("unseen", "/unseen"),
    ("retrained", "/retrained"),
];

impl StudyConfig {
    /// The defaults of a study with some settings given by name.
    ///
    /// The names are `channels`, `classes`, `subjects`, `band`, `window` (parts of the data), `methods`, `split`, `seeds`, `preset`, `epochs`,
    /// `patience`, `batch`, `learning_rate`, `precision`, `orthogonality`, `whitening`, `scaling`, `unseen` and `retrained`. A policy for unseen
    /// subjects may be its name alone.
    ///
    /// ```
    /// use serde_json::json;
    /// use stiefel_study::{Study, StudyConfig};
    ///
    /// let settings = [("epochs", json!(3)), ("unseen", json!("pooled"))];
    /// let config = StudyConfig::with_settings(Study::Loso, "synthetic:weibo2014", settings)?;
    /// assert_eq!(config.training.epochs, 3);
    /// assert!(StudyConfig::with_settings(Study::Main, "a.npz", [("epoch", json!(3))]).is_err());
    /// # Ok::<(), stiefel_study::StudyError>(())
    /// ```
    pub fn with_settings<'a>(
        study: Study,
        data: &str,
        settings: impl IntoIterator<Item = (&'a str, Value)>,
    ) -> Result<Self> {
        let mut config = serde_json::to_value(Self::new(study, data)).map_err(|e| wrong(&e))?;
        for (name, value) in settings {
            applies(study, name)?;
            set(&mut config, name, value)?;
        }
        serde_json::from_value(config).map_err(|e| wrong(&e))
    }
}

/// A setting that a study would not look at is refused.
fn applies(study: Study, name: &str) -> Result<()> {
    let why = match name {
        "unseen" if study == Study::Online => {
            "it always whitens by the running mean of the trials so far"
        }
        "unseen" if study == Study::Calibration => {
            "it takes the mean of all unlabelled trials, and the running mean beside it"
        }
        "unseen" if study != Study::Loso => "everybody in it has training trials",
        "split" if study.has_own_folds() => "it holds out whole people or sessions",
        _ => return Ok(()),
    };
    Err(StudyError::setting(
        format!("the study {study} does not use \"{name}\": {why}"),
        format!("leave --{name} out"),
    ))
}

fn wrong(error: &serde_json::Error) -> StudyError {
    StudyError::setting(
        format!("a setting is wrong: {error}"),
        "correct it, or leave it out",
    )
}

fn set(config: &mut Value, name: &str, value: Value) -> Result<()> {
    let Some((_, place)) = PLACES.iter().find(|(n, _)| *n == name) else {
        let known: Vec<&str> = PLACES.iter().map(|p| p.0).collect();
        return Err(StudyError::setting(
            format!("there is no setting \"{name}\""),
            format!("the settings are {}", known.join(", ")),
        ));
    };
    let value = match (name, value.as_str()) {
        ("unseen", Some("pooled")) => json!({"policy": "pooled"}),
        ("unseen", Some(policy)) => {
            json!({"policy": policy, "kappa": Adaptation::DEFAULT_KAPPA})
        }
        _ => value,
    };
    if let Some(found) = config.pointer_mut(place) {
        *found = value;
    } else if let Some(Value::Object(choice)) = config.pointer_mut("/choice") {
        // Parts of the choice that are not made are not written down.
        choice.insert(name.into(), value);
    }
    Ok(())
}
