//! The command line `stiefel`: arguments, progress, tables; no mathematics.
//!
//! Every command is a file of `command`: its arguments, and a `run` that ends in an `Outcome`. Exit
//! codes: 0 done, 1 failed, 2 misuse, 130 interrupted. Results go to the standard output,
//! everything else to the standard error.
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
mod voice;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;

use clap::{ColorChoice, CommandFactory, Parser};
use stiefel::linalg;

use crate::command::Command;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::voice::{Level, say};

/// The heading of options that every command has.
const GLOBAL: &str = "Global options";

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
    /// Read options from a TOML file, or from the JSON beside a result; options on the command
    /// line win
    #[arg(long, global = true, value_name = "FILE", help_heading = GLOBAL)]
    config: Option<PathBuf>,
    /// Say whole reasons, the instruction set, threads and the time taken
    #[arg(long, short, global = true, conflicts_with = "quiet", help_heading = GLOBAL)]
    verbose: bool,
    /// Print results and errors alone: no notes, no progress
    #[arg(long, short, global = true, help_heading = GLOBAL)]
    quiet: bool,
    /// Colours of help and errors
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        value_enum,
        default_value = "auto",
        help_heading = GLOBAL
    )]
    color: ColorChoice,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Runs the program with the words of its command line, its own name first, and gives the exit
/// code. Help, and words that make no sense, end the process at once.
///
/// ```no_run
/// let code = stiefel_cli::run(vec![
///     "stiefel".into(),
///     "inspect".into(),
///     "dataset.npz".into(),
/// ]);
/// assert_eq!(code, 0);
/// ```
pub fn run(mut words: Vec<OsString>) -> u8 {
    // `stiefel help settings dasp`: clap would look for a command of that name.
    if words.len() > 2 && words[1] == "help" && words[2] == "settings" {
        words.remove(1);
    }
    let outcome = config::parse::<Arguments>(words).and_then(|(arguments, configuration)| {
        let mut output = Output::standard(configuration);
        voice::set(match (arguments.quiet, arguments.verbose) {
            (true, _) => Level::Quiet,
            (false, true) => Level::Verbose,
            (false, false) => Level::Normal,
        });
        let set = linalg::instruction_set().map_err(|error| Failure::Misuse(error.to_string()))?;
        let Some(command) = arguments.command else {
            return help(&mut output);
        };
        let clock = Instant::now();
        let outcome = command.run(&mut output);
        if voice::is_verbose() {
            let (threads, seconds) = (rayon::current_num_threads(), clock.elapsed().as_secs_f64());
            let version = env!("CARGO_PKG_VERSION");
            say(&format!(
                "stiefel {version}, {set}, {threads} threads, {seconds:.1} s"
            ));
        }
        outcome
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
