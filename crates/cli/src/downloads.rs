//! How downloads go: bars on a terminal, lines elsewhere, both on the standard error.

use std::collections::{HashMap, HashSet};
use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard, PoisonError};

use indicatif::{DecimalBytes, MultiProgress, ProgressBar, ProgressStyle};
use stiefel::eeg::catalogue::{Observer, Progress};

use crate::voice::{is_quiet, plain, say};

/// A bar with a known size, and one without; no colours.
const BAR: &str = "{msg:18} {wide_bar} {decimal_bytes:>9} of {decimal_total_bytes:9} \
                   {decimal_bytes_per_sec:>11} {eta:>4}";
const COUNTER: &str = "{msg:18} {spinner} {decimal_bytes:>9} {decimal_bytes_per_sec:>11}";

/// Shows how downloads go.
pub(crate) struct Downloads {
    manner: Manner,
    bars: Mutex<HashMap<String, ProgressBar>>,
    /// Reasons for which attempts failed. One that many files share is said once.
    failures: Mutex<HashSet<String>>,
}

enum Manner {
    Bars(MultiProgress),
    Lines,
    Quiet,
}

impl Downloads {
    /// Bars where the standard error is a terminal, lines otherwise, nothing where asked.
    pub(crate) fn new() -> Self {
        let manner = if is_quiet() {
            Manner::Quiet
        } else if std::io::stderr().is_terminal() {
            Manner::Bars(MultiProgress::new())
        } else {
            Manner::Lines
        };
        Self {
            manner,
            bars: Mutex::default(),
            failures: Mutex::default(),
        }
    }

    /// A line that stays.
    pub(crate) fn say(&self, text: &str) {
        match &self.manner {
            // A terminal that is gone is no reason to stop.
            Manner::Bars(multi) => drop(multi.println(plain(text))),
            Manner::Lines => say(text),
            Manner::Quiet => {}
        }
    }

    fn bars(&self) -> MutexGuard<'_, HashMap<String, ProgressBar>> {
        self.bars.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self, multi: &MultiProgress, name: &str, from: u64, total: Option<u64>) {
        let template = if total.is_some() { BAR } else { COUNTER };
        let style = ProgressStyle::with_template(template);
        let mut bars = self.bars();
        let bar = bars
            .entry(name.to_string())
            .or_insert_with(|| multi.add(ProgressBar::no_length()));
        if let Ok(style) = style {
            bar.set_style(style.progress_chars("=> "));
        }
        if let Some(total) = total {
            bar.set_length(total);
        }
        bar.set_message(name.to_string());
        bar.set_position(from);
        bar.reset_eta();
    }

    fn end(&self, name: &str) {
        if let Some(bar) = self.bars().remove(name) {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Downloads {
    fn drop(&mut self) {
        // Bars of files that did not arrive would stay on the screen.
        if let Manner::Bars(multi) = &self.manner {
            let _ = multi.clear();
        }
    }
}

impl Observer for Downloads {
    fn progress(&self, progress: &Progress<'_>) {
        match *progress {
            Progress::Started {
                name, from, total, ..
            } => {
                if let Manner::Bars(multi) = &self.manner {
                    self.start(multi, name, from, total);
                } else if from > 0 {
                    self.say(&format!("{name}: going on after {}", DecimalBytes(from)));
                }
            }
            Progress::Advanced { name, bytes, .. } => {
                if let Some(bar) = self.bars().get(name) {
                    bar.set_position(bytes);
                }
            }
            Progress::Finished { name, bytes, .. } => {
                self.end(name);
                self.say(&format!("{name}: {} fetched", DecimalBytes(bytes)));
            }
            Progress::Waiting { name } => {
                self.say(&format!("{name}: another process is fetching it, waiting"));
            }
            Progress::Unpacking { name } => self.say(&format!("{name}: unpacking")),
            Progress::Rejected { name, path, reason } => {
                self.say(&format!("{name}: {} is not used: {reason}", path.display()));
            }
            Progress::Restarted { name, reason } => {
                self.say(&format!("{name}: from the start again: {reason}"));
            }
            Progress::Retrying {
                name,
                attempts,
                reason,
                ..
            } => {
                let mut known = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
                if known.insert(reason.to_string()) {
                    self.say(&format!(
                        "{name}: {reason}; each file is tried {attempts} times"
                    ));
                }
            }
            _ => {}
        }
    }
}
