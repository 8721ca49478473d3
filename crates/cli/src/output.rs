//! The standard output; a reader that goes away (`stiefel … | head`) is no error.

use std::io::{Stdout, Write};

use serde_json::Value;

use crate::failure::Outcome;
use crate::voice::{plain, plain_json};

/// Where results go, and the configuration they were made with.
pub(crate) struct Output {
    out: Stdout,
    configuration: Value,
}

impl Output {
    pub(crate) fn standard(configuration: Value) -> Self {
        Self {
            out: std::io::stdout(),
            configuration,
        }
    }

    /// The options of this run, defaults included, as `--config` reads them.
    pub(crate) fn configuration(&self) -> &Value {
        &self.configuration
    }

    /// Writes a line, or several.
    pub(crate) fn line(&mut self, text: &str) -> Outcome {
        writeln!(self.out, "{}", plain(text))?;
        Ok(self.out.flush()?)
    }

    /// Writes a line of JSON for those who tell a reader that has gone away from other failures.
    pub(crate) fn raw(&mut self, text: &str) -> std::io::Result<()> {
        writeln!(self.out, "{}", plain_json(text))?;
        self.out.flush()
    }

    /// Writes a JSON value.
    pub(crate) fn json(&mut self, value: &Value) -> Outcome {
        Ok(self.raw(&format!("{value:#}"))?)
    }
}
