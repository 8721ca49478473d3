//! Geodesics and maps of metrics besides the affine-invariant and the log-Euclidean one.

use crate::array::{Stack, give, on_stack};
use crate::error::value_error;
use crate::spd::cast;
use pyo3::prelude::*;
use stiefel::geometry::Result;
use stiefel::geometry::spd::{self, CholeskyChart};
use stiefel::linalg::{MatBatch, MatView, Scalar};

/// Points of the geodesics from `a` to `b`, at one `t` for all or one for each.
#[pyfunction]
fn geodesic_of<'py>(
    py: Python<'py>,
    a: Stack<'py>,
    b: Stack<'py>,
    name: &str,
    t: Vec<f64>,
) -> PyResult<Bound<'py, PyAny>> {
    let known = ["chol", "logchol", "wasserstein", "thompson"];
    if !known.contains(&name) {
        return Err(value_error(format!("unknown geodesic {name:?}")));
    }
    on_stack!(py, give, a, b => |a, b: T| {
        let t: Vec<T> = cast(Some(&t)).unwrap_or_default();
        match name {
            "chol" => spd::geodesic_cholesky(CholeskyChart::Factor, a, b, &t),
            "logchol" => spd::geodesic_cholesky(CholeskyChart::LogFactor, a, b, &t),
            "wasserstein" => spd::geodesic_wasserstein(a, b, &t),
            _ => spd::geodesic_thompson(a, b, &t),
        }
    })
}

/// A function of foot points and matrices or tangent vectors there.
#[derive(Clone, Copy)]
enum Map {
    LogWasserstein,
    ExpWasserstein,
    LogLogCholesky,
    ExpLogCholesky,
    ToLogCholesky,
    FromLogCholesky,
}

impl Map {
    fn named(name: &str) -> PyResult<Self> {
        Ok(match name {
            "log_wasserstein" => Self::LogWasserstein,
            "exp_wasserstein" => Self::ExpWasserstein,
            "log_logchol" => Self::LogLogCholesky,
            "exp_logchol" => Self::ExpLogCholesky,
            "to_logchol" => Self::ToLogCholesky,
            "from_logchol" => Self::FromLogCholesky,
            _ => return Err(value_error(format!("unknown map {name:?}"))),
        })
    }

    fn run<T: Scalar>(self, m: MatView<'_, T>, x: MatView<'_, T>) -> Result<MatBatch<T>> {
        match self {
            Self::LogWasserstein => spd::log_map_wasserstein(m, x),
            Self::ExpWasserstein => spd::exp_map_wasserstein(m, x),
            Self::LogLogCholesky => spd::log_map_log_cholesky(m, x),
            Self::ExpLogCholesky => spd::exp_map_log_cholesky(m, x),
            Self::ToLogCholesky => spd::to_log_cholesky(m, x),
            Self::FromLogCholesky => spd::from_log_cholesky(m, x),
        }
    }
}

/// The map of a name.
#[pyfunction]
fn map_of<'py>(
    py: Python<'py>,
    m: Stack<'py>,
    x: Stack<'py>,
    name: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let map = Map::named(name)?;
    on_stack!(py, give, m, x => |m, x: T| map.run(m, x))
}

/// The nearest SPD matrices.
#[pyfunction]
fn nearest_spd<'py>(
    py: Python<'py>,
    x: Stack<'py>,
    regularisation: f64,
) -> PyResult<Bound<'py, PyAny>> {
    on_stack!(py, give, x => |x: T| spd::nearest_spd(x, regularisation as T))
}

/// Mahalanobis distances of columns, `count × 1 × m`.
#[pyfunction]
fn mahalanobis<'py>(py: Python<'py>, c: Stack<'py>, x: Stack<'py>) -> PyResult<Bound<'py, PyAny>> {
    on_stack!(py, give, c, x => |c, x: T| spd::mahalanobis(c, x))
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(geodesic_of, module)?)?;
    module.add_function(wrap_pyfunction!(map_of, module)?)?;
    module.add_function(wrap_pyfunction!(nearest_spd, module)?)?;
    module.add_function(wrap_pyfunction!(mahalanobis, module)?)
}
