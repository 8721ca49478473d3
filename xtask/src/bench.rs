//! `cargo xtask bench`: the Rust benchmarks, and on request the side-by-sides with Python peers in
//! an environment of their own.

use crate::chore::{Step, cargo, step};
use std::env;
use std::path::Path;

/// Where the peers are installed, below the workspace root.
const ENVIRONMENT: &str = "target/peers";

/// The Rust benchmarks: the binary, and the tests marked as measurements.
pub(crate) fn benchmarks() -> Vec<Step> {
    vec![
        cargo(
            "benchmarks",
            &["run", "--release", "--quiet", "--package", "stiefel-bench"],
        ),
        // Measurements that need what only tests have at hand; one after the other, or they would
        // measure each other.
        cargo(
            "measurements among the tests",
            &[
                "test",
                "--release",
                "--quiet",
                "--package",
                "stiefel-model",
                "--package",
                "stiefel-study",
                "--test",
                "it",
                "--",
                "--ignored",
                "--nocapture",
                "--test-threads=1",
            ],
        ),
        cargo(
            "six hours of live signal",
            &[
                "test",
                "--release",
                "--quiet",
                "--package",
                "stiefel-live",
                "--test",
                "live_soak",
                "--",
                "--ignored",
                "--nocapture",
            ],
        ),
    ]
}

/// pyRiemann, PyTorch and spd_learn beside the same binary.
pub(crate) fn peers() -> Vec<Step> {
    let folder = if cfg!(windows) { "Scripts" } else { "bin" };
    let python = Path::new(ENVIRONMENT).join(folder).join("python");
    let requirements = "benchmarks/requirements.txt";
    let system = env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    vec![
        step("environment", system, ["-m", "venv", ENVIRONMENT]),
        step(
            "peers",
            &python,
            ["-m", "pip", "install", "--quiet", "-r", requirements],
        ),
        step(
            "Fréchet mean beside pyRiemann",
            &python,
            ["benchmarks/frechet.py"],
        ),
        step(
            "PyTorch model against the golden files",
            &python,
            ["benchmarks/step_pytorch.py", "--check"],
        ),
        step(
            "CHOIR with ten views beside scikit-learn",
            &python,
            ["benchmarks/views.py"],
        ),
        step(
            "training step beside PyTorch",
            &python,
            ["benchmarks/step_pytorch.py"],
        ),
        step(
            "Python package",
            &python,
            ["-m", "pip", "install", "--quiet", "./python"],
        ),
        step(
            "modules of PyTorch beside spd_learn's",
            &python,
            ["benchmarks/step_modules.py"],
        ),
        step(
            "functions beside pyRiemann, one matrix",
            &python,
            ["python/benchmarks/functions.py", "--single"],
        ),
        // The last one: it ends in an error where a function is slower than it should be.
        step(
            "functions beside pyRiemann, 1,000 matrices",
            &python,
            ["python/benchmarks/functions.py"],
        ),
    ]
}
