//! BCI2000's `.dat`: a header of text, then frames of samples with a vector of states.
//!
//! ```text
//! [BCI2000V= 1.1] HeaderLen= 4096 SourceCh= 16 StatevectorLen= 12 [DataFormat= int16]
//! [ State Vector Definition ]   Name length value byte bit      [ Parameter Definition ]   … Name= value …
//! frame: SourceCh numbers (int16, int32 or float32, little-endian), StatevectorLen bytes
//! value = (stored − SourceChOffset) · SourceChGain  µV
//! ```
//!
//! **Events** are changes of a state to a value other than 0, labelled `Name:value`
//! (`TargetCode:2`). States that tell times, and those that say that the program runs, are none.
//!
//! Source: BCI2000's documentation of its file format.

mod header;

use super::events::{Marker, place};
use super::frames::{Column, Frames};
use super::units::{MICROVOLT, channel, guess_kind};
use super::{Content, Format, Head, ReadOptions, Reader, Source};
use crate::electrode::wanted;
use crate::{Recording, Result};
use header::{Header, State};

/// BCI2000 in the registry of formats.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bci2000;

/// BCI2000.
pub const FORMAT: Format = Format {
    name: "BCI2000 (.dat)",
    extensions: &["dat"],
};

/// States that change without anything happening.
const SILENT: [&str; 8] = [
    "SourceTime",
    "StimulusTime",
    "Running",
    "Recording",
    "AppStartTime",
    "PauseApplication",
    "PhaseInSequence",
    "StimulusBegin",
];
/// Bits of a state that can be a code.
const LONGEST_CODE: u32 = 16;

impl Reader for Bci2000 {
    fn format(&self) -> Format {
        FORMAT
    }

    fn recognises(&self, head: &Head<'_>) -> bool {
        head.bytes.starts_with(b"BCI2000V=") || head.bytes.starts_with(b"HeaderLen=")
    }

    fn read(&self, mut source: Source<'_>, options: &ReadOptions) -> Result<Content> {
        let header = Header::read(&mut source)?;
        recording(&mut source, &header, options).map(|r| Content::Recordings(vec![r]))
    }
}

fn recording(source: &mut Source<'_>, header: &Header, options: &ReadOptions) -> Result<Recording> {
    let mut notes = header.notes.clone();
    let frame = header.frame();
    let left = source.len().saturating_sub(header.len);
    let (samples, rest) = ((left / frame as u64) as usize, left % frame as u64);
    if rest > 0 {
        let what =
            format!("{samples} samples of {frame} bytes are complete, {rest} bytes are left over");
        if !options.partial {
            return Err(source.malformed(
                source.len(),
                format!(
                    "the file ends inside a sample: {what}; fetch it again, or keep what is there \
                     with the option `partial`"
                ),
            ));
        }
        notes.push(what);
    }
    let size = header.number.size();
    let named: Vec<_> = (header.names.iter())
        .map(|name| (name.as_str(), guess_kind(name, MICROVOLT)))
        .collect();
    let wanted = wanted(&named, options.channels.as_deref());
    let (channels, columns): (Vec<_>, Vec<Column>) = (header.names.iter().enumerate())
        .filter(|(c, _)| wanted[*c])
        .map(|(c, name)| {
            let (channel, scale) = channel(name, MICROVOLT);
            let gain = header.gains[c] * scale;
            let column = Column {
                offset: c * size,
                number: header.number,
                gain,
                add: -header.offsets[c] * gain,
            };
            (channel, column)
        })
        .unzip();
    let frames = Frames {
        size: frame,
        big_endian: false,
        columns,
    };
    source.seek_to(header.len, "the samples")?;
    let mut data = source.zeros(samples, channels.len())?;
    frames.read(source, samples, &mut data, samples, 0)?;
    let markers = states(source, header, samples)?;
    let events = place(markers, header.rate, samples, &mut notes);
    Ok(Recording::new(channels, header.rate, data, events)?.with_notes(notes))
}

/// Changes of states to a value other than 0.
fn states(source: &mut Source<'_>, header: &Header, samples: usize) -> Result<Vec<Marker>> {
    let codes: Vec<&State> = (header.states.iter())
        .filter(|s| s.bits <= LONGEST_CODE && !SILENT.contains(&s.name.as_str()))
        .collect();
    let mut before: Vec<Option<u32>> = vec![None; codes.len()];
    let mut markers = Vec::new();
    let skip = header.number.size() * header.names.len();
    let limit = samples.max(64);
    source.seek_to(header.len, "the states")?;
    let mut vector = vec![0; header.frame()];
    for sample in 0..samples {
        source.read_all(&mut vector, "the states")?;
        for (state, before) in codes.iter().zip(&mut before) {
            let now = state.value(&vector[skip..]);
            // The value at the start is no change.
            if before.is_some_and(|b| b != now) && now != 0 && markers.len() < limit {
                markers.push(Marker {
                    onset: sample as f64 / header.rate,
                    duration: 0.0,
                    label: format!("{}:{now}", state.name),
                });
            }
            *before = Some(now);
        }
    }
    Ok(markers)
}
