//! Records, a block at a time, and the whole recording.

use std::path::Path;

use super::events;
use super::header::{GdfChannel, GdfHeader};
use crate::events::place;
use crate::memory;
use crate::records::{Block, Described, Layout, Records, calibration, count_records};
use crate::{Channel, Recording, Result};
use crate::{ReadOptions, Source};

/// A GDF file read in blocks of records.
///
/// ```no_run
/// use stiefel_formats::gdf::GdfReader;
/// let mut reader = GdfReader::open("long.gdf")?;
/// while let Some(block) = reader.read_block(60)? {
///     println!("{} samples from {}", block.samples, block.first_sample);
/// }
/// # Ok::<(), stiefel_formats::FormatError>(())
/// ```
#[derive(Debug)]
pub struct GdfReader<'a> {
    source: Source<'a>,
    header: GdfHeader,
    records: Records,
    notes: Vec<String>,
}

impl GdfReader<'static> {
    /// Opens a file with default options.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::new(Source::open(path)?, &ReadOptions::default())
    }
}

impl<'a> GdfReader<'a> {
    /// Reads the header of any source and gets ready at the first record.
    pub fn new(mut source: Source<'a>, options: &ReadOptions) -> Result<Self> {
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

    /// The header.
    pub fn header(&self) -> &GdfHeader {
        &self.header
    }

    /// The channels that blocks hold.
    pub fn channels(&self) -> &[Channel] {
        &self.records.channels
    }

    /// Samples per second of these channels.
    pub fn sampling_rate(&self) -> f64 {
        self.records.rate
    }

    /// Complete records in the file.
    pub fn records(&self) -> u64 {
        self.records.count
    }

    /// What was left out or assumed.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The next `records` records or as many as are left; `None` at the end.
    pub fn read_block(&mut self, records: usize) -> Result<Option<Block>> {
        self.records.block(&mut self.source, records)
    }

    /// The rest of the file in blocks of `records` records; stops after an error.
    pub fn blocks(&mut self, records: usize) -> impl Iterator<Item = Result<Block>> {
        let mut failed = false;
        std::iter::from_fn(move || {
            let block = (!failed)
                .then(|| self.read_block(records).transpose())
                .flatten();
            failed = matches!(block, Some(Err(_)));
            block
        })
    }

    /// Decodes everything.
    pub fn into_recording(mut self) -> Result<Recording> {
        let count = self.records.count as usize;
        let samples = count * self.records.samples_per_record;
        let mut data = memory::zeros(samples, self.records.channels.len(), self.source.path())?;
        self.records.rewind();
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
