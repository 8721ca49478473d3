//! `stiefel completions`.

use clap::Args;
use clap_complete::{Shell, generate};

use crate::failure::Outcome;
use crate::output::Output;

#[derive(Debug, Args)]
#[command(after_help = "\
For instance: stiefel completions bash > ~/.local/share/bash-completion/completions/stiefel")]
pub(crate) struct Arguments {
    /// The shell
    shell: Shell,
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        let mut script = Vec::new();
        generate(
            self.shell,
            &mut crate::command_line(),
            "stiefel",
            &mut script,
        );
        output.line(String::from_utf8_lossy(&script).trim_end())
    }
}
