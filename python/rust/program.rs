//! The program `stiefel`, which the package brings along.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the program with the words of its command line, its own name first, and gives the exit
/// code.
#[pyfunction]
fn program(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| stiefel_cli::run(words))
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(program, module)?)
}
