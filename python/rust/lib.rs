//! The Rust side of the Python package `stiefel`: `stiefel._core`.
//!
//! Nothing here is meant for users: the modules of the package check and shape their arguments and
//! call these functions with C-contiguous arrays of one precision. Every function lets other Python
//! threads run while it computes, and mutates none of its arguments, but for the step of the
//! optimiser, whose points move where they lie.

#![allow(
    clippy::needless_pass_by_value,
    reason = "arguments that come from Python are extracted to owned values"
)]

mod array;
mod derivative;
mod eeg;
mod error;
mod labelled;
mod live;
mod manifold;
mod means;
mod metrics;
mod model;
mod prepare;
mod program;
mod scaling;
mod spd;
mod study;
mod threads;
mod torch;
mod torch_layer;
mod torch_model;
mod train;
mod watch;
mod whiten;

use pyo3::prelude::*;

/// The compiled core of the package.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    threads::add(module)?;
    spd::add(module)?;
    means::add(module)?;
    metrics::add(module)?;
    derivative::add(module)?;
    manifold::add(module)?;
    scaling::add(module)?;
    model::add(module)?;
    live::add(module)?;
    train::add(module)?;
    whiten::add(module)?;
    eeg::add(module)?;
    prepare::add(module)?;
    program::add(module)?;
    torch::add(module)?;
    torch_layer::add(module)?;
    torch_model::add(module)?;
    study::add(module)
}
