//! The command line `stiefel`: arguments, progress, tables; no mathematics.
//!
//! Every command is a file of [`command`]: its arguments, and a `run` that ends in an [`Outcome`](failure::Outcome). Exit codes: 0 done,
//! 1 failed, 2 misuse, 130 interrupted. Results go to the standard output, everything else to the standard error.

mod command;
mod failure;
mod interrupt;
mod output;
mod progress;
mod settings;
mod table;

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
    #[command(subcommand)]
    command: Option<Command>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut output = Output::standard();
    let outcome = match arguments.command {
        Some(command) => command.run(&mut output),
        None => help(&mut output),
    };
    failure::report(outcome)
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
