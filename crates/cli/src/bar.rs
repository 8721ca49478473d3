//! One bar with the time left, on the standard error where that is a terminal; nothing elsewhere.

use indicatif::{ProgressBar, ProgressStyle};
use stiefel::eeg::prepare::Step;

/// No colours.
const TEMPLATE: &str = "{prefix} {wide_bar} {pos}/{len} {msg:24} {eta:>4}";

/// How far a long piece of work is.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// `what` is being done, in `total` parts.
    pub(crate) fn new(what: &'static str, total: usize) -> Self {
        // Hidden by itself where the standard error is no terminal.
        let bar = ProgressBar::new(total as u64).with_prefix(what);
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
    pub(crate) fn say(&self, text: String) {
        self.0.set_message(text);
    }

    /// As a watcher tells.
    pub(crate) fn show(&self, step: Step<'_>) {
        self.0.set_length(step.total as u64);
        self.0.set_position(step.done as u64);
        self.0.set_message(step.what.to_owned());
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
