//! A bad `STIEFEL_SIMD` is refused: the set is chosen once per process, so this is a test of
//! another one.

use std::process::Command;
use stiefel_linalg::{INSTRUCTION_SET_VARIABLE, Layout, LinalgError, gram_lower, instruction_set};

const CHILD: &str = "of_a_process_with_a_bad_set";

#[test]
fn gram_matrices_refuse_an_unknown_set() {
    let program = std::env::current_exe().expect("this test program");
    let output = Command::new(program)
        .args(["--ignored", "--exact", CHILD])
        .env(INSTRUCTION_SET_VARIABLE, "avx1024")
        .output()
        .expect("a process");
    assert!(output.status.success(), "{output:?}");
}

#[test]
#[ignore = "runs in a process with a bad STIEFEL_SIMD"]
fn of_a_process_with_a_bad_set() {
    assert!(instruction_set().is_err());
    let refused = gram_lower(&mut [0.0], false, 1.0, &[2.0], (1, 1), Layout::Rows);
    assert!(matches!(refused, Err(LinalgError::InstructionSet { .. })));
}
