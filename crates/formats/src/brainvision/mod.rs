//! BrainVision: a header (`.vhdr`) that names a data file (`.eeg`) and a marker file (`.vmrk`).
//!
//! ```text
//! value = stored · resolution, then to µV         stored: INT_16, INT_32, UINT_16 or IEEE_FLOAT_32
//! MULTIPLEXED: all channels of sample 0, of sample 1, …      VECTORIZED: all samples of channel 0, …
//! onset = (position − 1) / rate                   rate = 10⁶ / SamplingInterval
//! ```
//!
//! Files are opened through the `.vhdr` or `.ahdr`; the other two are looked for in its folder. A
//! marker file that is not there is noted: the signal is read without events. Text data
//! (`DataFormat=ASCII`) are read like binary ones. An event's label is the marker's description
//! (`S  1`), or its type (`New Segment`) where the description is empty. A missing unit means µV, a
//! missing resolution 1. The frames of a V-Amp (`.ahdr`) end in a number that no channel of the
//! header stands for; it is passed over.
//!
//! Source: Brain Products, *BrainVision Core Data Format 1.0*.

mod ascii;
mod header;
mod ini;
mod markers;

use std::io::ErrorKind;

use self::header::{Stored, Vhdr};
use self::ini::{Entry, Ini};
use super::frames::Frames;
use super::{Content, Format, Head, ReadOptions, Reader, Source};
use crate::electrode::wanted;
use crate::events::{Marker, place};
use crate::units::excerpt;
use crate::{FormatError, Recording, Result};

/// How the header of a V-Amp recording (`.ahdr`) starts.
const VAMP: &[u8] = b"Brain Vision V-Amp Data Header";

/// BrainVision in the registry of formats.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BrainVision;

/// BrainVision, opened through its `.vhdr`.
pub const FORMAT: Format = Format {
    name: "BrainVision (.vhdr)",
    extensions: &["vhdr", "ahdr"],
};

impl Reader for BrainVision {
    fn format(&self) -> Format {
        FORMAT
    }

    fn recognises(&self, head: &Head<'_>) -> bool {
        let bytes = head
            .bytes
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(head.bytes);
        bytes.starts_with(b"Brain Vision Data Exchange Header")
            || bytes.starts_with(b"BrainVision Data Exchange Header")
            || bytes.starts_with(VAMP)
    }

    fn read(&self, source: Source<'_>, options: &ReadOptions) -> Result<Content> {
        read(source, options).map(|recording| Content::Recordings(vec![recording]))
    }
}

fn read(mut source: Source<'_>, options: &ReadOptions) -> Result<Recording> {
    let vamp = source.head(VAMP.len())? == VAMP;
    let ini = Ini::read(&mut source)?;
    let mut header = Vhdr::parse(source.path(), &ini)?;
    header.unnamed = usize::from(vamp);
    let mut notes = Vec::new();
    let mut data = beside(&source, &header.data_file)?;
    let (values, samples, channels) = match &header.stored {
        Stored::Ascii(layout) => {
            let (values, samples) = ascii::read(&mut data, &header, layout)?;
            (values, samples, header.channels.clone())
        }
        Stored::Binary { .. } => {
            let samples = count_samples(&data, &header, options, &mut notes)?;
            let named: Vec<_> = (header.channels.iter())
                .map(|c| (c.name.as_str(), c.kind))
                .collect();
            let wanted = wanted(&named, options.channels.as_deref());
            let kept: Vec<usize> = (0..wanted.len()).filter(|&c| wanted[c]).collect();
            let values = read_values(&mut data, &header, &kept, samples)?;
            let channels = kept.iter().map(|&c| header.channels[c].clone()).collect();
            (values, samples, channels)
        }
    };
    let (markers, started) = marker_file(&source, &header, &mut notes)?;
    let events = place(markers, header.rate, samples, &mut notes);
    let recording = Recording::new(channels, header.rate, values, events)?;
    Ok(recording.with_notes(notes).with_start(started))
}

/// Markers and the start of the recording; a marker file that is not there is noted.
fn marker_file(
    source: &Source<'_>,
    header: &Vhdr,
    notes: &mut Vec<String>,
) -> Result<(Vec<Marker>, Option<f64>)> {
    let Some(name) = &header.marker_file else {
        return Ok((Vec::new(), None));
    };
    match source.sibling(&name.value) {
        Ok(mut file) => {
            let ini = Ini::read(&mut file)?;
            Ok((markers::parse(&ini, header.rate)?, markers::started(&ini)))
        }
        Err(FormatError::Io { source: why, .. }) if why.kind() == ErrorKind::NotFound => {
            notes.push(format!(
                "the marker file \"{}\" is not beside the header: there are no events",
                excerpt(&name.value)
            ));
            Ok((Vec::new(), None))
        }
        Err(_) => Err(beside(source, name)
            .err()
            .unwrap_or_else(|| source.malformed(name.offset, "the marker file cannot be opened"))),
    }
}

/// A file that the header names.
fn beside<'a>(header: &Source<'a>, entry: &Entry) -> Result<Source<'a>> {
    header.sibling(&entry.value).map_err(|error| match error {
        FormatError::Io { source, .. } => header.malformed(
            entry.offset,
            format!(
                "the file \"{}\" should lie beside the header: {source}",
                excerpt(&entry.value)
            ),
        ),
        other => other,
    })
}

/// Complete samples per channel.
fn count_samples(
    data: &Source<'_>,
    header: &Vhdr,
    options: &ReadOptions,
    notes: &mut Vec<String>,
) -> Result<usize> {
    let frame = ((header.channels.len() + header.unnamed) * header.stored.number().size()) as u64;
    let samples = data.len() / frame;
    let rest = data.len() % frame;
    let announced = header.samples.unwrap_or(samples);
    if rest == 0 && announced <= samples {
        return Ok(announced as usize);
    }
    let what = format!(
        "the header announces {announced} samples of {frame} bytes, but the file has {samples} \
         complete ones and {rest} bytes"
    );
    // Where a vectorised channel starts is known only when all samples are there.
    if !options.partial || header.vectorized {
        let keep = if header.vectorized {
            ""
        } else {
            ", or keep what is there with the option `partial`"
        };
        return Err(data.malformed(
            data.len(),
            format!("the data do not fit the header: {what}; fetch the file again{keep}"),
        ));
    }
    notes.push(what);
    Ok(samples as usize)
}

/// The samples of the wanted channels, channel-major and in the unit of memory.
fn read_values(
    data: &mut Source<'_>,
    header: &Vhdr,
    kept: &[usize],
    samples: usize,
) -> Result<Vec<f64>> {
    let Stored::Binary { number, big_endian } = header.stored else {
        return Ok(Vec::new());
    };
    let mut values = data.zeros(samples, kept.len())?;
    if !header.vectorized {
        let mut gains = header.gains.clone();
        gains.resize(gains.len() + header.unnamed, 1.0);
        let frames = Frames::of(number, big_endian, &gains).keep(kept);
        data.seek_to(0, "the samples")?;
        frames.read(data, samples, &mut values, samples, 0)?;
        return Ok(values);
    }
    let row_bytes = samples as u64 * number.size() as u64;
    for (&c, row) in kept.iter().zip(values.chunks_exact_mut(samples.max(1))) {
        data.seek_to(c as u64 * row_bytes, "the samples of a channel")?;
        let frames = Frames::of(number, big_endian, &header.gains[c..=c]);
        frames.read(data, samples, row, samples, 0)?;
    }
    Ok(values)
}
