//! The ASCII header of EDF and BDF.
//!
//! ```text
//!   0   8  version: "0" (EDF) or 0xFF "BIOSEMI" (BDF)
//!   8 160  patient, recording
//! 168  16  date, time
//! 184   8  header bytes = 256 · (signals + 1)
//! 192  44  reserved: "EDF+C", "EDF+D", "BDF+C", "BDF+D", "24BIT" or blank
//! 236   8  records, −1 while recording
//! 244   8  seconds per record
//! 252   4  signals
//! 256      per signal, field by field: label 16, transducer 80, unit 8, physical minimum 8 and
//!          maximum 8, digital minimum 8 and maximum 8, prefilter 80, samples per record 8, reserved 32
//! ```
//!
//! Source: Kemp et al., Electroencephalogr Clin Neurophysiol 82 (1992); Kemp & Olivan, Clin
//! Neurophysiol 114 (2003); BioSemi's description of BDF.

use std::str::FromStr;

use crate::Result;
use crate::records::calibration;
use crate::source::Source;
use crate::time::{numbers, unix_seconds};
use crate::units::{excerpt, text};

const FIXED: u64 = 256;
const PER_SIGNAL: u64 = 256;

/// How the records follow each other in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Continuity {
    /// Plain EDF or BDF: without gaps, without annotations.
    Plain,
    /// EDF+C or BDF+C: without gaps, with annotations.
    Continuous,
    /// EDF+D or BDF+D: each record tells its own start.
    Discontinuous,
}

/// One signal as the header describes it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Signal {
    /// The label, trimmed; trailing dots, which some recorders pad with (`"Fc5."`), are removed.
    pub(super) label: String,
    /// The unit's text.
    pub(super) unit: String,
    /// The physical values of [`Self::digital`].
    pub(super) physical: (f64, f64),
    /// The smallest and largest stored integer.
    pub(super) digital: (f64, f64),
    /// Samples in each record.
    pub(super) samples_per_record: usize,
    /// Whether this signal carries annotations instead of samples.
    pub(super) annotations: bool,
    /// Bytes from the start of a record to this signal's samples.
    pub(crate) offset: usize,
}

impl Signal {
    /// `physical = gain · digital + offset`, or `None` where a range is empty.
    pub(super) fn calibration(&self) -> Option<(f64, f64)> {
        calibration(self.digital, self.physical)
    }
}

/// The header of an EDF or BDF file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EdfHeader {
    /// 2 for EDF, 3 for BDF.
    pub(super) bytes_per_sample: usize,
    /// How records follow each other.
    pub(super) continuity: Continuity,
    /// Patient identification.
    pub(super) patient: String,
    /// Recording identification.
    pub(super) recording: String,
    /// Start date and time as written, `dd.mm.yy` and `hh.mm.ss`.
    pub(super) start: (String, String),
    /// Records the header announces; `None` where it says −1.
    pub(super) announced_records: Option<u64>,
    /// Seconds per record.
    pub(super) record_duration: f64,
    /// The signals in file order.
    pub(super) signals: Vec<Signal>,
    /// Where the first record starts, in bytes.
    pub(super) data_offset: u64,
    /// Bytes of one record.
    pub(super) record_bytes: usize,
}

/// A fixed-width ASCII field with its place in the file.
struct Field<'b> {
    bytes: &'b [u8],
    offset: u64,
    name: &'static str,
}

impl Field<'_> {
    fn text(&self) -> String {
        text(self.bytes)
    }

    fn number<T: FromStr>(&self, source: &Source<'_>) -> Result<T> {
        // Some recorders write a decimal comma.
        let text = self.text().replace(',', ".");
        text.parse().map_err(|_| {
            source.malformed(
                self.offset,
                format!(
                    "the {} should be a number, found \"{}\"",
                    self.name,
                    excerpt(&text)
                ),
            )
        })
    }

    fn finite(&self, source: &Source<'_>) -> Result<f64> {
        let value: f64 = self.number(source)?;
        if value.is_finite() {
            Ok(value)
        } else {
            Err(source.malformed(self.offset, format!("the {} is {value}", self.name)))
        }
    }
}

/// The signal part: one table per field.
struct SignalTable<'b> {
    bytes: &'b [u8],
    signals: usize,
}

impl<'b> SignalTable<'b> {
    /// Field of signal `i` in the table that starts `before` bytes per signal into the signal part.
    fn field(&self, i: usize, before: usize, width: usize, name: &'static str) -> Field<'b> {
        let start = before * self.signals + i * width;
        Field {
            bytes: &self.bytes[start..start + width],
            offset: FIXED + start as u64,
            name,
        }
    }
}

impl EdfHeader {
    /// The start in seconds since 1970. The header has two digits of the year, of which 85 to 99
    /// are before 2000; EDF+ writes all four beside the recording's name (`Startdate 02-MAR-2002`).
    pub(super) fn started(&self) -> Option<f64> {
        let date = numbers(&self.start.0);
        let time = numbers(&self.start.1);
        let (&[day, month, short], &[hour, minute, second]) = (date.as_slice(), time.as_slice())
        else {
            return None;
        };
        let mut words = self.recording.split_ascii_whitespace();
        let full = words.find(|w| w.eq_ignore_ascii_case("Startdate"));
        let full = full.and_then(|_| words.next()?.rsplit('-').next()?.parse().ok());
        let year = full.unwrap_or(short + if short < 85 { 2000 } else { 1900 });
        unix_seconds(
            [year, month, day],
            [hour as f64, minute as f64, second as f64],
        )
    }

    /// Reads and checks the header; leaves the source at the first record.
    pub(crate) fn read(source: &mut Source<'_>) -> Result<Self> {
        source.seek_to(0, "the header")?;
        let fixed = source.read_vec(FIXED, "the header")?;
        let field = |start: usize, width: usize, name| Field {
            bytes: &fixed[start..start + width],
            offset: start as u64,
            name,
        };
        let bytes_per_sample = match &fixed[..8] {
            b"0       " => 2,
            b"\xffBIOSEMI" => 3,
            other => {
                return Err(source.malformed(
                    0,
                    format!(
                        "the version should be \"0\" or 0xFF \"BIOSEMI\", found \"{}\"",
                        excerpt(other)
                    ),
                ));
            }
        };
        let count: u64 = field(252, 4, "number of signals").number(source)?;
        if count == 0 {
            return Err(source.malformed(252, "the file has no signals"));
        }
        let header_bytes: u64 = field(184, 8, "header size").number(source)?;
        if header_bytes != FIXED + count * PER_SIGNAL {
            return Err(source.malformed(
                184,
                format!(
                    "{count} signals need a header of {} bytes, it says {header_bytes}",
                    FIXED + count * PER_SIGNAL
                ),
            ));
        }
        let announced: i64 = field(236, 8, "number of records").number(source)?;
        let record_duration = field(244, 8, "duration of a record").finite(source)?;
        if record_duration < 0.0 {
            return Err(source.malformed(244, format!("a record lasts {record_duration} s")));
        }
        let reserved = field(192, 44, "reserved field").text();
        let continuity = match reserved.get(..5) {
            Some("EDF+C" | "BDF+C") => Continuity::Continuous,
            Some("EDF+D" | "BDF+D") => Continuity::Discontinuous,
            _ => Continuity::Plain,
        };
        let table = source.read_vec(count * PER_SIGNAL, "the signal headers")?;
        let (signals, record_bytes) =
            read_signals(source, &table, count as usize, bytes_per_sample)?;
        Ok(Self {
            bytes_per_sample,
            continuity,
            patient: field(8, 80, "patient").text(),
            recording: field(88, 80, "recording").text(),
            start: (field(168, 8, "date").text(), field(176, 8, "time").text()),
            announced_records: u64::try_from(announced).ok(),
            record_duration,
            signals,
            data_offset: header_bytes,
            record_bytes,
        })
    }
}

fn read_signals(
    source: &Source<'_>,
    bytes: &[u8],
    count: usize,
    bytes_per_sample: usize,
) -> Result<(Vec<Signal>, usize)> {
    let table = SignalTable {
        bytes,
        signals: count,
    };
    let mut signals = Vec::with_capacity(count);
    let mut offset = 0usize;
    for i in 0..count {
        let label = table.field(i, 0, 16, "label").text();
        let annotations = matches!(label.as_str(), "EDF Annotations" | "BDF Annotations");
        let samples = table.field(i, 216, 8, "number of samples per record");
        let samples_per_record: u32 = samples.number(source)?;
        let number = |before, name| table.field(i, before, 8, name).finite(source);
        signals.push(Signal {
            label: label.trim_end_matches(['.', ' ']).to_string(),
            unit: table.field(i, 96, 8, "unit").text(),
            physical: (
                number(104, "physical minimum")?,
                number(112, "physical maximum")?,
            ),
            digital: (
                number(120, "digital minimum")?,
                number(128, "digital maximum")?,
            ),
            samples_per_record: samples_per_record as usize,
            annotations,
            offset,
        });
        offset = (samples_per_record as usize)
            .checked_mul(bytes_per_sample)
            .and_then(|size| offset.checked_add(size))
            .ok_or_else(|| {
                source.malformed(samples.offset, "a record would not fit into memory")
            })?;
    }
    if offset == 0 {
        return Err(source.malformed(FIXED + 216 * count as u64, "the records are empty"));
    }
    Ok((signals, offset))
}
