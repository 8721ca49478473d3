//! Annotations: onsets, ends and texts of the same length.
//!
//! ```text
//! time from the start of the measurement = onset + (origin of the annotations − start)
//! ```
//!
//! Without an origin, onsets count from the start of the measurement too.

use super::info::{Info, date};
use super::tags::{Directory, block, tag};
use crate::Result;
use crate::Source;
use crate::events::Marker;

/// Markers in seconds from the start of the measurement, which is before the first sample where
/// that has a number above 0.
pub(super) fn read(
    source: &mut Source<'_>,
    directory: &Directory,
    info: &Info,
) -> Result<Vec<Marker>> {
    let entries = directory.first_block(block::MNE_ANNOTATIONS);
    let (mut onsets, mut ends, mut texts, mut origin) = (Vec::new(), Vec::new(), Vec::new(), None);
    for entry in entries.iter().filter(|e| e.block == block::MNE_ANNOTATIONS) {
        match entry.kind {
            tag::MNE_BASELINE_MIN => onsets = entry.numbers(source, u64::MAX, "the onsets")?,
            tag::MNE_BASELINE_MAX => ends = entry.numbers(source, u64::MAX, "the durations")?,
            tag::COMMENT => texts = entry.names(source, "the texts of annotations")?,
            tag::MEAS_DATE => origin = date(source, entry)?,
            _ => {}
        }
    }
    if onsets.len() != ends.len() || onsets.len() != texts.len() {
        let at = entries.first().map_or(0, |e| e.at);
        return Err(source.malformed(
            at,
            format!(
                "{} onsets of annotations have {} durations and {} texts",
                onsets.len(),
                ends.len(),
                texts.len()
            ),
        ));
    }
    let shift = match (origin, info.started) {
        (Some(origin), Some(start)) => origin - start,
        _ => 0.0,
    };
    let markers = onsets.into_iter().zip(ends).zip(texts);
    Ok(markers
        .map(|((onset, end), label)| Marker {
            onset: onset + shift,
            duration: end - onset,
            label,
        })
        .collect())
}
