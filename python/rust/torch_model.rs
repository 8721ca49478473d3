//! Networks that live in PyTorch: where they start, the file they become, the network that a file
//! holds, and the report on their routing.

use crate::array::{Stack, give, view};
use crate::error::{model_error, value_error};
use crate::labelled::Labelled;
use crate::model::PyModel;
use numpy::{Element, PyReadonlyArray3};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use stiefel::linalg::{MatBatch, Scalar};
use stiefel::model::diagnostics::{Assessed, RoutedBy, RoutingEvidence, report_of};
use stiefel::model::fitted::{Named, initial};
use stiefel::model::net::{Routing, Sizes};
use stiefel::model::{
    Architecture, DspConfig, DspEncoder, FittedModel, Manifold, Model, ModelConfig, ModelError,
    Parameters,
};

/// Name, value and manifold of a parameter.
type Told<'py> = (&'static str, Bound<'py, PyAny>, &'static str);

/// Columns `1 × p × r` of an encoder, and how many of them are between-domain directions.
type Columns<'py> = (Bound<'py, PyAny>, usize);

/// All parameters as points on their manifolds.
fn told<'py, T: Scalar + Element>(
    py: Python<'py>,
    parameters: &Parameters<T>,
) -> PyResult<Vec<Told<'py>>> {
    let tell = |p: &stiefel::model::Parameter<T>| {
        let manifold = match p.manifold {
            Manifold::Euclidean => "euclidean",
            Manifold::Stiefel | Manifold::Cayley { .. } => "stiefel",
            Manifold::State => "state",
        };
        let point = p.point().map_err(model_error)?;
        Ok((p.name, give(py, point)?, manifold))
    };
    parameters.iter().map(tell).collect()
}

fn columns<'py>(py: Python<'py>, encoder: &DspEncoder) -> PyResult<Columns<'py>> {
    Ok((give(py, encoder.projection().clone())?, encoder.between()))
}

/// The parameters that a network has from a seed, before any data have a say.
#[pyfunction]
fn torch_initial<'py>(
    py: Python<'py>,
    architecture: &str,
    sizes: &str,
    seed: u64,
) -> PyResult<Vec<Told<'py>>> {
    let architecture: Architecture = serde_json::from_str(architecture).map_err(value_error)?;
    let sizes: Sizes = serde_json::from_str(sizes).map_err(value_error)?;
    let parameters = initial::<f64>(&architecture, sizes, seed).map_err(model_error)?;
    told(py, &parameters)
}

/// The encoder of tangent vectors `N × 1 × p` and their domains.
#[pyfunction]
fn torch_fit_encoder<'py>(
    py: Python<'py>,
    tangent: PyReadonlyArray3<'py, f64>,
    domains: Vec<usize>,
    config: &str,
) -> PyResult<Columns<'py>> {
    let config: DspConfig = serde_json::from_str(config).map_err(value_error)?;
    let tangent = view(&tangent)?;
    let encoder = py.detach(|| config.fit(tangent, &domains));
    columns(py, &encoder.map_err(model_error)?)
}

fn named<T: Scalar + Element>(
    learnt: &[(String, Stack<'_>)],
    of: impl Fn(&Stack<'_>) -> Option<PyResult<MatBatch<T>>>,
) -> PyResult<Named<T>> {
    let one = |(name, value): &(String, Stack<'_>)| {
        let value = of(value).ok_or_else(crate::error::mixed_precision)??;
        Ok((name.clone(), value))
    };
    learnt.iter().map(one).collect()
}

/// The model of a network that PyTorch trained, on its training trials.
#[pyfunction]
fn torch_assemble(
    py: Python<'_>,
    trials: Labelled<'_>,
    config: &str,
    encoder: Option<(PyReadonlyArray3<'_, f64>, usize)>,
    learnt: Vec<(String, Stack<'_>)>,
) -> PyResult<PyModel> {
    let trials = trials.trials()?;
    let config: ModelConfig = serde_json::from_str(config).map_err(value_error)?;
    let encoder = match encoder {
        Some((columns, between)) => {
            let columns = view(&columns)?.to_owned();
            Some(DspEncoder::from_columns(columns, between).map_err(model_error)?)
        }
        None => None,
    };
    let model = if let Some((_, Stack::F32(_))) = learnt.first() {
        let learnt = named::<f32>(&learnt, |x| match x {
            Stack::F32(x) => Some(view(x).map(|x| x.to_owned())),
            Stack::F64(_) => None,
        })?;
        py.detach(|| FittedModel::assemble(&trials, &config, encoder, learnt))
    } else {
        let learnt = named::<f64>(&learnt, |x| match x {
            Stack::F64(x) => Some(view(x).map(|x| x.to_owned())),
            Stack::F32(_) => None,
        })?;
        py.detach(|| FittedModel::assemble(&trials, &config, encoder, learnt))
    };
    Ok(PyModel::new(model.map_err(model_error)?, None))
}

/// Sizes as JSON, names of all domains, parameters and encoder of a network.
type Network<'py> = (String, Vec<String>, Vec<Told<'py>>, Option<Columns<'py>>);

fn network<'py, T: Scalar + Element>(py: Python<'py>, model: &Model<T>) -> PyResult<Network<'py>> {
    let encoder = model.frontend().encoder.as_ref();
    Ok((
        serde_json::to_string(model.sizes()).map_err(value_error)?,
        model.domains().to_vec(),
        told(py, model.parameters())?,
        encoder.map(|e| columns(py, e)).transpose()?,
    ))
}

/// The network of a model.
#[pyfunction]
fn torch_network<'py>(py: Python<'py>, model: &PyModel) -> PyResult<Network<'py>> {
    if let Some(model) = model.model.get::<Model<f32>>() {
        return network(py, model);
    }
    match model.model.get::<Model<f64>>() {
        Some(found) => network(py, found),
        None => Err(value_error(format!(
            "the file holds a model {}, which is no network; stiefel.load opens it",
            model.model.name()
        ))),
    }
}

/// Probabilities and weights as Python gives them.
type Rows<'py> = (
    PyReadonlyArray3<'py, f64>,
    Option<PyReadonlyArray3<'py, f64>>,
);

fn routing_of<'py>(py: Python<'py>, routing: &Routing<'_, f64>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match routing {
        Routing::Learnt => py.None().into_bound(py),
        Routing::Uniform => "uniform".into_pyobject(py)?.into_any(),
        Routing::HardTop1 => "top-1".into_pyobject(py)?.into_any(),
        Routing::Given(weights) => give(py, (*weights).clone())?,
    })
}

/// The routing report of a module: JSON, text and the verdict's sentence. `decide` is told how
/// trials are routed and gives probabilities `1 × N × C` and weights `1 × N × K`, or `None` where
/// nothing is routed.
#[pyfunction]
fn torch_report<'py>(
    py: Python<'py>,
    truth: Vec<usize>,
    domains: Vec<usize>,
    means: BTreeMap<usize, Vec<f64>>,
    experts: Option<PyReadonlyArray3<'py, f64>>,
    seed: u64,
    decide: Bound<'py, PyAny>,
) -> PyResult<(String, String, String)> {
    let experts = experts.as_ref().map(view).transpose()?;
    let experts = experts.map(|x| x.to_owned());
    let mut raised: Option<PyErr> = None;
    let ask = |routing: Routing<'_, f64>| -> PyResult<Assessed> {
        let given = decide.call1((routing_of(py, &routing)?,))?;
        let (p, alpha): Rows<'_> = given.extract()?;
        let alpha = alpha.as_ref().map(view).transpose()?;
        Ok((view(&p)?.to_owned(), alpha.map(|x| x.to_owned())))
    };
    let report = report_of(
        (&truth, &domains),
        &means,
        experts.as_ref(),
        seed,
        |routing| {
            ask(routing).map_err(|error| {
                raised = Some(error);
                ModelError::Impossible {
                    op: "routing report",
                    why: "the module did not decide".into(),
                    remedy: "see the error it raised",
                }
            })
        },
    );
    let report = match (report, raised) {
        (_, Some(error)) => return Err(error),
        (report, None) => report.map_err(model_error)?,
    };
    let verdict = RoutingEvidence::from_report(&report, RoutedBy::Trial, false).verdict();
    let json = serde_json::to_string(&report).map_err(value_error)?;
    Ok((json, report.to_string(), verdict.sentence))
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(torch_initial, module)?)?;
    module.add_function(wrap_pyfunction!(torch_fit_encoder, module)?)?;
    module.add_function(wrap_pyfunction!(torch_assemble, module)?)?;
    module.add_function(wrap_pyfunction!(torch_network, module)?)?;
    module.add_function(wrap_pyfunction!(torch_report, module)?)
}
