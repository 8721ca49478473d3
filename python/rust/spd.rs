//! SPD(n) over stacks: functions of eigenvalues, distances, means, geodesics, tangent spaces. A
//! stack of one is broadcast.

use crate::array::{Stack, give, give_some, give_some_vec, give_vec, on_stack, view};
use crate::error::{mixed_precision, value_error};
use crate::threads::run;
use pyo3::prelude::*;
use stiefel::geometry::spd::{self, CholeskyChart, Metric, SpectralFn};
use stiefel::linalg::{Scalar, sums};

/// A function of eigenvalues by its name; [`SpectralFn::cast`] brings it to the precision of a
/// stack.
pub(crate) fn spectral_fn(name: &str, parameter: f64) -> PyResult<SpectralFn<f64>> {
    Ok(match name {
        "log" => SpectralFn::Log,
        "exp" => SpectralFn::Exp,
        "sqrt" => SpectralFn::Sqrt,
        "invsqrt" => SpectralFn::InvSqrt,
        "power" => SpectralFn::Pow(parameter),
        "reeig" => SpectralFn::ReEig(parameter),
        _ => return Err(value_error(format!("unknown spectral function {name:?}"))),
    })
}

fn metric(name: &str) -> PyResult<Metric> {
    Ok(match name {
        "riemann" => Metric::AffineInvariant,
        "logeuclid" => Metric::LogEuclidean,
        "euclid" => Metric::Euclidean,
        "wasserstein" => Metric::BuresWasserstein,
        "harmonic" => Metric::Harmonic,
        "kullback" => Metric::KullbackLeibler,
        "kullback_sym" => Metric::SymmetrisedKullbackLeibler,
        "logdet" => Metric::LogDet,
        "chol" => Metric::Cholesky,
        "logchol" => Metric::LogCholesky,
        "thompson" => Metric::Thompson,
        _ => return Err(value_error(format!("unknown metric {name:?}"))),
    })
}

/// `U f(λ) Uᵀ` of every matrix.
#[pyfunction]
fn spectral<'py>(
    py: Python<'py>,
    x: Stack<'py>,
    name: &str,
    parameter: f64,
) -> PyResult<Bound<'py, PyAny>> {
    let f = spectral_fn(name, parameter)?;
    on_stack!(py, give, x => |x: T| spd::map(f.cast::<T>(), x))
}

/// Distances of pairs.
#[pyfunction]
fn distance<'py>(
    py: Python<'py>,
    a: Stack<'py>,
    b: Stack<'py>,
    name: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let metric = metric(name)?;
    on_stack!(py, give_vec, a, b => |a, b: T| spd::distance(metric, a, b))
}

/// Distances of pairs that need no eigenvalues; `None` where a matrix does not allow the short way.
#[pyfunction]
fn plain_distance<'py>(
    py: Python<'py>,
    a: Stack<'py>,
    b: Stack<'py>,
    name: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let metric = metric(name)?;
    if metric == Metric::Euclidean {
        return on_stack!(here py, give_some_vec, a, b => |a, b: T| Ok(spd::short_distance(metric, a, b)));
    }
    on_stack!(py, give_some_vec, a, b => |a, b: T| Ok(spd::short_distance(metric, a, b)))
}

/// `Σ X_i / N`, or that of the inverses; `None` where an inverse has no short way.
#[pyfunction]
fn plain_mean<'py>(py: Python<'py>, x: Stack<'py>, inverse: bool) -> PyResult<Bound<'py, PyAny>> {
    if inverse {
        return on_stack!(py, give_some, x => |x: T| {
            Ok(spd::inverses(x).map(|x| sums::mean(x.view())))
        });
    }
    on_stack!(here py, give, x => |x: T| Ok(sums::mean(x)))
}

/// `(1 − t) A_i + t B_i`.
#[pyfunction]
fn blend<'py>(
    py: Python<'py>,
    a: Stack<'py>,
    b: Stack<'py>,
    t: f64,
) -> PyResult<Bound<'py, PyAny>> {
    on_stack!(here py, give, a, b => |a, b: T| spd::blend(a, b, t as T))
}

/// `E_i X_i E_iᵀ` of symmetric matrices; `None` where one is not.
#[pyfunction]
fn sandwich<'py>(py: Python<'py>, e: Stack<'py>, x: Stack<'py>) -> PyResult<Bound<'py, PyAny>> {
    on_stack!(py, give_some, e, x => |e, x: T| Ok(spd::sandwich(e, x)))
}

/// All distances between two stacks.
#[pyfunction]
fn pairwise_distance<'py>(
    py: Python<'py>,
    a: Stack<'py>,
    b: Stack<'py>,
    name: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let metric = metric(name)?;
    on_stack!(py, give, a, b => |a, b: T| spd::pairwise_distances(metric, a, b))
}

/// All distances within a stack.
#[pyfunction]
fn mutual_distance<'py>(py: Python<'py>, x: Stack<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let metric = metric(name)?;
    on_stack!(py, give, x => |x: T| spd::mutual_distances(metric, x))
}

/// The mean of a stack under a closed formula.
#[pyfunction]
fn mean<'py>(
    py: Python<'py>,
    x: Stack<'py>,
    name: &str,
    weights: Option<Vec<f64>>,
) -> PyResult<Bound<'py, PyAny>> {
    let metric = metric(name)?;
    let closed = [
        Metric::Euclidean,
        Metric::LogEuclidean,
        Metric::Cholesky,
        Metric::LogCholesky,
    ];
    if !closed.contains(&metric) {
        let message = format!("the {name} mean has no closed formula");
        return Err(value_error(message));
    }
    on_stack!(py, give, x => |x: T| {
        let weights: Option<Vec<T>> = cast(weights.as_deref());
        let weights = weights.as_deref();
        match metric {
            Metric::LogEuclidean => spd::mean_log_euclidean(x, weights),
            Metric::Cholesky => spd::mean_cholesky(CholeskyChart::Factor, x, weights),
            Metric::LogCholesky => spd::mean_cholesky(CholeskyChart::LogFactor, x, weights),
            _ => spd::mean_euclidean(x, weights),
        }
    })
}

pub(crate) fn cast<T: Scalar>(weights: Option<&[f64]>) -> Option<Vec<T>> {
    weights.map(|w| w.iter().map(|&w| T::from_f64(w)).collect())
}

/// The point at `t` of the affine-invariant geodesics from `a` to `b`.
#[pyfunction]
fn geodesic<'py>(
    py: Python<'py>,
    a: Stack<'py>,
    b: Stack<'py>,
    t: f64,
) -> PyResult<Bound<'py, PyAny>> {
    on_stack!(py, give, a, b => |a, b: T| spd::geodesic(a, b, t as T))
}

/// `M^{1/2} log(M^{-1/2} X M^{-1/2}) M^{1/2}`.
#[pyfunction]
fn log_map<'py>(py: Python<'py>, m: Stack<'py>, x: Stack<'py>) -> PyResult<Bound<'py, PyAny>> {
    on_stack!(py, give, m, x => |m, x: T| spd::log_map(m, x))
}

/// `M^{1/2} exp(M^{-1/2} V M^{-1/2}) M^{1/2}`.
#[pyfunction]
fn exp_map<'py>(py: Python<'py>, m: Stack<'py>, x: Stack<'py>) -> PyResult<Bound<'py, PyAny>> {
    on_stack!(py, give, m, x => |m, x: T| spd::exp_map(m, x))
}

/// `M^{-1/2} X M^{-1/2}`.
#[pyfunction]
fn recentre<'py>(py: Python<'py>, m: Stack<'py>, x: Stack<'py>) -> PyResult<Bound<'py, PyAny>> {
    on_stack!(py, give, m, x => |m, x: T| spd::recentre(m, x))
}

/// `tr(M⁻¹ U M⁻¹ V)`; without `v`, of `u` and itself.
#[pyfunction]
#[pyo3(signature = (m, u, v=None))]
fn inner_product<'py>(
    py: Python<'py>,
    m: Stack<'py>,
    u: Stack<'py>,
    v: Option<Stack<'py>>,
) -> PyResult<Bound<'py, PyAny>> {
    let Some(v) = v else {
        return on_stack!(py, give_vec, m, u => |m, u: T| spd::inner_product(m, u, None));
    };
    match (&m, &u, &v) {
        (Stack::F64(m), Stack::F64(u), Stack::F64(v)) => {
            let [m, u, v] = [view(m)?, view(u)?, view(v)?];
            give_vec(py, run(py, || spd::inner_product(m, u, Some(v)))?)
        }
        (Stack::F32(m), Stack::F32(u), Stack::F32(v)) => {
            let [m, u, v] = [view(m)?, view(u)?, view(v)?];
            give_vec(py, run(py, || spd::inner_product(m, u, Some(v)))?)
        }
        _ => Err(mixed_precision()),
    }
}

/// `log(M^{-1/2} X M^{-1/2})`.
#[pyfunction]
fn whitened_log<'py>(py: Python<'py>, m: Stack<'py>, x: Stack<'py>) -> PyResult<Bound<'py, PyAny>> {
    on_stack!(py, give, m, x => |m, x: T| spd::whitened_log(m, x))
}

/// `upper(log(M^{-1/2} X M^{-1/2}))`, `count × 1 × n(n+1)/2`.
#[pyfunction]
fn tangent_space<'py>(
    py: Python<'py>,
    m: Stack<'py>,
    x: Stack<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    on_stack!(py, give, m, x => |m, x: T| spd::tangent_space(m, x))
}

/// `M^{1/2} exp(V) M^{1/2}` of symmetric matrices.
#[pyfunction]
fn coloured_exp<'py>(py: Python<'py>, m: Stack<'py>, v: Stack<'py>) -> PyResult<Bound<'py, PyAny>> {
    on_stack!(py, give, m, v => |m, v: T| spd::coloured_exp(m, v))
}

/// The same of tangent vectors `count × 1 × n(n+1)/2`.
#[pyfunction]
fn untangent_space<'py>(
    py: Python<'py>,
    m: Stack<'py>,
    v: Stack<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    on_stack!(py, give, m, v => |m, v: T| spd::untangent_space(m, v))
}

/// The upper triangles, off-diagonals times √2, `count × 1 × n(n+1)/2`.
#[pyfunction]
fn upper<'py>(py: Python<'py>, x: Stack<'py>) -> PyResult<Bound<'py, PyAny>> {
    on_stack!(py, give, x => |x: T| spd::upper(x))
}

/// The inverse of `upper`.
#[pyfunction]
fn unupper<'py>(py: Python<'py>, v: Stack<'py>) -> PyResult<Bound<'py, PyAny>> {
    on_stack!(py, give, v => |v: T| spd::from_upper(v))
}

/// An error that names the first matrix that is not positive definite.
#[pyfunction]
fn check_spd<'py>(py: Python<'py>, x: Stack<'py>) -> PyResult<Bound<'py, PyAny>> {
    on_stack!(py, nothing, x => |x: T| spd::check_spd(x))
}

#[allow(clippy::unnecessary_wraps, reason = "the shape of `give`")]
fn nothing(py: Python<'_>, (): ()) -> PyResult<Bound<'_, PyAny>> {
    Ok(py.None().into_bound(py))
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(spectral, module)?)?;
    module.add_function(wrap_pyfunction!(distance, module)?)?;
    module.add_function(wrap_pyfunction!(plain_distance, module)?)?;
    module.add_function(wrap_pyfunction!(pairwise_distance, module)?)?;
    module.add_function(wrap_pyfunction!(mutual_distance, module)?)?;
    module.add_function(wrap_pyfunction!(mean, module)?)?;
    module.add_function(wrap_pyfunction!(plain_mean, module)?)?;
    module.add_function(wrap_pyfunction!(geodesic, module)?)?;
    module.add_function(wrap_pyfunction!(blend, module)?)?;
    module.add_function(wrap_pyfunction!(log_map, module)?)?;
    module.add_function(wrap_pyfunction!(exp_map, module)?)?;
    module.add_function(wrap_pyfunction!(sandwich, module)?)?;
    module.add_function(wrap_pyfunction!(recentre, module)?)?;
    module.add_function(wrap_pyfunction!(inner_product, module)?)?;
    module.add_function(wrap_pyfunction!(whitened_log, module)?)?;
    module.add_function(wrap_pyfunction!(tangent_space, module)?)?;
    module.add_function(wrap_pyfunction!(coloured_exp, module)?)?;
    module.add_function(wrap_pyfunction!(untangent_space, module)?)?;
    module.add_function(wrap_pyfunction!(upper, module)?)?;
    module.add_function(wrap_pyfunction!(unupper, module)?)?;
    module.add_function(wrap_pyfunction!(check_spd, module)?)
}
