//! The header: the first line, the states, and those parameters that say what the numbers are.

use crate::Result;
use crate::Source;
use crate::numbers::Number;
use crate::units::{excerpt, microvolts_per};

const LONGEST: u64 = 1 << 24;
const MOST_CHANNELS: usize = 1 << 16;

/// A state: where its bits are in the vector.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) name: String,
    pub(super) bits: u32,
    byte: usize,
    bit: usize,
}

impl State {
    /// Its value in a vector; bits outside count as 0.
    pub(super) fn value(&self, vector: &[u8]) -> u32 {
        let start = 8 * self.byte + self.bit;
        (0..self.bits as usize).fold(0, |value, i| {
            let at = start + i;
            let byte = vector.get(at / 8).copied().unwrap_or(0);
            value | u32::from(byte >> (at % 8) & 1) << i
        })
    }
}

/// What the header says.
#[derive(Debug)]
pub(super) struct Header {
    /// Bytes of the header.
    pub(super) len: u64,
    pub(super) names: Vec<String>,
    pub(super) gains: Vec<f64>,
    pub(super) offsets: Vec<f64>,
    pub(super) rate: f64,
    pub(super) number: Number,
    pub(super) states: Vec<State>,
    vector: usize,
    /// What the header leaves open.
    pub(super) notes: Vec<String>,
}

impl Header {
    /// Bytes of a sample of all channels with its states.
    pub(super) fn frame(&self) -> usize {
        self.names.len() * self.number.size() + self.vector
    }

    pub(super) fn read(source: &mut Source<'_>) -> Result<Self> {
        let start = source.head(512)?;
        let first = start.split(|&b| b == b'\n').next().unwrap_or_default();
        let first = String::from_utf8_lossy(first).into_owned();
        let told = |key: &str| {
            let (_, rest) = first.split_once(&format!("{key}="))?;
            rest.split_ascii_whitespace().next()
        };
        let count = |key: &str| {
            let value = told(key).and_then(|v| v.parse::<usize>().ok());
            value.ok_or_else(|| source.malformed(0, format!("the first line does not give {key}")))
        };
        let (len, channels, vector) = (
            count("HeaderLen")?,
            count("SourceCh")?,
            count("StatevectorLen")?,
        );
        let number = match told("DataFormat").unwrap_or("int16") {
            "int16" => Number::I16,
            "int32" => Number::I32,
            "float32" => Number::F32,
            other => {
                let reason = format!(
                    "its numbers are \"{}\"; only int16, int32 and float32 can be read",
                    excerpt(other)
                );
                return Err(source.malformed(0, reason));
            }
        };
        if channels == 0
            || channels > MOST_CHANNELS
            || vector > MOST_CHANNELS
            || len as u64 > LONGEST
        {
            let reason = format!(
                "the first line gives {channels} channels, {vector} bytes of states and a header \
                 of {len} bytes, which cannot be"
            );
            return Err(source.malformed(0, reason));
        }
        source.seek_to(0, "the header")?;
        let bytes = source.read_vec(len as u64, "the header")?;
        let text = crate::units::text(&bytes);
        let find = |name: &str| parameter(&text, name);
        let rate = find("SamplingRate").and_then(|v| number_and_unit(v.first().copied()?));
        let rate = rate.filter(|(rate, unit)| *rate > 0.0 && matches!(*unit, "" | "Hz"));
        let Some((rate, _)) = rate else {
            return Err(source.malformed(0, "the header does not give a SamplingRate"));
        };
        let mut notes = Vec::new();
        let mut numbers = |name: &str, default: f64, scale: &dyn Fn(&str) -> Option<f64>| {
            let Some(values) = find(name) else {
                notes.push(format!(
                    "the header does not give {name}; {default} was taken for every channel"
                ));
                return Ok(vec![default; channels]);
            };
            let value = |text: &String| {
                let (number, unit) = number_and_unit(text)?;
                Some(number * scale(unit)?)
            };
            let values: Option<Vec<f64>> =
                items(&values).and_then(|list| list.iter().map(value).collect());
            values.filter(|v| v.len() == channels).ok_or_else(|| {
                let reason = format!("{name} should be a list of {channels} numbers");
                source.malformed(0, reason)
            })
        };
        let gains = numbers("SourceChGain", 1.0, &microvolts)?;
        let offsets = numbers("SourceChOffset", 0.0, &|unit: &str| {
            unit.is_empty().then_some(1.0)
        })?;
        let names = find("ChannelNames").and_then(|v| items(&v));
        let names = names.filter(|n| n.len() == channels && n.iter().all(|n| !n.is_empty()));
        Ok(Self {
            len: len as u64,
            names: names.unwrap_or_else(|| (1..=channels).map(|i| format!("EEG{i}")).collect()),
            gains,
            offsets,
            rate,
            number,
            states: states(&text),
            vector,
            notes,
        })
    }
}

/// The words after `Section type Name=`, without the comment.
fn parameter<'t>(text: &'t str, name: &str) -> Option<Vec<&'t str>> {
    let key = format!(" {name}=");
    let line = text.lines().find(|line| line.contains(&key))?;
    let (_, rest) = line.split_once(&key)?;
    let rest = rest.split("//").next().unwrap_or(rest);
    Some(rest.split_ascii_whitespace().collect())
}

/// The items of a list: `3 a b c`, or with labels `{ x y z } a b c`; behind them the default and
/// the range of an item may follow.
fn items(words: &[&str]) -> Option<Vec<String>> {
    let (count, start) = match words.first() {
        Some(&"{") => {
            let end = words.iter().position(|w| *w == "}")?;
            (end - 1, end + 1)
        }
        first => (first?.parse().ok()?, 1),
    };
    let items = words.get(start..)?.get(..count)?;
    Some(items.iter().map(|item| decoded(item)).collect())
}

/// The number that a value starts with, and its unit: `256Hz`, `0.033muV`.
fn number_and_unit(text: &str) -> Option<(f64, &str)> {
    let digit = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E');
    let end = text.find(|c: char| !digit(c)).unwrap_or(text.len());
    let number = text[..end].parse().ok().filter(|v: &f64| v.is_finite())?;
    Some((number, &text[end..]))
}

/// The factor from a gain's unit to µV, which a gain without unit has.
fn microvolts(unit: &str) -> Option<f64> {
    match unit {
        "" | "muV" => Some(1.0),
        unit => microvolts_per(unit),
    }
}

/// Blanks and other characters are written as `%20`, nothing at all as `%`.
fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let code = part
            .get(..2)
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.extend(code);
        let rest = if code.is_some() { &part[2..] } else { part };
        bytes.extend(rest.as_bytes());
    }
    crate::units::text(&bytes)
}

/// `Name length value byte bit`, up to the next section.
fn states(text: &str) -> Vec<State> {
    let section = text
        .lines()
        .skip_while(|l| !l.starts_with("[ State Vector Definition"));
    let lines = section.skip(1).take_while(|l| !l.starts_with('['));
    let state = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let name = words.next()?.to_string();
        let mut number = || words.next()?.parse::<usize>().ok();
        let (bits, _, byte, bit) = (number()?, number()?, number()?, number()?);
        (bits <= 32 && byte < MOST_CHANNELS && bit < 8).then_some(State {
            name,
            bits: bits as u32,
            byte,
            bit,
        })
    };
    lines.filter_map(state).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(parameters: &str) -> Result<Header> {
        let states =
            "[ State Vector Definition ]\r\nRunning 1 0 0 0\r\n[ Parameter Definition ]\r\n";
        let body =
            format!("{states}Source int SamplingRate= 160 128 1 4000 // rate\r\n{parameters}");
        let first = |len: usize| format!("HeaderLen= {len:5} SourceCh= 2 StatevectorLen= 1\r\n");
        let text = first(first(0).len() + body.len()) + &body;
        Header::read(&mut Source::from_bytes("a.dat", text.as_bytes()))
    }

    /// As BCI2000 writes them: behind a list stand the default and the range of an item.
    #[test]
    fn lists_end_with_their_default_and_range() {
        let read = header(
            "Filtering floatlist SourceChGain= 2 0.01617 0.5mV 0.003 -500 500 // \
             gain\r\nFiltering floatlist SourceChOffset= 2 43 -55 0 -500 500 // offset\r\nSource \
             list ChannelNames= 2 C%20z %ce%bc1 // names\r\n",
        )
        .unwrap();
        assert_eq!(read.gains, [0.01617, 500.0]);
        assert_eq!(read.offsets, [43.0, -55.0]);
        assert_eq!(read.names, ["C z", "μ1"]);
        assert!(read.notes.is_empty(), "{:?}", read.notes);
    }

    #[test]
    fn labelled_lists_and_absent_ones() {
        let read = header("Source floatlist SourceChGain= { C3 C4 } 2muV 3uV // gain\r\n").unwrap();
        assert_eq!(read.gains, [2.0, 3.0]);
        assert_eq!(read.names, ["EEG1", "EEG2"]);
        let note = "the header does not give SourceChOffset; 0 was taken for every channel";
        assert_eq!(read.notes, [note]);
    }

    #[test]
    fn gains_that_do_not_fit_are_refused() {
        for list in ["3 1 1 1", "2 1", "2 1 x", "2 1 1kg", "{ A B", "x 1 1", ""] {
            let error = header(&format!(
                "Source floatlist SourceChGain= {list} // gain\r\n"
            ));
            let error = error.unwrap_err().to_string();
            assert!(
                error.contains("SourceChGain should be a list of 2 numbers"),
                "{list}: {error}"
            );
        }
    }
}
