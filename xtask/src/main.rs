//! The project's chores as cargo commands: `cargo xtask test`, `cargo xtask bench`.

use std::env;
use std::process::{Command, ExitCode};
use std::time::Instant;

const HELP: &str = "\
cargo xtask <command>

  test    everything that must hold: format, lints, tests, doc tests, documentation
  bench   side-by-side timings of the kernels, printed as ratios
";

/// One step of a chore: what to say, and the command with its arguments.
struct Step {
    name: &'static str,
    command: Command,
}

/// A cargo call from the workspace root.
fn cargo(name: &'static str, arguments: &[&str]) -> Step {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments);
    Step { name, command }
}

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
        cargo("tests and doc tests", &["test", "--workspace", "--quiet"]),
        documentation,
    ]
}

fn bench() -> Vec<Step> {
    vec![cargo(
        "benchmarks",
        &["run", "--release", "--quiet", "--package", "stiefel-bench"],
    )]
}

/// Runs the steps in order; the first that fails ends the chore.
fn run(steps: Vec<Step>) -> ExitCode {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let start = Instant::now();
    for mut step in steps {
        println!("── {}", step.name);
        let begin = Instant::now();
        match step.command.current_dir(root).status() {
            Ok(status) if status.success() => {
                println!("── {}: {:.0} s", step.name, begin.elapsed().as_secs_f64());
            }
            Ok(status) => {
                eprintln!("── {} failed ({status}): {:?}", step.name, step.command);
                return ExitCode::FAILURE;
            }
            Err(error) => {
                eprintln!(
                    "── {} did not start: {error}: {:?}",
                    step.name, step.command
                );
                return ExitCode::FAILURE;
            }
        }
    }
    println!("── done in {:.0} s", start.elapsed().as_secs_f64());
    ExitCode::SUCCESS
}

fn main() -> ExitCode {
    match env::args().nth(1).as_deref() {
        Some("test") => run(test()),
        Some("bench") => run(bench()),
        _ => {
            eprint!("{HELP}");
            ExitCode::from(2)
        }
    }
}
