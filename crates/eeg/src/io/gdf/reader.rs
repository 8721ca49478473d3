//! Records, a block at a time, and the whole recording.

use std::path::Path;

use super::events;
use super::header::{GdfChannel, GdfHeader};
use crate::io::events::{common_rate, place};
use crate::io::records::{Block, Kept, Records, calibration, count_records};
use crate::io::units::{self, guess_kind};
use crate::io::{ReadOptions, Source};
use crate::{Channel, ChannelKind, Recording, Result};

/// A GDF file read in blocks of records.
///
/// ```no_run
/// use stiefel_eeg::io::gdf::GdfReader;
/// let mut reader = GdfReader::open("long.gdf")?;
/// while let Some(block) = reader.read_block(60)? {
///     println!("{} samples from {}", block.samples, block.first_sample);
/// }
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
#[derive(Debug)]
pub struct GdfReader<'a> {
    source: Source<'a>,
    header: GdfHeader,
    channels: Vec<Channel>,
    rate: f64,
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
        let eeg = |c: &GdfChannel| guess_kind(&c.label, &c.unit) == ChannelKind::Eeg;
        let sampled = header.channels.iter().filter(|c| c.samples_per_record > 0);
        let samples_per_record = common_rate(sampled.map(|c| (c.samples_per_record as f64, eeg(c))))
            .ok_or_else(|| source.malformed(256, "no channel has samples"))?
            as usize;
        let rate = samples_per_record as f64 / header.record_duration;
        let records = Records::new(start, size, samples_per_record, count);
        let mut reader = Self {
            source,
            header,
            channels: Vec::new(),
            rate,
            records,
            notes,
        };
        reader.choose_channels();
        if reader.channels.is_empty() {
            let last = reader.notes.last().map_or("", String::as_str);
            let reason = format!("no channel can be used: {last}");
            return Err(reader.source.malformed(256, reason));
        }
        Ok(reader)
    }

    fn choose_channels(&mut self) {
        for channel in &self.header.channels {
            if channel.samples_per_record != self.records.samples_per_record {
                self.notes.push(format!(
                    "channel {} has {} samples per second and was left out of a recording at {} Hz",
                    channel.label,
                    channel.samples_per_record as f64 / self.header.record_duration,
                    self.rate
                ));
                continue;
            }
            let Some((gain, add)) = calibration(channel.digital, channel.physical) else {
                self.notes.push(format!(
                    "channel {} was left out: its digital range {:?} or physical range {:?} is empty",
                    channel.label, channel.digital, channel.physical
                ));
                continue;
            };
            let (kept, scale) = units::channel(&channel.label, &channel.unit);
            self.channels.push(kept);
            self.records.kept.push(Kept {
                offset: channel.offset,
                number: channel.number,
                gain: gain * scale,
                add: add * scale,
            });
        }
    }

    /// The header.
    pub fn header(&self) -> &GdfHeader {
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
        let mut data = vec![0.0; samples * self.channels.len()];
        self.records.next = 0;
        self.records
            .fill(&mut self.source, count, &mut data, |_, _, _| Ok(()))?;
        // The table lies behind the announced records; without their number there is none.
        let markers = match self.header.announced_records {
            Some(announced) if announced == self.records.count => {
                let table = self.header.data_offset + announced * self.header.record_bytes as u64;
                events::read(&mut self.source, &self.header, table, self.rate)?
            }
            _ => Vec::new(),
        };
        let mut notes = self.notes;
        let events = place(markers, self.rate, samples, &mut notes);
        Ok(Recording::new(self.channels, self.rate, data, events)?.with_notes(notes))
    }
}
