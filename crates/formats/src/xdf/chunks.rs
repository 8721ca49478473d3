//! From chunk to chunk: headers, clock offsets, and where the samples are.

use std::collections::BTreeMap;

use super::stream::{Stream, header};
use crate::Result;
use crate::{ReadOptions, Source};

/// A header of a stream is some kilobytes of text.
const LONGEST_HEADER: u64 = 1 << 22;

/// All streams of a file.
pub(super) struct Chunks {
    pub(super) streams: Vec<Stream>,
    pub(super) notes: Vec<String>,
}

/// A length: its number of bytes, then itself.
pub(super) fn length(source: &mut Source<'_>, what: &str) -> Result<u64> {
    let at = source.position();
    let mut size = [0];
    source.read_all(&mut size, what)?;
    let mut bytes = [0; 8];
    match size[0] {
        1 | 4 | 8 => source.read_all(&mut bytes[..usize::from(size[0])], what)?,
        other => {
            let reason = format!("{what}: a length of {other} bytes, there are 1, 4 and 8");
            return Err(source.malformed(at, reason));
        }
    }
    Ok(u64::from_le_bytes(bytes))
}

impl Chunks {
    pub(super) fn read(source: &mut Source<'_>, options: &ReadOptions) -> Result<Self> {
        source.seek_to(4, "the first chunk")?;
        let mut all = Self {
            streams: Vec::new(),
            notes: Vec::new(),
        };
        let mut places = BTreeMap::new();
        while source.position() < source.len() {
            let at = source.position();
            match chunk(source, &mut all.streams, &mut places) {
                Ok(()) => {}
                // What was read so far is whole.
                Err(error) if options.partial && !all.streams.is_empty() => {
                    all.notes
                        .push(format!("the file was read up to byte {at}: {error}"));
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        for stream in &mut all.streams {
            all.notes.extend(stream.drop_garbage());
        }
        Ok(all)
    }
}

/// The number of samples that a footer tells.
fn told_samples(footer: &str) -> Option<usize> {
    let (_, rest) = footer.split_once("<sample_count>")?;
    rest.split('<').next()?.trim().parse().ok()
}

fn chunk(
    source: &mut Source<'_>,
    streams: &mut Vec<Stream>,
    places: &mut BTreeMap<u32, usize>,
) -> Result<()> {
    let at = source.position();
    let len = length(source, "a chunk")?;
    let start = source.position();
    source.require(len, "a chunk")?;
    let end = start + len;
    let mut tag = [0; 2];
    if len < 2 {
        return Err(source.malformed(at, format!("a chunk of {len} bytes has no tag")));
    }
    source.read_all(&mut tag, "the tag of a chunk")?;
    let tag = u16::from_le_bytes(tag);
    if matches!(tag, 2..=4 | 6) {
        let mut id = [0; 4];
        if len < 6 {
            return Err(source.malformed(at, format!("a chunk of {len} bytes names no stream")));
        }
        source.read_all(&mut id, "the stream of a chunk")?;
        let id = u32::from_le_bytes(id);
        let known = places.get(&id).copied();
        match (tag, known) {
            (2, _) => {
                if len > LONGEST_HEADER {
                    let reason = format!("the header of a stream has {len} bytes");
                    return Err(source.malformed(at, reason));
                }
                let text = source.read_vec(len - 6, "the header of a stream")?;
                let stream = header(source, at, id, &String::from_utf8_lossy(&text))?;
                places.insert(id, streams.len());
                streams.push(stream);
            }
            (3, Some(place)) => streams[place].add_chunk(source, end)?,
            (4, Some(place)) => {
                let mut bytes = [0; 16];
                if len < 22 {
                    return Err(source.malformed(at, "a clock offset is cut short"));
                }
                source.read_all(&mut bytes, "a clock offset")?;
                let number = |at: usize| {
                    let eight = bytes[at..].first_chunk().copied().unwrap_or_default();
                    f64::from_le_bytes(eight)
                };
                let (time, value) = (number(0), number(8));
                if time.is_finite() && value.is_finite() {
                    streams[place].clock.push(time, value);
                }
            }
            (6, Some(place)) if len <= LONGEST_HEADER => {
                let text = source.read_vec(len - 6, "the footer of a stream")?;
                streams[place].told = told_samples(&String::from_utf8_lossy(&text));
            }
            (6, _) => {}
            (_, _) => {
                let reason =
                    format!("a chunk belongs to stream {id}, which has no header before it");
                return Err(source.malformed(at, reason));
            }
        }
    }
    source.seek_to(end, "the next chunk")
}
