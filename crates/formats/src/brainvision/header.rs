//! The `.vhdr`.

use std::path::Path;

use super::ini::{Entry, Ini, fields};
use crate::numbers::Number;
use crate::units::{self, excerpt};
use crate::{Channel, FormatError, Result};

const COMMON: &str = "common infos";

/// What the header says.
#[derive(Debug)]
pub(super) struct Vhdr {
    pub(super) data_file: Entry,
    pub(super) marker_file: Option<Entry>,
    pub(super) channels: Vec<Channel>,
    /// From stored numbers to values in memory.
    pub(super) gains: Vec<f64>,
    pub(super) rate: f64,
    pub(super) samples: Option<u64>,
    pub(super) stored: Stored,
    pub(super) vectorized: bool,
    /// Numbers at the end of every frame that belong to no channel.
    pub(super) unnamed: usize,
}

/// How samples are stored.
#[derive(Debug)]
pub(super) enum Stored {
    /// Numbers one after the other.
    Binary { number: Number, big_endian: bool },
    /// Text.
    Ascii(AsciiLayout),
}

impl Stored {
    /// The type of binary numbers; that of text stands for nothing.
    pub(super) fn number(&self) -> Number {
        match self {
            Self::Binary { number, .. } => *number,
            Self::Ascii(_) => Number::U8,
        }
    }
}

/// What a text file has besides its samples.
#[derive(Debug)]
pub(super) struct AsciiLayout {
    pub(super) decimal: char,
    pub(super) skip_lines: u64,
    pub(super) skip_columns: u64,
}

impl Vhdr {
    pub(super) fn parse(path: &Path, ini: &Ini) -> Result<Self> {
        let vectorized = one_of(
            ini,
            COMMON,
            "dataorientation",
            &[("MULTIPLEXED", false), ("VECTORIZED", true)],
        )?;
        let stored = stored(path, ini)?;
        let interval = ini.require(COMMON, "samplinginterval")?;
        let microseconds: f64 = interval.value.parse().unwrap_or(f64::NAN);
        let rate = 1e6 / microseconds;
        if !(rate.is_finite() && rate > 0.0) {
            let reason = format!(
                "the sampling interval should be microseconds, found \"{}\"",
                excerpt(&interval.value)
            );
            return Err(ini.malformed(interval.offset, reason));
        }
        let samples = match ini.get(COMMON, "datapoints") {
            None => None,
            Some(entry) => Some(whole(ini, entry)?).filter(|&n| n > 0),
        };
        let (channels, gains) = channels(ini)?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let file = |entry: &Entry| Entry {
            value: entry.value.replace("$b", &stem),
            offset: entry.offset,
        };
        Ok(Self {
            data_file: file(ini.require(COMMON, "datafile")?),
            marker_file: ini.get(COMMON, "markerfile").map(file),
            channels,
            gains,
            rate,
            samples,
            stored,
            vectorized,
            unnamed: 0,
        })
    }
}

/// `DataFormat`: binary, or text with its own section.
fn stored(path: &Path, ini: &Ini) -> Result<Stored> {
    let format = ini.get(COMMON, "dataformat").map(|e| e.value.as_str());
    match format {
        Some(text) if text.eq_ignore_ascii_case("ASCII") => {
            let count = |key: &str| match ini.get("ascii infos", key) {
                None => Ok(0),
                Some(entry) => whole(ini, entry),
            };
            let decimal = ini.get("ascii infos", "decimalsymbol");
            Ok(Stored::Ascii(AsciiLayout {
                decimal: decimal.and_then(|e| e.value.chars().next()).unwrap_or('.'),
                skip_lines: count("skiplines")?,
                skip_columns: count("skipcolumns")?,
            }))
        }
        Some(text) if !text.eq_ignore_ascii_case("BINARY") => Err(FormatError::Unsupported {
            path: path.to_path_buf(),
            kind: format!("BrainVision {}", excerpt(text)),
            remedy: "export it again from the BrainVision software as binary".into(),
        }),
        _ => {
            let formats = [
                ("INT_16", Number::I16),
                ("UINT_16", Number::U16),
                ("INT_32", Number::I32),
                ("IEEE_FLOAT_32", Number::F32),
            ];
            let order = ini.get("binary infos", "usebigendianorder");
            Ok(Stored::Binary {
                number: one_of(ini, "binary infos", "binaryformat", &formats)?,
                big_endian: order.is_some_and(|e| e.value.eq_ignore_ascii_case("YES")),
            })
        }
    }
}

fn whole(ini: &Ini, entry: &Entry) -> Result<u64> {
    let value = &entry.value;
    value.parse().map_err(|_| {
        ini.malformed(
            entry.offset,
            format!("expected a whole number, found \"{}\"", excerpt(value)),
        )
    })
}

/// The meaning of a keyword.
fn one_of<T: Copy>(ini: &Ini, section: &str, key: &str, choices: &[(&str, T)]) -> Result<T> {
    let entry = ini.require(section, key)?;
    let choice = choices
        .iter()
        .find(|(name, _)| entry.value.eq_ignore_ascii_case(name));
    choice.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
        ini.malformed(
            entry.offset,
            format!(
                "{key} is \"{}\"; it must be one of {}",
                excerpt(&entry.value),
                names.join(", ")
            ),
        )
    })
}

/// `Ch1=name,reference,resolution,unit`.
fn channels(ini: &Ini) -> Result<(Vec<Channel>, Vec<f64>)> {
    let entry = ini.require(COMMON, "numberofchannels")?;
    let count = whole(ini, entry)?;
    if count == 0 {
        return Err(ini.malformed(entry.offset, "there are no channels"));
    }
    let (mut channels, mut gains) = (Vec::new(), Vec::new());
    for i in 1..=count {
        let entry = ini.require("channel infos", &format!("ch{i}"))?;
        let fields = fields(&entry.value);
        let field = |at: usize| fields.get(at).map_or("", String::as_str);
        let resolution = match field(2) {
            "" => 1.0,
            text => text.parse().unwrap_or(f64::NAN),
        };
        if !resolution.is_finite() {
            let reason = format!(
                "the resolution of channel {i} should be a number, found \"{}\"",
                excerpt(field(2))
            );
            return Err(ini.malformed(entry.offset, reason));
        }
        let unit = if field(3).is_empty() {
            units::MICROVOLT
        } else {
            field(3)
        };
        let (channel, scale) = units::channel(field(0), unit);
        channels.push(channel);
        gains.push(resolution * scale);
    }
    Ok((channels, gains))
}
