//! What the filters of one unit see, on the head, and where the electrodes are.

use super::super::base::text::{capital, count, shorten};
use super::super::chart::scalp::{Electrode, Scalps, electrodes};
use super::{Figure, Section, file_name, unit_name};
use crate::{StudySummary, UnitRecord};
use stiefel_eeg::montage::position;

/// Fewer electrodes than this make no map.
const LEAST: usize = 3;

/// The channels whose place on the head is known, with it, and in words which are left out.
fn placed(channels: &[String]) -> (Vec<usize>, Vec<Electrode>, String) {
    let (mut known, mut at, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    for (c, name) in channels.iter().enumerate() {
        match position(name) {
            Some(place) => {
                known.push(c);
                at.push((name.trim_matches('.').to_owned(), place));
            }
            None => unknown.push(shorten(name, 120.0, 11.0)),
        }
    }
    let left_out = if unknown.is_empty() {
        String::new()
    } else {
        let more = if unknown.len() > 12 { ", …" } else { "" };
        format!(
            " Left out, because their place on the head is not known: {}{more} ({} of {}).",
            unknown[..unknown.len().min(12)].join(", "),
            unknown.len(),
            count(channels.len(), "channel")
        )
    };
    (known, at, left_out)
}

/// The electrodes by name, where a figure of this report shows a head.
pub(super) fn montage(summary: &StudySummary) -> Option<Figure> {
    let (_, at, left_out) = placed(&summary.dataset.channels);
    if at.len() < LEAST {
        return None;
    }
    Some(Figure {
        section: Section::Scalp,
        method: None,
        name: "electrodes".into(),
        title: "The electrodes".into(),
        caption: format!("Seen from above, nose up, as on all maps.{left_out}"),
        alt: format!("The names of {} on the head.", count(at.len(), "electrode")),
        drawing: electrodes(&at),
    })
}

/// Named groups of patterns as heads; nothing where too few electrodes have a place on the head.
pub(super) fn heads(summary: &StudySummary, groups: &[(String, &[Vec<f64>])]) -> Option<Scalps> {
    let (known, electrodes, _) = placed(&summary.dataset.channels);
    let head = |pattern: &Vec<f64>| {
        let values: Option<Vec<f64>> = known.iter().map(|&c| pattern.get(c).copied()).collect();
        // A map of half the numbers would be another map.
        values.filter(|v| v.iter().all(|x| x.is_finite()))
    };
    (known.len() >= LEAST).then(|| Scalps {
        electrodes,
        groups: (groups.iter())
            .map(|(name, all)| (name.clone(), all.iter().filter_map(head).collect()))
            .collect(),
        scale: "relative to the largest of each map",
    })
}

/// The patterns of a unit's filters; nothing where it has none, or why they cannot be drawn.
pub(super) fn patterns(
    summary: &StudySummary,
    unit: &UnitRecord,
) -> Result<Option<Figure>, String> {
    let method = &unit.method;
    let filters = &unit.outcome.patterns;
    if filters.iter().all(|f| f.patterns.is_empty()) {
        return Ok(None);
    }
    let channels = &summary.dataset.channels;
    let mut all = filters.iter().flat_map(|f| &f.patterns);
    if let Some(odd) = all.find(|p| p.len() != channels.len()) {
        return Err(format!(
            "{method}: no scalp maps, because a pattern has {} and the dataset {}.",
            count(odd.len(), "value"),
            count(channels.len(), "channel")
        ));
    }
    let (known, _, left_out) = placed(&summary.dataset.channels);
    if known.len() < LEAST {
        return Err(format!(
            "{method}: no scalp maps, because they need at least {LEAST} electrodes.{left_out}"
        ));
    }
    let groups: Vec<(String, &[Vec<f64>])> = (filters.iter())
        .map(|f| (f.filter.clone(), &f.patterns[..]))
        .collect();
    let chart = heads(summary, &groups).unwrap_or_default();
    let drawn: usize = chart.groups.iter().map(|g| g.1.len()).sum();
    let drawing = chart.draw().ok_or_else(|| {
        format!("{method}: no scalp maps, because none of its patterns is finite.")
    })?;
    let routed = unit.outcome.routing.is_some() && filters.len() > 1;
    Ok(Some(Figure {
        section: if routed {
            Section::Routing
        } else {
            Section::Scalp
        },
        method: Some(method.clone()),
        name: file_name("scalp", method),
        title: if routed {
            format!("{method}: what the experts see")
        } else {
            method.clone()
        },
        caption: format!("{}.{left_out}", capital(&unit_name(unit))),
        alt: format!(
            "{} of {} as maps of the head at {}.",
            count(drawn, "activation pattern"),
            count(filters.len(), "filter"),
            count(known.len(), "electrode")
        ),
        drawing,
    }))
}
