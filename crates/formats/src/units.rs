//! Units and channel kinds from the texts that files carry.
//!
//! A voltage `v` in unit `u` becomes `v · scale(u)` µV, with `scale(V) = 10⁶`, `scale(mV) = 10³`,
//! `scale(µV) = 1`, `scale(nV) = 10⁻³`. Anything else keeps its value and its unit text.

use crate::{Channel, ChannelKind};

/// The unit of every voltage in memory.
pub(crate) const MICROVOLT: &str = "µV";

/// Returns the factor from `unit` to µV, as files and streams spell it; none where `unit` is no
/// voltage.
///
/// ```
/// use stiefel_formats::microvolts_per;
/// assert_eq!(
///     (microvolts_per("V"), microvolts_per("microvolts")),
///     (Some(1e6), Some(1.0))
/// );
/// assert_eq!(microvolts_per("kg"), None);
/// ```
pub fn microvolts_per(unit: &str) -> Option<f64> {
    let unit = unit.trim();
    match unit {
        // The micro sign, the Greek letter, and what decoders make of the micro sign.
        "uV" | "µV" | "μV" | "UV" | "uv" | "µv" | "\u{fffd}V" => return Some(1.0),
        "mV" | "mv" => return Some(1e3),
        "V" | "v" => return Some(1e6),
        "nV" | "nv" => return Some(1e-3),
        _ => {}
    }
    match unit.to_lowercase().as_str() {
        "microvolt" | "microvolts" | "μv" => Some(1.0),
        "millivolt" | "millivolts" => Some(1e3),
        "volt" | "volts" => Some(1e6),
        "nanovolt" | "nanovolts" => Some(1e-3),
        _ => None,
    }
}

/// Whether a unit's text says nothing.
fn unknown(unit: &str) -> bool {
    let unit = unit.trim();
    unit.is_empty() || unit.eq_ignore_ascii_case("n/a")
}

/// A channel and the factor that turns its physical values into those kept in memory. Codes are no
/// voltages: a marker channel keeps its values, whatever unit the header gives.
pub(crate) fn channel(name: &str, unit: &str) -> (Channel, f64) {
    channel_of(name, unit, guess_kind(name, unit))
}

/// The same for a channel whose kind the file tells.
pub(crate) fn channel_of(name: &str, unit: &str, kind: ChannelKind) -> (Channel, f64) {
    let marker = kind == ChannelKind::Stim;
    let scale = microvolts_per(unit).filter(|_| !marker);
    let unit = if marker && microvolts_per(unit).is_some() {
        ""
    } else {
        unit
    };
    let channel = Channel {
        name: name.to_string(),
        kind,
        unit: if scale.is_some() {
            MICROVOLT
        } else {
            unit.trim()
        }
        .to_string(),
    };
    (channel, scale.unwrap_or(1.0))
}

/// What a channel measures, judged by its name, then by its unit.
///
/// A blank unit, and `n/a`, count as a voltage: many recorders leave it out.
pub(crate) fn guess_kind(name: &str, unit: &str) -> ChannelKind {
    let name = name.trim().to_ascii_lowercase();
    let starts = |prefixes: &[&str]| prefixes.iter().any(|p| name.starts_with(p));
    let contains = |parts: &[&str]| parts.iter().any(|p| name.contains(p));
    if starts(&["status", "sti", "trig", "marker", "event"]) {
        ChannelKind::Stim
    } else if starts(&["eeg eog"]) || contains(&["eog"]) || starts(&["heo", "veo"]) {
        ChannelKind::Eog
    } else if contains(&["emg"]) {
        ChannelKind::Emg
    } else if contains(&["ecg", "ekg"]) {
        ChannelKind::Ecg
    } else if starts(&[
        "resp", "gsr", "plet", "temp", "sao2", "spo2", "acc", "light", "sound", "aux",
    ]) || !(unknown(unit) || microvolts_per(unit).is_some())
    {
        ChannelKind::Misc
    } else {
        ChannelKind::Eeg
    }
}

/// What is said of channels that a file marks as bad: they are read like all others, since all
/// files of a data set must have the same.
pub(crate) fn bad_note(names: &[String]) -> Option<String> {
    (!names.is_empty()).then(|| {
        format!(
            "the file marks channels as bad, which are read all the same: {}",
            listed(names)
        )
    })
}

/// Text of a fixed-width field: UTF-8 where valid, otherwise Latin-1; trimmed of blanks and NULs.
pub(crate) fn text(bytes: &[u8]) -> String {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.to_string(),
        Err(_) => bytes.iter().map(|&b| b as char).collect(),
    };
    text.trim_matches(|c: char| c.is_whitespace() || c == '\0')
        .to_string()
}

/// Returns a piece of a file's text for a message: short, and without control characters.
pub fn excerpt(text: impl AsRef<[u8]>) -> String {
    const LONGEST: usize = 40;
    let text = String::from_utf8_lossy(text.as_ref());
    let mut shown: String = text
        .chars()
        .take(LONGEST)
        .flat_map(char::escape_debug)
        .collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}

/// Names for a message: the first dozen, each short and without control characters.
pub fn listed(names: &[impl AsRef<str>]) -> String {
    const MOST: usize = 12;
    let shown: Vec<String> = (names.iter().take(MOST))
        .map(|name| excerpt(name.as_ref()))
        .collect();
    match names.len().saturating_sub(MOST) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn voltages_become_microvolts() {
        for (unit, scale) in [
            ("V", 1e6),
            ("mV", 1e3),
            ("uV", 1.0),
            ("µV", 1.0),
            ("μV", 1.0),
            ("nV", 1e-3),
        ] {
            let (channel, got) = channel("C3", unit);
            assert_eq!(got, scale, "{unit}");
            assert_eq!(channel.unit, "µV");
        }
        let (channel, scale) = channel("Temp rectal", "degC");
        assert_eq!((channel.unit.as_str(), scale), ("degC", 1.0));
        // The code 5 is 5, not 5,000,000 µV.
        let (marker, scale) = super::channel("STI 014", "V");
        assert_eq!((marker.unit.as_str(), scale), ("", 1.0));
    }

    #[test]
    fn kinds_follow_names_then_units() {
        use ChannelKind::*;
        for (name, unit, kind) in [
            ("Fc5", "uV", Eeg),
            ("EEG Fpz-Cz", "uV", Eeg),
            ("EOG horizontal", "uV", Eog),
            ("VEO", "", Eog),
            ("EMG submental", "mV", Emg),
            ("ECG", "mV", Ecg),
            ("Status", "Boolean", Stim),
            ("STI 014", "", Stim),
            ("Resp oro-nasal", "", Misc),
            ("HR", "bpm", Misc),
            ("Cz", "", Eeg),
            ("Cz", "n/a", Eeg),
            ("TRIGGER", "uV", Stim),
        ] {
            assert_eq!(guess_kind(name, unit), kind, "{name} [{unit}]");
        }
    }

    #[test]
    fn text_survives_latin1_and_padding() {
        assert_eq!(text(b"\xb5V      "), "µV");
        assert_eq!(text("µV\0\0".as_bytes()), "µV");
    }
}
