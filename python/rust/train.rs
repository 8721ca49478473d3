//! Training for Python.

use crate::error::{model_error, value_error};
use crate::model::{Fitted, PyModel};
use crate::threads::pool;
use crate::watch::watched;
use numpy::PyReadonlyArray3;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::Instant;
use stiefel::linalg::Scalar;
use stiefel::model::scaling::Recommendation;
use stiefel::model::train::{Checkpoint, EpochRecord, Flow, Observer};
use stiefel::model::{Decoder, Factor, Model, ModelConfig, ModelError, Trials};

/// Labelled trials as Python hands them over.
#[derive(FromPyObject)]
pub(crate) struct Labelled<'py> {
    #[pyo3(item)]
    x: PyReadonlyArray3<'py, f64>,
    #[pyo3(item)]
    classes: Vec<usize>,
    #[pyo3(item)]
    class_names: Vec<String>,
    #[pyo3(item)]
    domains: Vec<usize>,
    #[pyo3(item)]
    domain_names: Vec<String>,
    #[pyo3(item)]
    channels: Option<Vec<String>>,
    #[pyo3(item)]
    weights: Option<Vec<f64>>,
}

impl Labelled<'_> {
    pub(crate) fn trials(self) -> PyResult<Trials> {
        let x = crate::array::view(&self.x)?.to_owned();
        let build = || {
            let classes = Factor::new("class", self.class_names, self.classes)?;
            let domains = Factor::new("domain", self.domain_names, self.domains)?;
            let mut trials = Trials::new(x, classes, domains)?;
            if let Some(channels) = self.channels {
                trials = trials.with_channels(channels)?;
            }
            match self.weights {
                Some(weights) => trials.with_weights(weights),
                None => Ok(trials),
            }
        };
        build().map_err(|e: stiefel::data::DataError| value_error(e))
    }
}

impl Labelled<'_> {
    /// The training trials, and those to validate on. Without enough trials for a part of their own, the training trials are both.
    pub(crate) fn split(self, validation: &[usize]) -> PyResult<(Trials, Trials)> {
        let trials = self.trials()?;
        let mut held = vec![false; trials.len()];
        for &i in validation {
            *held
                .get_mut(i)
                .ok_or_else(|| value_error(format!("there is no trial {i} to validate on")))? =
                true;
        }
        let train: Vec<usize> = (0..trials.len()).filter(|&i| !held[i]).collect();
        let watched = if validation.is_empty() {
            &train
        } else {
            validation
        };
        let part = |at: &[usize]| trials.select(at).map_err(value_error);
        Ok((part(&train)?, part(watched)?))
    }
}

/// Tells the waiting thread of every epoch, and hears from it when to stop.
struct Reporter<'a> {
    epochs: Sender<EpochRecord>,
    stop: &'a AtomicBool,
}

impl Reporter<'_> {
    fn flow(&self) -> Flow {
        if self.stop.load(Ordering::Relaxed) {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }
}

impl<T: Scalar> Observer<T> for Reporter<'_> {
    fn step(&mut self, _epoch: usize) -> Flow {
        self.flow()
    }

    fn epoch(&mut self, record: &EpochRecord, _state: &Checkpoint<T>) -> Flow {
        // Nobody listens after an error of the callback: training is about to stop.
        let _ = self.epochs.send(record.clone());
        self.flow()
    }
}

/// A precision networks are trained in.
trait Precision: Scalar {
    /// The decoder, where it is of this precision.
    fn of(fitted: &Fitted) -> Option<&Decoder<Self>>;
}

impl Precision for f32 {
    fn of(fitted: &Fitted) -> Option<&Decoder<Self>> {
        match fitted {
            Fitted::F32(decoder) => Some(decoder),
            Fitted::F64(_) => None,
        }
    }
}

impl Precision for f64 {
    fn of(fitted: &Fitted) -> Option<&Decoder<Self>> {
        match fitted {
            Fitted::F64(decoder) => Some(decoder),
            Fitted::F32(_) => None,
        }
    }
}

/// Everything a training needs.
struct Job<'a> {
    training: Trials,
    validation: Trials,
    config: ModelConfig,
    scaling: Option<Recommendation>,
    threads: usize,
    /// Where it goes on from.
    start: Option<&'a PyModel>,
}

impl Job<'_> {
    /// The model itself, in the thread it is trained on.
    fn train<T: Precision>(&self, reporter: &mut Reporter<'_>) -> Result<Model<T>, ModelError> {
        let (training, validation) = (&self.training, &self.validation);
        let model = match self.start {
            None => Model::fit(training, validation, &self.config, reporter)?,
            Some(start) => {
                let fitted = start.lock();
                let decoder = T::of(&fitted).ok_or_else(|| ModelError::Impossible {
                    op: "warm start",
                    why: "the model was trained in another precision".into(),
                    remedy: "start afresh, or keep the precision",
                })?;
                (decoder.model()).fit_on(training, validation, &self.config, reporter)?
            }
        };
        Ok(match &self.scaling {
            Some(scaling) => model.with_scaling(scaling.clone()),
            None => model,
        })
    }

    fn run<T: Precision>(
        &self,
        py: Python<'_>,
        on_epoch: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Decoder<T>, f64)> {
        attended(py, self.threads, on_epoch, |epochs, stop| {
            let start = Instant::now();
            let mut reporter = Reporter { epochs, stop };
            let decoder = Decoder::new(self.train::<T>(&mut reporter)?)?;
            Ok((decoder, start.elapsed().as_secs_f64()))
        })
    }
}

/// Runs `work` on threads of its own while this one hands on the epochs it tells and asks for signals; `work` ends soon after the flag
/// it is given is raised.
pub(crate) fn attended<R: Send>(
    py: Python<'_>,
    threads: usize,
    on_epoch: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(Sender<EpochRecord>, &AtomicBool) -> Result<R, ModelError> + Send,
) -> PyResult<R> {
    let pool = pool(threads)?;
    let stop = AtomicBool::new(false);
    watched(
        py,
        |sender| pool.install(|| work(sender, &stop)),
        || stop.store(true, Ordering::Relaxed),
        |record| on_epoch.map_or(Ok(()), |call| tell(call, &record)),
    )?
    .map_err(model_error)
}

fn tell(call: &Bound<'_, PyAny>, record: &EpochRecord) -> PyResult<()> {
    call.call1((serde_json::to_string(record).map_err(value_error)?,))?;
    Ok(())
}

/// Trains a model on some of the trials, watching others.
#[pyfunction]
fn fit(
    py: Python<'_>,
    trials: Labelled<'_>,
    validation: Vec<usize>,
    config: &str,
    scaling: Option<&str>,
    precision: &str,
    threads: usize,
    on_epoch: Option<Bound<'_, PyAny>>,
    start: Option<Bound<'_, PyModel>>,
) -> PyResult<PyModel> {
    let (training, validation) = trials.split(&validation)?;
    let job = Job {
        training,
        validation,
        start: start.as_ref().map(Bound::get),
        config: serde_json::from_str(config).map_err(value_error)?,
        scaling: scaling
            .map(serde_json::from_str)
            .transpose()
            .map_err(value_error)?,
        threads,
    };
    let (fitted, seconds) = match precision {
        "f32" => (job.run(py, on_epoch.as_ref())).map(|(d, s)| (Fitted::F32(d), s))?,
        "f64" => (job.run(py, on_epoch.as_ref())).map(|(d, s)| (Fitted::F64(d), s))?,
        _ => {
            return Err(value_error(format!(
                "precision must be 'f32' or 'f64', got {precision:?}"
            )));
        }
    };
    Ok(PyModel::new(fitted, Some(seconds)))
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(fit, module)?)
}
