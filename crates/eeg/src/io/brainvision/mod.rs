//! BrainVision: a header (`.vhdr`) that names a data file (`.eeg`) and a marker file (`.vmrk`).
//!
//! ```text
//! value = stored · resolution, then to µV         stored: INT_16, INT_32, UINT_16 or IEEE_FLOAT_32
//! MULTIPLEXED: all channels of sample 0, of sample 1, …      VECTORIZED: all samples of channel 0, …
//! onset = (position − 1) / rate                   rate = 10⁶ / SamplingInterval
//! ```
//!
//! Files are opened through the `.vhdr`; the other two are looked for in its folder. An event's label is
//! the marker's description (`S  1`), or its type (`New Segment`) where the description is empty. A missing
//! unit means µV, a missing resolution 1.
//!
//! Source: Brain Products, *BrainVision Core Data Format 1.0*.

mod header;
mod ini;
mod markers;

use std::path::Path;

use self::header::Vhdr;
use self::ini::{Entry, Ini};
use super::numbers::swap_bytes;
use super::{Content, Format, Head, ReadOptions, Reader, Source};
use crate::io::events::place;
use crate::io::units::excerpt;
use crate::{EegError, Recording, Result};

/// About so many bytes are decoded at once; small enough to stay in the cache while transposing.
const CHUNK: usize = 1 << 17;

/// Reads a recording through its `.vhdr`.
///
/// ```no_run
/// let recording = stiefel_eeg::io::brainvision::read_recording("sub-01.vhdr")?;
/// println!("{} events", recording.events().len());
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
pub fn read_recording(path: impl AsRef<Path>) -> Result<Recording> {
    read(Source::open(path)?, &ReadOptions::default())
}

/// BrainVision in the registry of formats.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BrainVision;

/// BrainVision, opened through its `.vhdr`.
pub const FORMAT: Format = Format {
    name: "BrainVision (.vhdr)",
    extensions: &["vhdr"],
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
    }

    fn read(&self, source: Source<'_>, options: &ReadOptions) -> Result<Content> {
        read(source, options).map(|recording| Content::Recordings(vec![recording]))
    }
}

fn read(mut source: Source<'_>, options: &ReadOptions) -> Result<Recording> {
    let ini = Ini::read(&mut source)?;
    let header = Vhdr::parse(source.path(), &ini)?;
    let mut notes = Vec::new();
    let mut data = beside(&source, &header.data_file)?;
    let samples = count_samples(&data, &header, options, &mut notes)?;
    let values = read_values(&mut data, &header, samples)?;
    let markers = match &header.marker_file {
        Some(name) => markers::parse(&Ini::read(&mut beside(&source, name)?)?, header.rate)?,
        None => Vec::new(),
    };
    let events = place(markers, header.rate, samples, &mut notes);
    Ok(Recording::new(header.channels, header.rate, values, events)?.with_notes(notes))
}

/// A file that the header names.
fn beside<'a>(header: &Source<'a>, entry: &Entry) -> Result<Source<'a>> {
    header.sibling(&entry.value).map_err(|error| match error {
        EegError::Io { source, .. } => header.malformed(
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
    let frame = (header.channels.len() * header.number.size()) as u64;
    let samples = data.len() / frame;
    let rest = data.len() % frame;
    let announced = header.samples.unwrap_or(samples);
    if rest == 0 && announced <= samples {
        return Ok(announced as usize);
    }
    let what = format!(
        "{announced} samples of {frame} bytes are announced, the file has {samples} complete ones and {rest} bytes"
    );
    // Where a vectorised channel starts is known only when all samples are there.
    if !options.partial || header.vectorized {
        return Err(data.malformed(
            data.len(),
            format!("the data do not fit the header: {what}; fetch the file again"),
        ));
    }
    notes.push(what);
    Ok(samples as usize)
}

/// All samples, channel-major and in the unit of memory.
fn read_values(data: &mut Source<'_>, header: &Vhdr, samples: usize) -> Result<Vec<f64>> {
    let (channels, size) = (header.channels.len(), header.number.size());
    let mut values = vec![0.0; channels * samples];
    if header.vectorized {
        for (c, target) in values.chunks_exact_mut(samples.max(1)).enumerate() {
            for part in target.chunks_mut(CHUNK / size) {
                let bytes = next_bytes(data, header, part.len() * size)?;
                header.number.calibrate(&bytes, header.gains[c], 0.0, part);
            }
        }
        return Ok(values);
    }
    let at_once = (CHUNK / (channels * size)).max(1);
    let mut frames = Vec::new();
    let mut done = 0;
    while done < samples {
        let count = at_once.min(samples - done);
        let bytes = next_bytes(data, header, count * channels * size)?;
        frames.resize(count * channels, 0.0);
        header.number.decode(&bytes, &mut frames);
        for (c, gain) in header.gains.iter().enumerate() {
            let target = &mut values[c * samples + done..][..count];
            for (value, frame) in target.iter_mut().zip(frames.chunks_exact(channels)) {
                *value = frame[c] * gain;
            }
        }
        done += count;
    }
    Ok(values)
}

fn next_bytes(data: &mut Source<'_>, header: &Vhdr, len: usize) -> Result<Vec<u8>> {
    let mut bytes = data.read_vec(len as u64, "the samples")?;
    if header.big_endian {
        swap_bytes(&mut bytes, header.number.size());
    }
    Ok(bytes)
}
