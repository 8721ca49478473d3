//! An open file: its header, and records as they are asked for.

use super::header::{Continuity, EdfHeader, Signal};
use super::tal::{self, TalLog};
use crate::numbers::Number;
use crate::records::{Described, Layout, Records, count_records};
use crate::{Channel, Result};
use crate::{ReadOptions, Source};

/// An EDF or BDF file at its first record.
#[derive(Debug)]
pub(super) struct EdfReader<'a> {
    pub(super) source: Source<'a>,
    header: EdfHeader,
    records: Records,
    notes: Vec<String>,
}

impl<'a> EdfReader<'a> {
    /// Reads the header of any source and gets ready at the first record.
    pub(super) fn new(mut source: Source<'a>, options: &ReadOptions) -> Result<Self> {
        let header = EdfHeader::read(&mut source)?;
        let mut notes = Vec::new();
        let (start, size) = (header.data_offset, header.record_bytes);
        let count = count_records(
            &source,
            start,
            size,
            header.announced_records,
            options,
            &mut notes,
        )?;
        let rest = source.len() - start - count * size as u64;
        if rest > 0 {
            notes.push(format!(
                "{rest} bytes after the last of {count} records were ignored"
            ));
        }
        let bdf = header.bytes_per_sample == 3;
        let described = header
            .signals
            .iter()
            .filter(|s| !s.annotations)
            .map(|s| describe(s, bdf));
        let signals: Vec<_> = described.collect();
        let layout = Layout {
            data_offset: start,
            record_bytes: size,
            duration: header.record_duration,
            count,
        };
        let records = if signals.is_empty() {
            Records::without_signal(&layout)
        } else {
            Records::choose(&source, &layout, &signals, options, &mut notes)?
        };
        Ok(Self {
            source,
            header,
            records,
            notes,
        })
    }

    /// The header.
    pub(super) fn header(&self) -> &EdfHeader {
        &self.header
    }

    /// The channels that blocks hold.
    pub(super) fn channels(&self) -> &[Channel] {
        &self.records.channels
    }

    /// Samples per second of these channels.
    pub(super) fn sampling_rate(&self) -> f64 {
        self.records.rate
    }

    /// Samples per channel in each record.
    pub(super) fn samples_per_record(&self) -> usize {
        self.records.samples_per_record
    }

    /// Complete records in the file.
    pub(super) fn records(&self) -> u64 {
        self.records.count
    }

    /// What was left out or assumed.
    pub(super) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether each record must tell its own start.
    pub(super) fn discontinuous(&self) -> bool {
        self.header.continuity == Continuity::Discontinuous
    }

    /// Decodes the next `records` records into `out`, channel-major, and collects their
    /// annotations.
    pub(super) fn fill(&mut self, records: usize, out: &mut [f64], log: &mut TalLog) -> Result<()> {
        let Self {
            source,
            header,
            records: store,
            ..
        } = self;
        let (first, size) = (store.data_offset, store.record_bytes);
        store.fill(source, records, out, |source, bytes, offset| {
            for (r, record) in bytes.chunks_exact(size).enumerate() {
                let at = offset + (r * size) as u64;
                let start = record_annotations(source, header, record, at, log)?;
                log.first_onset = log.first_onset.or(start.filter(|_| at == first));
            }
            Ok(())
        })
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
            return Err(self.source.malformed(
                192,
                "the file says that it has gaps, but no signal says where",
            ));
        };
        for record in 0..self.records.count {
            let offset =
                self.header.data_offset + record * self.header.record_bytes as u64 + at as u64;
            self.source.seek_to(offset, "an annotation")?;
            let bytes = self.source.read_vec(len as u64, "an annotation")?;
            let start = tal::parse(&self.source, &bytes, offset, &mut TalLog::default())?
                .ok_or_else(|| {
                    self.source
                        .malformed(offset, format!("record {record} does not give its start"))
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

/// A BDF status word is kept as its 24 bits, whatever ranges and unit the header gives.
fn describe(signal: &Signal, bdf: bool) -> Described<'_> {
    let status = bdf && signal.label.eq_ignore_ascii_case("Status");
    Described {
        label: &signal.label,
        unit: &signal.unit,
        calibration: if status {
            Some((1.0, 0.0))
        } else {
            signal.calibration()
        },
        samples_per_record: signal.samples_per_record,
        offset: signal.offset,
        number: match (bdf, status) {
            (false, _) => Number::I16,
            (true, false) => Number::I24,
            (true, true) => Number::U24,
        },
    }
}

/// Annotations of one record; returns the start it tells.
fn record_annotations(
    source: &Source<'_>,
    header: &EdfHeader,
    record: &[u8],
    offset: u64,
    log: &mut TalLog,
) -> Result<Option<f64>> {
    let mut start = None;
    for signal in header.signals.iter().filter(|s| s.annotations) {
        let len = signal.samples_per_record * header.bytes_per_sample;
        let bytes = &record[signal.offset..signal.offset + len];
        let onset = tal::parse(source, bytes, offset + signal.offset as u64, log)?;
        start = start.or(onset);
    }
    Ok(start)
}
