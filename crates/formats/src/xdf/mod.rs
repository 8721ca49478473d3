//! XDF, the format of LabRecorder: several streams, each with a clock of its own.
//!
//! ```text
//! "XDF:", then chunks: bytes of the length (1, 4 or 8), length, tag u16, content
//! 2 stream header (XML)   3 samples: [time stamp] values, …   4 clock offset: time, value   6 footer
//! t_common = t + offset(t)    robust line through the offsets, one per stretch between resets of the clock
//! t_k = a + b·k               regular streams: least squares over every stretch without a break (more than 1 s and 500 samples)
//! ```
//!
//! * **Signal.** The stream of type `EEG`, or the one that is asked for by name, type or number.
//!   Its rate is the nominal one; where the measured one is more than a thousandth off, that is
//!   noted, and where it is more than a hundredth off, the measured rate is taken. Breaks give one
//!   recording per stretch.
//! * **Events.** Streams of strings, and irregular ones of type `Markers`, become events at the
//!   nearest sample. Several strings of one marker are joined by `/`.
//!
//! Clocks and time stamps are treated as `pyxdf` does, with its default thresholds; so is the
//! garbage that an outlet can leave when it ends.
//!
//! Source: the XDF 1.0 specification; Huber's loss by the alternating direction method of
//! multipliers (Boyd et al. 2011, 6.1.1).

mod chunks;
mod clock;
mod stream;

use std::path::Path;

use super::events::{Marker, place};
use super::units::{channel, channel_of, excerpt};
use super::{Content, Format, Head, ReadOptions, Reader, Source};
use crate::{ChannelKind, FormatError, Recording, Result};
use chunks::Chunks;
use stream::Stream;

/// XDF in the registry of formats.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Xdf;

/// XDF.
pub const FORMAT: Format = Format {
    name: "XDF",
    extensions: &["xdf", "xdfz"],
};

/// A measured rate that is off by more than this part of the nominal one is noted.
const RATE_OFF: f64 = 1e-3;

/// One that is off by more than this part takes its place: no clock is that wrong.
const RATE_WRONG: f64 = 1e-2;

impl Reader for Xdf {
    fn format(&self) -> Format {
        FORMAT
    }

    fn recognises(&self, head: &Head<'_>) -> bool {
        head.bytes.starts_with(b"XDF:")
    }

    fn read(&self, mut source: Source<'_>, options: &ReadOptions) -> Result<Content> {
        let chunks = Chunks::read(&mut source, options)?;
        let path = source.path().to_path_buf();
        let signal = choose(&path, &chunks.streams, options.stream.as_deref())?;
        let mut notes = chunks.notes.clone();
        let mut markers: Vec<(f64, String)> = Vec::new();
        for stream in &chunks.streams {
            if stream.is_marker() && stream.id != signal.id {
                markers.extend(stream.markers(&mut source)?);
            }
        }
        recordings(&mut source, signal, &markers, &mut notes).map(Content::Recordings)
    }
}

/// The stream with the signal.
fn choose<'s>(path: &Path, streams: &'s [Stream], wanted: Option<&str>) -> Result<&'s Stream> {
    let listed = || {
        let each: Vec<String> = streams.iter().take(20).map(Stream::described).collect();
        each.join(", ")
    };
    let none = |what: String, remedy: String| {
        Err(FormatError::setting(
            format!("{}: {what}", path.display()),
            remedy,
        ))
    };
    if let Some(wanted) = wanted {
        let same = |text: &str| text.eq_ignore_ascii_case(wanted);
        let is = |s: &&Stream| same(&s.name) || same(&s.kind) || s.id.to_string() == wanted;
        let found: Vec<&Stream> = streams.iter().filter(is).collect();
        return match found.as_slice() {
            [one] if one.number.is_some() && one.rate > 0.0 => Ok(one),
            [one] => none(
                format!(
                    "the stream {} does not hold a regular signal",
                    one.described()
                ),
                format!("choose another stream: {}", listed()),
            ),
            [] => none(
                format!("there is no stream {wanted}"),
                format!("the streams are {}", listed()),
            ),
            _ => none(
                format!("{} streams are called {wanted}", found.len()),
                format!("choose one by number: {}", listed()),
            ),
        };
    }
    let signal = |s: &&Stream| s.number.is_some() && s.rate > 0.0 && s.samples > 0;
    let eeg: Vec<&Stream> = (streams.iter().filter(signal))
        .filter(|s| s.kind.eq_ignore_ascii_case("EEG"))
        .collect();
    let all: Vec<&Stream> = streams.iter().filter(signal).collect();
    match (eeg.as_slice(), all.as_slice()) {
        ([one], _) | ([], [one]) => Ok(one),
        ([], []) => none(
            "no stream holds a regular signal".into(),
            format!("the streams are {}", listed()),
        ),
        _ => none(
            "several streams may be the EEG".into(),
            format!("choose one with the option `stream`: {}", listed()),
        ),
    }
}

/// The stretches of a stream, each with its events.
fn recordings(
    source: &mut Source<'_>,
    signal: &Stream,
    markers: &[(f64, String)],
    notes: &mut Vec<String>,
) -> Result<Vec<Recording>> {
    let said = signal.rate;
    let mut times = signal.times(source)?;
    signal.clock.synchronise(&mut times);
    let stretches = if signal.drops {
        vec![clock::Stretch::whole(&times)]
    } else {
        clock::regular(&times, 1.0 / said)
    };
    let measured = clock::measured_rate(&stretches);
    let off = measured.map_or(0.0, |m| ((m - said) / said).abs());
    let mut rate = said;
    if let Some(measured) = measured.filter(|_| off > RATE_OFF) {
        let mut taken = "";
        if off > RATE_WRONG {
            rate = (measured * 1000.0).round() / 1000.0;
            taken = ", which is taken";
        }
        notes.push(format!(
            "the stream {} says {said} Hz and was recorded at {measured:.4} Hz{taken}",
            excerpt(&signal.name)
        ));
    }
    let (channels, gains): (Vec<_>, Vec<f64>) = (0..signal.channels)
        .map(|c| {
            let (name, unit) = (signal.label(c), signal.unit(c));
            match signal.kind_of(c) {
                Some(ChannelKind::Eeg) | None => channel(&name, unit),
                Some(kind) => channel_of(&name, unit, kind),
            }
        })
        .unzip();
    let total = signal.samples;
    let mut data = source.zeros(total, signal.channels)?;
    signal.decode(source, &gains, &mut data)?;
    let count = stretches.len();
    let mut recordings = Vec::with_capacity(count);
    for (i, stretch) in stretches.iter().enumerate() {
        let (from, len) = (stretch.from, stretch.len);
        let samples = if count == 1 {
            std::mem::take(&mut data)
        } else {
            let rows = data.chunks_exact(total.max(1));
            rows.flat_map(|row| row[from..from + len].to_vec())
                .collect()
        };
        if count > 1 {
            notes.push(format!(
                "stretch {} of {count} of a recording with breaks, from {:.3} s",
                i + 1,
                stretch.start - stretches[0].start
            ));
        }
        let step = stretch.step.unwrap_or(1.0 / rate);
        // A marker in a break belongs to no stretch; the last sample lasts one step.
        let next = stretches
            .get(i + 1)
            .map_or(f64::INFINITY, |s| s.start - 0.5 * step);
        let first = if i == 0 {
            f64::NEG_INFINITY
        } else {
            stretch.start - 0.5 * step
        };
        let mine = markers.iter().filter(|(t, _)| *t >= first && *t < next);
        let marker = |(t, label): &(f64, String)| Marker {
            onset: (t - stretch.start) / step / rate,
            duration: 0.0,
            label: label.clone(),
        };
        let events = place(mine.map(marker).collect(), rate, len, notes);
        let recording = Recording::new(channels.clone(), rate, samples, events)?;
        recordings.push(recording.with_notes(std::mem::take(notes)));
    }
    Ok(recordings)
}
