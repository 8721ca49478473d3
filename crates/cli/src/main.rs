//! The program `stiefel`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(stiefel_cli::run(std::env::args_os().collect()))
}
