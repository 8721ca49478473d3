//! Raw data: buffers one after the other, with skips, over one file or several.

use super::annotations;
use super::info::Info;
use super::tags::{Directory, Entry, block, tag};
use crate::electrode::wanted;
use crate::events::{Marker, place};
use crate::frames::Frames;
use crate::units::excerpt;
use crate::{ReadOptions, Source};
use crate::{Recording, Result};

/// More parts than this are a circle.
const MOST_PARTS: usize = 512;

/// A buffer of one of the parts.
struct Buffer {
    part: usize,
    entry: Entry,
    samples: usize,
}

/// Buffers without a gap, and the number of their first sample.
struct Stretch {
    first: f64,
    buffers: Vec<Buffer>,
}

/// Reads all parts: one recording, or one per stretch without gap.
pub(super) fn recordings(
    source: Source<'_>,
    directory: Directory,
    info: &Info,
    kind: i32,
    options: &ReadOptions,
) -> Result<Vec<Recording>> {
    let mut parts = vec![(source, directory)];
    let mut notes = info.notes.clone();
    follow(&mut parts, options, &mut notes)?;
    let (first, directory) = &mut parts[0];
    let markers = annotations::read(first, directory, info)?;
    let stretches = stretches(&mut parts, info, kind)?;
    let named: Vec<_> = (info.channels.iter())
        .map(|c| (c.name.as_str(), c.kind))
        .collect();
    let wanted = wanted(&named, options.channels.as_deref());
    let kept: Vec<usize> = (0..wanted.len()).filter(|&c| wanted[c]).collect();
    let channels: Vec<_> = kept.iter().map(|&c| info.channels[c].clone()).collect();
    notes.extend(parts.iter().filter_map(|p| p.1.cut.clone()));
    let count = stretches.len();
    let starts: Vec<f64> = stretches.iter().map(|s| s.first / info.rate).collect();
    let mut dealt = deal(&starts, markers, 0.5 / info.rate);
    let mut recordings = Vec::with_capacity(count);
    for (i, stretch) in stretches.into_iter().enumerate() {
        let start = starts[i];
        let mut mine = std::mem::take(&mut dealt[i]);
        for marker in &mut mine {
            marker.onset -= start;
        }
        if count > 1 {
            notes.push(format!(
                "stretch {} of {count} of a file with gaps, from {} s",
                i + 1,
                start - starts[0]
            ));
        }
        let data = decode(&mut parts, info, &kept, &stretch)?;
        let samples = stretch.buffers.iter().map(|b| b.samples).sum();
        let events = place(mine, info.rate, samples, &mut notes);
        let recording = Recording::new(channels.clone(), info.rate, data, events)?;
        let began = info.started.map(|s| s + start);
        // The notes on the whole file are the first stretch's.
        let notes = std::mem::take(&mut notes);
        recordings.push(recording.with_notes(notes).with_start(began));
    }
    Ok(recordings)
}

/// Opens the parts of a split file that follow the first.
fn follow(
    parts: &mut Vec<(Source<'_>, Directory)>,
    options: &ReadOptions,
    notes: &mut Vec<String>,
) -> Result<()> {
    while parts.len() < MOST_PARTS {
        let last = parts.len() - 1;
        let (source, directory) = &mut parts[last];
        let Some(name) = next_part(source, directory)? else {
            return Ok(());
        };
        let missing = format!("part {} of this recording, {}", last + 2, excerpt(&name));
        let mut next = match source.sibling(&name) {
            Ok(next) => next,
            Err(_) if options.partial => {
                notes.push(format!("{missing}, is not beside it and was left out"));
                return Ok(());
            }
            Err(error) => {
                return Err(source.malformed(
                    source.len(),
                    format!(
                        "{missing}, should lie beside it: {error}; keep what is there with the \
                         option `partial`"
                    ),
                ));
            }
        };
        let directory = Directory::read(&mut next, options)?;
        parts.push((next, directory));
    }
    let (source, _) = &parts[0];
    Err(source.malformed(
        0,
        format!("the parts of the recording do not end after {MOST_PARTS}"),
    ))
}

/// The name of the file that continues this one.
fn next_part(source: &mut Source<'_>, directory: &Directory) -> Result<Option<String>> {
    let references: Vec<Entry> = (directory.entries.iter())
        .filter(|e| e.block == block::REF)
        .copied()
        .collect();
    for group in references.chunk_by(|a, b| a.nth == b.nth) {
        let (mut next, mut name, mut number) = (true, None, None);
        for entry in group {
            match entry.kind {
                tag::REF_ROLE => next = entry.value(source, "a role")? == 2.0,
                tag::REF_FILE_NAME => name = Some(entry.text(source, "the name of a file")?),
                tag::REF_FILE_NUM => number = Some(entry.value(source, "a number")?),
                _ => {}
            }
        }
        if next {
            let file = source.path().file_name().unwrap_or_default();
            let numbered = number.map(|n| numbered(&file.to_string_lossy(), n as u32));
            if let Some(name) = name.or(numbered) {
                return Ok(Some(name));
            }
        }
    }
    Ok(None)
}

/// `a_raw.fif` is followed by `a_raw-1.fif`, that by `a_raw-2.fif`.
fn numbered(name: &str, number: u32) -> String {
    let (stem, ending) = name.split_once('.').unwrap_or((name, "fif"));
    let base = match stem.rsplit_once('-') {
        Some((base, digits))
            if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) =>
        {
            base
        }
        _ => stem,
    };
    format!("{base}-{number}.{ending}")
}

/// Lists the buffers of all parts.
fn stretches(
    parts: &mut [(Source<'_>, Directory)],
    info: &Info,
    kind: i32,
) -> Result<Vec<Stretch>> {
    let mut found: Vec<Stretch> = Vec::new();
    // Skips in buffers count in buffers of the size that follows.
    let (mut position, mut skipped, mut skipped_samples) = (0.0, 0.0, 0.0);
    for (part, (source, directory)) in parts.iter_mut().enumerate() {
        for entry in directory
            .first_block(kind)
            .iter()
            .filter(|e| e.block == kind)
        {
            match entry.kind {
                tag::FIRST_SAMPLE if found.is_empty() => {
                    position = entry.value(source, "the first sample")?;
                }
                tag::DATA_SKIP => skipped += entry.value(source, "a skip")?.max(0.0),
                tag::DATA_SKIP_SAMP => skipped_samples += entry.value(source, "a skip")?.max(0.0),
                tag::DATA_BUFFER => {
                    let frame = entry.number().map(|n| n.size() * info.channels.len());
                    let Some(frame) = frame.filter(|&f| entry.size % f as u64 == 0) else {
                        return Err(source.malformed(
                            entry.at,
                            format!(
                                "a buffer of type {} and {} bytes does not hold whole samples of \
                                 {} channels (int16, int32, float32 and float64 are read)",
                                entry.form,
                                entry.size,
                                info.channels.len()
                            ),
                        ));
                    };
                    let samples = (entry.size / frame as u64) as usize;
                    let gap = skipped * samples as f64 + skipped_samples;
                    (skipped, skipped_samples) = (0.0, 0.0);
                    position += gap;
                    if found.is_empty() || gap > 0.0 {
                        found.push(Stretch {
                            first: position,
                            buffers: Vec::new(),
                        });
                    }
                    position += samples as f64;
                    if let Some(last) = found.last_mut() {
                        last.buffers.push(Buffer {
                            part,
                            entry: *entry,
                            samples,
                        });
                    }
                }
                _ => {}
            }
        }
    }
    if found.is_empty() {
        found.push(Stretch {
            first: position,
            buffers: Vec::new(),
        });
    }
    Ok(found)
}

fn decode(
    parts: &mut [(Source<'_>, Directory)],
    info: &Info,
    kept: &[usize],
    stretch: &Stretch,
) -> Result<Vec<f64>> {
    let samples: usize = stretch.buffers.iter().map(|b| b.samples).sum();
    let gains: Vec<f64> = info
        .range
        .iter()
        .zip(&info.cal)
        .map(|(r, c)| r * c)
        .collect();
    let mut data = parts[0].0.zeros(samples, kept.len())?;
    let mut done = 0;
    let alike = |a: &Buffer, b: &Buffer| a.part == b.part && a.entry.number() == b.entry.number();
    // Buffers are small: many of them are read and decoded at once.
    for buffers in stretch.buffers.chunk_by(alike) {
        let Some(number) = buffers[0].entry.number() else {
            continue;
        };
        let runs: Vec<_> = buffers.iter().map(|b| (b.entry.at, b.samples)).collect();
        let frames = Frames::of(number, true, &gains).keep(kept);
        let source = &mut parts[buffers[0].part].0;
        frames.read_runs(source, &runs, &mut data, samples, done)?;
        done += buffers.iter().map(|b| b.samples).sum::<usize>();
    }
    Ok(data)
}

/// Deals markers to the last stretch that starts before them.
fn deal(starts: &[f64], markers: Vec<Marker>, tolerance: f64) -> Vec<Vec<Marker>> {
    let mut dealt: Vec<Vec<Marker>> = starts.iter().map(|_| Vec::new()).collect();
    for marker in markers {
        let after = starts.partition_point(|s| s - tolerance <= marker.onset);
        dealt[after.saturating_sub(1)].push(marker);
    }
    dealt
}

#[cfg(test)]
mod tests {
    use super::numbered;

    #[test]
    fn parts_are_numbered() {
        assert_eq!(numbered("a_raw.fif", 1), "a_raw-1.fif");
        assert_eq!(numbered("a_raw-1.fif", 2), "a_raw-2.fif");
        assert_eq!(numbered("a-b_raw.fif.gz", 1), "a-b_raw-1.fif.gz");
    }
}
