//! The `.vmrk`: `Mk1=type,description,position,size,channel,date`.

use super::ini::{Ini, fields};
use crate::Result;
use crate::events::Marker;
use crate::time::unix_seconds;
use crate::units::excerpt;

/// Markers in file order; positions count from 1.
pub(super) fn parse(ini: &Ini, rate: f64) -> Result<Vec<Marker>> {
    let mut markers = Vec::new();
    for i in 1u64.. {
        let Some(entry) = ini.get("marker infos", &format!("mk{i}")) else {
            break;
        };
        let fields = fields(&entry.value);
        let field = |at: usize| fields.get(at).map_or("", String::as_str);
        let number = |at: usize, what: &str| {
            let text = field(at);
            text.parse::<f64>()
                .ok()
                .filter(|n| n.is_finite())
                .ok_or_else(|| {
                    ini.malformed(
                        entry.offset,
                        format!(
                            "the {what} of marker {i} should be a number, found \"{}\"",
                            excerpt(text)
                        ),
                    )
                })
        };
        let size = if field(3).is_empty() {
            0.0
        } else {
            number(3, "size")?
        };
        let label = if field(1).is_empty() {
            field(0)
        } else {
            field(1)
        };
        markers.push(Marker {
            onset: (number(2, "position")? - 1.0) / rate,
            duration: size / rate,
            label: label.to_string(),
        });
    }
    Ok(markers)
}

/// The start of the recording: the date of the first `New Segment` that has one, `YYYYMMDDhhmmss`
/// and six digits of microseconds, where that segment starts with the first sample.
pub(super) fn started(ini: &Ini) -> Option<f64> {
    let entries = (1u64..).map_while(|i| ini.get("marker infos", &format!("mk{i}")));
    let mut segments = entries.map(|e| fields(&e.value));
    let segment = segments.find(|f| f.first().is_some_and(|kind| kind == "New Segment"))?;
    let date = segment.get(5)?;
    if segment.get(2)? != "1" || date.len() < 14 || !date.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let part = |from: usize, to: usize| date.get(from..to)?.parse::<i64>().ok();
    let micro: f64 = date.get(14..20).and_then(|m| m.parse().ok()).unwrap_or(0.0);
    let time = [
        part(8, 10)? as f64,
        part(10, 12)? as f64,
        part(12, 14)? as f64 + micro * 1e-6,
    ];
    unix_seconds([part(0, 4)?, part(4, 6)?, part(6, 8)?], time)
}
