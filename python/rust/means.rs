//! Means and medians that are found step by step.

use crate::array::{Stack, give, on_stack};
use crate::error::value_error;
use crate::spd::cast;
use pyo3::prelude::*;
use stiefel::geometry::Result;
use stiefel::geometry::spd::{self, FrechetMean, FrechetOptions, FrechetReport, RecursiveMean};
use stiefel::geometry::tolerance::frechet_floor;
use stiefel::linalg::{MatBatch, MatView, Scalar};

/// What Python gets: the mean, the steps taken, the residual, and whether it met the tolerance.
type Found<'py> = (Bound<'py, PyAny>, usize, f64, bool);

/// A mean that is found step by step.
#[derive(Clone, Copy)]
enum Search {
    Frechet,
    Wasserstein,
    LogDet,
    Power,
    Thompson,
    Joint,
    Recursive(RecursiveMean),
    MedianEuclidean,
    MedianAffineInvariant,
}

impl Search {
    fn named(name: &str) -> PyResult<Self> {
        Ok(match name {
            "riemann" => Self::Frechet,
            "wasserstein" => Self::Wasserstein,
            "logdet" => Self::LogDet,
            "power" => Self::Power,
            "thompson" => Self::Thompson,
            "ale" => Self::Joint,
            "alm" => Self::Recursive(RecursiveMean::Alm),
            "bmp" => Self::Recursive(RecursiveMean::Bmp),
            "cheap" => Self::Recursive(RecursiveMean::Cheap),
            "median_euclid" => Self::MedianEuclidean,
            "median_riemann" => Self::MedianAffineInvariant,
            _ => return Err(value_error(format!("unknown mean {name:?}"))),
        })
    }

    /// The mean of a stack; `parameter` is the exponent of a power mean, the step size of a median.
    fn run<T: Scalar>(
        self,
        x: MatView<'_, T>,
        parameter: T,
        options: &FrechetOptions<'_, T>,
    ) -> Result<FrechetMean<T>> {
        match self {
            Self::Frechet => {
                let floor = frechet_floor::<T>();
                let positive = options.tolerance > T::ZERO;
                let options = FrechetOptions {
                    tolerance: if positive {
                        Scalar::max(options.tolerance, floor)
                    } else {
                        options.tolerance
                    },
                    ..*options
                };
                spd::frechet_mean(x, &options)
            }
            Self::Wasserstein => spd::mean_wasserstein(x, options),
            Self::LogDet => spd::mean_log_det(x, options),
            Self::Power => spd::mean_power(x, parameter, options),
            Self::Thompson => spd::mean_thompson(x, options),
            Self::Joint => spd::mean_joint(x, options),
            Self::Recursive(kind) => spd::mean_recursive(kind, x, options),
            Self::MedianEuclidean => spd::median_euclidean(x, options),
            Self::MedianAffineInvariant => spd::median_affine_invariant(x, parameter, options),
        }
    }
}

/// A row-major matrix from Python to start from.
fn start<T: Scalar>(x: MatView<'_, T>, start: Option<&[f64]>) -> Result<Option<MatBatch<T>>> {
    let Some(start) = start else {
        return Ok(None);
    };
    let values = start.iter().map(|&v| T::from_f64(v)).collect();
    Ok(Some(MatBatch::from_vec(1, x.rows(), x.cols(), values)?))
}

fn told(mean: Bound<'_, PyAny>, report: Option<FrechetReport>) -> Found<'_> {
    let (steps, residual, converged) = report.map_or((0, f64::NAN, false), |r| {
        (r.iterations, r.residual, r.converged)
    });
    (mean, steps, residual, converged)
}

/// The mean or median of a stack by its name, with how the search went.
#[pyfunction]
#[allow(
    clippy::too_many_arguments,
    reason = "named options in Python, one call here"
)]
fn iterated_mean<'py>(
    py: Python<'py>,
    x: Stack<'py>,
    name: &str,
    parameter: f64,
    weights: Option<Vec<f64>>,
    tolerance: f64,
    max_iterations: usize,
    start: Option<Vec<f64>>,
) -> PyResult<Found<'py>> {
    let search = Search::named(name)?;
    let mut report = None;
    let mean = on_stack!(py, give, x => |x: T| {
        let weights: Option<Vec<T>> = cast(weights.as_deref());
        let start = self::start::<T>(x, start.as_deref())?;
        let options = FrechetOptions {
            weights: weights.as_deref(),
            tolerance: tolerance as T,
            max_iterations,
            start: start.as_ref().map(MatBatch::view),
        };
        let found = search.run(x, parameter as T, &options)?;
        report = Some(found.report);
        Ok(found.mean)
    })?;
    Ok(told(mean, report))
}

/// The Fréchet mean of the known parts of a stack; masks are given as their number of columns and
/// their values, row by row.
#[pyfunction]
fn masked_mean<'py>(
    py: Python<'py>,
    x: Stack<'py>,
    masks: Vec<(usize, Vec<f64>)>,
    weights: Option<Vec<f64>>,
    tolerance: f64,
    max_iterations: usize,
    start: Option<Vec<f64>>,
) -> PyResult<Found<'py>> {
    let mut report = None;
    let mean = on_stack!(py, give, x => |x: T| {
        let weights: Option<Vec<T>> = cast(weights.as_deref());
        let start = self::start::<T>(x, start.as_deref())?;
        let masks = masks
            .iter()
            .map(|(cols, values)| {
                let values = values.iter().map(|&v| v as T).collect();
                MatBatch::from_vec(1, x.rows(), *cols, values)
            })
            .collect::<std::result::Result<Vec<_>, _>>()?;
        let options = FrechetOptions {
            weights: weights.as_deref(),
            tolerance: tolerance as T,
            max_iterations,
            start: start.as_ref().map(MatBatch::view),
        };
        let found = spd::masked_mean(x, &masks, &options)?;
        report = Some(found.report);
        Ok(found.mean)
    })?;
    Ok(told(mean, report))
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(iterated_mean, module)?)?;
    module.add_function(wrap_pyfunction!(masked_mean, module)?)
}
