//! Trials of signals that Python holds, by a recipe.

use crate::array::{give, together};
use crate::eeg::{prepared, trials_dict};
use crate::error::{eeg_error, model_error, value_error};
use crate::labelled::Labelled;
use numpy::{PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value};
use stiefel::data::{Elsewhere, Preparation, channel_places};
use stiefel::eeg::recipe::{Preparing, Recipe, parse_views, views_of};
use stiefel::eeg::{Channel, ChannelKind, Epochs, Event, Recording, TrialInfo};
use stiefel::model::ModelError;

/// A continuous signal and its events: sample, onset and duration in seconds, label.
#[derive(FromPyObject)]
struct Signal<'py> {
    #[pyo3(item)]
    data: PyReadonlyArray2<'py, f64>,
    #[pyo3(item)]
    sfreq: f64,
    #[pyo3(item)]
    channels: Vec<(String, String)>,
    #[pyo3(item)]
    unit: String,
    #[pyo3(item)]
    events: Vec<(usize, f64, f64, String)>,
    #[pyo3(item)]
    domain: String,
}

/// Trials of one length: labels and domains, and the time of the first sample.
#[derive(FromPyObject)]
struct Cut<'py> {
    #[pyo3(item)]
    data: PyReadonlyArray3<'py, f64>,
    #[pyo3(item)]
    sfreq: f64,
    /// Names and kinds; none of an array.
    #[pyo3(item)]
    channels: Option<Vec<(String, String)>>,
    #[pyo3(item)]
    unit: String,
    #[pyo3(item)]
    start: f64,
    #[pyo3(item)]
    labels: Vec<String>,
    #[pyo3(item)]
    domains: Vec<String>,
}

fn channels(given: Vec<(String, String)>, unit: &str) -> Vec<Channel> {
    let channel = |(name, kind): (String, String)| Channel {
        name,
        kind: match kind.as_str() {
            "eeg" => ChannelKind::Eeg,
            _ => ChannelKind::Misc,
        },
        unit: unit.to_owned(),
    };
    given.into_iter().map(channel).collect()
}

/// Completes a recipe given as JSON; its views may be a list by name, around a band and a window.
fn recipe_of(text: &str) -> PyResult<Recipe> {
    let mut given: Map<String, Value> = serde_json::from_str(text).map_err(value_error)?;
    let pair = |value: Option<Value>| -> PyResult<Option<[f64; 2]>> {
        let read = serde_json::from_value::<Option<[f64; 2]>>;
        let found = value.map_or(Ok(None), read);
        found.map_err(|_| value_error("band and window are two numbers each: [8, 32]"))
    };
    let (band, window) = (pair(given.remove("band"))?, pair(given.remove("window"))?);
    let list = match given.get("views") {
        Some(Value::String(list)) => Some(list.clone()),
        Some(_) => None,
        None => Some("broad".to_owned()),
    };
    if list.is_some() {
        given.remove("views");
    }
    if list.as_ref().is_none_or(|list| list.contains('@')) && (band.is_some() || window.is_some()) {
        return Err(value_error(
            "the views give every band and window: leave band and window out",
        ));
    }
    let recipe: Recipe = serde_json::from_value(Value::Object(given))
        .map_err(|error| value_error(format!("the recipe: {error}")))?;
    let Some(list) = list else {
        return Ok(recipe);
    };
    let mut broad = Recipe::default().broad();
    broad.band = band.unwrap_or(broad.band);
    broad.window = window.unwrap_or(broad.window);
    let views = parse_views(&list, broad, f64::NEG_INFINITY).map_err(eeg_error)?;
    Ok(Recipe { views, ..recipe })
}

/// The complete recipe, checked, as JSON.
#[pyfunction]
fn recipe(text: &str) -> PyResult<String> {
    let recipe = recipe_of(text)?;
    recipe.check().map_err(value_error)?;
    serde_json::to_string(&recipe).map_err(value_error)
}

/// Trials of continuous signals, how many of them had no room for a window, and how many were left
/// out for their amplitude.
#[pyfunction]
fn prepare_recordings<'py>(
    py: Python<'py>,
    recipe: &str,
    signals: Vec<Signal<'py>>,
) -> PyResult<(Bound<'py, PyDict>, usize, usize)> {
    let recipe = recipe_of(recipe)?;
    let mut preparing = Preparing::new(&recipe).map_err(eeg_error)?;
    for signal in signals {
        let event = |(sample, onset, duration, label)| Event {
            sample,
            onset,
            duration,
            label,
        };
        let recording = Recording::new(
            channels(signal.channels, &signal.unit),
            signal.sfreq,
            signal.data.as_slice().map_err(value_error)?.to_vec(),
            signal.events.into_iter().map(event).collect(),
        );
        let recording = recording.map_err(eeg_error)?;
        py.detach(|| preparing.add(recording, &signal.domain, None))
            .map_err(eeg_error)?;
    }
    let made = preparing.finish().map_err(eeg_error)?;
    let rejected = made.rejection.domains.iter().map(|d| d.rejected).sum();
    let trials = made.trials.with_preparation(made.provenance.into());
    Ok((trials_dict(py, trials)?, made.outside.len(), rejected))
}

/// Trials of signals that are cut already; none is left out.
#[pyfunction]
fn prepare_epochs<'py>(
    py: Python<'py>,
    recipe: &str,
    signals: Cut<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let recipe = recipe_of(recipe)?;
    let &[_, n, samples] = signals.data.shape() else {
        return Err(value_error("expected trials × channels × samples"));
    };
    let named = signals.channels.is_some();
    let numbered = || (0..n).map(|i| (i.to_string(), "eeg".to_owned())).collect();
    let channels = channels(signals.channels.unwrap_or_else(numbered), &signals.unit);
    let data = signals.data.as_slice().map_err(value_error)?.to_vec();
    let info = |(label, domain)| TrialInfo {
        label,
        domain,
        run: None,
    };
    let infos = signals.labels.into_iter().zip(signals.domains).map(info);
    let epochs = Epochs::new(channels, signals.sfreq, samples, data, infos.collect());
    let epochs = epochs.map_err(eeg_error)?;
    let made = py.detach(|| views_of(&epochs, &recipe, signals.start));
    let mut made = made.map_err(eeg_error)?;
    if let (false, Preparation::Known(provenance)) = (named, made.preparation().clone()) {
        let mut provenance = provenance;
        provenance.recipe.channels = None;
        made = made.with_preparation(Preparation::Known(provenance));
    }
    trials_dict(py, made)
}

/// How covariances were made of a signal that was filtered and cut elsewhere, as JSON and in words.
#[pyfunction]
fn elsewhere(text: &str) -> PyResult<(String, String)> {
    let made: Elsewhere = serde_json::from_str(text).map_err(value_error)?;
    prepared(&Preparation::Elsewhere(Box::new(made)))
}

/// Matrices with the channels of training in its order, where both have names; other channels, and
/// matrices that were made another way than the preparation says, are refused.
#[pyfunction]
fn trained_like<'py>(
    py: Python<'py>,
    trials: Labelled<'py>,
    channels: Option<Vec<String>>,
    preparation: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut trials = trials.trials()?;
    if let (Some(own), Some(names)) = (&channels, trials.channels())
        && own != names
    {
        let named = |missing| {
            let names = names.join(", ");
            value_error(format!(
                "channel {missing} of training is missing; there are {names}"
            ))
        };
        channel_places(names, own).map_err(named)?;
        trials = trials.pick_named(own).map_err(value_error)?;
    }
    let known: Option<Preparation> = preparation
        .map(serde_json::from_str)
        .transpose()
        .map_err(value_error)?;
    match known.and_then(|known| known.contradiction(trials.preparation())) {
        Some(contradiction) => Err(model_error(ModelError::Contradiction(contradiction))),
        None => give(py, together(&trials)?),
    }
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(recipe, module)?)?;
    module.add_function(wrap_pyfunction!(prepare_recordings, module)?)?;
    module.add_function(wrap_pyfunction!(prepare_epochs, module)?)?;
    module.add_function(wrap_pyfunction!(elsewhere, module)?)?;
    module.add_function(wrap_pyfunction!(trained_like, module)?)
}
