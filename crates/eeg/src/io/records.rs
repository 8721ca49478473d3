//! Signals stored in records, shared by EDF, BDF and GDF.
//!
//! ```text
//! record 0: samples of signal 0, samples of signal 1, …   record 1: …        value = gain · stored + add
//! ```

use super::numbers::Number;
use super::{ReadOptions, Source};
use crate::Result;

/// About so many bytes are read at once.
const CHUNK: usize = 1 << 20;

/// A stretch of decoded records.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// Index of the first sample, counted over all records before.
    pub first_sample: usize,
    /// Samples per channel.
    pub samples: usize,
    /// Channel-major samples, in the order of the reader's channels.
    pub data: Vec<f64>,
}

/// A kept signal: where its samples lie in a record and how they become values in memory.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) offset: usize,
    pub(crate) number: Number,
    pub(crate) gain: f64,
    pub(crate) add: f64,
}

/// `physical = gain · digital + add`, or `None` where a range is empty.
pub(crate) fn calibration(digital: (f64, f64), physical: (f64, f64)) -> Option<(f64, f64)> {
    let gain = (physical.1 - physical.0) / (digital.1 - digital.0);
    let add = physical.0 - gain * digital.0;
    (gain.is_finite() && gain != 0.0 && add.is_finite()).then_some((gain, add))
}

/// Where the records are and what is kept of them.
#[derive(Debug)]
pub(crate) struct Records {
    pub(crate) data_offset: u64,
    pub(crate) record_bytes: usize,
    pub(crate) samples_per_record: usize,
    /// Complete records.
    pub(crate) count: u64,
    pub(crate) kept: Vec<Kept>,
    /// The record that comes next.
    pub(crate) next: u64,
    buffer: Vec<u8>,
}

impl Records {
    /// Records of which nothing is kept yet.
    pub(crate) fn new(
        data_offset: u64,
        record_bytes: usize,
        samples_per_record: usize,
        count: u64,
    ) -> Self {
        Self {
            data_offset,
            record_bytes,
            samples_per_record,
            count,
            kept: Vec::new(),
            next: 0,
            buffer: Vec::new(),
        }
    }

    /// Decodes up to `records` records; `None` at the end.
    pub(crate) fn block(
        &mut self,
        source: &mut Source<'_>,
        records: usize,
    ) -> Result<Option<Block>> {
        let count = (self.count - self.next).min(records as u64) as usize;
        if count == 0 {
            return Ok(None);
        }
        let first_sample = self.next as usize * self.samples_per_record;
        let samples = count * self.samples_per_record;
        let mut data = vec![0.0; samples * self.kept.len()];
        self.fill(source, count, &mut data, |_, _, _| Ok(()))?;
        Ok(Some(Block {
            first_sample,
            samples,
            data,
        }))
    }

    /// Decodes the next `records` records into `out`, channel-major. `look` sees the bytes of each
    /// stretch that was read, and where they lie in the file.
    pub(crate) fn fill(
        &mut self,
        source: &mut Source<'_>,
        records: usize,
        out: &mut [f64],
        mut look: impl FnMut(&Source<'_>, &[u8], u64) -> Result<()>,
    ) -> Result<()> {
        let (size, length) = (self.record_bytes, self.samples_per_record);
        let (at_once, total) = ((CHUNK / size).max(1), records * length);
        let mut done = 0;
        while done < records {
            let count = at_once.min(records - done);
            let offset = self.data_offset + self.next * size as u64;
            source.seek_to(offset, "a record")?;
            source.require((count * size) as u64, "a record")?;
            self.buffer.resize(count * size, 0);
            source.read_all(&mut self.buffer, "a record")?;
            for (c, kept) in self.kept.iter().enumerate() {
                let target = &mut out[c * total + done * length..][..count * length];
                for (values, record) in target
                    .chunks_exact_mut(length)
                    .zip(self.buffer.chunks_exact(size))
                {
                    let bytes = &record[kept.offset..][..length * kept.number.size()];
                    kept.number.calibrate(bytes, kept.gain, kept.add, values);
                }
            }
            look(source, &self.buffer, offset)?;
            done += count;
            self.next += count as u64;
        }
        Ok(())
    }
}

/// Complete records, judged by the size of the file; a shortage is refused, or noted on request.
pub(crate) fn count_records(
    source: &Source<'_>,
    data_offset: u64,
    record_bytes: usize,
    announced: Option<u64>,
    options: &ReadOptions,
    notes: &mut Vec<String>,
) -> Result<u64> {
    let available = source.len().saturating_sub(data_offset) / record_bytes as u64;
    let announced = announced.unwrap_or(available);
    if announced <= available {
        return Ok(announced);
    }
    let what = format!(
        "the header announces {announced} records of {record_bytes} bytes, {available} are complete"
    );
    if !options.partial {
        let remedy = "fetch it again, or keep what is there with the option `partial`";
        return Err(source.malformed(
            source.len(),
            format!("the file ends too early: {what}; {remedy}"),
        ));
    }
    notes.push(what);
    Ok(available)
}
