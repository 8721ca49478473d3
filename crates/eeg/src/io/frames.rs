//! Samples stored frame by frame, into channel-major memory.
//!
//! ```text
//! frame t: channel 0, channel 1, …, padding        out[c][t] = gain_c · stored + add_c
//! ```
//!
//! Large stretches are decoded by all threads, each its own channels, straight into their place.

use rayon::prelude::*;

use super::Source;
use super::numbers::Number;
use crate::Result;

/// About so many bytes are read at once: they stay in the cache while channel after channel is picked out of them.
const CHUNK: usize = 1 << 20;
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

    /// Reads `count` frames from where the source stands; they become the samples `from..from + count` of channels of `total`
    /// samples each.
    pub(crate) fn read(
        &self,
        source: &mut Source<'_>,
        count: usize,
        out: &mut [f64],
        total: usize,
        from: usize,
    ) -> Result<()> {
        source.require(count as u64 * self.size as u64, "the samples")?;
        let at_once = (CHUNK / self.size.max(1)).max(1);
        let mut bytes = vec![0; at_once.min(count) * self.size];
        let mut done = 0;
        while done < count {
            let step = at_once.min(count - done);
            let bytes = &mut bytes[..step * self.size];
            source.read_all(bytes, "the samples")?;
            self.decode(bytes, out, total, from + done);
            done += step;
        }
        Ok(())
    }

    /// Decodes the frames of `bytes` into the samples from `from` on.
    pub(crate) fn decode(&self, bytes: &[u8], out: &mut [f64], total: usize, from: usize) {
        let frames = bytes.len() / self.size.max(1);
        if frames == 0 || total == 0 {
            return;
        }
        let one = |(column, row): (&Column, &mut [f64])| {
            let target = &mut row[from..from + frames];
            column.number.strided(
                self.big_endian,
                bytes,
                (column.offset, self.size),
                (column.gain, column.add),
                target,
            );
        };
        if frames * self.columns.len() < PARALLEL {
            let rows = out.chunks_exact_mut(total);
            self.columns.iter().zip(rows).for_each(one);
        } else {
            let rows = out.par_chunks_exact_mut(total);
            self.columns.par_iter().zip(rows).for_each(one);
        }
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
