//! Balanced accuracy per fold, paired between methods, and per subject.

use super::super::base::legend::Key;
use super::super::base::svg::Drawing;
use super::super::base::text::{count, figure};
use super::super::chart::rows::{Rows, Series};
use super::super::chart::swarm::{Group, Swarm};
use super::{Figure, Section, finite, fold_name, fold_names};
use crate::stats::mean_std;
use crate::{Row, StudySummary};
use std::collections::{BTreeMap, BTreeSet};

/// More lines than this are drawn in grey, without a legend entry each.
const COLOURED: usize = 12;

/// More methods than this have a row with their mean alone.
const LINED: usize = 20;

/// Up to so many people each have a line of their own.
const NAMED: usize = 12;

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
    let lined = summary.rows.len() <= LINED;
    let series: Vec<Series> = lines
        .into_iter()
        .filter(|_| lined)
        .map(|((fold, seed), values)| Series {
            name: format!("{}, seed {seed}", name(&fold)),
            values,
            category: coloured.then_some(fold),
        })
        .collect();
    let mut legend = vec![(Key::Mean, "mean ± standard deviation".to_owned())];
    if lined && coloured {
        legend.extend(folds.iter().map(|f| (Key::Marker(Some(*f)), name(f))));
    } else if lined {
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
        row_height: if lined { 34.0 } else { 17.0 },
    };
    Some(Figure {
        section: Section::Folds,
        method: None,
        name: "folds".into(),
        title: "Balanced accuracy per fold".into(),
        caption: format!(
            "{} × {}{}. Folds and seeds share trials and are not independent: they are described \
             here, not tested. Folds are counted from 0.",
            count(folds.len(), "fold"),
            count(seeds.len(), "seed"),
            if lined {
                "; each line follows one of them from method to method"
            } else {
                ""
            }
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
    let drawing = if names.len() <= NAMED {
        lines(summary, &names)
    } else {
        swarm(summary)
    };
    let shown = if names.len() <= NAMED {
        "Each line follows one subject from method to method."
    } else {
        "A dot is a subject (point at it for the name). The quartiles are below the dots, the \
         median is at the right."
    };
    Some(Figure {
        section: Section::Subjects,
        method: None,
        name: "subjects".into(),
        title: "Balanced accuracy per subject".into(),
        caption: format!(
            "{shown} Averaged over folds and seeds: these are the pairs of the tests."
        ),
        alt: format!(
            "A row for each of {} with a marker for each of {}; the figures are in the table \
             below it.",
            count(summary.rows.len(), "method"),
            count(names.len(), "subject")
        ),
        drawing,
    })
}

/// A row per method, and each subject's scores joined by a line.
fn lines(summary: &StudySummary, names: &[&str]) -> Drawing {
    let scores = |row: &Row| -> BTreeMap<String, f64> { row.per_subject.iter().cloned().collect() };
    let scores: Vec<BTreeMap<String, f64>> = summary.rows.iter().map(scores).collect();
    let series = names.iter().enumerate().map(|(i, &name)| Series {
        name: name.to_owned(),
        values: scores
            .iter()
            .map(|s| s.get(name).copied().and_then(finite))
            .collect(),
        category: Some(i),
    });
    let legend = names.iter().enumerate();
    let means = summary.rows.iter().map(|row| {
        let scores: Vec<f64> = row.per_subject.iter().map(|s| s.1).collect();
        let of = mean_std(&scores).ok()?;
        Some((of.mean, of.std))
    });
    let mut keys = vec![(Key::Mean, "mean ± standard deviation".to_owned())];
    keys.extend(legend.map(|(i, name)| (Key::Marker(Some(i)), (*name).to_owned())));
    let chart = Rows {
        labels: summary.rows.iter().map(|row| row.method.clone()).collect(),
        series: series.collect(),
        means: means.collect(),
        axis: AXIS,
        differences: false,
        connect: true,
        references: chance(summary),
        legend: keys,
        row_height: if summary.rows.len() <= LINED {
            34.0
        } else {
            22.0
        },
    };
    chart.draw()
}

const AXIS: &str = "balanced accuracy over the subject's test trials";

fn swarm(summary: &StudySummary) -> Drawing {
    let group = |row: &Row| Group {
        name: row.method.clone(),
        people: row.per_subject.clone(),
    };
    let chart = Swarm {
        groups: summary.rows.iter().map(group).collect(),
        axis: AXIS,
        reference: chance(summary).into_iter().next(),
    };
    chart.draw()
}

/// What guessing scores.
fn chance(summary: &StudySummary) -> Vec<(f64, String)> {
    match summary.dataset.classes.len() {
        0 => Vec::new(),
        n => vec![(1.0 / n as f64, "chance".into())],
    }
}
