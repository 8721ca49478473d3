//! One stream: what its header says, and its samples.

use super::chunks::length;
use super::clock::Clock;
use crate::Source;
use crate::numbers::Number;
use crate::units::excerpt;
use crate::{ChannelKind, Result};

/// More channels than this are a damaged header.
const MOST_CHANNELS: usize = 1 << 16;
/// Elements of a header: some per channel.
const MOST_NODES: u32 = 1 << 20;

/// A chunk of samples: where its first sample starts, and how many there are.
struct Part {
    at: u64,
    end: u64,
    samples: usize,
}

/// A stream.
pub(super) struct Stream {
    pub(super) id: u32,
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) channels: usize,
    /// Samples per second, 0 where they come irregularly.
    pub(super) rate: f64,
    /// How values are stored; `None` for strings.
    pub(super) number: Option<Number>,
    pub(super) clock: Clock,
    /// Samples in all chunks.
    pub(super) samples: usize,
    /// Samples that the footer tells.
    pub(super) told: Option<usize>,
    /// Whether the header says that samples may be missing.
    pub(super) drops: bool,
    described: Vec<Described>,
    parts: Vec<Part>,
}

/// What the header says of a channel.
#[derive(Default)]
struct Described {
    label: String,
    unit: String,
    kind: String,
}

/// Reads the header of a stream.
pub(super) fn header(source: &Source<'_>, at: u64, id: u32, text: &str) -> Result<Stream> {
    let options = roxmltree::ParsingOptions {
        nodes_limit: MOST_NODES,
        ..roxmltree::ParsingOptions::default()
    };
    let bad = |reason: String| source.malformed(at, format!("the header of stream {id}: {reason}"));
    let tree = roxmltree::Document::parse_with_options(text.trim_matches('\0'), options)
        .map_err(|e| bad(e.to_string()))?;
    let info = tree.root_element();
    let child = |name: &str| {
        let element = info.children().find(|n| n.has_tag_name(name));
        element
            .and_then(|n| n.text())
            .unwrap_or_default()
            .trim()
            .to_string()
    };
    let count = child("channel_count");
    let channels = count
        .parse::<usize>()
        .ok()
        .filter(|n| (1..=MOST_CHANNELS).contains(n));
    let Some(channels) = channels else {
        return Err(bad(format!(
            "the number of channels is \"{}\"",
            excerpt(count)
        )));
    };
    let rate = child("nominal_srate");
    let Some(rate) = rate
        .parse::<f64>()
        .ok()
        .filter(|r| r.is_finite() && *r >= 0.0)
    else {
        return Err(bad(format!("the rate is \"{}\"", excerpt(rate))));
    };
    let format = child("channel_format");
    let number = match format.as_str() {
        "float32" => Some(Number::F32),
        "double64" => Some(Number::F64),
        "int8" => Some(Number::I8),
        "int16" => Some(Number::I16),
        "int32" => Some(Number::I32),
        "int64" => Some(Number::I64),
        "string" => None,
        _ => return Err(bad(format!("the format is \"{}\"", excerpt(format)))),
    };
    let deep = |name: &str| info.descendants().find(|n| n.has_tag_name(name));
    let described = deep("channels").map(|list| {
        let one = |n: roxmltree::Node<'_, '_>| {
            let text = |name: &str| {
                let element = n.children().find(|c| c.has_tag_name(name));
                element
                    .and_then(|c| c.text())
                    .unwrap_or_default()
                    .trim()
                    .to_string()
            };
            Described {
                label: text("label"),
                unit: text("unit"),
                kind: text("type"),
            }
        };
        list.children()
            .filter(|n| n.has_tag_name("channel"))
            .map(one)
            .collect()
    });
    let drops = deep("can_drop_samples").and_then(|n| n.text());
    Ok(Stream {
        id,
        name: child("name"),
        kind: child("type"),
        channels,
        rate,
        number,
        clock: Clock::default(),
        samples: 0,
        told: None,
        drops: drops.is_some_and(|t| t.trim().eq_ignore_ascii_case("true")),
        described: described.unwrap_or_default(),
        parts: Vec::new(),
    })
}

impl Stream {
    /// `7 ActiChamp (EEG, 32 channels at 500 Hz, 12000 samples)`.
    pub(super) fn described(&self) -> String {
        let rate = if self.rate > 0.0 {
            format!("at {} Hz", self.rate)
        } else {
            "without a rate".into()
        };
        format!(
            "{} {} ({}, {} {} {rate}, {} samples)",
            self.id,
            excerpt(&self.name),
            excerpt(&self.kind),
            self.channels,
            if self.channels == 1 {
                "channel"
            } else {
                "channels"
            },
            self.samples
        )
    }

    /// Whether its samples are events.
    pub(super) fn is_marker(&self) -> bool {
        let named = ["Markers", "Marker", "Events", "Event", "Trigger"]
            .iter()
            .any(|k| self.kind.eq_ignore_ascii_case(k));
        self.number.is_none() || (self.rate == 0.0 && named)
    }

    fn told(&self, channel: usize) -> Option<&Described> {
        (self.described.len() == self.channels).then(|| &self.described[channel])
    }

    pub(super) fn label(&self, channel: usize) -> String {
        let label = self.told(channel).map(|d| d.label.clone());
        let label = label.filter(|l| !l.is_empty());
        label.unwrap_or_else(|| format!("EEG{}", channel + 1))
    }

    /// The unit's text; µV where none is told.
    pub(super) fn unit(&self, channel: usize) -> &str {
        match self.told(channel).map_or("", |d| d.unit.as_str()) {
            "" | "microvolts" | "microvolt" | "uVolt" | "uV" => "µV",
            "volts" | "volt" => "V",
            "millivolts" | "millivolt" => "mV",
            "nanovolts" | "nanovolt" => "nV",
            other => other,
        }
    }

    pub(super) fn kind_of(&self, channel: usize) -> Option<ChannelKind> {
        let kind = self.told(channel)?.kind.to_ascii_uppercase();
        Some(match kind.as_str() {
            "EEG" => ChannelKind::Eeg,
            "EOG" => ChannelKind::Eog,
            "EMG" => ChannelKind::Emg,
            "ECG" | "EKG" => ChannelKind::Ecg,
            "STIM" | "TRIGGER" | "MARKERS" | "TRG" => ChannelKind::Stim,
            "AUX" | "MISC" | "ACC" | "GYRO" => ChannelKind::Misc,
            _ => return None,
        })
    }

    /// Notes a chunk of samples; what it says of their number is checked against its bytes.
    pub(super) fn add_chunk(&mut self, source: &mut Source<'_>, end: u64) -> Result<()> {
        let samples = length(source, "the number of samples")?;
        let at = source.position();
        // A sample takes a byte at least, and its values.
        let least = 1 + match self.number {
            Some(number) => (self.channels * number.size()) as u64,
            None => 2 * self.channels as u64,
        };
        if samples.saturating_mul(least) > end.saturating_sub(at) {
            let reason = format!("{samples} samples of {least} bytes do not fit their chunk");
            return Err(source.malformed(at, reason));
        }
        self.samples += samples as usize;
        self.parts.push(Part {
            at,
            end,
            samples: samples as usize,
        });
        Ok(())
    }

    /// An outlet that ends while it is recorded can leave a sample and a clock offset of garbage
    /// behind: more samples than the footer tells, and a last offset unlike the others. Both signs
    /// together mean that, and both are dropped, as `pyxdf` does; one alone means nothing.
    pub(super) fn drop_garbage(&mut self) -> Option<String> {
        let told = self.told.filter(|&told| told < self.samples)?;
        if !self.clock.drop_odd_end() {
            return None;
        }
        let extra = self.samples - told;
        self.samples = told;
        Some(format!(
            "{extra} samples of the stream {} and its last clock offset were written when it \
             ended, and were left out",
            excerpt(&self.name)
        ))
    }

    /// Walks over all samples: `see` gets the index, the time stamp, and the bytes of a chunk from
    /// the values on.
    fn walk(
        &self,
        source: &mut Source<'_>,
        mut see: impl FnMut(&Source<'_>, usize, f64, &[u8]) -> Option<usize>,
    ) -> Result<()> {
        let step = if self.rate > 0.0 {
            1.0 / self.rate
        } else {
            0.0
        };
        let (mut last, mut index) = (0.0, 0);
        for part in &self.parts {
            source.seek_to(part.at, "samples")?;
            let bytes = source.read_vec(part.end - part.at, "samples")?;
            let mut at = 0;
            for _ in 0..part.samples {
                if index == self.samples {
                    return Ok(());
                }
                let seen = (|| {
                    let stamped = *bytes.get(at)?;
                    at += 1;
                    last = if stamped == 0 {
                        last + step
                    } else {
                        let stamp = bytes.get(at..)?.first_chunk::<8>()?;
                        at += 8;
                        f64::from_le_bytes(*stamp)
                    };
                    at += see(source, index, last, bytes.get(at..)?)?;
                    Some(())
                })();
                if seen.is_none() || !last.is_finite() {
                    let reason = format!("sample {index} of stream {} is damaged", self.id);
                    return Err(source.malformed(part.at + at as u64, reason));
                }
                index += 1;
            }
        }
        Ok(())
    }

    /// The time stamps.
    pub(super) fn times(&self, source: &mut Source<'_>) -> Result<Vec<f64>> {
        let mut times = Vec::with_capacity(self.samples);
        let size = self.number.map_or(0, |n| n.size() * self.channels);
        self.walk(source, |_, _, time, bytes| {
            times.push(time);
            (bytes.len() >= size).then_some(size)
        })?;
        Ok(times)
    }

    /// The values, channel-major.
    pub(super) fn decode(
        &self,
        source: &mut Source<'_>,
        gains: &[f64],
        out: &mut [f64],
    ) -> Result<()> {
        let Some(number) = self.number else {
            return Ok(());
        };
        let (size, total) = (number.size(), self.samples);
        let mut frame = vec![0.0; self.channels];
        self.walk(source, |_, index, _, bytes| {
            let values = bytes.get(..size * self.channels)?;
            number.decode(values, &mut frame);
            for (c, (value, gain)) in frame.iter().zip(gains).enumerate() {
                out[c * total + index] = value * gain;
            }
            Some(values.len())
        })
    }

    /// Markers with their times in the common clock.
    pub(super) fn markers(&self, source: &mut Source<'_>) -> Result<Vec<(f64, String)>> {
        let (mut times, mut labels) = (Vec::new(), Vec::new());
        self.walk(source, |_, _, time, bytes| {
            let (label, used) = match self.number {
                None => strings(bytes, self.channels)?,
                Some(number) => {
                    let size = number.size() * self.channels;
                    let mut values = vec![0.0; self.channels];
                    number.decode(bytes.get(..size)?, &mut values);
                    let texts: Vec<String> = values.iter().map(f64::to_string).collect();
                    (texts.join("/"), size)
                }
            };
            times.push(time);
            labels.push(label);
            Some(used)
        })?;
        self.clock.synchronise(&mut times);
        Ok(times.into_iter().zip(labels).collect())
    }
}

/// Strings one after the other, each with its length before it.
fn strings(bytes: &[u8], count: usize) -> Option<(String, usize)> {
    let mut at = 0;
    let mut label = String::new();
    for i in 0..count {
        let size = usize::from(*bytes.get(at)?);
        if !matches!(size, 1 | 4 | 8) {
            return None;
        }
        let mut length = [0; 8];
        length[..size].copy_from_slice(bytes.get(at + 1..at + 1 + size)?);
        at += 1 + size;
        let len = usize::try_from(u64::from_le_bytes(length)).ok()?;
        let text = bytes.get(at..at.checked_add(len)?)?;
        at += len;
        let text = String::from_utf8_lossy(text);
        if i > 0 && !text.is_empty() {
            label.push('/');
        }
        label += &text;
    }
    Some((label, at))
}
