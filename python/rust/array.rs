//! NumPy stacks `count × rows × cols`, C-contiguous, as batches, without a copy; batches as new
//! NumPy arrays, without a copy.

use crate::error::value_error;
use numpy::{Element, PyArray1, PyArrayMethods, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::prelude::*;
use stiefel::linalg::{MatBatch, MatView, Scalar};

/// A borrowed stack of matrices in either precision.
#[derive(FromPyObject)]
pub(crate) enum Stack<'py> {
    /// Double precision.
    F64(PyReadonlyArray3<'py, f64>),
    /// Single precision.
    F32(PyReadonlyArray3<'py, f32>),
}

/// The matrices of an array, where they lie.
pub(crate) fn view<'a, T: Scalar + Element>(
    x: &'a PyReadonlyArray3<'_, T>,
) -> PyResult<MatView<'a, T>> {
    let &[count, rows, cols] = x.shape() else {
        return Err(value_error("expected a stack of three dimensions"));
    };
    let data = x.as_slice().map_err(value_error)?;
    MatView::new(count, rows, cols, data).map_err(value_error)
}

/// One batch per view of matrices that stand view by view within each trial.
pub(crate) fn apart(x: MatView<'_, f64>, views: usize) -> PyResult<Vec<MatBatch<f64>>> {
    let (count, rows, cols) = x.shape();
    if views == 0 || !count.is_multiple_of(views) {
        return Err(value_error(format!(
            "{count} matrices are no trials of {views} views each"
        )));
    }
    let of = |v: usize| {
        let matrices = (0..count / views).flat_map(|i| x.matrix(i * views + v));
        MatBatch::from_vec(count / views, rows, cols, matrices.copied().collect())
    };
    let found: Result<Vec<_>, _> = (0..views).map(of).collect();
    found.map_err(value_error)
}

/// Trials as one stack, view by view within each.
pub(crate) fn together(trials: &stiefel::data::Trials) -> PyResult<MatBatch<f64>> {
    let (count, n, views) = (trials.len(), trials.channels_count(), trials.views());
    let matrices = (0..count).flat_map(|i| (0..views).flat_map(move |v| trials.view(v).matrix(i)));
    MatBatch::from_vec(count * views, n, n, matrices.copied().collect()).map_err(value_error)
}

/// A batch as a new array of its shape.
pub(crate) fn give<T: Scalar + Element>(
    py: Python<'_>,
    x: MatBatch<T>,
) -> PyResult<Bound<'_, PyAny>> {
    let (count, rows, cols) = x.shape();
    let flat = PyArray1::from_vec(py, x.into_vec());
    Ok(flat.reshape([count, rows, cols])?.into_any())
}

/// Values as a new one-dimensional array.
#[allow(clippy::unnecessary_wraps, reason = "the shape of `give`")]
pub(crate) fn give_vec<T: Element>(py: Python<'_>, x: Vec<T>) -> PyResult<Bound<'_, PyAny>> {
    Ok(PyArray1::from_vec(py, x).into_any())
}

/// A batch as a new array, or `None`.
pub(crate) fn give_some<T: Scalar + Element>(
    py: Python<'_>,
    x: Option<MatBatch<T>>,
) -> PyResult<Bound<'_, PyAny>> {
    x.map_or_else(|| Ok(py.None().into_bound(py)), |x| give(py, x))
}

/// Values as a new array, or `None`.
pub(crate) fn give_some_vec<T: Element>(
    py: Python<'_>,
    x: Option<Vec<T>>,
) -> PyResult<Bound<'_, PyAny>> {
    x.map_or_else(|| Ok(py.None().into_bound(py)), |x| give_vec(py, x))
}

/// Runs a function without the interpreter lock on the calling thread: for a pass over memory that
/// another thread would have to fetch first.
pub(crate) fn run_here<R: Send>(
    py: Python<'_>,
    f: impl FnOnce() -> stiefel::geometry::Result<R> + Send,
) -> PyResult<R> {
    py.detach(f).map_err(value_error)
}

/// Runs an expression on the view of one stack, or of two of one precision, in that precision,
/// without the interpreter lock, on as many threads as functions may use, or `here`, on the calling
/// one.
macro_rules! on_stack {
    (here $($rest:tt)*) => {
        on_stack!(@ crate::array::run_here; $($rest)*)
    };
    (@ $run:path; $py:expr, $give:path, $x:expr => |$v:ident: $t:ident| $body:expr) => {
        match &$x {
            Stack::F64(x) => {
                #[allow(dead_code, reason = "not every expression names its precision")]
                type $t = f64;
                let $v = crate::array::view(x)?;
                $give($py, $run($py, || $body)?)
            }
            Stack::F32(x) => {
                #[allow(dead_code, reason = "not every expression names its precision")]
                type $t = f32;
                let $v = crate::array::view(x)?;
                $give($py, $run($py, || $body)?)
            }
        }
    };
    (@ $run:path; $py:expr, $give:path, $a:expr, $b:expr => |$v:ident, $w:ident: $t:ident| $body:expr) => {
        match (&$a, &$b) {
            (Stack::F64(a), Stack::F64(b)) => {
                #[allow(dead_code, reason = "not every expression names its precision")]
                type $t = f64;
                let ($v, $w) = (crate::array::view(a)?, crate::array::view(b)?);
                $give($py, $run($py, || $body)?)
            }
            (Stack::F32(a), Stack::F32(b)) => {
                #[allow(dead_code, reason = "not every expression names its precision")]
                type $t = f32;
                let ($v, $w) = (crate::array::view(a)?, crate::array::view(b)?);
                $give($py, $run($py, || $body)?)
            }
            _ => Err(crate::error::mixed_precision()),
        }
    };
    ($($rest:tt)*) => {
        on_stack!(@ crate::threads::run; $($rest)*)
    };
}
pub(crate) use on_stack;
