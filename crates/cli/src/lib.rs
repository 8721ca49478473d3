//! The command line `stiefel`: arguments, progress, tables; no mathematics.
//!
//! Every command is a file of `command`: its arguments, and a `run` that ends in an `Outcome`. Exit codes: 0 done,
//! 1 failed, 2 misuse, 130 interrupted. Results go to the standard output, everything else to the standard error.
//!
//! A library with one function, so that the Python package brings the same program along.

mod bar;
mod command;
mod config;
mod decoding;
#[cfg(feature = "download")]
mod downloads;
mod failure;
mod interrupt;
mod output;
mod reading;
mod record;
mod settings;
mod source;
mod table;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{CommandFactory, Parser};
use stiefel::linalg;

use crate::command::Command;
use crate::failure::{Failure, Outcome};
use crate::output::Output;

/// Decode EEG across people with Riemannian geometry
#[derive(Debug, Parser)]
#[command(
    name = "stiefel",
    version,
    long_version = long_version(),
    help_template = command::help_template(),
    after_help = "\
`stiefel help COMMAND` shows a command with all of its options.

Exit codes: 0 done, 1 failed, 2 misuse, 130 interrupted. NO_COLOR switches colours off. STIEFEL_SIMD
fixes the instruction set (`stiefel --version` names the one in use), so that results are equal to
the bit on another CPU."
)]
struct Arguments {
    /// Read options from a TOML file, or from the JSON beside a result; options on the command line win
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Runs the program with the words of its command line, its own name first, and gives the exit code. Help, and words that make no sense, end the
/// process at once.
///
/// ```no_run
/// let code = stiefel_cli::run(vec!["stiefel".into(), "inspect".into(), "dataset.npz".into()]);
/// assert_eq!(code, 0);
/// ```
pub fn run(mut words: Vec<OsString>) -> u8 {
    // `stiefel help settings dasp`: clap would look for a command of that name.
    if words.len() > 2 && words[1] == "help" && words[2] == "settings" {
        words.remove(1);
    }
    let outcome = config::parse::<Arguments>(words).and_then(|(arguments, configuration)| {
        let mut output = Output::standard(configuration);
        linalg::instruction_set().map_err(|error| Failure::Misuse(error.to_string()))?;
        match arguments.command {
            Some(command) => command.run(&mut output),
            None => help(&mut output),
        }
    });
    failure::report(outcome)
}

/// The version and the instructions the kernels run on.
fn long_version() -> &'static str {
    static TEXT: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    TEXT.get_or_init(|| {
        let version = env!("CARGO_PKG_VERSION");
        match linalg::instruction_set() {
            Ok(set) => format!("{version}\ninstruction set: {set}"),
            Err(error) => format!("{version}\n{error}"),
        }
    })
}

/// The whole command line, for completions.
pub(crate) fn command_line() -> clap::Command {
    Arguments::command()
}

/// What the program can do.
fn help(output: &mut Output) -> Outcome {
    let help = Arguments::command().render_help();
    output.line(help.to_string().trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_sound() {
        Arguments::command().debug_assert();
    }
}
