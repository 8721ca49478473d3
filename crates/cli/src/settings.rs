//! Settings by name: `--set KEY=VALUE`, and those of a configuration file.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use stiefel::data::settings::{SettingError, Settings};
use stiefel::model::ModelError;
use stiefel::study::StudyError;

use crate::failure::Failure;
use crate::table::entry;

/// The hidden option by which a configuration file hands over its settings.
pub(crate) const OF_FILE: &str = "settings-of-file";

/// Settings that were given by name.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Given {
    /// Change a setting; may be given several times. `stiefel help settings NAME` lists those of a
    /// model or a study
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = pair, help_heading = "Settings")]
    set: Vec<(String, Value)>,
    #[arg(long = OF_FILE, hide = true, value_parser = of_file)]
    filed: Option<Filed>,
}

/// The settings of a configuration file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Filed {
    pub(crate) file: PathBuf,
    pub(crate) settings: Map<String, Value>,
}

/// A setting and its value: JSON, or text.
fn pair(text: &str) -> Result<(String, Value), String> {
    let (key, value) = text
        .split_once('=')
        .ok_or("give a name and a value, for example --set filters=12")?;
    let value = value.trim();
    let parsed = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
    Ok((key.trim().to_owned(), parsed))
}

fn of_file(text: &str) -> Result<Filed, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

impl Given {
    /// Returns the settings by name; those of the command line win.
    pub(crate) fn all(&self) -> Map<String, Value> {
        let filed = self.filed.iter().flat_map(|filed| filed.settings.clone());
        filed.chain(self.set.iter().cloned()).collect()
    }

    /// Turns the error of a setting into one that names it as it was given.
    pub(crate) fn model_failure(&self, error: ModelError) -> Failure {
        match error {
            ModelError::Setting(error) => self.failure(&error),
            other => other.into(),
        }
    }

    /// Turns the error of a study's setting into one that names it as it was given.
    pub(crate) fn study_failure(&self, error: StudyError) -> Failure {
        match error {
            StudyError::Settings(error) => self.failure(&error),
            other => other.into(),
        }
    }

    fn failure(&self, error: &SettingError) -> Failure {
        let name = error.name();
        let within = |key: &str| {
            let rest = name.strip_prefix(key);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let on_line = self.set.iter().rev().find(|(key, _)| within(key));
        let in_file = self.filed.as_ref().and_then(|filed| {
            let (key, value) = filed.settings.iter().find(|(key, _)| within(key))?;
            Some((filed, key, value))
        });
        let sentence = error.sentence();
        let value = |whole: &Value| match error {
            SettingError::Value { value, .. } => value.clone(),
            _ => whole.clone(),
        };
        Failure::Misuse(match (on_line, in_file) {
            (Some((_, whole)), _) => {
                let value = value(whole);
                let bare = value.as_str().map_or_else(|| value.to_string(), Into::into);
                format!("--set {name}={bare}: {sentence}")
            }
            (None, Some((filed, _, whole))) => {
                let (value, file) = (value(whole), filed.file.display());
                format!("{name} = {value} in {file}: {sentence}")
            }
            // What was given otherwise has an option of its own.
            (None, None) => match error {
                SettingError::Value { value, .. } => {
                    let bare = value.as_str().map_or_else(|| value.to_string(), Into::into);
                    format!("--{} {bare}: {sentence}", name.replace('_', "-"))
                }
                _ => error.to_string(),
            },
        })
    }
}

/// Lists settings for people: the default and the values of each, and what it is.
pub(crate) fn listed(title: &str, settings: &Settings) -> String {
    let mut text = format!("{title}\n");
    for setting in settings.all().iter().filter(|s| !s.is_group) {
        let default = match &setting.default {
            Value::String(name) => name.clone(),
            Value::Null => "none".into(),
            other => other.to_string(),
        };
        let _ = write!(text, "\n  {}={default}", setting.name);
        let _ = write!(text, "\n{}", entry("", &setting.about, 6));
        let _ = writeln!(
            text,
            "\n{}",
            entry("", &format!("Values: {}.", setting.values), 6)
        );
    }
    text
}
