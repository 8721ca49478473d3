//! The routed layer for PyTorch: one call for its forward pass, one for its pull-back.

use crate::array::give;
use crate::error::{mixed_precision, model_error, value_error};
use crate::torch::{Precision, run, tidy};
use numpy::{PyArrayMethods, PyReadonlyArray1, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};
use stiefel::linalg::{MatBatch, MatRef, MatView};
use stiefel::model::Architecture;
use stiefel::model::net::{LayerInput, Recorded, RoutedLayer, Routing, Sizes};

/// An array of any shape in either precision.
#[derive(FromPyObject)]
enum Values<'py> {
    F64(PyReadonlyArrayDyn<'py, f64>),
    F32(PyReadonlyArrayDyn<'py, f32>),
}

/// How trials are routed: weights, or the name of a rule.
#[derive(FromPyObject)]
enum Given<'py> {
    Rule(String),
    Weights(Values<'py>),
}

/// The layer, as its options say.
#[pyclass(module = "stiefel._core", name = "RoutedLayer", frozen)]
struct PyRoutedLayer {
    layer: RoutedLayer,
}

/// A forward pass, kept for its pull-back.
#[pyclass(module = "stiefel._core", name = "Recorded", frozen)]
struct PyRecorded {
    kept: Mutex<Kept>,
    /// Whether in single precision.
    single: bool,
    /// Of parameters, rows and covariances, as PyTorch has them.
    shapes: Vec<Vec<usize>>,
}

enum Kept {
    F64(Recorded<f64>),
    F32(Recorded<f32>),
}

/// What differs between the precisions.
trait Element: Precision {
    fn values<'a>(x: &'a Values<'_>) -> PyResult<&'a [Self]>;
    fn hold(recorded: Recorded<Self>) -> Kept;
    fn held(kept: &Kept) -> Option<&Recorded<Self>>;
}

macro_rules! element {
    ($t:ty, $variant:ident) => {
        impl Element for $t {
            fn values<'a>(x: &'a Values<'_>) -> PyResult<&'a [Self]> {
                match x {
                    Values::$variant(x) => x.as_slice().map_err(value_error),
                    _ => Err(mixed_precision()),
                }
            }

            fn hold(recorded: Recorded<Self>) -> Kept {
                Kept::$variant(recorded)
            }

            fn held(kept: &Kept) -> Option<&Recorded<Self>> {
                match kept {
                    Kept::$variant(recorded) => Some(recorded),
                    _ => None,
                }
            }
        }
    };
}
element!(f64, F64);
element!(f32, F32);

impl Values<'_> {
    fn shape(&self) -> &[usize] {
        match self {
            Self::F64(x) => x.shape(),
            Self::F32(x) => x.shape(),
        }
    }
}

/// An array of a shape as the matrices that the core sees.
fn seen<'a, T: Element>(
    x: &'a Values<'_>,
    (count, rows, cols): (usize, usize, usize),
) -> PyResult<MatView<'a, T>> {
    MatView::new(count, rows, cols, T::values(x)?).map_err(value_error)
}

/// Value, weights, loss, and what the pull-back needs.
type Forward<'py> = (
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
    f64,
    Option<PyRecorded>,
);

/// The arguments of a forward pass.
struct Call<'a, 'py> {
    parameters: &'a [Values<'py>],
    rows: &'a Values<'py>,
    covariances: Option<&'a Values<'py>>,
    domains: &'a [Option<usize>],
    routing: Option<&'a Given<'py>>,
    wanted: &'a [bool],
    threads: usize,
}

impl PyRoutedLayer {
    fn passed<'py, T: Element>(
        &self,
        py: Python<'py>,
        call: &Call<'_, 'py>,
    ) -> PyResult<Forward<'py>> {
        let wanted = |i: usize| call.wanted.get(i).copied().unwrap_or(false);
        let own = self.layer.parameters();
        if own.len() != call.parameters.len() {
            return Err(value_error(format!(
                "the layer has {} parameters, got {}",
                own.len(),
                call.parameters.len()
            )));
        }
        let mut parameters = Vec::with_capacity(own.len());
        for (i, (x, &(_, shape))) in call.parameters.iter().zip(own).enumerate() {
            parameters.push((seen::<T>(x, shape)?, wanted(i)));
        }
        let samples = call.domains.len();
        let width = call.rows.shape().last().copied().unwrap_or(0);
        let rows = seen::<T>(call.rows, (1, samples, width))?;
        let covariances = match call.covariances {
            Some(x) => {
                let side = x.shape().last().copied().unwrap_or(0);
                Some((seen::<T>(x, (samples, side, side))?, wanted(own.len() + 1)))
            }
            None => None,
        };
        let given: MatBatch<T>;
        let routing = match call.routing {
            None => Routing::Learnt,
            Some(Given::Rule(rule)) if rule == "uniform" => Routing::Uniform,
            Some(Given::Rule(rule)) if rule == "top-1" => Routing::HardTop1,
            Some(Given::Rule(rule)) => return Err(value_error(format!("no routing {rule:?}"))),
            Some(Given::Weights(weights)) => {
                let experts = weights.shape().last().copied().unwrap_or(0);
                given = seen::<T>(weights, (1, samples, experts))?.to_owned();
                Routing::Given(&given)
            }
        };
        let input = LayerInput {
            parameters: &parameters,
            rows: (rows, wanted(own.len())),
            domains: call.domains,
            covariances,
            routing,
        };
        let work: Vec<MatView<'_, T>> = covariances.iter().map(|x| x.0).collect();
        let arena = T::arena();
        let done = run(py, call.threads, &work, || {
            self.layer.forward(&input, arena)
        })?;
        let (output, recorded) = done.map_err(model_error)?;
        let shapes = call
            .parameters
            .iter()
            .chain([call.rows])
            .chain(call.covariances);
        let keep = call.wanted.contains(&true).then(|| PyRecorded {
            kept: Mutex::new(T::hold(recorded)),
            single: matches!(call.rows, Values::F32(_)),
            shapes: shapes.map(|x| x.shape().to_vec()).collect(),
        });
        tidy::<T>();
        let loss = output.loss.to_f64();
        Ok((
            give(py, output.value)?,
            give(py, output.weights)?,
            loss,
            keep,
        ))
    }
}

#[pymethods]
impl PyRoutedLayer {
    #[new]
    fn new(architecture: &str, sizes: &str) -> PyResult<Self> {
        let architecture: Architecture = serde_json::from_str(architecture).map_err(value_error)?;
        let sizes: Sizes = serde_json::from_str(sizes).map_err(value_error)?;
        let Architecture::Dasp(config) = architecture else {
            return Err(value_error("the network has no routed layer"));
        };
        let layer = RoutedLayer::new(sizes, config).map_err(model_error)?;
        Ok(Self { layer })
    }

    /// Names of the parameters, in order.
    #[getter]
    fn names(&self) -> Vec<&'static str> {
        self.layer.parameters().iter().map(|p| p.0).collect()
    }

    /// Value, weights `1 × B × K`, loss, and what the pull-back needs where anything is `wanted`:
    /// of the parameters, the rows and the covariances, in that order. A negative domain is
    /// somebody new.
    #[allow(clippy::too_many_arguments, reason = "what a forward pass takes")]
    fn forward<'py>(
        &self,
        py: Python<'py>,
        parameters: Vec<Values<'py>>,
        rows: Values<'py>,
        covariances: Option<Values<'py>>,
        domains: PyReadonlyArray1<'py, i64>,
        routing: Option<Given<'py>>,
        wanted: Vec<bool>,
        threads: usize,
    ) -> PyResult<Forward<'py>> {
        let domains: Vec<Option<usize>> = (domains.as_array().iter())
            .map(|&d| usize::try_from(d).ok())
            .collect();
        let call = Call {
            parameters: &parameters,
            rows: &rows,
            covariances: covariances.as_ref(),
            domains: &domains,
            routing: routing.as_ref(),
            wanted: &wanted,
            threads,
        };
        match rows {
            Values::F64(_) => self.passed::<f64>(py, &call),
            Values::F32(_) => self.passed::<f32>(py, &call),
        }
    }
}

impl PyRecorded {
    fn pulled<'py, T: Element>(
        &self,
        py: Python<'py>,
        value: Option<&Values<'py>>,
        weights: Option<&Values<'py>>,
        loss: Option<f64>,
        threads: usize,
    ) -> PyResult<Vec<Option<Bound<'py, PyAny>>>> {
        let stacked = |x: &Values<'py>| match *x.shape() {
            [rows, cols] => (rows, 1, cols),
            [count, rows, cols] => (count, rows, cols),
            _ => (0, 0, 0),
        };
        let value = value.map(|x| seen::<T>(x, stacked(x))).transpose()?;
        let of_weights = |x| {
            let (samples, _, experts) = stacked(x);
            seen::<T>(x, (1, samples, experts))
        };
        let weights = weights.map(of_weights).transpose()?;
        let loss = loss.map(|loss| [T::from_f64(loss)]);
        let loss = loss.as_ref().map(|x| MatRef::new(1, 1, x).view());
        let found = run::<T, _>(py, threads, value.as_slice(), || {
            // Not before the interpreter lock is given up, or two threads could wait for each
            // other.
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            T::held(&kept).map(|recorded| recorded.pull_back(value, weights, loss))
        })?;
        let found = found.ok_or_else(mixed_precision)?.map_err(model_error)?;
        let give = |(x, shape): (Option<MatBatch<T>>, &Vec<usize>)| {
            x.map(|x| {
                let flat = numpy::PyArray1::from_vec(py, x.into_vec());
                Ok(flat.reshape(shape.as_slice())?.into_any())
            })
            .transpose()
        };
        found.into_iter().zip(&self.shapes).map(give).collect()
    }
}

#[pymethods]
impl PyRecorded {
    /// The gradients in parameters, rows and covariances, from those in value, weights and loss.
    fn pull_back<'py>(
        &self,
        py: Python<'py>,
        value: Option<Values<'py>>,
        weights: Option<Values<'py>>,
        loss: Option<f64>,
        threads: usize,
    ) -> PyResult<Vec<Option<Bound<'py, PyAny>>>> {
        let (value, weights) = (value.as_ref(), weights.as_ref());
        if self.single {
            self.pulled::<f32>(py, value, weights, loss, threads)
        } else {
            self.pulled::<f64>(py, value, weights, loss, threads)
        }
    }
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyRoutedLayer>()?;
    module.add_class::<PyRecorded>()
}
