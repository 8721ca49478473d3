//! Time-stamped annotation lists of EDF+ and BDF+.
//!
//! ```text
//! +onset [0x15 duration] 0x14 text 0x14 … text 0x14 0x00      (repeated, padded with 0x00)
//! ```
//!
//! Seconds count from the header's start time. The first list of the first annotation signal of a
//! record has an empty text first: its onset is the start of the record.

use crate::Result;
use crate::events::Marker;
use crate::source::Source;
use crate::units::{excerpt, text};

const DURATION: u8 = 0x15;
const SEPARATOR: u8 = 0x14;

/// What the annotation signals of a stretch of records say.
#[derive(Debug, Default)]
pub(crate) struct TalLog {
    /// Markers with onsets from the header's start time.
    pub(crate) markers: Vec<Marker>,
    /// Start of the first record seen, where a timekeeping list told it.
    pub(crate) first_onset: Option<f64>,
}

/// Parses one annotation signal of one record into `log`; returns its timekeeping onset, if any.
///
/// `offset` is where `bytes` lie in the file.
pub(crate) fn parse(
    source: &Source<'_>,
    bytes: &[u8],
    offset: u64,
    log: &mut TalLog,
) -> Result<Option<f64>> {
    let mut timekeeping = None;
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == 0 {
            at += 1;
            continue;
        }
        let rest = &bytes[at..];
        let len = rest.iter().position(|&b| b == 0).unwrap_or(rest.len());
        let onset = parse_list(source, &rest[..len], offset + at as u64, log)?;
        if at == 0 {
            timekeeping = onset;
        }
        at += len;
    }
    Ok(timekeeping)
}

/// Parses one list; returns its onset when its first text is empty.
fn parse_list(
    source: &Source<'_>,
    list: &[u8],
    offset: u64,
    log: &mut TalLog,
) -> Result<Option<f64>> {
    let mut parts = list.split(|&b| b == SEPARATOR);
    let stamp = parts.next().unwrap_or_default();
    let mut times = stamp.splitn(2, |&b| b == DURATION);
    let onset = seconds(times.next().unwrap_or_default());
    let onset = onset
        .filter(|_| matches!(stamp.first(), Some(b'+' | b'-')))
        .ok_or_else(|| {
            source.malformed(
                offset,
                format!(
                    "an annotation should start with +seconds, found \"{}\"",
                    excerpt(stamp)
                ),
            )
        })?;
    let duration = match times.next() {
        // Some recorders write the mark of a duration and no duration.
        None | Some(b"") => 0.0,
        Some(bytes) => seconds(bytes).ok_or_else(|| {
            source.malformed(
                offset,
                format!("an annotation lasts \"{}\" s", excerpt(bytes)),
            )
        })?,
    };
    if list.last() != Some(&SEPARATOR) {
        return Err(source.malformed(offset, "an annotation does not end with 0x14"));
    }
    let mut keeps_time = false;
    for (i, part) in parts.enumerate() {
        if part.is_empty() {
            keeps_time |= i == 0;
        } else {
            log.markers.push(Marker {
                onset,
                duration,
                label: text(part),
            });
        }
    }
    Ok(keeps_time.then_some(onset))
}

fn seconds(bytes: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(bytes).ok()?;
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_all(bytes: &[u8]) -> Result<(Option<f64>, Vec<Marker>)> {
        let source = Source::from_bytes("tal", b"");
        let mut log = TalLog::default();
        let onset = parse(&source, bytes, 100, &mut log)?;
        Ok((onset, log.markers))
    }

    #[test]
    fn timekeeping_and_several_texts() {
        let (onset, markers) = parse_all(
            b"+0.5\x14\x14\0+1.25\x152.5\x14T1\x14caf\xc3\xa9\x14\0-3\x14early\x14\0\0\0",
        )
        .unwrap();
        assert_eq!(onset, Some(0.5));
        let got: Vec<_> = markers
            .iter()
            .map(|m| (m.onset, m.duration, m.label.as_str()))
            .collect();
        assert_eq!(
            got,
            [(1.25, 2.5, "T1"), (1.25, 2.5, "café"), (-3.0, 0.0, "early")]
        );
    }

    #[test]
    fn a_list_without_timekeeping() {
        let (onset, markers) = parse_all(b"+7\x15\x14seizure\x14\0").unwrap();
        assert_eq!((onset, markers.len()), (None, 1));
    }

    #[test]
    fn nonsense_is_refused_with_its_place() {
        for bytes in [
            &b"\0\0hello"[..],
            b"\0\0+1\x15x\x14a\x14",
            b"\0\0+1\x14a",
            b"\0\0+nan\x14a\x14",
        ] {
            let error = parse_all(bytes).unwrap_err().to_string();
            assert!(error.starts_with("tal: at byte 102: "), "{error}");
        }
    }
}
