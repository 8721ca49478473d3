//! Bars with the time left, on the standard error where that is a terminal; nothing elsewhere.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};
use stiefel::eeg::recipe::Step;

use crate::voice::{is_quiet, plain};

/// No colours.
const TEMPLATE: &str = "{prefix} {wide_bar} {pos}/{len} {msg:24} {eta:>4}";

/// How far a long piece of work is.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// `what` is being done, in `total` parts.
    pub(crate) fn new(what: &'static str, total: usize) -> Self {
        // Hidden by itself where the standard error is no terminal.
        let bar = if is_quiet() {
            ProgressBar::hidden()
        } else {
            ProgressBar::new(total as u64).with_prefix(what)
        };
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style.progress_chars("=> "));
        }
        Self(bar)
    }

    /// One part more is done.
    pub(crate) fn advance(&self) {
        self.0.inc(1);
    }

    /// What is seen beside the bar.
    pub(crate) fn say(&self, text: &str) {
        self.0.set_message(plain(text).into_owned());
    }

    /// As a watcher tells.
    pub(crate) fn show(&self, step: Step<'_>) {
        self.0.set_length(step.total as u64);
        self.0.set_position(step.done as u64);
        self.0.set_message(plain(step.what).into_owned());
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// The units of a study: a bar with the time left on a terminal, nothing elsewhere.
pub(crate) struct Units {
    bar: ProgressBar,
}

impl Units {
    /// A bar where the standard error is a terminal and nobody asked for quiet.
    pub(crate) fn new() -> Self {
        let bar = if is_quiet() || !std::io::stderr().is_terminal() {
            ProgressBar::hidden()
        } else {
            ProgressBar::no_length()
        };
        let template = "{msg:28} {wide_bar} {pos:>4} of {len:4} units, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        Self { bar }
    }
}

impl stiefel::study::StudyObserver for Units {
    fn begin(&self, units: usize, kept: usize) {
        self.bar.set_length(units as u64);
        self.bar.set_position(kept as u64);
        self.bar.reset_eta();
        if kept > 0 && !self.bar.is_hidden() {
            self.bar
                .println(format!("{kept} of {units} units are there already"));
        }
    }

    fn finished(&self, record: &stiefel::study::UnitRecord) {
        self.bar.set_message(record.method.clone());
        self.bar.inc(1);
    }
}

impl Drop for Units {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
