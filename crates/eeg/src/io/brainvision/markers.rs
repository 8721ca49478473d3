//! The `.vmrk`: `Mk1=type,description,position,size,channel,date`.

use super::ini::{Ini, fields};
use crate::Result;
use crate::io::events::Marker;
use crate::io::units::excerpt;

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
