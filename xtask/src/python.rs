//! The Python package in `cargo xtask test`: an environment of its own, the package built into it, its tests.

use crate::chore::{Step, step};
use std::env;
use std::path::{Path, PathBuf};

/// Where it is installed, below the workspace root.
const ENVIRONMENT: &str = "target/python-venv";

/// What its tests need of others: an environment and the packages they run beside. Takes no part of the workspace.
pub(crate) fn environment() -> Vec<Step> {
    let system = env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let requirements = "python/requirements-test.txt";
    vec![
        step("Python environment", system, ["-m", "venv", ENVIRONMENT]),
        step(
            "Python requirements",
            interpreter(),
            // Modules are compiled when they are imported; most never are.
            PIP.into_iter().chain(["--no-compile", "-r", requirements]),
        ),
    ]
}

/// Package and pytest.
pub(crate) fn tests() -> Vec<Step> {
    let mut package = step(
        "Python package",
        interpreter(),
        PIP.into_iter().chain(["--no-build-isolation", "./python"]),
    );
    // The development profile is optimised, has its checks on, and takes minutes less than a release; with the features of the
    // workspace, the tests of which have been built with it before, it takes minutes less again.
    let build = "--profile dev --features as-in-workspace";
    package.command.env("MATURIN_PEP517_ARGS", build);
    // maturin is found where the environment put it.
    let found = env::var_os("PATH").unwrap_or_default();
    let tools = crate::chore::root().join(ENVIRONMENT).join(folder());
    if let Ok(path) = env::join_paths([tools].into_iter().chain(env::split_paths(&found))) {
        package.command.env("PATH", path);
    }
    vec![
        package,
        step(
            "Python tests",
            interpreter(),
            ["-m", "pytest", "-q", "python"],
        ),
    ]
}

const PIP: [&str; 4] = ["-m", "pip", "install", "--quiet"];

fn folder() -> &'static str {
    if cfg!(windows) { "Scripts" } else { "bin" }
}

fn interpreter() -> PathBuf {
    Path::new(ENVIRONMENT).join(folder()).join("python")
}
