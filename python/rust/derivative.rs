//! Derivatives of functions of eigenvalues, and the log-Euclidean maps, which are made of them.

use crate::array::{Stack, give, give_some, on_stack};
use crate::fast::point::{Point, tilted};
use crate::spd::spectral_fn;
use pyo3::prelude::*;
use stiefel::geometry::Result;
use stiefel::geometry::spd::{self, SpectralFn};
use stiefel::linalg::{Eigen, MatBatch, MatView, Scalar};

/// The derivative of a function of eigenvalues at `c` in the directions `x`, `U (L ∘ (Uᵀ X U)) Uᵀ`.
#[pyfunction]
fn differential<'py>(
    py: Python<'py>,
    c: Stack<'py>,
    x: Stack<'py>,
    name: &str,
) -> PyResult<Bound<'py, PyAny>> {
    spectral_fn::<f64>(name, 0.0)?;
    on_stack!(py, give, c, x => |c, x: T| {
        // The name was checked above.
        let f = spectral_fn::<T>(name, 0.0).unwrap_or(SpectralFn::Log);
        derivative(f, c, x)
    })
}

/// The derivative is its own adjoint, so the pull-back computes it; one point for all directions is decomposed once.
fn derivative<T: Scalar>(
    f: SpectralFn<T>,
    c: MatView<'_, T>,
    x: MatView<'_, T>,
) -> Result<MatBatch<T>> {
    let eigen = spd::spectral_map(f, c)?.eigen;
    if c.count() == 1 {
        let point = Point::new(f, eigen.vectors.clone(), &eigen.values);
        if let Some(short) = tilted(&point, x, None, None) {
            return Ok(short);
        }
        // Symmetric to rounding only, or an error that says which one is not.
        spd::exp(x)?;
    }
    let point = |i: usize| if c.count() == 1 { 0 } else { i };
    let n = c.rows();
    let spread = Eigen {
        values: (0..x.count())
            .flat_map(|i| eigen.values_of(point(i)).to_vec())
            .collect(),
        vectors: MatBatch::from_fn(x.count(), n, n, |i, r, s| {
            eigen.vectors.matrix(point(i))[r * n + s]
        }),
    };
    spd::pull_back(f, &spread, x)
}

/// The log-Euclidean logarithmic map at one point, `D exp(log C)[log X − log C]`; `None` where a matrix does not allow the short way.
#[pyfunction]
fn log_map_logeuclid<'py>(
    py: Python<'py>,
    c: Stack<'py>,
    x: Stack<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    on_stack!(py, give_some, c, x => |c, x: T| {
        let eigen = spd::spectral_map(SpectralFn::Log, c)?.eigen;
        let logs: Vec<T> = eigen.values.iter().map(|&l| l.ln()).collect();
        let point = Point::new(SpectralFn::Exp, eigen.vectors, &logs).shifted(|i, l| -l * logs[i]);
        Ok(tilted(&point, x, Some(SpectralFn::Log), None))
    })
}

/// The log-Euclidean exponential map at one point, `exp(log C + D log(C)[X])`; `None` where a matrix does not allow the short way.
#[pyfunction]
fn exp_map_logeuclid<'py>(
    py: Python<'py>,
    c: Stack<'py>,
    x: Stack<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    on_stack!(py, give_some, c, x => |c, x: T| {
        let eigen = spd::spectral_map(SpectralFn::Log, c)?.eigen;
        let point = Point::new(SpectralFn::Log, eigen.vectors, &eigen.values)
            .shifted(|i, _| eigen.values[i].ln());
        Ok(tilted(&point, x, None, Some(SpectralFn::Exp)))
    })
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(differential, module)?)?;
    module.add_function(wrap_pyfunction!(log_map_logeuclid, module)?)?;
    module.add_function(wrap_pyfunction!(exp_map_logeuclid, module)?)
}
