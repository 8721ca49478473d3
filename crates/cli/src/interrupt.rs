//! Ctrl-C: the first asks to stop after the current step, the second stops at once.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C (and a request to terminate) is noted instead of ending the program.
pub(crate) fn watch() -> Result<(), Failure> {
    let noted = ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    });
    noted.map_err(|e| Failure::Failed(format!("Ctrl-C cannot be watched: {e}")))
}

/// Whether somebody asked to stop.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
