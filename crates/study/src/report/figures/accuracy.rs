//! Balanced accuracy per fold, paired between methods, and per subject.

use super::super::base::legend::Key;
use super::super::base::text::{count, figure};
use super::super::chart::rows::{Rows, Series};
use super::{Figure, Section, finite, fold_name, fold_names};
use crate::StudySummary;
use std::collections::{BTreeMap, BTreeSet};

/// More lines than this are drawn in grey, without a legend entry each.
const COLOURED: usize = 12;

pub(super) fn folds(summary: &StudySummary) -> Option<Figure> {
    let mut lines: BTreeMap<(usize, u64), Vec<Option<f64>>> = BTreeMap::new();
    for (r, row) in summary.rows.iter().enumerate() {
        for unit in &row.units {
            let line = lines.entry((unit.fold, unit.seed));
            line.or_insert_with(|| vec![None; summary.rows.len()])[r] = finite(unit.accuracy);
        }
    }
    if lines.is_empty() {
        return None;
    }
    let folds: BTreeSet<usize> = lines.keys().map(|k| k.0).collect();
    let seeds: BTreeSet<u64> = lines.keys().map(|k| k.1).collect();
    let names = fold_names(summary);
    let name = |fold: &usize| {
        names
            .get(fold)
            .cloned()
            .unwrap_or_else(|| fold_name(*fold, None))
    };
    let coloured = folds.len() <= COLOURED;
    let series: Vec<Series> = lines
        .into_iter()
        .map(|((fold, seed), values)| Series {
            name: format!("{}, seed {seed}", name(&fold)),
            values,
            category: coloured.then_some(fold),
        })
        .collect();
    let mut legend = vec![(Key::Mean, "mean ± standard deviation".to_owned())];
    if coloured {
        legend.extend(folds.iter().map(|f| (Key::Marker(Some(*f)), name(f))));
    } else {
        legend.push((Key::Marker(None), "one line per fold and seed".into()));
    }
    let means = summary
        .rows
        .iter()
        .map(|row| Some((row.accuracy.mean, row.accuracy.std)));
    let alt: Vec<String> = summary
        .rows
        .iter()
        .map(|row| format!("{} {}", row.method, figure(row.accuracy.mean, 3)))
        .collect();
    let chart = Rows {
        labels: summary.rows.iter().map(|row| row.method.clone()).collect(),
        series,
        means: means.collect(),
        axis: "balanced accuracy on the test trials",
        differences: false,
        connect: true,
        references: chance(summary),
        legend,
        row_height: 40.0,
    };
    Some(Figure {
        section: Section::Folds,
        method: None,
        name: "folds".into(),
        title: "Balanced accuracy per fold".into(),
        caption: format!(
            "Each line follows one fold and seed from method to method ({} × {}). \
             Folds and seeds share trials and are not independent: they are described here, not tested. Folds are counted from 0.",
            count(folds.len(), "fold"),
            count(seeds.len(), "seed")
        ),
        alt: format!("Mean balanced accuracy of each method: {}.", alt.join(", ")),
        drawing: chart.draw(),
    })
}

pub(super) fn subjects(summary: &StudySummary) -> Option<Figure> {
    let mut names: Vec<&str> = Vec::new();
    let mut known = BTreeSet::new();
    for (name, _) in summary.rows.iter().flat_map(|row| &row.per_subject) {
        if known.insert(name.as_str()) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return None;
    }
    let series = summary.rows.iter().enumerate().map(|(i, row)| {
        let scores: BTreeMap<&str, f64> = row
            .per_subject
            .iter()
            .map(|(s, v)| (s.as_str(), *v))
            .collect();
        Series {
            name: row.method.clone(),
            values: names
                .iter()
                .map(|s| scores.get(s).copied().and_then(finite))
                .collect(),
            category: Some(i),
        }
    });
    let legend = summary.rows.iter().enumerate();
    let chart = Rows {
        labels: names.iter().map(|&s| s.to_owned()).collect(),
        series: series.collect(),
        means: Vec::new(),
        axis: "balanced accuracy over the subject's test trials",
        differences: false,
        connect: false,
        references: chance(summary),
        legend: legend
            .map(|(i, row)| (Key::Marker(Some(i)), row.method.clone()))
            .collect(),
        row_height: 18.0,
    };
    Some(Figure {
        section: Section::Subjects,
        method: None,
        name: "subjects".into(),
        title: "Balanced accuracy per subject".into(),
        caption: "Averaged over folds and seeds. These are the pairs of the tests.".into(),
        alt: format!(
            "A row for each of {} with a marker for each of {}; the figures are in the table below it.",
            count(names.len(), "subject"),
            count(summary.rows.len(), "method")
        ),
        drawing: chart.draw(),
    })
}

/// What guessing scores.
fn chance(summary: &StudySummary) -> Vec<(f64, String)> {
    match summary.dataset.classes.len() {
        0 => Vec::new(),
        n => vec![(1.0 / n as f64, "chance".into())],
    }
}
