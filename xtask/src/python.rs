//! The Python package in `cargo xtask test`: an environment of its own, the package built into it, its tests.

use crate::chore::{Step, step};
use std::env;
use std::path::Path;

/// Where it is installed, below the workspace root.
const ENVIRONMENT: &str = "target/python-venv";

/// Environment, requirements, package, pytest.
pub(crate) fn tests() -> Vec<Step> {
    let folder = if cfg!(windows) { "Scripts" } else { "bin" };
    let python = Path::new(ENVIRONMENT).join(folder).join("python");
    let system = env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let requirements = "python/requirements-test.txt";
    let pip = ["-m", "pip", "install", "--quiet"];
    let mut package = step(
        "Python package",
        &python,
        pip.into_iter().chain(["--no-build-isolation", "./python"]),
    );
    // The development profile is optimised, has its checks on, and takes minutes less than a release.
    package.command.env("MATURIN_PEP517_ARGS", "--profile dev");
    // maturin is found where the environment put it.
    let found = env::var_os("PATH").unwrap_or_default();
    let tools = crate::chore::root().join(ENVIRONMENT).join(folder);
    if let Ok(path) = env::join_paths([tools].into_iter().chain(env::split_paths(&found))) {
        package.command.env("PATH", path);
    }
    vec![
        step("Python environment", system, ["-m", "venv", ENVIRONMENT]),
        step(
            "Python requirements",
            &python,
            pip.into_iter().chain(["-r", requirements]),
        ),
        package,
        step("Python tests", &python, ["-m", "pytest", "-q", "python"]),
    ]
}
