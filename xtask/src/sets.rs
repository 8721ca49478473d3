//! `cargo xtask sets`: the tests of the kernels, and of geometry and tape on top of them, again
//! under each instruction set of this CPU.
//!
//! The set is chosen once per process (`STIEFEL_SIMD`), so a set is a run of the test programs. The
//! widest one is what `cargo test` has run. The programs are those that `cargo test --workspace`
//! builds: asked for crate by crate, cargo would choose other features of what they depend on, and
//! compile it again.

use crate::chore::{Step, cargo, root};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// The variable that fixes the set.
const VARIABLE: &str = "STIEFEL_SIMD";

/// The crates whose results depend on the set.
const CRATES: [&str; 3] = ["linalg", "geometry", "autodiff"];

/// This chore as a step of another one.
pub(crate) fn step() -> Step {
    cargo(
        "kernels under the other instruction sets",
        &["run", "--quiet", "-p", "xtask", "--", "sets"],
    )
}

/// Runs the test programs once per set, without the widest.
pub(crate) fn run() -> ExitCode {
    let programs = match programs() {
        Ok(programs) => programs,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    for set in narrower() {
        println!("── {set}");
        for (folder, program) in &programs {
            let mut command = Command::new(program);
            command.arg("--quiet").current_dir(folder);
            // The same cases on every run, as in the other tests.
            command.env(VARIABLE, set).env("PROPTEST_RNG_SEED", "1");
            match command.status() {
                Ok(status) if status.success() => {}
                Ok(status) => {
                    eprintln!("── under {set}: {} failed ({status})", program.display());
                    return ExitCode::FAILURE;
                }
                Err(error) => {
                    eprintln!("── {} did not start: {error}", program.display());
                    return ExitCode::FAILURE;
                }
            }
        }
    }
    ExitCode::SUCCESS
}

/// The test programs of [`CRATES`], each with the folder of its crate, in which cargo runs it.
fn programs() -> Result<Vec<(PathBuf, PathBuf)>, String> {
    let words = [
        "test",
        "--workspace",
        "--no-run",
        "--quiet",
        "--message-format=json",
    ];
    let output = cargo("test programs", &words)
        .command
        .current_dir(root())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cargo did not start: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo test --no-run failed ({})", output.status));
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let found: Vec<_> = messages
        .lines()
        .filter_map(|line| {
            let manifest = Path::new(text(line, "manifest_path")?);
            let folder = manifest.parent()?;
            let name = folder.file_name()?.to_str()?;
            let program = text(line, "executable")?;
            CRATES
                .contains(&name)
                .then(|| (folder.to_path_buf(), PathBuf::from(program)))
        })
        .collect();
    if found.is_empty() {
        return Err("cargo built no test program of the kernels".into());
    }
    Ok(found)
}

/// The string under a key of one of cargo's messages; paths with characters that JSON writes
/// otherwise are not looked for.
fn text<'a>(message: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = message.split_once(&format!("\"{key}\":\""))?;
    rest.split_once('"').map(|(value, _)| value)
}

/// The sets below the widest of this CPU.
fn narrower() -> Vec<&'static str> {
    let mut sets = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx512f") && has!("avx512dq") && has!("avx512vl") && has!("avx512bw") {
            sets.push("avx2");
        }
        if has!("avx2") && has!("fma") {
            sets.push("scalar");
        }
    }
    #[cfg(target_arch = "aarch64")]
    sets.push("scalar");
    sets
}
