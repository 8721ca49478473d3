//! The Python package in `cargo xtask test`: an environment of its own, the package built into it,
//! its tests.

use crate::chore::{Step, step};
use std::env;
use std::path::{Path, PathBuf};

/// Where it is installed, below the workspace root.
const ENVIRONMENT: &str = "target/python-venv";

/// Where it is installed beside PyTorch.
const TORCH_ENVIRONMENT: &str = "target/torch-venv";

/// What its tests need of others: an environment and the packages they run beside; and spelling,
/// whose tool is one of them. Takes no part of the workspace.
pub(crate) fn environment() -> Vec<Step> {
    let files = ["python/requirements-test.txt"];
    let mut steps = prepared("Python environment", ENVIRONMENT, &files);
    // Here, beside the compiler, because a word is found in a second and the tests take minutes.
    steps.push(spelling());
    steps
}

/// An environment with the packages that the files of requirements list.
pub(crate) fn prepared(name: &'static str, environment: &str, files: &[&str]) -> Vec<Step> {
    let system = env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let listed = files.iter().flat_map(|file| ["-r", file]);
    // Modules are compiled when they are imported; most never are.
    let install = PIP.into_iter().chain(["--no-compile"]).chain(listed);
    vec![
        step(name, system, ["-m", "venv", environment]),
        step("its requirements", interpreter(environment), install),
    ]
}

/// Spelling of everything that is tracked, by a tool that comes as a Python package; `typos.toml`
/// has its exceptions.
fn spelling() -> Step {
    let tool = Path::new(ENVIRONMENT).join(folder()).join("typos");
    step("spelling", tool, [] as [&str; 0])
}

/// Package and pytest.
pub(crate) fn tests() -> Vec<Step> {
    vec![
        package("Python package", ENVIRONMENT, &[]),
        step(
            "Python tests",
            interpreter(ENVIRONMENT),
            ["-m", "pytest", "-q", "python"],
        ),
    ]
}

/// An environment with PyTorch, for the tests that need it; it is large, and nobody else's tests
/// should notice it.
pub(crate) fn torch_environment() -> Vec<Step> {
    let files = ["python/requirements-torch.txt"];
    prepared("PyTorch environment", TORCH_ENVIRONMENT, &files)
}

/// Package and the tests of `stiefel.torch`.
pub(crate) fn torch_tests() -> Vec<Step> {
    vec![
        package(
            "Python package for PyTorch",
            TORCH_ENVIRONMENT,
            &["--no-deps"],
        ),
        step(
            "PyTorch tests",
            interpreter(TORCH_ENVIRONMENT),
            ["-m", "pytest", "-q", "python/tests/with_torch"],
        ),
    ]
}

/// Builds the package into an environment.
pub(crate) fn package(name: &'static str, environment: &str, options: &[&str]) -> Step {
    let here = ["--no-build-isolation", "./python"];
    let arguments = PIP.iter().chain(options).chain(&here);
    let mut package = step(name, interpreter(environment), arguments);
    // The development profile is optimised, has its checks on, and takes minutes less than a
    // release; with the features of the workspace, the tests of which have been built with it
    // before, it takes minutes less again.
    let build = "--profile dev --features as-in-workspace";
    package.command.env("MATURIN_PEP517_ARGS", build);
    // maturin is found where the environment put it.
    let found = env::var_os("PATH").unwrap_or_default();
    let tools = crate::chore::root().join(environment).join(folder());
    if let Ok(path) = env::join_paths([tools].into_iter().chain(env::split_paths(&found))) {
        package.command.env("PATH", path);
    }
    package
}

const PIP: [&str; 4] = ["-m", "pip", "install", "--quiet"];

fn folder() -> &'static str {
    if cfg!(windows) { "Scripts" } else { "bin" }
}

pub(crate) fn interpreter(environment: &str) -> PathBuf {
    Path::new(environment).join(folder()).join("python")
}
