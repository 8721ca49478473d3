//! How many threads a call may use: a pool per number of threads and process, so that a forked
//! child never waits for threads that stayed with its parent.

use crate::error::value_error;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use stiefel::linalg::on_this_thread;

/// Threads of the functions; estimators have `n_jobs`.
static FUNCTIONS: AtomicUsize = AtomicUsize::new(1);

type Pools = HashMap<(u32, usize), Arc<ThreadPool>>;
static POOLS: LazyLock<Mutex<Pools>> = LazyLock::new(Mutex::default);

/// The pool of this process with so many threads.
pub(crate) fn pool(threads: usize) -> PyResult<Arc<ThreadPool>> {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (std::process::id(), threads);
    if let Some(pool) = pools.get(&key) {
        return Ok(Arc::clone(pool));
    }
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(value_error)?;
    let pool = Arc::new(pool);
    pools.insert(key, Arc::clone(&pool));
    Ok(pool)
}

/// Runs a function of the geometry without the interpreter lock, on as many threads as functions
/// may use. One is the calling one: to wake another and wait for it takes longer than a
/// small matrix.
pub(crate) fn run<R: Send>(
    py: Python<'_>,
    f: impl FnOnce() -> stiefel::geometry::Result<R> + Send,
) -> PyResult<R> {
    let threads = FUNCTIONS.load(Ordering::Relaxed);
    if threads == 1 {
        return py.detach(|| on_this_thread(f)).map_err(value_error);
    }
    let pool = pool(threads)?;
    py.detach(|| pool.install(f)).map_err(value_error)
}

/// Set how many threads the functions of :mod:`stiefel.spd` and :mod:`stiefel.manifold` may use,
/// one unless told otherwise.
///
/// Parameters
/// ----------
/// threads : int
///     How many; results do not depend on it. Estimators have ``n_jobs``.
///
/// Examples
/// --------
/// >>> import stiefel
/// >>> stiefel.set_num_threads(2)
/// >>> stiefel.get_num_threads()
/// 2
/// >>> stiefel.set_num_threads(1)
#[pyfunction]
fn set_num_threads(threads: usize) -> PyResult<()> {
    if threads == 0 {
        return Err(value_error("at least one thread is needed, got 0"));
    }
    FUNCTIONS.store(threads, Ordering::Relaxed);
    Ok(())
}

/// How many threads the functions of :mod:`stiefel.spd` and :mod:`stiefel.manifold` may use.
///
/// Returns
/// -------
/// threads : int
///     How many.
///
/// Examples
/// --------
/// >>> import stiefel
/// >>> stiefel.get_num_threads()
/// 1
#[pyfunction]
fn get_num_threads() -> usize {
    FUNCTIONS.load(Ordering::Relaxed)
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(set_num_threads, module)?)?;
    module.add_function(wrap_pyfunction!(get_num_threads, module)?)
}
