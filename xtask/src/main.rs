//! The project's chores as cargo commands: `cargo xtask test`, `cargo xtask bench`, `cargo xtask layers`, `cargo xtask memcheck`.

mod bench;
mod chore;
mod layers;
mod memcheck;
mod python;

use chore::{Step, cargo, run};
use std::env;
use std::process::ExitCode;

const HELP: &str = "\
cargo xtask <command>

  test            everything that must hold: format, lints, layers, tests, doc tests, documentation, the Python package (installed
                  under target/python-venv; needs python3)
  bench           timings of the kernels, the training step, the Fréchet mean, several trainings at once, the extensions,
                  the preset and the peers
  bench --peers   the same, and beside pyRiemann and PyTorch (installed under target/peers; needs python3)
  layers          whether the modules of each crate form layers without a circle
  memcheck        the tests of stiefel-linalg under valgrind
";

/// The Rust side.
fn test() -> Vec<Step> {
    let mut documentation = cargo(
        "documentation",
        &[
            "doc",
            "--workspace",
            "--no-deps",
            "--document-private-items",
            "--quiet",
        ],
    );
    documentation.command.env("RUSTDOCFLAGS", "-D warnings");
    // The same cases on every run, so that a change is judged by what it changed; a plain `cargo test` draws new ones.
    let mut tests = cargo("tests and doc tests", &["test", "--workspace", "--quiet"]);
    tests.command.env("PROPTEST_RNG_SEED", "1");
    vec![
        cargo("format", &["fmt", "--all", "--check"]),
        cargo(
            "lints",
            &[
                "clippy",
                "--workspace",
                "--all-targets",
                "--quiet",
                "--",
                "-D",
                "warnings",
            ],
        ),
        cargo("layers", &["run", "--quiet", "-p", "xtask", "--", "layers"]),
        tests,
        documentation,
    ]
}

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let steps = match words[..] {
        ["layers"] => return layers::check(),
        ["test"] => return run(test(), python::environment(), python::tests()),
        ["bench"] => Ok(bench::benchmarks()),
        ["bench", "--peers"] => Ok(bench::benchmarks()
            .into_iter()
            .chain(bench::peers())
            .collect()),
        ["memcheck"] => memcheck::memcheck(),
        _ => {
            eprint!("{HELP}");
            return ExitCode::from(2);
        }
    };
    match steps {
        Ok(steps) => run(steps, vec![], vec![]),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
