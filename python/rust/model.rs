//! Fitted models, kept as a decoder, given to Python as `stiefel._core.Model`.

use crate::array::give;
use crate::error::{model_error, value_error};
use crate::train::Labelled;
use numpy::PyReadonlyArray3;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use stiefel::linalg::{MatBatch, Scalar};
use stiefel::model::decoder::{DomainHandle, UnseenEmbedding};
use stiefel::model::precondition::UnseenPolicy;
use stiefel::model::{Decoder, Domain, Model, ModelError, TransductiveConfig};

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
        "transductive" => UnseenEmbedding::Transductive(TransductiveConfig::default()),
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

    /// What the experts see, `K × k × n`, most discriminative pattern first, where the network routes.
    fn patterns<'py>(
        &self,
        py: Python<'py>,
        training: Labelled<'_>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let training = training.trials()?;
        let found = py.detach(|| on_decoder!(&*self.lock(), |d| d.model().patterns(&training)));
        found.map_err(model_error)?.map(|p| give(py, p)).transpose()
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

    /// The experts as points, `K × n × k`, where the network routes, in its precision.
    fn experts<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        on_decoder!(&*self.lock(), |d| {
            let experts = d.model().experts().map_err(model_error)?;
            experts.map(|e| give(py, e)).transpose()
        })
    }
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyModel>()?;
    module.add_class::<PyHandle>()?;
    module.add_function(wrap_pyfunction!(load, module)?)
}
