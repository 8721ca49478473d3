//! Training for Python.

use crate::error::{model_error, value_error};
use crate::labelled::Labelled;
use crate::model::PyModel;
use crate::threads::pool;
use crate::watch::watched;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;
use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::Instant;
use stiefel::data::settings::{Setting, SettingError};
use stiefel::model::kind::DataSizes;
use stiefel::model::registry;
use stiefel::model::scaling::Recommendation;
use stiefel::model::train::{EpochRecord, Flow, Observer};
use stiefel::model::{FittedModel, ModelSpec};

/// Tells the waiting thread of every epoch, and hears from it when to stop.
struct Reporter<'a> {
    epochs: Sender<EpochRecord>,
    stop: &'a AtomicBool,
}

impl Observer for Reporter<'_> {
    fn step(&mut self, _epoch: usize) -> Flow {
        if self.stop.load(Ordering::Relaxed) {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }

    fn epoch(&mut self, record: &EpochRecord, _state: &dyn Any) -> Flow {
        // Nobody listens after an error of the callback: training is about to stop.
        let _ = self.epochs.send(record.clone());
        self.step(record.epoch)
    }
}

/// Runs `work` on threads of its own while this one hands on the epochs it tells and asks for
/// signals; `work` ends soon after its observer is told to stop.
fn attended<R: Send, E: Send>(
    py: Python<'_>,
    threads: usize,
    on_epoch: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&mut dyn Observer) -> Result<R, E> + Send,
    error: impl Fn(E) -> PyErr,
) -> PyResult<R> {
    let pool = pool(threads)?;
    let stop = AtomicBool::new(false);
    watched(
        py,
        |epochs| {
            pool.install(|| {
                let mut reporter = Reporter {
                    epochs,
                    stop: &stop,
                };
                work(&mut reporter)
            })
        },
        || stop.store(true, Ordering::Relaxed),
        |record| on_epoch.map_or(Ok(()), |call| tell(call, &record)),
    )?
    .map_err(error)
}

fn tell(call: &Bound<'_, PyAny>, record: &EpochRecord) -> PyResult<()> {
    call.call1((serde_json::to_string(record).map_err(value_error)?,))?;
    Ok(())
}

/// Fits a model on some of the trials, watching others; the spec is that of [`spec`].
#[pyfunction]
fn fit(
    py: Python<'_>,
    trials: Labelled<'_>,
    validation: Vec<usize>,
    spec: &str,
    scaling: Option<&str>,
    threads: usize,
    on_epoch: Option<Bound<'_, PyAny>>,
    start: Option<Bound<'_, PyModel>>,
) -> PyResult<PyModel> {
    let (training, watched) = trials.split(&validation)?;
    let mut spec: ModelSpec = serde_json::from_str(spec).map_err(value_error)?;
    let scaling: Option<Recommendation> = scaling
        .map(serde_json::from_str)
        .transpose()
        .map_err(value_error)?;
    spec.scaling = scaling;
    let start = start.as_ref().map(|model| model.get().model.clone());
    let work = |observer: &mut dyn Observer| {
        let clock = Instant::now();
        let model = FittedModel::fit_from(&training, &watched, &spec, start.as_ref(), observer)?;
        Ok((model, clock.elapsed().as_secs_f64()))
    };
    let (model, seconds) = attended(py, threads, on_epoch.as_ref(), work, model_error)?;
    Ok(PyModel::new(model, Some(seconds)))
}

/// Kinds of models and their variants: name, and what it is.
#[pyfunction]
fn kinds() -> Vec<(&'static str, &'static str)> {
    let about = |name| (name, registry::about(name).unwrap_or_default());
    registry::names().into_iter().map(about).collect()
}

/// Describes the settings of a kind or a variant on data of so many channels and training domains:
/// path, name, what each is, its values in words, its default as JSON, and whether it is a group.
#[pyfunction]
fn settings<'py>(
    py: Python<'py>,
    name: &str,
    channels: usize,
    domains: usize,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let sizes = DataSizes { channels, domains };
    let settings = registry::settings(name, sizes).map_err(model_error)?;
    let told = |setting: &Setting| {
        let told = PyDict::new(py);
        told.set_item("path", &setting.path)?;
        told.set_item("name", &setting.name)?;
        told.set_item("about", &setting.about)?;
        told.set_item("values", &setting.values)?;
        told.set_item("default", setting.default.to_string())?;
        told.set_item("is_group", setting.is_group)?;
        Ok(told)
    };
    settings.all().iter().map(told).collect()
}

/// Says that something has no setting of a name, and which it has.
#[pyfunction]
fn no_such_setting(owner: &str, name: &str, known: Vec<String>) -> String {
    SettingError::unknown(owner, name, known).sentence()
}

/// Tells whether labelled trials of a domain calibrate a kind or a variant for so many classes.
#[pyfunction]
fn calibrates(name: &str, classes: usize) -> PyResult<bool> {
    let (kind, _) = registry::find(name).map_err(model_error)?;
    Ok(kind.calibrates(classes))
}

/// The complete spec of a kind or a variant on data of so many channels and training domains, with
/// some settings given by name, as JSON; and why it has its sizes, as JSON, where the scaling rule
/// chose them.
#[pyfunction]
fn spec(
    name: &str,
    given: &str,
    channels: usize,
    domains: usize,
) -> PyResult<(String, Option<String>)> {
    let given: Value = serde_json::from_str(given).map_err(value_error)?;
    let sizes = DataSizes { channels, domains };
    let spec = ModelSpec::named(name, &given, sizes).map_err(model_error)?;
    let scaling = spec.scaling.as_ref().map(serde_json::to_string);
    let json = serde_json::to_string(&spec).map_err(value_error)?;
    Ok((json, scaling.transpose().map_err(value_error)?))
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(fit, module)?)?;
    module.add_function(wrap_pyfunction!(kinds, module)?)?;
    module.add_function(wrap_pyfunction!(settings, module)?)?;
    module.add_function(wrap_pyfunction!(no_such_setting, module)?)?;
    module.add_function(wrap_pyfunction!(calibrates, module)?)?;
    module.add_function(wrap_pyfunction!(spec, module)?)
}
