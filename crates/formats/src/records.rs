//! Signals stored in records, shared by EDF, BDF and GDF.
//!
//! ```text
//! record 0: samples of signal 0, samples of signal 1, …   record 1: …        value = gain · stored + add
//! ```

use rayon::prelude::*;

use super::events::common_rate;
use super::numbers::Number;
use super::units::{self, guess_kind};
use super::{ReadOptions, Source};
use crate::electrode::wanted;
use crate::{Channel, ChannelKind, Result};

/// About so many bytes are read at once.
const CHUNK: usize = 1 << 20;
/// Below so many values threads cost more than they save.
const PARALLEL: usize = 1 << 16;

/// A kept signal: where its samples lie in a record and how they become values in memory.
#[derive(Debug, Clone)]
struct Kept {
    offset: usize,
    number: Number,
    gain: f64,
    add: f64,
}

/// `physical = gain · digital + add`, or `None` where a range is empty.
pub(crate) fn calibration(digital: (f64, f64), physical: (f64, f64)) -> Option<(f64, f64)> {
    let gain = (physical.1 - physical.0) / (digital.1 - digital.0);
    let add = physical.0 - gain * digital.0;
    (gain.is_finite() && gain != 0.0 && add.is_finite()).then_some((gain, add))
}

/// A signal as a header describes it.
pub(crate) struct Described<'h> {
    pub(crate) label: &'h str,
    pub(crate) unit: &'h str,
    /// `None` where the header's ranges are empty.
    pub(crate) calibration: Option<(f64, f64)>,
    pub(crate) samples_per_record: usize,
    pub(crate) offset: usize,
    pub(crate) number: Number,
}

/// Where the records are and how long they last.
pub(crate) struct Layout {
    pub(crate) data_offset: u64,
    pub(crate) record_bytes: usize,
    /// Seconds per record.
    pub(crate) duration: f64,
    /// Complete records.
    pub(crate) count: u64,
}

/// Records and what is kept of them.
#[derive(Debug)]
pub(crate) struct Records {
    pub(crate) data_offset: u64,
    pub(crate) record_bytes: usize,
    pub(crate) samples_per_record: usize,
    /// Samples per second.
    pub(crate) rate: f64,
    /// Complete records.
    pub(crate) count: u64,
    pub(crate) channels: Vec<Channel>,
    kept: Vec<Kept>,
    /// The record that comes next.
    next: u64,
    buffer: Vec<u8>,
}

impl Records {
    /// Keeps the signals of the common rate; the others are noted.
    pub(crate) fn choose(
        source: &Source<'_>,
        layout: &Layout,
        signals: &[Described<'_>],
        options: &ReadOptions,
        notes: &mut Vec<String>,
    ) -> Result<Self> {
        let sampled = signals.iter().filter(|s| s.samples_per_record > 0);
        let eeg = |s: &Described<'_>| guess_kind(s.label, s.unit) == ChannelKind::Eeg;
        let samples_per_record = common_rate(sampled.map(|s| (s.samples_per_record as f64, eeg(s))))
            .ok_or_else(|| source.malformed(256, "no signal has samples"))?
            as usize;
        let rate = samples_per_record as f64 / layout.duration;
        if !(rate.is_finite() && rate > 0.0) {
            let reason = format!(
                "a record of {samples_per_record} samples lasts {} s",
                layout.duration
            );
            return Err(source.malformed(244, reason));
        }
        let mut records = Self {
            data_offset: layout.data_offset,
            record_bytes: layout.record_bytes,
            samples_per_record,
            rate,
            count: layout.count,
            channels: Vec::new(),
            kept: Vec::new(),
            next: 0,
            buffer: Vec::new(),
        };
        let named: Vec<_> = (signals.iter())
            .map(|s| (s.label, guess_kind(s.label, s.unit)))
            .collect();
        let wanted = wanted(&named, options.channels.as_deref());
        for (signal, _) in signals.iter().zip(wanted).filter(|(_, wanted)| *wanted) {
            records.keep(signal, layout.duration, notes);
        }
        if records.channels.is_empty() {
            let last = notes.last().map_or("", String::as_str);
            return Err(source.malformed(256, format!("no channel can be used: {last}")));
        }
        Ok(records)
    }

    /// Records that hold annotations only. A second stands for a sample.
    pub(crate) fn without_signal(layout: &Layout) -> Self {
        Self {
            data_offset: layout.data_offset,
            record_bytes: layout.record_bytes,
            samples_per_record: 0,
            rate: 1.0,
            count: layout.count,
            channels: Vec::new(),
            kept: Vec::new(),
            next: 0,
            buffer: Vec::new(),
        }
    }

    fn keep(&mut self, signal: &Described<'_>, duration: f64, notes: &mut Vec<String>) {
        if signal.samples_per_record != self.samples_per_record {
            notes.push(format!(
                "channel {} has {} samples per second and was left out of a recording at {} Hz",
                signal.label,
                signal.samples_per_record as f64 / duration,
                self.rate
            ));
            return;
        }
        let Some((gain, add)) = signal.calibration else {
            notes.push(format!(
                "channel {} was left out: its digital or physical range is empty",
                signal.label
            ));
            return;
        };
        let (channel, scale) = units::channel(signal.label, signal.unit);
        self.channels.push(channel);
        self.kept.push(Kept {
            offset: signal.offset,
            number: signal.number,
            gain: gain * scale,
            add: add * scale,
        });
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
            let buffer = &self.buffer;
            let decode = |(kept, row): (&Kept, &mut [f64])| {
                let target = &mut row[done * length..][..count * length];
                for (values, record) in target
                    .chunks_exact_mut(length.max(1))
                    .zip(buffer.chunks_exact(size))
                {
                    let bytes = &record[kept.offset..][..length * kept.number.size()];
                    kept.number.calibrate(bytes, kept.gain, kept.add, values);
                }
            };
            // Every thread its own channels, straight into their place.
            if count * length * self.kept.len() < PARALLEL {
                let rows = out.chunks_exact_mut(total.max(1));
                self.kept.iter().zip(rows).for_each(decode);
            } else {
                let rows = out.par_chunks_exact_mut(total.max(1));
                self.kept.par_iter().zip(rows).for_each(decode);
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
        "the header announces {announced} records of {record_bytes} bytes, {available} are \
         complete"
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
