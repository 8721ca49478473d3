//! Whitening per domain on its own: `stiefel._core.Whitener`.

use crate::array::give;
use crate::error::{model_error, value_error};
use crate::labelled::Labelled;
use numpy::PyReadonlyArray3;
use pyo3::prelude::*;
use stiefel::linalg::{Mat, MatBatch};
use stiefel::model::precondition::{Adaptation, WhitenScratch};
use stiefel::model::{Model, ModelError, Preconditioning, Whitener};

/// Pre-conditioning fitted on training trials.
#[pyclass(module = "stiefel._core", name = "Whitener", frozen)]
pub(crate) struct PyWhitener {
    whitener: Whitener,
}

/// Fits means and whitening matrices of every domain.
#[pyfunction]
fn fit_whitener(py: Python<'_>, trials: Labelled<'_>, config: &str) -> PyResult<PyWhitener> {
    let trials = trials.trials()?;
    let config: Preconditioning = serde_json::from_str(config).map_err(value_error)?;
    let whitener = py.detach(|| config.fit(&trials)).map_err(model_error)?;
    Ok(PyWhitener { whitener })
}

/// What whitens the trials of a network.
#[pyfunction]
fn whitener_of(model: &crate::model::PyModel) -> PyResult<PyWhitener> {
    let single = model.model.get::<Model<f32>>().map(Model::frontend);
    let double = || model.model.get::<Model<f64>>().map(Model::frontend);
    let frontend = single.or_else(double);
    let frontend = frontend.ok_or_else(|| value_error("the model is no network"))?;
    let whitener = frontend.whitener.clone();
    Ok(PyWhitener { whitener })
}

/// A whitener from what [`PyWhitener::state`] gave.
#[pyfunction]
fn whitener_from_state(state: &str) -> PyResult<PyWhitener> {
    let whitener = Whitener::from_json(state).map_err(model_error)?;
    Ok(PyWhitener { whitener })
}

#[pymethods]
impl PyWhitener {
    /// Trials of a training domain, whitened.
    fn transform_known<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray3<'py, f64>,
        domain: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let view = crate::array::view(&x)?;
        let out = py.detach(|| {
            let (count, n, m) = view.shape();
            let mut out = MatBatch::zeros(count, n, m);
            let mut scratch = WhitenScratch::default();
            for i in 0..count {
                let y = out.matrix_mut(i);
                self.whitener
                    .transform_into(domain, view.matrix(i), y, &mut scratch)?;
            }
            Ok::<_, ModelError>(out)
        });
        give(py, out.map_err(model_error)?)
    }

    /// Trials of one domain without training trials, whitened under a policy with what other trials
    /// of it tell.
    fn transform_new<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray3<'py, f64>,
        seen: PyReadonlyArray3<'py, f64>,
        policy: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (view, seen) = (crate::array::view(&x)?, crate::array::view(&seen)?);
        let policy: Adaptation = serde_json::from_str(policy).map_err(value_error)?;
        let out = py.detach(|| self.whitener.transform_after(seen, view, policy));
        give(py, out.map_err(model_error)?)
    }

    /// The mean of a domain, `1 × n × n`.
    fn mean_of<'py>(&self, py: Python<'py>, domain: usize) -> PyResult<Option<Bound<'py, PyAny>>> {
        let n = self.whitener.channels_count();
        let give = |mean: &[f64]| give(py, Mat::new(n, n, mean.to_vec()).into());
        self.whitener.mean_of(domain).map(give).transpose()
    }

    /// Everything it knows, as JSON.
    fn state(&self) -> PyResult<String> {
        serde_json::to_string(&self.whitener).map_err(value_error)
    }
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyWhitener>()?;
    module.add_function(wrap_pyfunction!(fit_whitener, module)?)?;
    module.add_function(wrap_pyfunction!(whitener_of, module)?)?;
    module.add_function(wrap_pyfunction!(whitener_from_state, module)?)
}
