//! Fitted models: trained here, kept as a decoder, given to Python as `stiefel._core.Model`.
//!
//! Training runs on a thread of its own; the thread that holds the interpreter waits for it, prints what it tells and asks for
//! signals ten times a second, so that Ctrl-C ends training and raises `KeyboardInterrupt`.

use crate::array::give;
use crate::error::{model_error, value_error};
use crate::threads::pool;
use numpy::PyReadonlyArray3;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use stiefel::linalg::{MatBatch, Scalar};
use stiefel::model::decoder::{DomainHandle, UnseenEmbedding};
use stiefel::model::precondition::UnseenPolicy;
use stiefel::model::scaling::Recommendation;
use stiefel::model::train::{Checkpoint, EpochRecord, Flow, Observer};
use stiefel::model::{Decoder, Domain, Factor, Model, ModelConfig, ModelError, Trials};

/// How often the interpreter is asked for signals.
const POLL: Duration = Duration::from_millis(100);

/// A model in either precision.
pub(crate) enum Fitted {
    F32(Decoder<f32>),
    F64(Decoder<f64>),
}

/// Runs an expression on the decoder, whatever its precision.
macro_rules! on_decoder {
    ($fitted:expr, |$d:ident| $body:expr) => {
        match $fitted {
            Fitted::F32($d) => $body,
            Fitted::F64($d) => $body,
        }
    };
}
/// A fitted model.
#[pyclass(module = "stiefel._core", name = "Model", frozen)]
pub(crate) struct PyModel {
    fitted: Mutex<Fitted>,
    seconds: Option<f64>,
}

/// A domain without training trials, ready for decisions.
#[pyclass(module = "stiefel._core", name = "Handle", frozen)]
pub(crate) struct PyHandle {
    handle: DomainHandle,
    nearest: Option<String>,
}

#[pymethods]
impl PyHandle {
    /// The name of the training domain whose embedding it borrows.
    #[getter]
    fn nearest(&self) -> Option<&str> {
        self.nearest.as_deref()
    }

    /// How its trials are whitened, in words.
    #[getter]
    fn whitening(&self) -> String {
        self.handle.whitening().to_string()
    }
}

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
        build().map_err(model_error)
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

/// Everything a training needs.
struct Job {
    training: Trials,
    validation: Trials,
    config: ModelConfig,
    scaling: Option<Recommendation>,
    threads: usize,
}

impl Job {
    fn run<T: Scalar>(
        &self,
        py: Python<'_>,
        on_epoch: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Decoder<T>, f64)> {
        let pool = pool(self.threads)?;
        let stop = AtomicBool::new(false);
        let (sender, receiver) = channel();
        let receiver = Mutex::new(receiver);
        let mut reporter = Reporter {
            epochs: sender,
            stop: &stop,
        };
        std::thread::scope(|scope| {
            let worker = scope.spawn(move || {
                let train = || -> Result<(Decoder<T>, f64), ModelError> {
                    let start = Instant::now();
                    let mut model = Model::<T>::fit(
                        &self.training,
                        &self.validation,
                        &self.config,
                        &mut reporter,
                    )?;
                    if let Some(scaling) = &self.scaling {
                        model = model.with_scaling(scaling.clone());
                    }
                    let decoder = Decoder::new(model)?;
                    Ok((decoder, start.elapsed().as_secs_f64()))
                };
                let result = pool.install(train);
                // Its end is what the waiting thread hears last.
                drop(reporter);
                result
            });
            let mut failure = None;
            loop {
                let heard = py.detach(|| hear(&receiver));
                let told = match heard {
                    Ok(record) => on_epoch.map_or(Ok(()), |call| tell(call, &record)),
                    Err(RecvTimeoutError::Timeout) => Ok(()),
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                if let Err(error) = told.and_then(|()| py.check_signals()) {
                    stop.store(true, Ordering::Relaxed);
                    failure.get_or_insert(error);
                }
            }
            let result = py.detach(|| worker.join());
            if let Some(error) = failure {
                return Err(error);
            }
            result
                .map_err(|_| value_error("training ended in a panic; please report it"))?
                .map_err(model_error)
        })
    }
}

/// What training tells next.
fn hear(receiver: &Mutex<Receiver<EpochRecord>>) -> Result<EpochRecord, RecvTimeoutError> {
    let receiver = receiver.lock().unwrap_or_else(PoisonError::into_inner);
    receiver.recv_timeout(POLL)
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
) -> PyResult<PyModel> {
    let trials = trials.trials()?;
    let mut held = vec![false; trials.len()];
    for &i in &validation {
        *held
            .get_mut(i)
            .ok_or_else(|| value_error(format!("there is no trial {i} to validate on")))? = true;
    }
    let train: Vec<usize> = (0..trials.len()).filter(|&i| !held[i]).collect();
    let job = Job {
        // Without enough trials for a part of its own, the training trials are watched as well.
        validation: trials
            .select(if validation.is_empty() {
                &train
            } else {
                &validation
            })
            .map_err(model_error)?,
        training: trials.select(&train).map_err(model_error)?,
        config: serde_json::from_str(config).map_err(value_error)?,
        scaling: scaling
            .map(serde_json::from_str)
            .transpose()
            .map_err(value_error)?,
        threads,
    };
    drop(trials);
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

/// Reads a model file.
#[pyfunction]
fn load(path: PathBuf) -> PyResult<PyModel> {
    let header = stiefel::model::inspect_file(&path).map_err(model_error)?;
    let fitted = if header.precision == "f32" {
        Fitted::F32(opened(&path)?)
    } else {
        Fitted::F64(opened(&path)?)
    };
    Ok(PyModel::new(fitted, None))
}

fn opened<T: Scalar>(path: &std::path::Path) -> PyResult<Decoder<T>> {
    Model::<T>::load(path)
        .and_then(Decoder::new)
        .map_err(model_error)
}

fn embedding(name: &str) -> PyResult<UnseenEmbedding> {
    Ok(match name {
        "input-only" => UnseenEmbedding::InputOnly,
        "zero" => UnseenEmbedding::Zero,
        "nearest" => UnseenEmbedding::NearestTangent,
        "riemannian-nearest" => UnseenEmbedding::NearestRiemannian,
        _ => return Err(value_error(format!("unknown policy {name:?}"))),
    })
}

impl PyModel {
    pub(crate) fn new(fitted: Fitted, seconds: Option<f64>) -> Self {
        Self {
            fitted: Mutex::new(fitted),
            seconds,
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Fitted> {
        self.fitted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn decide<'py>(
        &self,
        py: Python<'py>,
        x: &PyReadonlyArray3<'_, f64>,
        of: impl FnOnce(&mut Fitted, &mut [f64], Option<&mut [f64]>) -> Result<(), ModelError> + Send,
    ) -> PyResult<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)> {
        let count = crate::array::view(x)?.count();
        let (probabilities, routing) = py
            .detach(|| {
                let mut fitted = self.lock();
                let (classes, experts) = on_decoder!(&*fitted, |d| {
                    let routes = matches!(
                        d.model().config().architecture,
                        stiefel::model::Architecture::Dasp(_)
                    );
                    let experts = d.model().network().experts();
                    (d.model().classes().len(), routes.then_some(experts))
                });
                let mut probabilities = MatBatch::zeros(1, count, classes);
                let mut routing = experts.map(|k| MatBatch::zeros(1, count, k));
                let weights = routing.as_mut().map(MatBatch::data_mut);
                of(&mut fitted, probabilities.data_mut(), weights)?;
                Ok::<_, ModelError>((probabilities, routing))
            })
            .map_err(model_error)?;
        let routing = routing.map(|r| give(py, r)).transpose()?;
        Ok((give(py, probabilities)?, routing))
    }
}

#[pymethods]
impl PyModel {
    /// Probabilities and routing weights of raw covariances of one training domain.
    fn predict_known<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray3<'py, f64>,
        domain: usize,
    ) -> PyResult<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)> {
        let view = crate::array::view(&x)?;
        self.decide(py, &x, move |fitted, p, r| {
            on_decoder!(fitted, |d| d.decide_batch(
                view,
                Domain::Known(domain),
                p,
                r
            ))
        })
    }

    /// Probabilities and routing weights of raw covariances of a domain without training trials; the handle stays as it is.
    fn predict_unseen<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray3<'py, f64>,
        handle: &PyHandle,
    ) -> PyResult<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)> {
        let view = crate::array::view(&x)?;
        let mut handle = handle.handle.clone();
        self.decide(py, &x, move |fitted, p, r| {
            on_decoder!(fitted, |d| d.decide_batch(
                view,
                Domain::Unseen(&mut handle),
                p,
                r
            ))
        })
    }

    /// Prepares decisions for a domain without training trials from its unlabelled trials.
    fn adapt(
        &self,
        py: Python<'_>,
        x: PyReadonlyArray3<'_, f64>,
        whitening: &str,
        policy: &str,
    ) -> PyResult<PyHandle> {
        let view = crate::array::view(&x)?;
        let embedding = embedding(policy)?;
        let whitening: UnseenPolicy = serde_json::from_str(whitening).map_err(value_error)?;
        py.detach(|| {
            on_decoder!(&*self.lock(), |d| {
                let handle = d.adapt_domain(view, whitening, embedding)?;
                let name =
                    |n: &stiefel::model::decoder::Nearest| d.model().domains()[n.domain].clone();
                let nearest = handle.nearest().map(name);
                Ok::<_, ModelError>(PyHandle { handle, nearest })
            })
        })
        .map_err(model_error)
    }

    /// The routing report on labelled test trials, as JSON and as text.
    fn report(
        &self,
        py: Python<'_>,
        training: Labelled<'_>,
        test: Labelled<'_>,
    ) -> PyResult<(String, String)> {
        let (training, test) = (training.trials()?, test.trials()?);
        let report = py
            .detach(|| on_decoder!(&*self.lock(), |d| d.model().report(&training, &test)))
            .map_err(model_error)?;
        let json = serde_json::to_string(&report).map_err(value_error)?;
        Ok((json, report.to_string()))
    }

    /// Writes the model file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| on_decoder!(&*self.lock(), |d| d.model().save(&path)))
            .map_err(model_error)
    }

    /// How long the core trained, where it did so here.
    #[getter]
    fn seconds(&self) -> Option<f64> {
        self.seconds
    }

    /// `"f32"` or `"f64"`.
    #[getter]
    fn precision(&self) -> &'static str {
        match &*self.lock() {
            Fitted::F32(_) => "f32",
            Fitted::F64(_) => "f64",
        }
    }

    /// Names of the classes, in the order of the probabilities.
    #[getter]
    fn classes(&self) -> Vec<String> {
        on_decoder!(&*self.lock(), |d| d.model().classes().to_vec())
    }

    /// Names of the domains.
    #[getter]
    fn domains(&self) -> Vec<String> {
        on_decoder!(&*self.lock(), |d| d.model().domains().to_vec())
    }

    /// Names of the channels, where known.
    #[getter]
    fn channels(&self) -> Option<Vec<String>> {
        on_decoder!(&*self.lock(), |d| d
            .model()
            .channels()
            .map(<[String]>::to_vec))
    }

    /// Channels.
    #[getter]
    fn n_channels(&self) -> usize {
        on_decoder!(&*self.lock(), |d| d.model().sizes().channels)
    }

    /// Whether trials of an unseen domain need something in place of an embedding.
    #[getter]
    fn has_embedding(&self) -> bool {
        match on_decoder!(&*self.lock(), |d| d.model().config().architecture) {
            stiefel::model::Architecture::Dasp(config) => config.domain_embedding,
            stiefel::model::Architecture::Spdnet(_) => false,
        }
    }

    /// What was decided before training, as JSON.
    #[getter]
    fn config(&self) -> PyResult<String> {
        on_decoder!(&*self.lock(), |d| serde_json::to_string(d.model().config()))
            .map_err(value_error)
    }

    /// How it was trained, as JSON.
    #[getter]
    fn record(&self) -> PyResult<String> {
        on_decoder!(&*self.lock(), |d| serde_json::to_string(d.model().record()))
            .map_err(value_error)
    }

    /// Why its options were chosen, as JSON and as text, where the scaling rule did.
    #[getter]
    fn scaling(&self) -> PyResult<Option<(String, String)>> {
        let scaling = on_decoder!(&*self.lock(), |d| d.model().scaling().cloned());
        scaling.map(|s| crate::scaling::told(&s)).transpose()
    }

    /// The experts as points, `K × n × k`, where the network routes.
    fn experts<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let experts = on_decoder!(&*self.lock(), |d| {
            d.model().experts().map(|e| e.map(|e| e.cast::<f64>()))
        });
        experts
            .map_err(model_error)?
            .map(|e| give(py, e))
            .transpose()
    }
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyModel>()?;
    module.add_class::<PyHandle>()?;
    module.add_function(wrap_pyfunction!(fit, module)?)?;
    module.add_function(wrap_pyfunction!(load, module)?)
}
