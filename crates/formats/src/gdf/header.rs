//! The header of GDF, little-endian.
//!
//! | at | 1.x | 2.x |
//! |---|---|---|
//! | 184 | header bytes i64 | header blocks of 256 bytes u16 |
//! | 236 | records i64 | records i64 |
//! | 244 | seconds per record u32 / u32 | the same; f64 from 2.21 |
//! | 252 | channels u32 | channels u16 |
//!
//! Per channel, field by field, with the bytes before each field:
//!
//! | field | 1.x | 2.x |
//! |---|---|---|
//! | label, 16 bytes | 0 | 0 |
//! | unit | 96, text of 8 | 102, code u16 |
//! | physical minimum, maximum f64 | 104, 112 | 104, 112 |
//! | digital minimum, maximum | 120, 128 i64 | 120, 128 f64 |
//! | samples per record u32 | 216 | 216 |
//! | type u32 | 220 | 220 |

use crate::Result;
use crate::numbers::Number;
use crate::source::Source;
use crate::time::unix_seconds;
use crate::units::{excerpt, text};

const FIXED: u64 = 256;
const PER_CHANNEL: u64 = 256;

/// One channel as the header describes it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GdfChannel {
    /// The label, trimmed.
    pub(super) label: String,
    /// The unit: text, or `V`, `mV`, `uV`, `nV` for these codes, empty for none.
    pub(super) unit: String,
    /// The physical values of [`Self::digital`].
    pub(super) physical: (f64, f64),
    /// The smallest and largest stored number.
    pub(super) digital: (f64, f64),
    /// Samples in each record.
    pub(super) samples_per_record: usize,
    /// Bytes from the start of a record to this channel's samples.
    pub(crate) offset: usize,
    pub(crate) number: Number,
}

/// The header of a GDF file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GdfHeader {
    /// The version, 1.25 or 2.20 for example.
    pub(super) version: f64,
    /// Records the header announces; `None` where it says −1.
    pub(super) announced_records: Option<u64>,
    /// Seconds per record.
    pub(super) record_duration: f64,
    /// The channels in file order.
    pub(super) channels: Vec<GdfChannel>,
    /// Where the first record starts, in bytes.
    pub(super) data_offset: u64,
    /// Bytes of one record.
    pub(super) record_bytes: usize,
    /// The start in seconds since 1970, where the header tells it.
    pub(super) started: Option<f64>,
}

/// Days from the start of year 0 to 1970.
const DAYS_TO_1970: f64 = 719_529.0;

/// The start: `YYYYMMDDhhmmsscc` before version 1.9, then days since year 0 in units of 2⁻³².
fn started(bytes: &[u8], two: bool) -> Option<f64> {
    if two {
        let days = u64::from_le_bytes(*bytes.first_chunk()?) as f64 / 2f64.powi(32);
        return (days > 0.0).then(|| ((days - DAYS_TO_1970) * 86_400.0 * 1e6).round() / 1e6);
    }
    let text = std::str::from_utf8(bytes.get(..16)?).ok()?;
    let part = |from: usize, to: usize| text.get(from..to)?.trim().parse::<i64>().ok();
    let hundredths = part(14, 16).unwrap_or(0) as f64 / 100.0;
    let time = [
        part(8, 10)? as f64,
        part(10, 12)? as f64,
        part(12, 14)? as f64 + hundredths,
    ];
    unix_seconds([part(0, 4)?, part(4, 6)?, part(6, 8)?], time)
}

/// Little-endian numbers out of the header's bytes, whose length is checked beforehand.
struct Bytes<'b>(&'b [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.0[at..at + N]);
        bytes
    }

    fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.take(at))
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.take(at))
    }

    fn i64(&self, at: usize) -> i64 {
        i64::from_le_bytes(self.take(at))
    }

    fn f64(&self, at: usize) -> f64 {
        f64::from_le_bytes(self.take(at))
    }
}

impl GdfHeader {
    /// Reads and checks the header.
    pub(crate) fn read(source: &mut Source<'_>) -> Result<Self> {
        source.seek_to(0, "the header")?;
        let fixed = source.read_vec(FIXED, "the header")?;
        let version = text(&fixed[4..8]);
        let version = (version.parse::<f64>().ok())
            .filter(|v| fixed.starts_with(b"GDF ") && (1.0..3.0).contains(v))
            .ok_or_else(|| {
                source.malformed(
                    0,
                    format!("expected GDF 1 or 2, found \"{}\"", excerpt(&fixed[..8])),
                )
            })?;
        let two = version >= 1.9;
        let fixed = Bytes(&fixed);
        let (count, header_bytes) = if two {
            (u64::from(fixed.u16(252)), u64::from(fixed.u16(184)) * 256)
        } else {
            (
                u64::from(fixed.u32(252)),
                u64::try_from(fixed.i64(184)).unwrap_or(0),
            )
        };
        if count == 0 {
            return Err(source.malformed(252, "the file has no channels"));
        }
        // Tags may follow the channels.
        let needed = FIXED + count * PER_CHANNEL;
        if header_bytes < needed || header_bytes > source.len() {
            return Err(source.malformed(
                184,
                format!(
                    "{count} channels need a header of {needed} bytes or more, it says \
                     {header_bytes} in a file of {}",
                    source.len()
                ),
            ));
        }
        let record_duration = record_duration(source, &fixed, version)?;
        let table = source.read_vec(count * PER_CHANNEL, "the channel headers")?;
        let (channels, record_bytes) = read_channels(source, &table, count as usize, two)?;
        Ok(Self {
            version,
            announced_records: u64::try_from(fixed.i64(236)).ok(),
            record_duration,
            channels,
            data_offset: header_bytes,
            record_bytes,
            started: started(&fixed.0[168..], two),
        })
    }
}

/// A fraction before 2.21, then a float; a float that makes no sense is taken as a fraction, which
/// some writers kept.
fn record_duration(source: &Source<'_>, fixed: &Bytes<'_>, version: f64) -> Result<f64> {
    let sensible = |seconds: &f64| (1e-9..1e9).contains(seconds);
    let float = Some(fixed.f64(244)).filter(|seconds| version > 2.205 && sensible(seconds));
    let fraction = f64::from(fixed.u32(244)) / f64::from(fixed.u32(248));
    float.or(Some(fraction).filter(sensible)).ok_or_else(|| {
        let (numerator, denominator) = (fixed.u32(244), fixed.u32(248));
        source.malformed(244, format!("a record lasts {numerator}/{denominator} s"))
    })
}

fn read_channels(
    source: &Source<'_>,
    table: &[u8],
    count: usize,
    two: bool,
) -> Result<(Vec<GdfChannel>, usize)> {
    let bytes = Bytes(table);
    let mut channels = Vec::with_capacity(count);
    let mut offset = 0usize;
    for i in 0..count {
        let at = |before: usize, width: usize| before * count + i * width;
        let pair = |before: usize| (bytes.f64(at(before, 8)), bytes.f64(at(before + 8, 8)));
        let number = number(bytes.u32(at(220, 4))).ok_or_else(|| {
            let place = FIXED + at(220, 4) as u64;
            source.malformed(
                place,
                format!(
                    "channel {i} is of the unknown type {}",
                    bytes.u32(at(220, 4))
                ),
            )
        })?;
        let samples_per_record = bytes.u32(at(216, 4)) as usize;
        channels.push(GdfChannel {
            label: text(&table[at(0, 16)..][..16]),
            unit: if two {
                unit(bytes.u16(at(102, 2)))
            } else {
                text(&table[at(96, 8)..][..8])
            },
            physical: pair(104),
            digital: if two {
                pair(120)
            } else {
                (bytes.i64(at(120, 8)) as f64, bytes.i64(at(128, 8)) as f64)
            },
            samples_per_record,
            offset,
            number,
        });
        offset = samples_per_record
            .checked_mul(number.size())
            .and_then(|size| offset.checked_add(size))
            .ok_or_else(|| {
                source.malformed(
                    FIXED + at(216, 4) as u64,
                    "a record would not fit into memory",
                )
            })?;
    }
    if offset == 0 {
        return Err(source.malformed(FIXED + 216 * count as u64, "the records are empty"));
    }
    Ok((channels, offset))
}

/// Codes of ISO/IEEE 11073-10101: 4256 is the volt, the lower five bits a decimal factor.
fn unit(code: u16) -> String {
    match code {
        0 | 512 => String::new(),
        4256 => "V".into(),
        4274 => "mV".into(),
        4275 => "uV".into(),
        4276 => "nV".into(),
        other => format!("unit {other}"),
    }
}

fn number(kind: u32) -> Option<Number> {
    Some(match kind {
        1 => Number::I8,
        2 => Number::U8,
        3 => Number::I16,
        4 => Number::U16,
        5 => Number::I32,
        6 => Number::U32,
        7 => Number::I64,
        8 => Number::U64,
        16 => Number::F32,
        17 => Number::F64,
        // 255 + 24 and 511 + 24 bits.
        279 => Number::I24,
        535 => Number::U24,
        _ => return None,
    })
}
