//! Derivatives of functions of eigenvalues, and the log-Euclidean maps, which are made of them.

use crate::array::{Stack, give, on_stack};
use crate::spd::spectral_fn;
use pyo3::prelude::*;
use stiefel::geometry::spd;

/// The derivative of a function of eigenvalues at `c` in the directions `x`, `U (L ∘ (Uᵀ X U)) Uᵀ`.
#[pyfunction]
fn differential<'py>(
    py: Python<'py>,
    c: Stack<'py>,
    x: Stack<'py>,
    name: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let f = spectral_fn(name, 0.0)?;
    on_stack!(py, give, c, x => |c, x: T| spd::differential(f.cast::<T>(), c, x))
}

/// The log-Euclidean logarithmic map, `D exp(log C)[log X − log C]`.
#[pyfunction]
fn log_map_logeuclid<'py>(
    py: Python<'py>,
    c: Stack<'py>,
    x: Stack<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    on_stack!(py, give, c, x => |c, x: T| spd::log_map_log_euclidean(c, x))
}

/// The log-Euclidean exponential map, `exp(log C + D log(C)[X])`.
#[pyfunction]
fn exp_map_logeuclid<'py>(
    py: Python<'py>,
    c: Stack<'py>,
    x: Stack<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    on_stack!(py, give, c, x => |c, x: T| spd::exp_map_log_euclidean(c, x))
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(differential, module)?)?;
    module.add_function(wrap_pyfunction!(log_map_logeuclid, module)?)?;
    module.add_function(wrap_pyfunction!(exp_map_logeuclid, module)?)
}
