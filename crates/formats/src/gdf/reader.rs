//! An open file, and its recording.

use super::events;
use super::header::{GdfChannel, GdfHeader};
use crate::events::place;
use crate::records::{Described, Layout, Records, calibration, count_records};
use crate::{ReadOptions, Source};
use crate::{Recording, Result};

/// A GDF file at its first record.
#[derive(Debug)]
pub(super) struct GdfReader<'a> {
    source: Source<'a>,
    header: GdfHeader,
    records: Records,
    notes: Vec<String>,
}

impl<'a> GdfReader<'a> {
    /// Reads the header of any source and gets ready at the first record.
    pub(super) fn new(mut source: Source<'a>, options: &ReadOptions) -> Result<Self> {
        let header = GdfHeader::read(&mut source)?;
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
        let signals: Vec<_> = header.channels.iter().map(describe).collect();
        let layout = Layout {
            data_offset: start,
            record_bytes: size,
            duration: header.record_duration,
            count,
        };
        let records = Records::choose(&source, &layout, &signals, options, &mut notes)?;
        Ok(Self {
            source,
            header,
            records,
            notes,
        })
    }

    /// Decodes everything.
    pub(super) fn into_recording(mut self) -> Result<Recording> {
        let count = self.records.count as usize;
        let samples = count * self.records.samples_per_record;
        let mut data = self.source.zeros(samples, self.records.channels.len())?;
        self.records
            .fill(&mut self.source, count, &mut data, |_, _, _| Ok(()))?;
        // The table lies behind the announced records; without their number there is none.
        let markers = match self.header.announced_records {
            Some(announced) if announced == self.records.count => {
                let table = self.header.data_offset + announced * self.header.record_bytes as u64;
                events::read(&mut self.source, &self.header, table, self.records.rate)?
            }
            _ => Vec::new(),
        };
        let mut notes = self.notes;
        let events = place(markers, self.records.rate, samples, &mut notes);
        let recording = Recording::new(self.records.channels, self.records.rate, data, events)?;
        Ok(recording.with_notes(notes).with_start(self.header.started))
    }
}

fn describe(channel: &GdfChannel) -> Described<'_> {
    Described {
        label: &channel.label,
        unit: &channel.unit,
        calibration: calibration(channel.digital, channel.physical),
        samples_per_record: channel.samples_per_record,
        offset: channel.offset,
        number: channel.number,
    }
}
