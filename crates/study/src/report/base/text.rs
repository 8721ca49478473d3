//! Text that is safe in HTML and XML, and fits its place.

pub(in crate::report) use crate::table::{figure, signed};

/// Text for an element or a quoted attribute of HTML or XML. What XML forbids (control characters)
/// and what turns text around (directional overrides) becomes `�`.
pub(in crate::report) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{fdd0}'..='\u{fdef}'
            | '\u{fffe}'
            | '\u{ffff}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// How templates escape.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Html;

impl askama::filters::Escaper for Html {
    fn write_escaped_str<W: std::fmt::Write>(&self, mut to: W, text: &str) -> std::fmt::Result {
        to.write_str(&escape(text))
    }
}

/// The text with a capital letter first.
pub(in crate::report) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map(|c| c.to_uppercase().chain(chars).collect())
        .unwrap_or_default()
}

/// Width of a text in a sans-serif font of that size, estimated for a wide one (`DejaVu` Sans,
/// Verdana).
pub(in crate::report) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size
}

fn advance(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '\'' | '|' | ' ' | '.' | ',' | ':' | ';' | 'I' => 0.34,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '!' | '/' | '"' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 1.02,
        'O' | 'Q' | 'G' | 'D' | 'H' | 'N' | 'U' | '+' | '=' | '<' | '>' | '−' | '&' => 0.86,
        c if c.is_ascii_uppercase() => 0.74,
        c if c.is_ascii() => 0.65,
        c if (c as u32) < 0x2e80 => 0.75,
        _ => 1.1,
    }
}

/// The text on one line, cut with `…` where it is wider than `room`.
pub(in crate::report) fn shorten(text: &str, room: f64, size: f64) -> String {
    let text: String = text
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c })
        .collect();
    let text = text.trim();
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut left = room - width("…", size);
    let mut out = String::new();
    for c in text.chars() {
        left -= advance(c) * size;
        if left < 0.0 {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}

/// A name for a table or a heading: on one line and of at most 80 characters.
pub(in crate::report) fn short(text: &str) -> String {
    const LONGEST: usize = 80;
    let mut short: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((at, _)) = short.char_indices().nth(LONGEST) {
        short.truncate(at);
        short.push('…');
    }
    short
}

/// A part of a file name: lower-case letters, digits and single hyphens, at most 40 of them.
pub(in crate::report) fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if c == '+' {
            out.push('p');
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
        if out.len() == 40 {
            break;
        }
    }
    let out = out.trim_end_matches('-');
    if out.is_empty() { "method" } else { out }.to_owned()
}

/// `1 trial`, `2 trials`.
pub(in crate::report) fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_is_harmless() {
        assert_eq!(
            escape("<a b=\"c\" d='e'>&"),
            "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;"
        );
        assert_eq!(escape("a\u{0}b\u{1b}c\u{202e}d\ne"), "a�b�c�d\ne");
    }

    #[test]
    fn shortened_text_fits() {
        for text in [
            "",
            "short",
            "a much longer name\nthan there is room for",
            "脳波脳波脳波脳波",
        ] {
            assert!(width(&shorten(text, 60.0, 11.0), 11.0) <= 60.0, "{text}");
        }
        assert_eq!(shorten("short", 60.0, 11.0), "short");
    }

    #[test]
    fn names_are_short() {
        assert_eq!(short(" a\n <b> "), "a <b>");
        assert_eq!(short(&"脳".repeat(300)).chars().count(), 81);
    }

    #[test]
    fn slugs_are_file_names() {
        assert_eq!(slug("TS+LR (pooled)"), "tsplr-pooled");
        assert_eq!(slug("../../etc/passwd"), "etc-passwd");
        assert_eq!(slug("<>"), "method");
        assert!(slug(&"x".repeat(300)).len() <= 40);
    }
}
