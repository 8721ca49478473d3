//! St(n, k) over stacks: projection, retractions, principal angles, averages, uniform points. A
//! stack of one is broadcast.

use crate::array::{Stack, give, give_vec, on_stack};
use crate::error::value_error;
use pyo3::prelude::*;
use stiefel::geometry::stiefel as st;

/// `Z − W sym(WᵀZ)`.
#[pyfunction]
fn project<'py>(py: Python<'py>, w: Stack<'py>, z: Stack<'py>) -> PyResult<Bound<'py, PyAny>> {
    on_stack!(py, give, w, z => |w, z: T| st::project(w, z))
}

/// The retraction of `delta` at `w`.
#[pyfunction]
fn retract<'py>(
    py: Python<'py>,
    w: Stack<'py>,
    delta: Stack<'py>,
    method: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let polar = match method {
        "qr" => false,
        "polar" => true,
        _ => return Err(value_error(format!("unknown retraction {method:?}"))),
    };
    on_stack!(py, give, w, delta => |w, delta: T| {
        if polar {
            st::retract_polar(w, delta).map(|p| p.q)
        } else {
            st::retract_qr(w, delta).map(|f| f.q)
        }
    })
}

/// `qf(A)`, positive diagonal of `R`.
#[pyfunction]
fn orthonormal_factor<'py>(py: Python<'py>, a: Stack<'py>) -> PyResult<Bound<'py, PyAny>> {
    on_stack!(py, give, a => |a: T| st::orthonormal_factor(a).map(|f| f.q))
}

/// Angles between the column spaces, ascending, `count × 1 × k`, radians.
#[pyfunction]
fn principal_angles<'py>(
    py: Python<'py>,
    v: Stack<'py>,
    w: Stack<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    on_stack!(py, give, v, w => |v, w: T| st::principal_angles(v, w))
}

/// `qf(W_1 + Σ_j w_j P_{W_1}(W_j))`.
#[pyfunction]
fn barycenter<'py>(
    py: Python<'py>,
    w: Stack<'py>,
    weights: Option<Vec<f64>>,
) -> PyResult<Bound<'py, PyAny>> {
    on_stack!(py, give, w => |w: T| {
        let weights: Option<Vec<T>> = weights.map(|x| x.into_iter().map(|x| x as T).collect());
        st::barycenter(w, weights.as_deref())
    })
}

/// `max|WᵀW − I|` of every matrix.
#[pyfunction]
fn orthonormality_defect<'py>(py: Python<'py>, w: Stack<'py>) -> PyResult<Bound<'py, PyAny>> {
    on_stack!(py, give_vec, w => |w: T| st::orthonormality_defect(w))
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(project, module)?)?;
    module.add_function(wrap_pyfunction!(retract, module)?)?;
    module.add_function(wrap_pyfunction!(orthonormal_factor, module)?)?;
    module.add_function(wrap_pyfunction!(principal_angles, module)?)?;
    module.add_function(wrap_pyfunction!(barycenter, module)?)?;
    module.add_function(wrap_pyfunction!(orthonormality_defect, module)?)
}
