//! Ctrl-C: the first asks whatever runs to stop and keep what it has, the second ends the program
//! at once.

use std::sync::OnceLock;

use stiefel::study::Cancel;

use crate::failure::{Failure, INTERRUPTED};

static BUTTON: OnceLock<Cancel> = OnceLock::new();

/// Whether somebody asked to stop.
pub(crate) fn asked() -> bool {
    BUTTON.get().is_some_and(Cancel::is_cancelled)
}

/// A stop button that Ctrl-C (and a request to terminate) presses instead of ending the program.
pub(crate) fn cancel() -> Result<Cancel, Failure> {
    if let Some(button) = BUTTON.get() {
        return Ok(button.clone());
    }
    let button = BUTTON.get_or_init(Cancel::default).clone();
    let pressed = button.clone();
    ctrlc::set_handler(move || {
        if pressed.is_cancelled() {
            std::process::exit(INTERRUPTED.into());
        }
        pressed.cancel();
    })
    .map_err(|e| Failure::Failed(format!("Ctrl-C cannot be watched: {e}")))?;
    Ok(button)
}
