//! Training for Python.

use crate::error::{model_error, study_error, value_error};
use crate::labelled::Labelled;
use crate::model::PyModel;
use crate::threads::pool;
use crate::watch::watched;
use pyo3::prelude::*;
use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::Instant;
use stiefel::model::scaling::Recommendation;
use stiefel::model::train::{EpochRecord, Flow, Observer};
use stiefel::model::{FitConfig, FittedModel, PooledConfig, Preconditioning, ViewsConfig};
use stiefel::study::{FittedMethod, Study, StudyConfig};

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

/// Runs `work` on threads of its own while this one hands on the epochs it tells and asks for signals; `work` ends soon after its observer is
/// told to stop.
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

/// Fits a model on some of the trials, watching others.
#[pyfunction]
fn fit(
    py: Python<'_>,
    trials: Labelled<'_>,
    validation: Vec<usize>,
    config: &str,
    scaling: Option<&str>,
    threads: usize,
    on_epoch: Option<Bound<'_, PyAny>>,
    start: Option<Bound<'_, PyModel>>,
) -> PyResult<PyModel> {
    let (training, watched) = trials.split(&validation)?;
    let mut config: FitConfig = serde_json::from_str(config).map_err(value_error)?;
    // Where the training trials are watched themselves, they are all there is to fit on.
    match &mut config {
        FitConfig::Preset { config } => config.refit &= !validation.is_empty(),
        FitConfig::Views { config } => config.refit &= !validation.is_empty(),
        FitConfig::Network { .. } => {}
    }
    let scaling: Option<Recommendation> = scaling
        .map(serde_json::from_str)
        .transpose()
        .map_err(value_error)?;
    let start = start.as_ref().map(|model| model.get().model.clone());
    let work = |observer: &mut dyn Observer| {
        let clock = Instant::now();
        let model = FittedModel::fit_from(&training, &watched, &config, start.as_ref(), observer)?;
        Ok((model, clock.elapsed().as_secs_f64()))
    };
    let (model, seconds) = attended(py, threads, on_epoch.as_ref(), work, model_error)?;
    let model = match scaling {
        Some(scaling) => model.with_scaling(scaling),
        None => model,
    };
    Ok(PyModel::new(model, Some(seconds)))
}

/// The configuration of the preset with another pre-conditioning, as JSON.
#[pyfunction]
fn preset_configuration(preconditioning: &str) -> PyResult<String> {
    let preconditioning: Preconditioning =
        serde_json::from_str(preconditioning).map_err(value_error)?;
    let config = PooledConfig {
        preconditioning,
        ..PooledConfig::default()
    };
    serde_json::to_string(&config).map_err(value_error)
}

/// The configuration of the preset with views, as JSON.
#[pyfunction]
fn views_configuration() -> PyResult<String> {
    serde_json::to_string(&ViewsConfig::default()).map_err(value_error)
}

/// A method of studies, fitted.
#[pyclass(module = "stiefel._core", name = "FittedMethod", frozen)]
pub(crate) struct PyFittedMethod {
    method: FittedMethod,
}

/// Fits a method of studies by its name, with settings given as those of a study.
#[pyfunction]
fn fit_method(
    py: Python<'_>,
    name: &str,
    settings: &str,
    trials: Labelled<'_>,
    validation: Vec<usize>,
    seed: u64,
    threads: usize,
) -> PyResult<PyFittedMethod> {
    let (training, watched) = trials.split(&validation)?;
    let settings: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(settings).map_err(value_error)?;
    let given = settings.iter().map(|(name, v)| (name.as_str(), v.clone()));
    let config = StudyConfig::with_settings(Study::Main, "trials", given).map_err(study_error)?;
    let (n, d) = (training.channels_count(), training.domains().names().len());
    let family = config.family(n, d).map_err(study_error)?;
    let named = family.by_name(name).map_err(study_error)?;
    let work = |observer: &mut dyn Observer| named.method.fit(&training, &watched, seed, observer);
    let method = attended(py, threads, None, work, study_error)?;
    Ok(PyFittedMethod { method })
}

#[pymethods]
impl PyFittedMethod {
    /// Probabilities of the classes, `1 × N × C`.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        trials: Labelled<'_>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let trials = trials.trials()?;
        let (count, classes) = (trials.len(), trials.classes().names().len());
        let p = py.detach(|| self.method.probabilities(&trials));
        let p = p.map_err(study_error)?;
        let p = stiefel::linalg::MatBatch::from_vec(1, count, classes, p);
        crate::array::give(py, p.map_err(value_error)?)
    }

    /// The model behind it and what it does for domains without training trials, as JSON, where it is no peer.
    fn model(&self) -> PyResult<Option<(PyModel, String)>> {
        let FittedMethod::Model(model, unseen) = &self.method else {
            return Ok(None);
        };
        let unseen = serde_json::to_string(unseen).map_err(value_error)?;
        Ok(Some((PyModel::new((**model).clone(), None), unseen)))
    }
}

/// A method from what [`PyFittedMethod::model`] gave.
#[pyfunction]
fn method_of(model: &PyModel, unseen: &str) -> PyResult<PyFittedMethod> {
    let unseen = serde_json::from_str(unseen).map_err(value_error)?;
    let method = FittedMethod::Model(Box::new(model.model.clone()), unseen);
    Ok(PyFittedMethod { method })
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyFittedMethod>()?;
    module.add_function(wrap_pyfunction!(fit, module)?)?;
    module.add_function(wrap_pyfunction!(fit_method, module)?)?;
    module.add_function(wrap_pyfunction!(method_of, module)?)?;
    module.add_function(wrap_pyfunction!(views_configuration, module)?)?;
    module.add_function(wrap_pyfunction!(preset_configuration, module)?)
}
