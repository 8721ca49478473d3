//! The command line `stiefel`: arguments, progress, tables; no mathematics.
//!
//! Every command is a file of [`command`]: its arguments, and a `run` that ends in an [`Outcome`](failure::Outcome). Exit codes: 0 done,
//! 1 failed, 2 misuse, 130 interrupted. Results go to the standard output, everything else to the standard error.

mod bar;
mod command;
mod config;
mod decoding;
mod failure;
mod interrupt;
mod output;
mod progress;
mod record;
mod source;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::command::Command;
use crate::failure::Outcome;
use crate::output::Output;

/// Decode EEG across people with Riemannian networks
#[derive(Debug, Parser)]
#[command(
    name = "stiefel",
    version,
    disable_help_subcommand = true,
    after_help = "Exit codes: 0 done, 1 failed, 2 misuse, 130 interrupted. NO_COLOR switches colours off."
)]
struct Arguments {
    /// Take options from a TOML file, or from the JSON beside a result; options on the line win
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

fn main() -> ExitCode {
    let outcome = config::parse::<Arguments>(std::env::args_os().collect()).and_then(
        |(arguments, configuration)| {
            let mut output = Output::standard(configuration);
            match arguments.command {
                Some(command) => command.run(&mut output),
                None => help(&mut output),
            }
        },
    );
    failure::report(outcome)
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
