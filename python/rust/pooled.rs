//! The preset `recommended` for Python: `stiefel._core.Pooled`.

use crate::array::give;
use crate::error::{model_error, value_error};
use crate::train::{Labelled, attended};
use numpy::PyReadonlyArray3;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use stiefel::linalg::MatBatch;
use stiefel::model::Preconditioning;
use stiefel::model::diagnostics::patterns;
use stiefel::model::pooled::{HeadTrial, PooledConfig, PooledModel};
use stiefel::model::precondition::UnseenPolicy;

/// Seed of the report's permutation: the same report every time.
const REPORT_SEED: u64 = 0;

/// A fitted preset.
#[pyclass(module = "stiefel._core", name = "Pooled", frozen)]
pub(crate) struct PyPooled {
    model: PooledModel,
}

/// Fits the preset on some of the trials and chooses C on others.
#[pyfunction]
fn fit_pooled(
    py: Python<'_>,
    trials: Labelled<'_>,
    validation: Vec<usize>,
    config: &str,
    threads: usize,
) -> PyResult<PyPooled> {
    let (training, watched) = trials.split(&validation)?;
    let mut config: PooledConfig = serde_json::from_str(config).map_err(value_error)?;
    // Where the training trials are watched themselves, they are all there is to fit on.
    config.refit &= !validation.is_empty();
    let model = attended(py, threads, None, |end, stop| {
        let go_on = || !stop.load(Ordering::Relaxed);
        let model = PooledModel::fit_while(&training, &watched, &config, &go_on);
        drop(end);
        model
    })?;
    Ok(PyPooled { model })
}

/// The configuration of the preset with another pre-conditioning, as JSON.
#[pyfunction]
fn pooled_configuration(preconditioning: &str) -> PyResult<String> {
    let preconditioning: Preconditioning =
        serde_json::from_str(preconditioning).map_err(value_error)?;
    let config = PooledConfig {
        preconditioning,
        ..PooledConfig::default()
    };
    serde_json::to_string(&config).map_err(value_error)
}

/// Reads a file of the preset.
#[pyfunction]
fn load_pooled(path: PathBuf) -> PyResult<PyPooled> {
    let model = PooledModel::load(path).map_err(model_error)?;
    Ok(PyPooled { model })
}

#[pymethods]
impl PyPooled {
    /// Probabilities of raw covariances of one training domain, `1 × count × C`.
    fn predict_known<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray3<'py, f64>,
        domain: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let view = crate::array::view(&x)?;
        let decided = py.detach(|| self.model.decide_batch(view, HeadTrial::Known(domain)));
        give(py, decided.map_err(model_error)?)
    }

    /// Probabilities of raw covariances of one domain without training trials, whitened with what other trials of it tell.
    fn predict_unseen<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray3<'py, f64>,
        seen: PyReadonlyArray3<'py, f64>,
        whitening: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (view, seen) = (crate::array::view(&x)?, crate::array::view(&seen)?);
        let policy: UnseenPolicy = serde_json::from_str(whitening).map_err(value_error)?;
        let decided = py.detach(|| self.model.decide_unseen(seen, view, policy));
        give(py, decided.map_err(model_error)?)
    }

    /// The routing report on labelled test trials, as JSON and as text; its controls need no training trials.
    fn report(
        &self,
        py: Python<'_>,
        training: Labelled<'_>,
        test: Labelled<'_>,
    ) -> PyResult<(String, String)> {
        // Asked for in the manner of the networks.
        drop(training);
        let test = test.trials()?;
        let report = py.detach(|| self.model.report(&test, REPORT_SEED));
        let report = report.map_err(model_error)?;
        let json = serde_json::to_string(&report).map_err(value_error)?;
        Ok((json, report.to_string()))
    }

    /// What the filter sees, `1 × k × n`, most discriminative pattern first.
    fn patterns<'py>(
        &self,
        py: Python<'py>,
        training: Labelled<'_>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let training = training.trials()?;
        let (filter, whitener) = (self.model.anchor(), self.model.whitener());
        let found = py.detach(|| patterns(filter.view(), whitener, &training, filter.cols()));
        Ok(Some(give(py, found.map_err(model_error)?)?))
    }

    /// Writes the model file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.model.save(path)).map_err(model_error)
    }

    /// The filter, `1 × n × k`.
    fn filters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        give(py, self.model.anchor().clone())
    }

    /// The weights everybody shares, `1 × L × p`.
    fn shared<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        give(py, self.model.head().shared().clone())
    }

    /// What each domain adds to them, `D × L × p`; zeros where it has none of its own.
    fn own<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let head = self.model.head();
        let (_, l, p) = head.shared().shape();
        let own = MatBatch::from_fn(self.model.domains().len(), l, p, |d, s, j| {
            head.own(d).map_or(0.0, |own| own[s * p + j])
        });
        give(py, own)
    }

    /// The intercept of each score.
    #[getter]
    fn intercept(&self) -> Vec<f64> {
        self.model.head().intercept().to_vec()
    }

    /// The inverse penalty that was chosen.
    #[getter]
    fn c(&self) -> f64 {
        self.model.head().c()
    }

    /// Names of the classes, in the order of the probabilities.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.model.classes().to_vec()
    }

    /// Names of the domains.
    #[getter]
    fn domains(&self) -> Vec<String> {
        self.model.domains().to_vec()
    }

    /// Channels.
    #[getter]
    fn n_channels(&self) -> usize {
        self.model.whitener().channels_count()
    }
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyPooled>()?;
    module.add_function(wrap_pyfunction!(fit_pooled, module)?)?;
    module.add_function(wrap_pyfunction!(pooled_configuration, module)?)?;
    module.add_function(wrap_pyfunction!(load_pooled, module)?)
}
