//! What the file says of the measurement: channels, rate, start.
//!
//! ```text
//! channel (96 bytes): scan i32, number i32, kind i32, range f32, cal f32, coil i32, place 12 × f32,
//!                     unit i32, exponent i32, name 16 bytes
//! ```

use super::tags::{Directory, Entry, block, tag};
use crate::Source;
use crate::units::{channel_of, excerpt};
use crate::{Channel, ChannelKind, Result};

const RECORD: u64 = 96;
const VOLT: i32 = 107;

/// Channels, rate and start.
pub(super) struct Info {
    pub(super) channels: Vec<Channel>,
    /// From stored numbers to values in memory; `range` counts in raw data only.
    pub(super) range: Vec<f64>,
    pub(super) cal: Vec<f64>,
    pub(super) rate: f64,
    /// Seconds since 1970.
    pub(super) started: Option<f64>,
    pub(super) notes: Vec<String>,
}

impl Info {
    pub(super) fn read(source: &mut Source<'_>, directory: &Directory) -> Result<Self> {
        let find = |kind: i32| directory.find(block::MEAS_INFO, kind);
        let Some(rate) = find(tag::SFREQ) else {
            return Err(source.malformed(0, "the file does not give a sampling rate (tag 201)"));
        };
        let at = rate.at;
        let rate = rate.value(source, "the sampling rate")?;
        if !(rate.is_finite() && rate > 0.0) {
            return Err(source.malformed(at, format!("the sampling rate is {rate} Hz")));
        }
        let count = match find(tag::NCHAN) {
            Some(entry) => Some(entry.value(source, "the number of channels")? as usize),
            None => None,
        };
        let started = match find(tag::MEAS_DATE) {
            Some(entry) => date(source, &entry)?,
            None => None,
        };
        let mut info = Self {
            channels: Vec::new(),
            range: Vec::new(),
            cal: Vec::new(),
            rate,
            started,
            notes: Vec::new(),
        };
        let records = directory.entries.iter();
        let records = records.filter(|e| e.block == block::MEAS_INFO && e.kind == tag::CH_INFO);
        for record in records.take(count.unwrap_or(usize::MAX)) {
            info.channel(source, record)?;
        }
        if info.channels.is_empty() || count.is_some_and(|n| n != info.channels.len()) {
            return Err(source.malformed(
                0,
                format!(
                    "the file announces {} channels and describes {}",
                    count.unwrap_or(0),
                    info.channels.len()
                ),
            ));
        }
        info.long_names(source, directory)?;
        info.note_bad(source, directory)?;
        Ok(info)
    }

    fn channel(&mut self, source: &mut Source<'_>, entry: &Entry) -> Result<()> {
        let bytes = entry.bytes(source, RECORD, "a channel")?;
        let bytes: [u8; RECORD as usize] = bytes.try_into().map_err(|_| {
            source.malformed(
                entry.at,
                format!(
                    "a channel takes {RECORD} bytes, this one has {}",
                    entry.size
                ),
            )
        })?;
        let word = |at: usize| {
            let mut four = [0; 4];
            four.copy_from_slice(&bytes[at..at + 4]);
            four
        };
        let whole = |at: usize| i32::from_be_bytes(word(at));
        let real = |at: usize| f64::from(f32::from_be_bytes(word(at)));
        let name = bytes[80..].split(|&b| b == 0).next().unwrap_or_default();
        let name: String = name.iter().map(|&b| b as char).collect();
        let kind = kind_of(whole(8));
        let unit = unit_of(whole(72), kind);
        let (channel, scale) = channel_of(name.trim(), unit, kind);
        let (range, cal) = (real(12), real(16));
        if !(range.is_finite() && cal.is_finite()) {
            let reason = format!(
                "channel {} has the range {range} and the calibration {cal}",
                excerpt(&channel.name)
            );
            return Err(source.malformed(entry.at + 12, reason));
        }
        self.channels.push(channel);
        self.range.push(range);
        self.cal.push(cal * scale);
        Ok(())
    }

    /// Names of more than 15 letters are in blocks of their own, one per channel.
    fn long_names(&mut self, source: &mut Source<'_>, directory: &Directory) -> Result<()> {
        let entries = directory.entries.iter();
        let names: Vec<&Entry> = entries
            .filter(|e| e.block == block::CH_INFO && e.kind == tag::CH_DACQ_NAME)
            .collect();
        if names.len() != self.channels.len() {
            return Ok(());
        }
        for (channel, entry) in self.channels.iter_mut().zip(names) {
            let bytes = entry.bytes(source, 4096, "the name of a channel")?;
            channel.name = crate::units::text(&bytes);
        }
        Ok(())
    }

    fn note_bad(&mut self, source: &mut Source<'_>, directory: &Directory) -> Result<()> {
        let Some(list) = directory.find(block::MNE_BAD_CHANNELS, tag::MNE_CH_NAME_LIST) else {
            return Ok(());
        };
        let bad = list.names(source, "the bad channels")?;
        self.notes.extend(crate::units::bad_note(&bad));
        Ok(())
    }
}

/// Seconds, and microseconds where they are given, since 1970.
pub(super) fn date(source: &mut Source<'_>, entry: &Entry) -> Result<Option<f64>> {
    let parts = entry.numbers(source, 64, "the date")?;
    Ok(match *parts.as_slice() {
        // MNE writes the smallest number where there is no date.
        [seconds, ..] if seconds == f64::from(i32::MIN) => None,
        [seconds, micro, ..] => Some(seconds + micro * 1e-6),
        [seconds] => Some(seconds),
        [] => None,
    })
}

fn kind_of(kind: i32) -> ChannelKind {
    match kind {
        2 => ChannelKind::Eeg,
        3 => ChannelKind::Stim,
        202 => ChannelKind::Eog,
        302 => ChannelKind::Emg,
        402 => ChannelKind::Ecg,
        _ => ChannelKind::Misc,
    }
}

/// Electrodes measure volts, whether the file says so or not.
fn unit_of(unit: i32, kind: ChannelKind) -> &'static str {
    match unit {
        VOLT => "V",
        112 => "T",
        201 => "T/m",
        114 => "°C",
        110 => "S",
        3 => "s",
        101 => "Hz",
        7 => "rad",
        _ if matches!(kind, ChannelKind::Misc | ChannelKind::Stim) => "",
        _ => "V",
    }
}
