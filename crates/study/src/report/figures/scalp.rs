//! Spatial patterns of one unit's experts on the head.

use super::super::base::text::count;
use super::super::chart::scalp::{Head, Scalps};
use super::{Figure, Section, file_name, unit_name};
use crate::{StudySummary, UnitRecord};
use stiefel_eeg::montage::position;

/// Fewer electrodes than this make no map.
const LEAST: usize = 3;

/// The figure, or why there is none.
pub(super) fn patterns(summary: &StudySummary, unit: &UnitRecord) -> Result<Figure, String> {
    let method = &unit.method;
    let patterns = unit
        .outcome
        .routing
        .as_ref()
        .map_or(&[][..], |r| &r.patterns[..]);
    if patterns.iter().all(Vec::is_empty) {
        return Err(format!(
            "{method}: no scalp maps, for its record holds no spatial patterns."
        ));
    }
    let channels = &summary.dataset.channels;
    if let Some(odd) = patterns
        .iter()
        .flatten()
        .find(|p| p.len() != channels.len())
    {
        return Err(format!(
            "{method}: no scalp maps, for a pattern has {} and the dataset {}.",
            count(odd.len(), "value"),
            count(channels.len(), "channel")
        ));
    }
    let (known, unknown): (Vec<usize>, Vec<usize>) =
        (0..channels.len()).partition(|&c| position(&channels[c]).is_some());
    let left_out = if unknown.is_empty() {
        String::new()
    } else {
        let names: Vec<&str> = unknown
            .iter()
            .take(12)
            .map(|&c| channels[c].as_str())
            .collect();
        let more = if unknown.len() > 12 { ", …" } else { "" };
        format!(
            " Left out, for their place on the head is not known: {}{more} ({} of {}).",
            names.join(", "),
            unknown.len(),
            count(channels.len(), "channel")
        )
    };
    if known.len() < LEAST {
        return Err(format!(
            "{method}: no scalp maps, for they need at least {LEAST} electrodes.{left_out}"
        ));
    }
    let head = |pattern: &Vec<f64>| {
        let values: Vec<f64> = known.iter().map(|&c| pattern[c]).collect();
        // A map of half the numbers would be another map.
        values
            .iter()
            .all(|v| v.is_finite())
            .then_some(Head { values })
    };
    let groups: Vec<(String, Vec<Head>)> = patterns
        .iter()
        .enumerate()
        .map(|(k, pair)| {
            (
                format!("expert {}", k + 1),
                pair.iter().filter_map(head).collect(),
            )
        })
        .collect();
    let heads: usize = groups.iter().map(|g| g.1.len()).sum();
    let chart = Scalps {
        electrodes: known
            .iter()
            .filter_map(|&c| position(&channels[c]))
            .collect(),
        groups,
        scale: "relative to the largest of each map",
    };
    let drawing = chart
        .draw()
        .ok_or_else(|| format!("{method}: no scalp maps, for none of its patterns is finite."))?;
    Ok(Figure {
        section: Section::Routing,
        method: Some(method.clone()),
        name: file_name("scalp", method),
        title: format!("{method}: spatial patterns of the experts"),
        caption: format!(
            "Activation patterns, not filters: per expert the two strongest, seen from above, nose up; {}. The sign of a pattern has no meaning; \
             each map is scaled by its largest value. Interpolated by spherical splines within 30° of an electrode.{left_out}",
            unit_name(unit)
        ),
        alt: format!(
            "{} of {} as maps of the head at {}.",
            count(heads, "activation pattern"),
            count(patterns.len(), "expert"),
            count(known.len(), "electrode")
        ),
        drawing,
    })
}
