//! The operations of the tape for PyTorch, which keeps the graph: `y = f(x, …)` now, the pull-back
//! later.
//!
//! Inputs are NumPy views of tensors, `count × rows × cols` and C-contiguous, read where they lie;
//! results are new arrays that nobody copies. What the pull-back needs stays here, in an
//! [`PyApplied`]. Every call lets other Python threads run, and says how many threads it may use.

use crate::array::{Stack, give, view};
use crate::error::{mixed_precision, model_error, value_error};
use crate::threads::pool;
use numpy::{Element, PyReadonlyArrayDyn, PyReadwriteArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use std::sync::{LazyLock, Mutex, PoisonError};
use stiefel::autodiff::{Applied, Arena, Kernel};
use stiefel::geometry::spd::SpectralFn;
use stiefel::linalg::{MatBatch, MatView, MatViewMut, Scalar, on_this_thread, worth_threads};
use stiefel::model::AdamConfig;

/// Bytes of idle buffers above which all are freed: those of a training step are used again, those
/// of a batch size that is gone are not kept for ever.
const IDLE_BYTES: usize = 256 << 20;

/// An operation that has been applied, with what its pull-back needs.
#[pyclass(module = "stiefel._core", name = "Applied", frozen)]
pub(crate) struct PyApplied {
    kept: Mutex<Kept>,
}

/// The same in either precision.
pub(crate) enum Kept {
    F64(Applied<f64>),
    F32(Applied<f32>),
}

/// What differs between the precisions.
pub(crate) trait Precision: Scalar + Element {
    fn of<'a>(x: &'a Stack<'_>) -> PyResult<MatView<'a, Self>>;
    fn keep(applied: Applied<Self>) -> Kept;
    fn kept(kept: &Kept) -> Option<&Applied<Self>>;
    fn arena() -> &'static Arena<Self>;
}

macro_rules! precision {
    ($t:ty, $variant:ident) => {
        impl Precision for $t {
            fn of<'a>(x: &'a Stack<'_>) -> PyResult<MatView<'a, Self>> {
                match x {
                    Stack::$variant(x) => view(x),
                    _ => Err(mixed_precision()),
                }
            }

            fn keep(applied: Applied<Self>) -> Kept {
                Kept::$variant(applied)
            }

            fn kept(kept: &Kept) -> Option<&Applied<Self>> {
                match kept {
                    Kept::$variant(applied) => Some(applied),
                    _ => None,
                }
            }

            fn arena() -> &'static Arena<Self> {
                static ARENA: LazyLock<Arena<$t>> = LazyLock::new(Arena::new);
                &ARENA
            }
        }
    };
}
precision!(f64, F64);
precision!(f32, F32);

/// An operation by the name that the Python functions have.
fn kernel<T: Scalar>(name: &str, parameter: f64) -> PyResult<Kernel<T>> {
    let parameter = T::from_f64(parameter);
    Ok(match name {
        "logm" => Kernel::Spectral(SpectralFn::Log),
        "expm" => Kernel::Spectral(SpectralFn::Exp),
        "sqrtm" => Kernel::Spectral(SpectralFn::Sqrt),
        "invsqrtm" => Kernel::Spectral(SpectralFn::InvSqrt),
        "powm" => Kernel::Spectral(SpectralFn::Pow(parameter)),
        "reeig" => Kernel::Spectral(SpectralFn::ReEig(parameter)),
        "reeig_log" => Kernel::Spectral(SpectralFn::ReLog(parameter)),
        "upper" => Kernel::Upper,
        "from_upper" => Kernel::FromUpper,
        "bimap" => Kernel::Congruence,
        "project_tangent" => Kernel::Project,
        "retract_qr" => Kernel::RetractQr,
        "retract_polar" => Kernel::RetractPolar,
        "squared_distance" => Kernel::SquaredDistance,
        "log_upper" => Kernel::LogVectors,
        "filtered_log" => Kernel::FilteredLog {
            retract: true,
            epsilon: parameter,
        },
        "filtered_log_of_points" => Kernel::FilteredLog {
            retract: false,
            epsilon: parameter,
        },
        _ => return Err(value_error(format!("unknown operation {name:?}"))),
    })
}

/// Runs without the interpreter lock: work that pays on the threads it may use, else on the calling
/// one, which then need not wait for another.
pub(crate) fn run<T: Scalar, R: Send>(
    py: Python<'_>,
    threads: usize,
    inputs: &[MatView<'_, T>],
    f: impl FnOnce() -> R + Send,
) -> PyResult<R> {
    let work = |x: &MatView<'_, T>| x.count() * x.rows() * x.cols() * x.rows().max(x.cols());
    if threads > 1 && worth_threads(inputs.iter().map(work).sum()) {
        let pool = pool(threads)?;
        return Ok(py.detach(|| pool.install(f)));
    }
    Ok(py.detach(|| on_this_thread(f)))
}

/// Frees idle buffers where there are too many of them.
pub(crate) fn tidy<T: Precision>() {
    if T::arena().idle_bytes() > IDLE_BYTES {
        T::arena().trim();
    }
}

fn applied<'py, T: Precision>(
    py: Python<'py>,
    kernel: Kernel<T>,
    inputs: &[Stack<'py>],
    keep: bool,
    threads: usize,
) -> PyResult<(Bound<'py, PyAny>, Option<PyApplied>)> {
    let views = inputs.iter().map(T::of).collect::<PyResult<Vec<_>>>()?;
    let arena = T::arena();
    let (value, applied) =
        run(py, threads, &views, || kernel.apply(&views, arena, keep))?.map_err(value_error)?;
    tidy::<T>();
    let kept = keep.then(|| PyApplied {
        kept: Mutex::new(T::keep(applied)),
    });
    Ok((give(py, value)?, kept))
}

/// Applies an operation by its name; with `keep`, gives what its pull-back needs as well.
#[pyfunction]
fn torch_apply<'py>(
    py: Python<'py>,
    name: &str,
    parameter: f64,
    inputs: Vec<Stack<'py>>,
    keep: bool,
    threads: usize,
) -> PyResult<(Bound<'py, PyAny>, Option<PyApplied>)> {
    match inputs.first() {
        Some(Stack::F32(_)) => applied::<f32>(py, kernel(name, parameter)?, &inputs, keep, threads),
        _ => applied::<f64>(py, kernel(name, parameter)?, &inputs, keep, threads),
    }
}

fn pulled<'py, T: Precision>(
    py: Python<'py>,
    kept: &Mutex<Kept>,
    inputs: &[Stack<'py>],
    [value, g]: [&Stack<'py>; 2],
    wanted: &[bool],
    threads: usize,
) -> PyResult<Vec<Option<Bound<'py, PyAny>>>> {
    let views = inputs.iter().map(T::of).collect::<PyResult<Vec<_>>>()?;
    let (value, g) = (T::of(value)?, T::of(g)?);
    let found = run(py, threads, &views, || {
        let kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let pull = |applied: &Applied<T>| applied.pull_back(&views, value, g, wanted);
        T::kept(&kept).map(pull).transpose()
    })?;
    let found = found.map_err(value_error)?;
    let found: Vec<Option<MatBatch<T>>> = found.ok_or_else(mixed_precision)?;
    let give = |x: Option<MatBatch<T>>| x.map(|x| give(py, x)).transpose();
    found.into_iter().map(give).collect()
}

#[pymethods]
impl PyApplied {
    /// The gradients in the inputs that are wanted, of a number whose gradient in the value is `g`.
    fn pull_back<'py>(
        &self,
        py: Python<'py>,
        inputs: Vec<Stack<'py>>,
        value: Stack<'py>,
        g: Stack<'py>,
        wanted: Vec<bool>,
        threads: usize,
    ) -> PyResult<Vec<Option<Bound<'py, PyAny>>>> {
        let ends = [&value, &g];
        match inputs.first() {
            Some(Stack::F32(_)) => pulled::<f32>(py, &self.kept, &inputs, ends, &wanted, threads),
            _ => pulled::<f64>(py, &self.kept, &inputs, ends, &wanted, threads),
        }
    }
}

/// Constants of Adam: step size, β₁, β₂ and ε.
type Constants = (f64, f64, f64, f64);

/// A parameter, its gradient, its two moments, the steps taken before, and whether it is a point of
/// the Stiefel manifold, `… × n × k`.
type Moving<'py, T> = (
    PyReadwriteArrayDyn<'py, T>,
    PyReadonlyArrayDyn<'py, T>,
    PyReadwriteArrayDyn<'py, T>,
    PyReadwriteArrayDyn<'py, T>,
    u64,
    bool,
);

/// Parameters of either precision.
#[derive(FromPyObject)]
enum Points<'py> {
    F64(Vec<Moving<'py, f64>>),
    F32(Vec<Moving<'py, f32>>),
}

fn moved<T: Precision>(
    py: Python<'_>,
    points: &mut [Moving<'_, T>],
    (learning_rate, beta1, beta2, epsilon): Constants,
    threads: usize,
) -> PyResult<()> {
    let config = AdamConfig {
        learning_rate,
        beta1,
        beta2,
        epsilon,
    };
    config.check().map_err(model_error)?;
    for (point, g, first, second, steps, curved) in points {
        if !*curved {
            let x = point.as_slice_mut().map_err(value_error)?;
            let first = first.as_slice_mut().map_err(value_error)?;
            let second = second.as_slice_mut().map_err(value_error)?;
            let g = g.as_slice().map_err(value_error)?;
            config
                .move_flat(x, g, first, second, *steps)
                .map_err(model_error)?;
            continue;
        }
        let (count, rows, cols) = match *g.shape() {
            [ref lead @ .., rows, cols] => (lead.iter().product(), rows, cols),
            _ => return Err(value_error("a point has at least two dimensions")),
        };
        let view = |x| MatViewMut::new(count, rows, cols, x).map_err(value_error);
        let mut point = view(point.as_slice_mut().map_err(value_error)?)?;
        let mut first = view(first.as_slice_mut().map_err(value_error)?)?;
        let mut second = view(second.as_slice_mut().map_err(value_error)?)?;
        let g = g.as_slice().map_err(value_error)?;
        let g = MatView::new(count, rows, cols, g).map_err(value_error)?;
        let step = || config.move_points(&mut point, g, &mut first, &mut second, *steps);
        run(py, threads, &[g], step)?.map_err(model_error)?;
    }
    Ok(())
}

/// One step of the core's Adam for parameters, which move where they lie, as their moments do.
#[pyfunction]
fn torch_adam_step(
    py: Python<'_>,
    points: Points<'_>,
    constants: Constants,
    threads: usize,
) -> PyResult<()> {
    match points {
        Points::F64(mut points) => moved(py, &mut points, constants, threads),
        Points::F32(mut points) => moved(py, &mut points, constants, threads),
    }
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyApplied>()?;
    module.add_function(wrap_pyfunction!(torch_adam_step, module)?)?;
    module.add_function(wrap_pyfunction!(torch_apply, module)?)
}
