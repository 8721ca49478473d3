//! Records, a block at a time.

use std::path::Path;

use super::header::{Continuity, EdfHeader};
use super::tal::{self, TalLog};
use crate::io::events::common_rate;
use crate::io::numbers::Number;
use crate::io::units::{guess_kind, microvolts_per};
use crate::io::{ReadOptions, Source, units};
use crate::{Channel, ChannelKind, Result};

/// About so many bytes are read at once.
const CHUNK: usize = 1 << 20;

/// A kept signal: where its samples lie in a record and how they become values in memory.
#[derive(Debug, Clone)]
struct Kept {
    offset: usize,
    gain: f64,
    add: f64,
    number: Number,
}

/// A stretch of decoded records.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// Index of the first sample, counted over the records read.
    pub first_sample: usize,
    /// Samples per channel.
    pub samples: usize,
    /// Channel-major samples, in the order of [`EdfReader::channels`].
    pub data: Vec<f64>,
}

/// An EDF or BDF file read in blocks of records.
///
/// ```no_run
/// use stiefel_eeg::io::edf::EdfReader;
/// let mut reader = EdfReader::open("long.edf")?;
/// while let Some(block) = reader.read_block(60)? {
///     println!("{} samples from {}", block.samples, block.first_sample);
/// }
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
#[derive(Debug)]
pub struct EdfReader<'a> {
    pub(super) source: Source<'a>,
    header: EdfHeader,
    channels: Vec<Channel>,
    kept: Vec<Kept>,
    rate: f64,
    samples_per_record: usize,
    records: u64,
    next: u64,
    notes: Vec<String>,
    buffer: Vec<u8>,
}

impl EdfReader<'static> {
    /// Opens a file with default options.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::new(Source::open(path)?, &ReadOptions::default())
    }
}

impl<'a> EdfReader<'a> {
    /// Reads the header of any source and gets ready at the first record.
    pub fn new(mut source: Source<'a>, options: &ReadOptions) -> Result<Self> {
        let header = EdfHeader::read(&mut source)?;
        let mut notes = Vec::new();
        let records = count_records(&source, &header, options, &mut notes)?;
        let usable = |s: &super::Signal| !s.annotations && s.samples_per_record > 0;
        let samples_per_record =
            common_rate((header.signals.iter().filter(|s| usable(s))).map(|s| {
                (
                    s.samples_per_record as f64,
                    guess_kind(&s.label, &s.unit) == ChannelKind::Eeg,
                )
            }))
            .ok_or_else(|| source.malformed(256, "the file has annotations only, no signal"))?
                as usize;
        let rate = samples_per_record as f64 / header.record_duration;
        if !(rate.is_finite() && rate > 0.0) {
            return Err(source.malformed(
                244,
                format!(
                    "a record of {samples_per_record} samples lasts {} s",
                    header.record_duration
                ),
            ));
        }
        let mut reader = Self {
            source,
            channels: Vec::new(),
            kept: Vec::new(),
            rate,
            samples_per_record,
            records,
            next: 0,
            notes,
            buffer: Vec::new(),
            header,
        };
        reader.choose_channels();
        Ok(reader)
    }

    fn choose_channels(&mut self) {
        let bdf = self.header.bytes_per_sample == 3;
        let number = if bdf { Number::I24 } else { Number::I16 };
        for signal in self.header.signals.iter().filter(|s| !s.annotations) {
            if signal.samples_per_record != self.samples_per_record {
                self.notes.push(format!(
                    "channel {} has {} samples per second and was left out of a recording at {} Hz",
                    signal.label,
                    signal.samples_per_record as f64 / self.header.record_duration,
                    self.rate
                ));
                continue;
            }
            if bdf && signal.label.eq_ignore_ascii_case("Status") {
                let (channel, _) = units::channel(&signal.label, &signal.unit);
                self.channels.push(channel);
                self.kept.push(Kept {
                    offset: signal.offset,
                    gain: 1.0,
                    add: 0.0,
                    number: Number::U24,
                });
                continue;
            }
            let Some((gain, add)) = signal.calibration() else {
                self.notes.push(format!(
                    "channel {} was left out: its digital range {:?} or physical range {:?} is empty",
                    signal.label, signal.digital, signal.physical
                ));
                continue;
            };
            let (channel, _) = units::channel(&signal.label, &signal.unit);
            let scale = microvolts_per(&signal.unit).unwrap_or(1.0);
            self.channels.push(channel);
            self.kept.push(Kept {
                offset: signal.offset,
                gain: gain * scale,
                add: add * scale,
                number,
            });
        }
    }

    /// The header.
    pub fn header(&self) -> &EdfHeader {
        &self.header
    }

    /// The channels that blocks hold.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// Samples per second of these channels.
    pub fn sampling_rate(&self) -> f64 {
        self.rate
    }

    /// Samples per channel in each record.
    pub fn samples_per_record(&self) -> usize {
        self.samples_per_record
    }

    /// Complete records in the file.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// What was left out or assumed.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether each record must tell its own start.
    pub(super) fn discontinuous(&self) -> bool {
        self.header.continuity == Continuity::Discontinuous
    }

    /// The next `records` records or as many as are left; `None` at the end.
    pub fn read_block(&mut self, records: usize) -> Result<Option<Block>> {
        let count = (self.records - self.next).min(records as u64) as usize;
        if count == 0 {
            return Ok(None);
        }
        let first_sample = self.next as usize * self.samples_per_record;
        let samples = count * self.samples_per_record;
        let mut data = vec![0.0; samples * self.channels.len()];
        self.fill(count, &mut data, &mut TalLog::default())?;
        Ok(Some(Block {
            first_sample,
            samples,
            data,
        }))
    }

    /// Decodes the next `records` records into `out`, channel-major, and collects their annotations.
    pub(super) fn fill(&mut self, records: usize, out: &mut [f64], log: &mut TalLog) -> Result<()> {
        let (size, width) = (self.header.record_bytes, self.header.bytes_per_sample);
        let at_once = (CHUNK / size).max(1).min(records.max(1));
        let (length, total) = (self.samples_per_record, records * self.samples_per_record);
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut done = 0;
        while done < records {
            let count = at_once.min(records - done);
            let offset = self.header.data_offset + self.next * size as u64;
            self.source.seek_to(offset, "a record")?;
            self.source.require((count * size) as u64, "a record")?;
            buffer.resize(count * size, 0);
            self.source.read_all(&mut buffer, "a record")?;
            for (c, kept) in self.kept.iter().enumerate() {
                let target = &mut out[c * total + done * length..][..count * length];
                for (values, record) in target
                    .chunks_exact_mut(length)
                    .zip(buffer.chunks_exact(size))
                {
                    let bytes = &record[kept.offset..kept.offset + length * width];
                    kept.number.calibrate(bytes, kept.gain, kept.add, values);
                }
            }
            self.collect_annotations(&buffer, offset, log)?;
            done += count;
            self.next += count as u64;
        }
        self.buffer = buffer;
        Ok(())
    }

    fn collect_annotations(&self, records: &[u8], offset: u64, log: &mut TalLog) -> Result<()> {
        let size = self.header.record_bytes;
        for (r, record) in records.chunks_exact(size).enumerate() {
            let at = offset + (r * size) as u64;
            let first = self.record_annotations(record, at, log)?;
            log.first_onset = log
                .first_onset
                .or(first.filter(|_| self.next == 0 && r == 0));
        }
        Ok(())
    }

    /// Annotations of one record; returns the start it tells.
    fn record_annotations(
        &self,
        record: &[u8],
        offset: u64,
        log: &mut TalLog,
    ) -> Result<Option<f64>> {
        let mut start = None;
        for signal in self.header.signals.iter().filter(|s| s.annotations) {
            let len = signal.samples_per_record * self.header.bytes_per_sample;
            let bytes = &record[signal.offset..signal.offset + len];
            let onset = tal::parse(&self.source, bytes, offset + signal.offset as u64, log)?;
            start = start.or(onset);
        }
        Ok(start)
    }

    /// The start of every record in seconds, reading only their annotation signals.
    pub(super) fn record_starts(&mut self) -> Result<Vec<f64>> {
        let mut starts = Vec::new();
        let signal = self.header.signals.iter().find(|s| s.annotations);
        let Some((at, len)) = signal.map(|s| {
            (
                s.offset,
                s.samples_per_record * self.header.bytes_per_sample,
            )
        }) else {
            return Err(self
                .source
                .malformed(192, "the file says it has gaps, but no signal tells where"));
        };
        for record in 0..self.records {
            let offset =
                self.header.data_offset + record * self.header.record_bytes as u64 + at as u64;
            self.source.seek_to(offset, "an annotation")?;
            let bytes = self.source.read_vec(len as u64, "an annotation")?;
            let start = tal::parse(&self.source, &bytes, offset, &mut TalLog::default())?
                .ok_or_else(|| {
                    self.source
                        .malformed(offset, format!("record {record} does not tell its start"))
                })?;
            if starts.last().is_some_and(|&before| before >= start) {
                return Err(self.source.malformed(
                    offset,
                    format!("record {record} starts at {start} s, not after the record before it"),
                ));
            }
            starts.push(start);
        }
        Ok(starts)
    }
}

/// Complete records, judged by the size of the file.
fn count_records(
    source: &Source<'_>,
    header: &EdfHeader,
    options: &ReadOptions,
    notes: &mut Vec<String>,
) -> Result<u64> {
    let available = (source.len() - header.data_offset) / header.record_bytes as u64;
    let Some(announced) = header.announced_records else {
        return Ok(available);
    };
    if announced > available {
        let what = format!(
            "the header announces {announced} records of {} bytes, {available} are complete",
            header.record_bytes
        );
        if !options.partial {
            return Err(source.malformed(
                source.len(),
                format!("the file ends too early: {what}; fetch it again, or keep what is there with the option `partial`"),
            ));
        }
        notes.push(what);
        return Ok(available);
    }
    let rest = source.len() - header.data_offset - announced * header.record_bytes as u64;
    if rest > 0 {
        notes.push(format!(
            "{rest} bytes after the {announced} announced records were ignored"
        ));
    }
    Ok(announced)
}
