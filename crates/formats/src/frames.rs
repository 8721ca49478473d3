//! Samples stored frame by frame, into channel-major memory.
//!
//! ```text
//! frame t: channel 0, channel 1, …, padding        out[c][t] = gain_c · stored + add_c
//! ```
//!
//! Large stretches are decoded while the next bytes are read, by all threads, straight into their
//! place: each takes a few channels and goes through the frames in tiles that stay in its first
//! cache.

use std::collections::VecDeque;

use rayon::prelude::*;

use super::Source;
use super::numbers::Number;
use crate::Result;

/// About so many bytes are read at once.
const CHUNK: usize = 1 << 20;
/// A tile of frames has about so many bytes: they stay in the first cache while channel after
/// channel is picked out of them.
const TILE: usize = 1 << 14;
/// The channels of one task: those that share cache lines of a frame.
const TOGETHER: usize = 16;
/// Below so many values threads cost more than they save.
const PARALLEL: usize = 1 << 16;

/// Where a channel lies in a frame and how its stored numbers become values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    /// Bytes from the start of the frame.
    pub(crate) offset: usize,
    pub(crate) number: Number,
    pub(crate) gain: f64,
    pub(crate) add: f64,
}

/// Frames of one layout.
#[derive(Debug, Clone)]
pub(crate) struct Frames {
    /// Bytes of a frame.
    pub(crate) size: usize,
    pub(crate) big_endian: bool,
    pub(crate) columns: Vec<Column>,
}

impl Frames {
    /// Channels of one type one after the other.
    pub(crate) fn of(number: Number, big_endian: bool, gains: &[f64]) -> Self {
        let size = number.size();
        let column = |(c, &gain): (usize, &f64)| Column {
            offset: c * size,
            number,
            gain,
            add: 0.0,
        };
        Self {
            size: size * gains.len(),
            big_endian,
            columns: gains.iter().enumerate().map(column).collect(),
        }
    }

    /// Some of the channels, in this order.
    pub(crate) fn keep(mut self, kept: &[usize]) -> Self {
        self.columns = kept.iter().map(|&c| self.columns[c]).collect();
        self
    }

    /// Reads `count` frames from where the source stands; they become the samples `from..from +
    /// count` of channels of `total` samples each.
    pub(crate) fn read(
        &self,
        source: &mut Source<'_>,
        count: usize,
        out: &mut [f64],
        total: usize,
        from: usize,
    ) -> Result<()> {
        let run = (source.position(), count);
        self.read_runs(source, &[run], out, total, from)
    }

    /// Reads runs of frames, each from its offset on, as if they followed each other.
    pub(crate) fn read_runs(
        &self,
        source: &mut Source<'_>,
        runs: &[(u64, usize)],
        out: &mut [f64],
        total: usize,
        from: usize,
    ) -> Result<()> {
        let count: usize = runs.iter().map(|r| r.1).sum();
        if self.size == 0 {
            return Ok(());
        }
        let at_once = (CHUNK / self.size).max(1);
        let mut runs = Runs {
            left: runs.iter().copied().collect(),
        };
        let mut now = runs.next(source, self.size, at_once, Vec::new())?;
        let (mut later, mut done) = (Vec::new(), 0);
        while done < count {
            let frames = now.len() / self.size;
            let mut decode = || self.decode(&now, out, total, from + done);
            let mut fetch = || runs.next(source, self.size, at_once, std::mem::take(&mut later));
            let next = if frames * self.columns.len() < PARALLEL {
                decode();
                fetch()?
            } else {
                rayon::join(decode, fetch).1?
            };
            later = std::mem::replace(&mut now, next);
            done += frames;
        }
        Ok(())
    }

    /// Decodes the frames of `bytes` into the samples from `from` on.
    fn decode(&self, bytes: &[u8], out: &mut [f64], total: usize, from: usize) {
        let frames = bytes.len() / self.size.max(1);
        if frames == 0 || total == 0 {
            return;
        }
        let tile = (TILE / self.size).max(16);
        let some = |(columns, rows): (&[Column], &mut [f64])| {
            for (t, bytes) in bytes.chunks(tile * self.size).enumerate() {
                let (start, count) = (from + t * tile, bytes.len() / self.size);
                for (column, row) in columns.iter().zip(rows.chunks_exact_mut(total)) {
                    column.number.strided(
                        self.big_endian,
                        bytes,
                        (column.offset, self.size),
                        (column.gain, column.add),
                        &mut row[start..start + count],
                    );
                }
            }
        };
        let columns = self.columns.chunks(TOGETHER);
        if frames * self.columns.len() < PARALLEL {
            let rows = out.chunks_mut(TOGETHER * total);
            columns.zip(rows).for_each(some);
        } else {
            let columns = self.columns.par_chunks(TOGETHER);
            let rows = out.par_chunks_mut(TOGETHER * total);
            columns.zip(rows).for_each(some);
        }
    }
}

/// What is left of runs of frames, the next first.
struct Runs {
    left: VecDeque<(u64, usize)>,
}

impl Runs {
    /// The bytes of the next `most` frames, in the memory of `bytes`; of fewer at the end.
    fn next(
        &mut self,
        source: &mut Source<'_>,
        size: usize,
        most: usize,
        mut bytes: Vec<u8>,
    ) -> Result<Vec<u8>> {
        let (mut room, mut start) = (most, 0);
        while let Some((at, frames)) = self.left.front_mut().filter(|_| room > 0) {
            let step = room.min(*frames);
            source.seek_to(*at, "the samples")?;
            source.require(*frames as u64 * size as u64, "the samples")?;
            let end = start + step * size;
            // What is left of the last use is written over.
            bytes.resize(end.max(bytes.len()), 0);
            source.read_all(&mut bytes[start..end], "the samples")?;
            start = end;
            (*at, *frames) = (*at + (step * size) as u64, *frames - step);
            room -= step;
            if *frames == 0 {
                self.left.pop_front();
            }
        }
        bytes.truncate(start);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_become_rows_in_either_byte_order() {
        // Two i16 channels and a byte of padding per frame, more frames than one chunk holds.
        let frames = 300_000;
        for big_endian in [false, true] {
            let bytes: Vec<u8> = (0..frames)
                .flat_map(|t: i32| {
                    [t as i16, (t * 3) as i16]
                        .into_iter()
                        .flat_map(|v| {
                            if big_endian {
                                v.to_be_bytes()
                            } else {
                                v.to_le_bytes()
                            }
                        })
                        .chain([7])
                        .collect::<Vec<u8>>()
                })
                .collect();
            let column = |offset, gain| Column {
                offset,
                number: Number::I16,
                gain,
                add: 1.0,
            };
            let layout = Frames {
                size: 5,
                big_endian,
                columns: vec![column(2, 1.0), column(0, 0.5)],
            };
            let total = frames as usize + 10;
            let mut out = vec![f64::NAN; 2 * total];
            let mut source = Source::from_bytes("frames", &bytes);
            layout
                .read(&mut source, frames as usize, &mut out, total, 10)
                .unwrap();
            for t in 0..frames {
                let at = t as usize + 10;
                assert_eq!(out[at], f64::from((t * 3) as i16) + 1.0);
                assert_eq!(out[total + at], 0.5 * f64::from(t as i16) + 1.0);
            }
            assert!(out[..10].iter().all(|v| v.is_nan()));
        }
    }
}
