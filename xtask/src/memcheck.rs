//! `cargo xtask memcheck`: the tests of the crate where `unsafe` is allowed, under valgrind's
//! memcheck.
//!
//! Invalid reads and writes, use of uninitialised memory and definite leaks fail the chore.
//! Property tests run with few cases (`PROPTEST_CASES`, 8 unless set): memcheck is some fifty times
//! slower than the tests alone.

use crate::chore::{Step, cargo, host};
use std::env;
use std::process::Command;

const RUNNER: &str = "valgrind --quiet --error-exitcode=9 --leak-check=full \
                      --errors-for-leak-kinds=definite --show-leak-kinds=definite --num-callers=30";

/// The steps, or why there are none.
pub(crate) fn memcheck() -> Result<Vec<Step>, String> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return Err(
            "valgrind is not installed: `apt install valgrind`, `dnf install valgrind` or `pacman \
             -S valgrind`"
                .into(),
        );
    }
    let runner = format!(
        "CARGO_TARGET_{}_RUNNER",
        host()?.to_uppercase().replace(['-', '.'], "_")
    );
    let tests = ["test", "--package", "stiefel-linalg", "--lib", "--tests"];
    let mut check = cargo("tests under memcheck", &tests);
    check.command.env(runner, RUNNER);
    if env::var_os("PROPTEST_CASES").is_none() {
        check.command.env("PROPTEST_CASES", "8");
    }
    Ok(vec![check])
}
