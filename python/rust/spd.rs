//! SPD(n) over stacks: functions of eigenvalues, distances, means, geodesics, tangent spaces. A stack of one is broadcast.

use crate::array::{Stack, give, give_vec, on_stack};
use crate::error::value_error;
use crate::fast;
use pyo3::prelude::*;
use stiefel::geometry::Result;
use stiefel::geometry::spd::{self, FrechetOptions, FrechetReport, Metric, SpectralFn};
use stiefel::linalg::{MatBatch, MatView, Scalar, congruence, eigh};

fn spectral_fn<T: Scalar>(name: &str, parameter: f64) -> PyResult<SpectralFn<T>> {
    let parameter = T::from_f64(parameter);
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
    spectral_fn::<f64>(name, parameter)?;
    on_stack!(py, give, x => |x: T| {
        // The name was checked above.
        let f = spectral_fn::<T>(name, parameter).unwrap_or(SpectralFn::Log);
        spectral_value(f, x)
    })
}

/// `U f(λ) Uᵀ`; what is wrong with a matrix is for the careful function to say.
fn spectral_value<T: Scalar>(f: SpectralFn<T>, x: MatView<'_, T>) -> Result<MatBatch<T>> {
    if x.rows() != x.cols() || !fast::symmetric(x) {
        return spd::spectral_map(f, x).map(|s| s.value);
    }
    spectral_of_symmetric(f, x)
}

/// The same for matrices that are known to be symmetric and finite.
fn spectral_of_symmetric<T: Scalar>(f: SpectralFn<T>, x: MatView<'_, T>) -> Result<MatBatch<T>> {
    let eigen = eigh(x)?;
    if f.needs_spd() {
        spd::check_spectrum(f.name(), x.rows(), &eigen.values)?;
    }
    Ok(fast::apply(f, &eigen))
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
    on_stack!(py, give_vec, a, b => |a, b: T| {
        let short = match metric {
            Metric::AffineInvariant => fast::distance_riemann(a, b),
            Metric::BuresWasserstein => fast::distance_wasserstein(a, b),
            Metric::LogEuclidean => {
                let a = spectral_value(SpectralFn::Log, a)?;
                let b = spectral_value(SpectralFn::Log, b)?;
                return spd::distance(Metric::Euclidean, a.view(), b.view());
            }
            _ => None,
        };
        short.map_or_else(|| spd::distance(metric, a, b), Ok)
    })
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
    on_stack!(py, give, a, b => |a, b: T| {
        let short = match metric {
            Metric::AffineInvariant => fast::pairwise_riemann(a, b),
            _ => None,
        };
        short.map_or_else(|| spd::pairwise_distances(metric, a, b), Ok)
    })
}

/// All distances within a stack.
#[pyfunction]
fn mutual_distance<'py>(py: Python<'py>, x: Stack<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let metric = metric(name)?;
    on_stack!(py, give, x => |x: T| {
        let short = match metric {
            Metric::AffineInvariant => fast::mutual_riemann(x),
            _ => None,
        };
        short.map_or_else(|| spd::mutual_distances(metric, x), Ok)
    })
}

/// The mean of a stack under a closed formula.
#[pyfunction]
fn mean<'py>(
    py: Python<'py>,
    x: Stack<'py>,
    name: &str,
    weights: Option<Vec<f64>>,
) -> PyResult<Bound<'py, PyAny>> {
    let log = match metric(name)? {
        Metric::Euclidean => false,
        Metric::LogEuclidean => true,
        _ => {
            return Err(value_error(format!(
                "the {name} mean has no closed formula"
            )));
        }
    };
    on_stack!(py, give, x => |x: T| {
        let weights: Option<Vec<T>> = cast(weights.as_deref());
        if log {
            let logs = spectral_value(SpectralFn::Log, x)?;
            spectral_value(
                SpectralFn::Exp,
                spd::mean_euclidean(logs.view(), weights.as_deref())?.view(),
            )
        } else {
            spd::mean_euclidean(x, weights.as_deref())
        }
    })
}

fn cast<T: Scalar>(weights: Option<&[f64]>) -> Option<Vec<T>> {
    weights.map(|w| w.iter().map(|&w| T::from_f64(w)).collect())
}

/// The Fréchet mean of the affine-invariant metric with the evaluations used, the residual and whether it met the tolerance.
#[pyfunction]
fn frechet_mean<'py>(
    py: Python<'py>,
    x: Stack<'py>,
    weights: Option<Vec<f64>>,
    tolerance: f64,
    max_iterations: usize,
) -> PyResult<(Bound<'py, PyAny>, usize, f64, bool)> {
    let mut report: Option<FrechetReport> = None;
    let mean = on_stack!(py, give, x => |x: T| {
        let weights: Option<Vec<T>> = cast(weights.as_deref());
        let options = FrechetOptions {
            weights: weights.as_deref(),
            tolerance: T::from_f64(tolerance),
            max_iterations,
        };
        let found = spd::frechet_mean(x, &options)?;
        report = Some(found.report);
        Ok(found.mean)
    })?;
    let report = report.map_or((0, f64::NAN, false), |r| {
        (r.iterations, r.residual, r.converged)
    });
    Ok((mean, report.0, report.1, report.2))
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

/// A map with a foot point `m`.
macro_rules! at_point {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[pyfunction]
        fn $name<'py>(py: Python<'py>, m: Stack<'py>, x: Stack<'py>) -> PyResult<Bound<'py, PyAny>> {
            on_stack!(py, give, m, x => |m, x: T| spd::$name(m, x))
        }
    };
}

at_point!(
    /// `M^{1/2} log(M^{-1/2} X M^{-1/2}) M^{1/2}`.
    log_map
);
at_point!(
    /// `M^{1/2} exp(M^{-1/2} V M^{-1/2}) M^{1/2}`.
    exp_map
);
/// `M^{-1/2} X M^{-1/2}`.
#[pyfunction]
fn recentre<'py>(py: Python<'py>, m: Stack<'py>, x: Stack<'py>) -> PyResult<Bound<'py, PyAny>> {
    on_stack!(py, give, m, x => |m, x: T| recentred(m, x))
}

/// `upper(log(M^{-1/2} X M^{-1/2}))`, `count × 1 × n(n+1)/2`.
#[pyfunction]
fn tangent_space<'py>(
    py: Python<'py>,
    m: Stack<'py>,
    x: Stack<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    on_stack!(py, give, m, x => |m, x: T| {
        spd::upper(spectral_of_symmetric(SpectralFn::Log, recentred(m, x)?.view())?.view())
    })
}

/// `M^{1/2} exp(V) M^{1/2}` of symmetric matrices.
#[pyfunction]
fn coloured_exp<'py>(py: Python<'py>, m: Stack<'py>, v: Stack<'py>) -> PyResult<Bound<'py, PyAny>> {
    on_stack!(py, give, m, v => |m, v: T| {
        let exp = spectral_value(SpectralFn::Exp, v)?;
        around(&spd::sqrt(m)?, exp.view())
    })
}

fn recentred<T: Scalar>(m: MatView<'_, T>, x: MatView<'_, T>) -> Result<MatBatch<T>> {
    if fast::symmetric(x) {
        around(&spd::inv_sqrt(m)?, x)
    } else {
        spd::recentre(m, x)
    }
}

/// `R_i X_i R_i`, symmetric `R`; one for all where there is one.
fn around<T: Scalar>(root: &MatBatch<T>, x: MatView<'_, T>) -> Result<MatBatch<T>> {
    let same_size = root.rows() == x.rows() && x.rows() == x.cols();
    if same_size && (root.count() == 1 || x.count() == 1 || root.count() == x.count()) {
        return Ok(fast::both_sides(root.view(), x));
    }
    // It says what does not fit.
    Ok(congruence(root.view(), x)?)
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
    module.add_function(wrap_pyfunction!(pairwise_distance, module)?)?;
    module.add_function(wrap_pyfunction!(mutual_distance, module)?)?;
    module.add_function(wrap_pyfunction!(mean, module)?)?;
    module.add_function(wrap_pyfunction!(frechet_mean, module)?)?;
    module.add_function(wrap_pyfunction!(geodesic, module)?)?;
    module.add_function(wrap_pyfunction!(log_map, module)?)?;
    module.add_function(wrap_pyfunction!(exp_map, module)?)?;
    module.add_function(wrap_pyfunction!(recentre, module)?)?;
    module.add_function(wrap_pyfunction!(tangent_space, module)?)?;
    module.add_function(wrap_pyfunction!(coloured_exp, module)?)?;
    module.add_function(wrap_pyfunction!(upper, module)?)?;
    module.add_function(wrap_pyfunction!(unupper, module)?)?;
    module.add_function(wrap_pyfunction!(check_spd, module)?)
}
