//! Chores: steps in order, the first that fails ends them.

use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Instant;

/// One step of a chore: what to say, and the command with its arguments.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) command: Command,
}

/// A command run from the workspace root.
pub(crate) fn step(
    name: &'static str,
    program: impl AsRef<OsStr>,
    arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
) -> Step {
    let mut command = Command::new(program);
    command.args(arguments);
    Step { name, command }
}

/// A cargo call from the workspace root.
pub(crate) fn cargo(name: &'static str, arguments: &[&str]) -> Step {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    step(name, cargo, arguments)
}

/// The workspace root.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Runs the steps in order, `beside` at the same time as the first ones and to its end before
/// `then`.
pub(crate) fn run(first: Vec<Step>, beside: Vec<Step>, then: Vec<Step>) -> ExitCode {
    let start = Instant::now();
    let waiting = std::thread::spawn(|| in_order(beside));
    let done = in_order(first);
    let waited = waiting.join().unwrap_or(false);
    if !(done && waited && in_order(then)) {
        return ExitCode::FAILURE;
    }
    println!("── done in {:.0} s", start.elapsed().as_secs_f64());
    ExitCode::SUCCESS
}

/// Whether all of them succeeded; the first that fails is the last.
fn in_order(steps: Vec<Step>) -> bool {
    for mut step in steps {
        println!("── {}", step.name);
        let begin = Instant::now();
        match step.command.current_dir(root()).status() {
            Ok(status) if status.success() => {
                println!("── {}: {:.0} s", step.name, begin.elapsed().as_secs_f64());
            }
            Ok(status) => {
                eprintln!("── {} failed ({status}): {:?}", step.name, step.command);
                return false;
            }
            Err(error) => {
                eprintln!(
                    "── {} did not start: {error}: {:?}",
                    step.name, step.command
                );
                return false;
            }
        }
    }
    true
}

/// The target that cargo builds for here, as in `x86_64-unknown-linux-gnu`.
pub(crate) fn host() -> Result<String, String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .arg("-vV")
        .output()
        .map_err(|error| format!("rustc did not start: {error}"))?;
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .ok_or_else(|| "rustc -vV does not name its host".into())
}
