//! Fitted models for Python: `stiefel._core.Model`, networks and the preset alike, and
//! `stiefel._core.Session`, which keeps its state.

use crate::array::give;
use crate::error::{file_error, model_error, value_error};
use crate::labelled::Labelled;
use numpy::PyReadonlyArray3;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use stiefel::linalg::{MatBatch, MatView};
use stiefel::model::diagnostics::RoutingEvidence;
use stiefel::model::fitted::ClassType;
use stiefel::model::kind::Balance;
use stiefel::model::{AdaptPolicy, DecisionSession, FittedModel, ModelError};

/// A fitted model.
#[pyclass(module = "stiefel._core", name = "Model", frozen)]
pub(crate) struct PyModel {
    pub(crate) model: FittedModel,
    seconds: Option<f64>,
}

/// Decisions for one domain, one after the other.
#[pyclass(module = "stiefel._core", name = "Session", frozen)]
pub(crate) struct PySession {
    session: Mutex<DecisionSession>,
    /// Classes, and views of a trial.
    sizes: (usize, usize),
}

/// Probabilities `1 × N × C` and, where there is routing, weights `1 × N × K`.
type Given<'py> = (Bound<'py, PyAny>, Option<Bound<'py, PyAny>>);

pub(crate) fn policies(text: Option<&str>) -> PyResult<Option<AdaptPolicy>> {
    text.map(serde_json::from_str)
        .transpose()
        .map_err(value_error)
}

/// What is done for a domain without training trials, as JSON: a policy of whitening, and the name
/// of what stands in for an embedding.
#[pyfunction]
fn unseen(whitening: &str, embedding: &str) -> PyResult<String> {
    let unseen = AdaptPolicy {
        whitening: serde_json::from_str(whitening).map_err(value_error)?,
        embedding: embedding.parse().map_err(model_error)?,
    };
    serde_json::to_string(&unseen).map_err(value_error)
}

/// Decides trial after trial.
fn decide_all(
    session: &mut DecisionSession,
    x: MatView<'_, f64>,
    (classes, views): (usize, usize),
) -> Result<(MatBatch<f64>, Option<MatBatch<f64>>), ModelError> {
    let count = x.count() / views;
    let size = views * x.rows() * x.cols();
    let mut probabilities = MatBatch::zeros(1, count, classes);
    let mut routing: Option<MatBatch<f64>> = None;
    for i in 0..count {
        let decision = session
            .decide(&x.data()[i * size..(i + 1) * size])
            .map_err(|error| error.at_trial(i))?;
        probabilities.matrix_mut(0)[i * classes..][..classes]
            .copy_from_slice(decision.probabilities);
        if let Some(alpha) = decision.routing {
            let all = routing.get_or_insert_with(|| MatBatch::zeros(1, count, alpha.len()));
            all.matrix_mut(0)[i * alpha.len()..][..alpha.len()].copy_from_slice(alpha);
        }
    }
    Ok((probabilities, routing))
}

fn given(
    py: Python<'_>,
    (probabilities, routing): (MatBatch<f64>, Option<MatBatch<f64>>),
) -> PyResult<Given<'_>> {
    let routing = routing.map(|r| give(py, r)).transpose()?;
    Ok((give(py, probabilities)?, routing))
}

#[pymethods]
impl PySession {
    /// Decides raw covariances in order; under causal whitening each changes the mean of the next,
    /// in this call and in later ones.
    fn decide<'py>(&self, py: Python<'py>, x: PyReadonlyArray3<'py, f64>) -> PyResult<Given<'py>> {
        let view = crate::array::view(&x)?;
        let decided = py.detach(|| {
            let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
            decide_all(&mut session, view, self.sizes)
        });
        given(py, decided.map_err(model_error)?)
    }

    /// What is done for a domain without training trials, in words.
    #[getter]
    fn note(&self) -> Option<String> {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        session.note()
    }
}

/// Reads a model file, whatever its kind and precision.
#[pyfunction]
fn load(py: Python<'_>, path: PathBuf) -> PyResult<PyModel> {
    let model = py.detach(|| FittedModel::load(path)).map_err(model_error)?;
    Ok(PyModel::new(model, None))
}

/// A model from the bytes of its file.
#[pyfunction]
fn model_from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<PyModel> {
    let model = py.detach(|| FittedModel::from_bytes(bytes));
    Ok(PyModel::new(model.map_err(file_error)?, None))
}

impl PyModel {
    pub(crate) fn new(model: FittedModel, seconds: Option<f64>) -> Self {
        Self { model, seconds }
    }

    fn started(
        &self,
        domain: &str,
        unseen: Option<&AdaptPolicy>,
        x: &[MatBatch<f64>],
        seen: Option<&[MatBatch<f64>]>,
    ) -> Result<DecisionSession, ModelError> {
        let views: Vec<MatView<'_, f64>> = seen.unwrap_or(x).iter().map(MatBatch::view).collect();
        match seen {
            Some(_) => self.model.session(domain, unseen, &views),
            None => self.model.session_for(domain, &views, unseen),
        }
    }

    fn sizes(&self) -> (usize, usize) {
        (self.model.classes().len(), self.model.view_count())
    }
}

#[pymethods]
impl PyModel {
    /// Probabilities and routing weights of raw covariances of one domain. `unseen` says what is
    /// done where it had no training trials, `seen` are trials of it that are known beforehand;
    /// without them all trials at hand are, but a causal mean has not seen those it whitens.
    fn decide<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray3<'py, f64>,
        domain: &str,
        unseen: Option<&str>,
        seen: Option<PyReadonlyArray3<'py, f64>>,
    ) -> PyResult<Given<'py>> {
        let (view, unseen) = (crate::array::view(&x)?, policies(unseen)?);
        let views = self.model.view_count();
        let all = crate::array::apart(view, views)?;
        let seen = match &seen {
            Some(seen) => Some(crate::array::apart(crate::array::view(seen)?, views)?),
            None => None,
        };
        let decided = py.detach(|| {
            let mut session = self.started(domain, unseen.as_ref(), &all, seen.as_deref())?;
            decide_all(&mut session, view, self.sizes())
        });
        given(py, decided.map_err(model_error)?)
    }

    /// Decisions for one domain that keep their state.
    fn session(
        &self,
        py: Python<'_>,
        domain: &str,
        unseen: Option<&str>,
        seen: PyReadonlyArray3<'_, f64>,
    ) -> PyResult<PySession> {
        let seen = crate::array::apart(crate::array::view(&seen)?, self.model.view_count())?;
        let unseen = policies(unseen)?;
        let session = py.detach(|| {
            let seen: Vec<MatView<'_, f64>> = seen.iter().map(MatBatch::view).collect();
            self.model.session(domain, unseen.as_ref(), &seen)
        });
        Ok(PySession {
            session: Mutex::new(session.map_err(model_error)?),
            sizes: self.sizes(),
        })
    }

    /// What the model knows of each trial: 0 trained on it, 1 chose its epoch or penalty on it, 2
    /// nothing. The channels are put in its order.
    fn seen(&self, py: Python<'_>, trials: Labelled<'_>) -> PyResult<Vec<u8>> {
        let trials = trials.trials()?;
        let parts = py
            .detach(|| self.model.divide(&trials))
            .map_err(model_error)?;
        let mut of = vec![0; trials.len()];
        for (part, places) in (0_u8..).zip(parts) {
            for i in places {
                of[i] = part;
            }
        }
        Ok(of)
    }

    /// Tells which trials of one domain lie far from those of training.
    fn unfamiliar(
        &self,
        py: Python<'_>,
        x: PyReadonlyArray3<'_, f64>,
        domain: &str,
    ) -> PyResult<Vec<bool>> {
        let all = crate::array::apart(crate::array::view(&x)?, self.model.view_count())?;
        let found = py.detach(|| self.model.familiarity_of(domain, all[0].view()));
        let found = found.map_err(|(place, error)| model_error(error.at_trial(place)))?;
        Ok(found
            .iter()
            .map(|f| f.is_some_and(|f| f.unfamiliar))
            .collect())
    }

    /// The matrices of trials with the channels of the model in its order; other channels and other
    /// preparations are refused.
    fn accept<'py>(&self, py: Python<'py>, trials: Labelled<'py>) -> PyResult<Bound<'py, PyAny>> {
        let trials = trials.trials()?;
        let accepted = py
            .detach(|| self.model.accept(&trials))
            .map_err(model_error)?;
        give(py, crate::array::together(&accepted)?)
    }

    /// The model after a few labelled trials, and of every domain with uneven classes how many
    /// there are.
    fn calibrate(&self, py: Python<'_>, trials: Labelled<'_>) -> PyResult<(Self, Vec<String>)> {
        let trials = trials.trials()?;
        let model = py
            .detach(|| self.model.calibrate(&trials))
            .map_err(model_error)?;
        let names = trials.domains();
        let domains: Vec<&str> = names.present().into_iter().map(|d| names.name(d)).collect();
        let balance = model.balance(&domains).into_iter();
        let uneven = balance.filter(Balance::is_uneven);
        let said = uneven.map(|b| b.to_string()).collect();
        Ok((Self::new(model, self.seconds), said))
    }

    /// The routing report on labelled test trials of training domains: JSON, text, and the
    /// verdict's sentence.
    fn report(
        &self,
        py: Python<'_>,
        test: Labelled<'_>,
        seed: u64,
    ) -> PyResult<(String, String, String)> {
        let test = test.trials()?;
        let found = py.detach(|| {
            let [trained, stopped, _] = self.model.divide(&test)?;
            let report = self.model.report(&test, None, seed)?;
            Ok::<_, ModelError>((report, !trained.is_empty() || !stopped.is_empty()))
        });
        let (report, chosen) = found.map_err(model_error)?;
        let by = self.model.model().kind().routed_by();
        let verdict = RoutingEvidence::from_report(&report, by, chosen).verdict();
        let json = serde_json::to_string(&report).map_err(value_error)?;
        Ok((json, report.to_string(), verdict.sentence))
    }

    /// What the filters see on the sensors, `K × k × n`, most discriminative pattern first.
    fn patterns<'py>(
        &self,
        py: Python<'py>,
        training: Labelled<'_>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let training = training.trials()?;
        let n = training.channels_count();
        let found = py.detach(|| self.model.pictures(&training, n));
        let found = found.map_err(model_error)?;
        let Some(first) = found.first().map(|picture| &picture.patterns) else {
            return Ok(None);
        };
        let (rows, cols) = (first.rows(), first.cols());
        let all: Vec<f64> = (found.iter())
            .flat_map(|picture| picture.patterns.data())
            .copied()
            .collect();
        let all = MatBatch::from_vec(found.len(), rows, cols, all).map_err(value_error)?;
        give(py, all).map(Some)
    }

    /// Writes the model file.
    fn save(&self, py: Python<'_>, path: PathBuf, overwrite: bool) -> PyResult<()> {
        py.detach(|| self.model.save(path, overwrite))
            .map_err(model_error)
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.model.to_bytes());
        Ok(PyBytes::new(py, &bytes.map_err(file_error)?))
    }

    /// A model that multiplies the probability of each class by its weight; one weight per class.
    fn weighed(&self, weights: Vec<f64>) -> PyResult<Self> {
        let model = self.model.clone().with_class_weights(weights);
        Ok(Self::new(model.map_err(model_error)?, self.seconds))
    }

    /// The same model that knows what the estimator was constructed with, and what its classes were
    /// before they became text.
    fn described(&self, estimator: &str, class_type: &str) -> PyResult<Self> {
        let estimator = serde_json::from_str(estimator).map_err(value_error)?;
        let text = format!("\"{class_type}\"");
        let class_type: ClassType = serde_json::from_str(&text).map_err(value_error)?;
        let model = self.model.clone().with_about(|about| {
            about.estimator = Some(estimator);
            about.class_type = class_type;
        });
        Ok(Self::new(model, self.seconds))
    }

    /// What the estimator was constructed with, as JSON, where a Python estimator wrote the file.
    #[getter]
    fn estimator(&self) -> Option<String> {
        self.model
            .about()
            .estimator
            .as_ref()
            .map(ToString::to_string)
    }

    /// What the classes were before they became text.
    #[getter]
    fn class_type(&self) -> PyResult<String> {
        let text = serde_json::to_value(self.model.about().class_type).map_err(value_error)?;
        Ok(text.as_str().unwrap_or("text").to_owned())
    }

    /// How the training trials were made, as JSON and in words.
    #[getter]
    fn preparation(&self) -> PyResult<(String, String)> {
        crate::eeg::prepared(self.model.preparation())
    }

    /// The name of its kind.
    #[getter]
    fn kind(&self) -> &'static str {
        self.model.name()
    }

    /// How many covariances of a trial it takes.
    #[getter]
    fn views(&self) -> usize {
        self.model.view_count()
    }

    /// How long the core trained, where it did so here.
    #[getter]
    fn seconds(&self) -> Option<f64> {
        self.seconds
    }

    /// Names of the classes, in the order of the probabilities.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.model.classes().to_vec()
    }

    /// Names of the domains that had training trials.
    #[getter]
    fn domains(&self) -> Vec<&str> {
        self.model.known_domains()
    }

    /// Those of them that are known from labelled trials that calibrated the model alone.
    #[getter]
    fn calibrated(&self) -> Vec<&str> {
        let mut known = self.model.known_domains();
        known.retain(|name| self.model.is_calibrated(name));
        known
    }

    /// Names of the channels, where known.
    #[getter]
    fn channels(&self) -> Option<Vec<String>> {
        self.model.channels().map(<[String]>::to_vec)
    }

    /// Channels.
    #[getter]
    fn n_channels(&self) -> usize {
        self.model.channel_count()
    }

    /// Whether trials of an unseen domain need something in place of an embedding.
    #[getter]
    fn has_embedding(&self) -> bool {
        self.model.has_embedding()
    }

    /// How it was fitted: kind and settings, as JSON.
    #[getter]
    fn spec(&self) -> PyResult<String> {
        let spec = self.model.spec().map_err(model_error)?;
        serde_json::to_string(&spec).map_err(value_error)
    }

    /// How a network was trained, as JSON.
    #[getter]
    fn record(&self) -> PyResult<Option<String>> {
        let record = self.model.record().map(serde_json::to_string);
        record.transpose().map_err(value_error)
    }

    /// Why its options were chosen, as JSON and as text, where the scaling rule did.
    #[getter]
    fn scaling(&self) -> PyResult<Option<(String, String)>> {
        self.model.scaling().map(crate::scaling::told).transpose()
    }

    /// The experts as points, `K × n × k`, where a network routes; the one filter of CHOIR.
    fn filters<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let filters = self.model.filters().map_err(model_error)?;
        filters.map(|e| give(py, e)).transpose()
    }
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyModel>()?;
    module.add_class::<PySession>()?;
    module.add_function(wrap_pyfunction!(load, module)?)?;
    module.add_function(wrap_pyfunction!(unseen, module)?)?;
    module.add_function(wrap_pyfunction!(model_from_bytes, module)?)
}
