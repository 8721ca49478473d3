//! `Δ_K1` and the controls: what the model loses, fold by fold, when its routing is replaced.

use super::super::base::legend::Key;
use super::super::base::text::{count, signed};
use super::super::chart::rows::{Rows, Series};
use super::{Figure, Section, file_name, finite, units_of};
use crate::{StudySummary, UnitRecord};
use std::collections::BTreeSet;
use stiefel_model::tolerance::ROUTING_GAIN;

/// In the order of the rows.
const NAMES: [&str; 5] = [
    "uniform weights (Δ_K1)",
    "permuted weights",
    "domain-mean weights",
    "winner alone (top-1)",
    "one expert, retrained",
];

/// Balanced accuracy of the model minus that of each control.
fn gaps(unit: &UnitRecord) -> Option<[Option<f64>; 5]> {
    let report = &unit.outcome.routing.as_ref()?.report;
    let own = report.scores.balanced_accuracy.value();
    let minus = |control: Option<f64>| finite(own? - control?);
    let controls = report.controls.as_ref();
    Some([
        report.proxy_gap.value().and_then(finite),
        minus(controls.map(|c| c.permuted)),
        minus(controls.map(|c| c.domain_mean)),
        minus(controls.map(|c| c.hard_top1)),
        minus(controls.and_then(|c| c.retrained)),
    ])
}

pub(super) fn per_fold(summary: &StudySummary, method: &str) -> Option<Figure> {
    let units: Vec<(&UnitRecord, [Option<f64>; 5])> = units_of(summary, method)
        .filter_map(|u| Some((u, gaps(u)?)))
        .collect();
    let present: Vec<usize> = (0..NAMES.len())
        .filter(|&c| units.iter().any(|u| u.1[c].is_some()))
        .collect();
    if present.is_empty() {
        return None;
    }
    let folds: BTreeSet<usize> = units.iter().map(|u| u.0.fold).collect();
    let coloured = folds.len() <= 12;
    let series = units.iter().map(|(unit, gaps)| Series {
        name: super::unit_name(unit),
        values: present.iter().map(|&c| gaps[c]).collect(),
        category: coloured.then_some(unit.fold),
    });
    let means: Vec<Option<(f64, f64)>> = present
        .iter()
        .map(|&c| mean_std(units.iter().filter_map(|u| u.1[c])))
        .collect();
    let mut legend = vec![(Key::Mean, "mean ± standard deviation".to_owned())];
    if coloured {
        legend.extend(
            folds
                .iter()
                .map(|&f| (Key::Marker(Some(f)), format!("fold {f}"))),
        );
    } else {
        legend.push((Key::Marker(None), "one marker per fold and seed".into()));
    }
    let alt: Vec<String> = present
        .iter()
        .zip(&means)
        .map(|(&c, m)| format!("{} {}", NAMES[c], signed(m.map(|m| m.0), 3)))
        .collect();
    let chart = Rows {
        labels: present.iter().map(|&c| NAMES[c].to_owned()).collect(),
        series: series.collect(),
        means,
        axis: "balanced accuracy of the model minus that of the control",
        differences: true,
        connect: false,
        references: vec![
            (0.0, "no difference".into()),
            (ROUTING_GAIN, format!("threshold of Δ_K1: {ROUTING_GAIN}")),
        ],
        legend,
        row_height: 36.0,
    };
    Some(Figure {
        section: Section::Controls,
        method: Some(method.to_owned()),
        name: file_name("controls", method),
        title: format!("{method}: Δ_K1 and the controls per fold"),
        caption: format!(
            "Same trained weights with the routing replaced, on the same test trials ({}); the \
             retrained control is a layer with one expert trained from scratch. To the right of 0 \
             the model's own routing is better. A Δ_K1 above 0 alone does not show that routing \
             helps: the averaged filter may simply be bad.",
            count(units.len(), "unit")
        ),
        alt: format!("Mean gain over each control: {}.", alt.join(", ")),
        drawing: chart.draw(),
    })
}

fn mean_std(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let values: Vec<f64> = values.collect();
    let n = values.len() as f64;
    let mean = finite(values.iter().sum::<f64>() / n)?;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    let std = if values.len() > 1 {
        (squares / (n - 1.0)).sqrt()
    } else {
        0.0
    };
    Some((mean, std))
}
