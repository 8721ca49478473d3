//! Events from marker channels (stimulus, trigger and status lines), the same in every format.
//!
//! ```text
//! code(t) = value(t) & mask                              rising:  code, rest level 0
//!           rest & !(value(t) & mask)                    falling: the bits that went down, rest level = largest code
//! event at t:  code(t) ≠ code(t−1) and code(t) ≠ 0,      labelled with code(t)
//! ```
//!
//! With several marker channels the composite one is read (`STI101`, `STI 014`, `Status`); without
//! one of these all are, and their events are labelled `NAME:code` where more than one has any.
//! What was chosen is noted on the recording.

use std::str::FromStr;

use crate::tolerance::{MARKER_CHANGES, MARKER_RESTS_HIGH};

use super::events::{Marker, place};
use super::units::{excerpt, listed};
use crate::{ChannelKind, FormatError, Recording, Result};

/// Channels that hold the codes of all others, in the order of preference.
const COMPOSITE: [&str; 5] = ["STI101", "STI 101", "STI 014", "STI014", "Status"];
/// The upper bits of BioSemi's status word tell the state of the amplifier.
const STATUS_MASK: u32 = 0xffff;
/// So many events are believed however short the recording is.
const FEW: usize = 64;

/// Which way the pulses of a marker channel go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Polarity {
    /// Falling where the line is at its largest value nearly always, otherwise rising.
    #[default]
    Auto,
    /// The line rests at 0.
    Rising,
    /// The line rests at its largest value; the bits that go down are the code.
    Falling,
}

/// How events are read off marker channels.
///
/// ```
/// use stiefel_formats::{MarkerRule, Polarity};
/// let rule: MarkerRule = "channel=STI 014,mask=0xff,polarity=falling".parse()?;
/// assert_eq!((rule.mask, rule.polarity), (Some(255), Polarity::Falling));
/// assert!(!"off".parse::<MarkerRule>()?.read);
/// # Ok::<(), stiefel_formats::FormatError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct MarkerRule {
    /// Whether marker channels are read at all.
    pub read: bool,
    /// The channels by name; without them the composite channel, or all marker channels.
    pub channels: Vec<String>,
    /// The bits that count; all 32 without it, the lower 16 of a `Status` channel.
    pub mask: Option<u32>,
    /// Which way the pulses go.
    pub polarity: Polarity,
    /// For an analogue line: values above this are code 1, others 0.
    pub threshold: Option<f64>,
}

impl Default for MarkerRule {
    fn default() -> Self {
        Self {
            read: true,
            channels: Vec::new(),
            mask: None,
            polarity: Polarity::Auto,
            threshold: None,
        }
    }
}

impl FromStr for MarkerRule {
    type Err = FormatError;

    /// `off`, or parts with commas between: `channel=NAME` (again for several), `mask=0xff`,
    /// `polarity=rising`, `threshold=2.5`.
    fn from_str(text: &str) -> Result<Self> {
        let mut rule = Self::default();
        if text.trim() == "off" {
            rule.read = false;
            return Ok(rule);
        }
        for part in text.split(',').map(str::trim) {
            let bad = || {
                FormatError::setting(
                    format!("\"{part}\" does not say how marker channels are read"),
                    "give off, or some of channel=STI \
                     014,mask=0xff,polarity=falling,threshold=2.5 (polarity: auto, rising, \
                     falling)",
                )
            };
            let (key, value) = part.split_once('=').ok_or_else(bad)?;
            match (key.trim(), value.trim()) {
                ("channel", name) if !name.is_empty() => rule.channels.push(name.into()),
                ("mask", value) => {
                    let bits = match value.strip_prefix("0x") {
                        Some(digits) => u32::from_str_radix(digits, 16),
                        None => value.parse(),
                    };
                    rule.mask = Some(bits.ok().filter(|&m| m > 0).ok_or_else(bad)?);
                }
                ("polarity", "auto") => rule.polarity = Polarity::Auto,
                ("polarity", "rising") => rule.polarity = Polarity::Rising,
                ("polarity", "falling") => rule.polarity = Polarity::Falling,
                ("threshold", value) => {
                    let level = value.parse().ok().filter(|v: &f64| v.is_finite());
                    rule.threshold = Some(level.ok_or_else(bad)?);
                }
                _ => return Err(bad()),
            }
        }
        Ok(rule)
    }
}

/// What was found on one channel.
struct Line {
    channel: usize,
    markers: Vec<Marker>,
    how: String,
}

/// Adds the events of a recording's marker channels to those it has, with a note on how they were
/// read.
pub(crate) fn add_events(recording: Recording, rule: &MarkerRule) -> Result<Recording> {
    if !rule.read {
        return Ok(recording);
    }
    let mut notes = Vec::new();
    let mut lines = Vec::new();
    for channel in chosen(&recording, rule)? {
        lines.extend(line(&recording, channel, rule, &mut notes));
    }
    if lines.is_empty() {
        return Ok(recording.with_notes(notes));
    }
    let several = lines.len() > 1;
    let mut markers = Vec::new();
    for mut line in lines {
        let name = &recording.channels()[line.channel].name;
        let count = line.markers.len();
        let named = if several { ", labelled NAME:code" } else { "" };
        notes.push(format!(
            "{count} events were read from the marker channel {} ({}{named})",
            excerpt(name),
            line.how
        ));
        for marker in &mut line.markers {
            if several {
                marker.label = format!("{}:{}", excerpt(name), marker.label);
            }
        }
        markers.append(&mut line.markers);
    }
    let (rate, samples) = (recording.sampling_rate(), recording.samples());
    let mut events = recording.events().to_vec();
    events.extend(place(markers, rate, samples, &mut notes));
    Ok(recording.with_events(events).with_notes(notes))
}

/// The places of the channels to read.
fn chosen(recording: &Recording, rule: &MarkerRule) -> Result<Vec<usize>> {
    let channels = recording.channels();
    let find = |name: &str| {
        channels
            .iter()
            .position(|c| c.name.eq_ignore_ascii_case(name))
    };
    if rule.channels.is_empty() {
        let is_marker = |i: &usize| channels[*i].kind == ChannelKind::Stim;
        let all: Vec<usize> = (0..channels.len()).filter(is_marker).collect();
        let composite = COMPOSITE.iter().find_map(|name| find(name));
        return Ok(match composite.filter(|c| all.contains(c)) {
            Some(one) if all.len() > 1 => vec![one],
            _ => all,
        });
    }
    let place = |name: &String| {
        find(name).ok_or_else(|| {
            let names: Vec<&str> = channels.iter().map(|c| c.name.as_str()).collect();
            FormatError::setting(
                format!("there is no marker channel {name}"),
                format!("the channels are {}", listed(&names)),
            )
        })
    };
    rule.channels.iter().map(place).collect()
}

/// The events of one channel; none, with a note, where it cannot be a marker line.
fn line(
    recording: &Recording,
    channel: usize,
    rule: &MarkerRule,
    notes: &mut Vec<String>,
) -> Option<Line> {
    let (values, name) = (
        recording.channel(channel),
        &recording.channels()[channel].name,
    );
    let mask = rule.mask.unwrap_or_else(|| default_mask(name, values));
    let raw = |value: f64| match rule.threshold {
        Some(level) => u32::from(value > level),
        // Two's complement for negative values: a port read as signed.
        None => (value.round() as i64 as u32) & mask,
    };
    let largest = values.iter().map(|&v| raw(v)).max()?;
    let falls = match rule.polarity {
        Polarity::Rising => false,
        Polarity::Falling => true,
        Polarity::Auto => {
            let high = values.iter().filter(|&&v| raw(v) == largest).count();
            largest > 0
                && high < values.len()
                && high as f64 >= MARKER_RESTS_HIGH * values.len() as f64
        }
    };
    let code = |value: f64| {
        if falls {
            largest & !raw(value)
        } else {
            raw(value)
        }
    };
    let limit = FEW.max((values.len() as f64 * MARKER_CHANGES) as usize);
    let mut markers = Vec::new();
    for (i, pair) in values.windows(2).enumerate() {
        let (before, now) = (code(pair[0]), code(pair[1]));
        if now == before || now == 0 {
            continue;
        }
        if markers.len() == limit {
            notes.push(format!(
                "the marker channel {} changes in more than {limit} of {} samples: it does not \
                 hold codes, and no events were read from it",
                excerpt(name),
                values.len()
            ));
            return None;
        }
        markers.push(Marker {
            onset: (i + 1) as f64 / recording.sampling_rate(),
            duration: 0.0,
            label: now.to_string(),
        });
    }
    if markers.is_empty() {
        return None;
    }
    let edges = if falls {
        format!("falling edges from {largest}")
    } else {
        "changes to a code other than 0".to_string()
    };
    let how = if mask == u32::MAX {
        edges
    } else {
        format!("{edges}, bits {mask:#x}")
    };
    Some(Line {
        channel,
        markers,
        how,
    })
}

/// The bits that can be codes: 16 of a status word, and of a port that was read as signed.
fn default_mask(name: &str, values: &[f64]) -> u32 {
    let least = values.iter().copied().fold(0.0, f64::min);
    if name.eq_ignore_ascii_case("Status") || (-32_768.0..0.0).contains(&least) {
        STATUS_MASK
    } else {
        u32::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Channel;

    fn recording(lines: &[(&str, &[f64])]) -> Recording {
        let channel = |(name, _): &(&str, &[f64])| Channel {
            name: (*name).into(),
            kind: ChannelKind::Stim,
            unit: String::new(),
        };
        let data = lines.iter().flat_map(|l| l.1.to_vec()).collect();
        Recording::new(lines.iter().map(channel).collect(), 10.0, data, vec![]).unwrap()
    }

    fn events(lines: &[(&str, &[f64])], rule: &str) -> Vec<(usize, String)> {
        let rule = match rule {
            "" => MarkerRule::default(),
            text => text.parse().unwrap(),
        };
        let read = add_events(recording(lines), &rule).unwrap();
        (read.events().iter())
            .map(|e| (e.sample, e.label.clone()))
            .collect()
    }

    fn pairs(list: &[(usize, &str)]) -> Vec<(usize, String)> {
        list.iter().map(|(s, l)| (*s, (*l).to_string())).collect()
    }

    #[test]
    fn edges_masks_and_polarities() {
        let up = [0., 0., 5., 5., 0., 7., 3., 3., 0., 0.];
        let trigger = [("TRIGGER", &up[..])];
        assert_eq!(events(&trigger, ""), pairs(&[(2, "5"), (5, "7"), (6, "3")]));
        assert_eq!(events(&trigger, "mask=0x4"), pairs(&[(2, "4"), (5, "4")]));
        assert_eq!(events(&trigger, "off"), []);
        assert_eq!(
            events(&trigger, "threshold=4"),
            pairs(&[(2, "1"), (5, "1")])
        );
        let mut down = [255.0; 40];
        (down[7], down[8], down[20]) = (254.0, 254.0, 253.0);
        assert_eq!(events(&[("STI", &down)], ""), pairs(&[(7, "1"), (20, "2")]));
        assert_eq!(
            events(&[("STI", &down)], "polarity=rising").len(),
            4,
            "down and up again"
        );
        let signed = [0., -32768., 0., 0.];
        assert_eq!(events(&[("STI", &signed)], ""), pairs(&[(1, "32768")]));
    }

    #[test]
    fn the_composite_line_stands_for_all() {
        let (one, all) = ([0., 1., 0., 0.], [0., 1., 0., 2.]);
        let neuromag = [("STI 001", &one[..]), ("STI 014", &all[..])];
        assert_eq!(events(&neuromag, ""), pairs(&[(1, "1"), (3, "2")]));
        assert_eq!(events(&neuromag, "channel=STI 001"), pairs(&[(1, "1")]));
        let apart = [("TRIG1", &one[..]), ("TRIG2", &all[..])];
        assert_eq!(
            events(&apart, ""),
            pairs(&[(1, "TRIG1:1"), (1, "TRIG2:1"), (3, "TRIG2:2")])
        );
        let error = add_events(recording(&apart), &"channel=STI".parse().unwrap());
        assert!(error.unwrap_err().to_string().contains("TRIG1, TRIG2"));
    }

    #[test]
    fn noise_is_no_marker_line_and_the_choice_is_noted() {
        let noise: Vec<f64> = (0..1000).map(|i| f64::from(i * 7919 % 1009)).collect();
        let read = add_events(recording(&[("STI", &noise)]), &MarkerRule::default()).unwrap();
        assert!(read.events().is_empty());
        assert!(
            read.notes()[0].contains("it does not hold codes"),
            "{:?}",
            read.notes()
        );
        let read = add_events(
            recording(&[("Status", &[65536.0, 65537.0])]),
            &MarkerRule::default(),
        );
        let note = "1 events were read from the marker channel Status (changes to a code other \
                    than 0, bits 0xffff)";
        assert_eq!(read.unwrap().notes(), [note]);
        for text in [
            "",
            "mask=0",
            "mask=x",
            "polarity=up",
            "channel=",
            "threshold=nan",
        ] {
            assert!(text.parse::<MarkerRule>().is_err(), "{text}");
        }
    }
}
