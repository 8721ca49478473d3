//! The scaling rule and the configuration it stands for, as JSON and as text.

use crate::error::{model_error, value_error};
use pyo3::prelude::*;
use std::str::FromStr;
use stiefel::model::ModelConfig;
use stiefel::model::scaling::{Preset, Recommendation, ScalingRule};
use stiefel::model::train::TrainConfig;

/// A recommendation as JSON and as text.
pub(crate) fn told(auto: &Recommendation) -> PyResult<(String, String)> {
    let json = serde_json::to_string(auto).map_err(value_error)?;
    Ok((json, auto.to_string()))
}

/// What the rule recommends for `n` channels and `d` training domains, as JSON and as text; or one
/// of the paper's presets.
#[pyfunction]
fn recommend(n: usize, d: usize, preset: Option<&str>) -> PyResult<(String, String)> {
    let auto = match preset {
        Some(name) => Preset::from_str(name)
            .map_err(model_error)?
            .recommendation(),
        None => ScalingRule::default()
            .recommend(n, d)
            .map_err(model_error)?,
    };
    told(&auto)
}

/// The configuration of a recommendation with the default training, as JSON.
#[pyfunction]
fn configuration(recommendation: &str) -> PyResult<String> {
    let auto: Recommendation = serde_json::from_str(recommendation).map_err(value_error)?;
    let config = ModelConfig::sized(&auto, TrainConfig::default());
    serde_json::to_string(&config).map_err(value_error)
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(recommend, module)?)?;
    module.add_function(wrap_pyfunction!(configuration, module)?)
}
