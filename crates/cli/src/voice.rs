//! What is said beside results, on the standard error, and how loudly.
//!
//! Names come from files of strangers. Characters that would move a cursor, set a title or turn the
//! direction of a line are written as `\u{1b}`, here and on the standard output.

use std::borrow::Cow;
use std::io::Write;
use std::sync::atomic::{AtomicU8, Ordering};

static LEVEL: AtomicU8 = AtomicU8::new(Level::Normal as u8);

/// How much is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Level {
    /// Results and errors.
    Quiet,
    /// Notes and progress too.
    Normal,
    /// Whole reasons, the instruction set and the time taken too.
    Verbose,
}

/// Sets how much is said from now on.
pub(crate) fn set(level: Level) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

pub(crate) fn is_quiet() -> bool {
    LEVEL.load(Ordering::Relaxed) == Level::Quiet as u8
}

pub(crate) fn is_verbose() -> bool {
    LEVEL.load(Ordering::Relaxed) == Level::Verbose as u8
}

/// Tells what goes on, unless somebody asked for quiet.
pub(crate) fn say(text: &str) {
    if !is_quiet() {
        let line = format!("{}\n", plain(text.trim_end()));
        // A terminal that is gone is no reason to stop.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}

/// Tells what somebody should know about a result.
pub(crate) fn note(text: &str) {
    say(&format!("note: {text}"));
}

/// Escapes what a terminal would obey.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    escaped(text, |c| format!("\\u{{{:x}}}", u32::from(c)))
}

/// Escapes it in JSON, where it means the same character.
pub(crate) fn plain_json(text: &str) -> Cow<'_, str> {
    escaped(text, |c| format!("\\u{:04x}", u32::from(c)))
}

fn escaped(text: &str, write: impl Fn(char) -> String) -> Cow<'_, str> {
    if !text.contains(commands) {
        return text.into();
    }
    let each = text
        .chars()
        .map(|c| if commands(c) { write(c) } else { c.to_string() });
    each.collect::<String>().into()
}

/// Tells whether a terminal obeys a character instead of showing it: control characters, and those
/// that turn the direction of what follows.
fn commands(c: char) -> bool {
    let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (c.is_control() && !matches!(c, '\n' | '\t'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_command_a_terminal() {
        assert_eq!(plain("a\u{1b}[2J\u{9b}b\n\tµ"), "a\\u{1b}[2J\\u{9b}b\n\tµ");
        assert_eq!(plain("\u{202e}abc"), "\\u{202e}abc");
        let json = plain_json("{\"a\": \"\u{9b}\"}").into_owned();
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["a"], "\u{9b}");
    }
}
