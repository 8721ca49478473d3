//! The project's chores as cargo commands; `cargo xtask` lists them.

#[cfg(test)]
mod alone;
mod bench;
mod chore;
mod dist;
mod docs;
#[cfg(test)]
mod equations;
mod header;
mod layers;
mod memcheck;
mod notes;
mod python;
mod sets;
#[cfg(test)]
mod toy;
#[cfg(test)]
mod versions;

use chore::{Step, cargo, run, step};
use std::env;
use std::process::ExitCode;

const HELP: &str = "\
cargo xtask <command>

  test            everything that must hold: format, lints, layers, tests, doc tests, other \
                    instruction sets, documentation, the Python package (installed
                  under target/python-venv; needs python3)
  test --torch    the same, and the tests of stiefel.torch beside PyTorch (installed under \
                    target/torch-venv, several gigabytes)
  test --docs     the same, and the documentation (installed under target/docs-venv)
  docs            the documentation as a site, target/docs/html: pages, executed gallery, rustdoc, \
                    links (needs python3)
  torch           the tests of stiefel.torch alone
  bench           timings of the kernels, the training step, the Fréchet mean, several trainings \
                    at once, the extensions,
                  CHOIR and the peers
  bench --peers   the same, and beside pyRiemann and PyTorch (installed under target/peers; needs \
                    python3)
  audit           licences and known defects of all dependencies, by cargo-deny, which is \
                    installed below target if it is not there
  dist            a release below target/dist: wheel with the program inside, sources, the program \
                    alone, sums (needs python3)
  dist --check    whether that wheel, in a new environment and without Rust, runs the \
                    demonstration and the gallery
  layers          whether the modules of each crate form layers without a circle
  fuzz [--minutes N] [--inputs N] [--seed N] [READER …] [--keep]
                  damaged files for N minutes, or N of them, with every reader (edf, gdf, \
                    brainvision, fif, mat5, mat73, xdf, bci2000,
                  csv, numpy)
  generate        docs/settings.md and the stub of stiefel.model, from the settings of the models
  header          the header of the C interface, written anew (installs cbindgen under \
                    target/tools)
  sets            the tests of the kernels and of what is made of them, again under each \
                    instruction set of this CPU; a part of test
  version, notes  the version, and what CHANGELOG.md says of it
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
    // The same cases on every run, so that a change is judged by what it changed; a plain `cargo
    // test` draws new ones.
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
        // The other members ask for downloads; the first build of a clone goes without them.
        cargo(
            "lints of the program without downloads",
            &[
                "clippy",
                "-p",
                "stiefel-cli",
                "--quiet",
                "--",
                "-D",
                "warnings",
            ],
        ),
        cargo("layers", &["run", "--quiet", "-p", "xtask", "--", "layers"]),
        tests,
        sets::step(),
        documentation,
    ]
}

/// Licences and advisories; needs the network for the list of advisories.
fn audit() -> Vec<Step> {
    let install = [
        "install",
        "--quiet",
        "--locked",
        "cargo-deny@0.20.2",
        "--root",
        "target/tools",
    ];
    let mut check = step(
        "licences and advisories",
        "target/tools/bin/cargo-deny",
        ["--all-features", "check"],
    );
    check.command.env("CARGO_TERM_COLOR", "never");
    vec![cargo("cargo-deny", &install), check]
}

/// The harness is an example of the crate of readers, optimised, with checks of overflow.
fn fuzz(rest: &[&str]) -> Step {
    let run = [
        "run",
        "--quiet",
        "-p",
        "stiefel-formats",
        "--example",
        "fuzz_readers",
        "--",
    ];
    let words: Vec<&str> = run.into_iter().chain(rest.iter().copied()).collect();
    cargo("damaged files", &words)
}

/// Prints a text, or the error in its place.
fn say(text: Result<String, String>) -> ExitCode {
    match text {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Files that are made from the settings; a test of the program compares them.
fn generate() -> Step {
    let run = [
        "run",
        "--quiet",
        "-p",
        "stiefel-cli",
        "--",
        "generate",
        "settings",
        ".",
    ];
    cargo("files made from settings", &run)
}

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let steps = match words[..] {
        ["layers"] => return layers::check(),
        ["header"] => return header::write(),
        ["generate"] => Ok(vec![generate()]),
        ["sets"] => return sets::run(),
        ["version"] => return say(Ok(env!("CARGO_PKG_VERSION").to_owned())),
        ["notes"] => return say(notes::notes()),
        ["test", ref beside @ ..] if beside.iter().all(|b| ["--torch", "--docs"].contains(b)) => {
            let (mut environments, mut tests) = (python::environment(), python::tests());
            if beside.contains(&"--torch") {
                environments.extend(python::torch_environment());
                tests.extend(python::torch_tests());
            }
            if beside.contains(&"--docs") {
                environments.extend(docs::environment());
                tests.extend(docs::pages());
            }
            return run(test(), environments, tests);
        }
        ["docs"] => return run(docs::environment(), vec![], docs::pages()),
        ["torch"] => {
            let steps = python::torch_environment().into_iter();
            Ok(steps.chain(python::torch_tests()).collect())
        }
        ["bench"] => Ok(bench::benchmarks()),
        ["bench", "--peers"] => Ok(bench::benchmarks()
            .into_iter()
            .chain(bench::peers())
            .collect()),
        ["audit"] => Ok(audit()),
        ["dist"] => dist::dist(),
        ["dist", "--check"] => dist::check(),
        ["fuzz", ref rest @ ..] => Ok(vec![fuzz(rest)]),
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
