//! Balanced accuracy over what there is to learn from: labelled trials of a new person, or the
//! number of people.

use super::super::base::legend::Key;
use super::super::base::svg::{Drawing, Stroke};
use super::super::base::text::figure;
use super::super::chart::lines::{Line, Panel, draw};
use super::{Figure, Section};
use crate::plan::own_name;
use crate::{Row, StudySummary};

/// One curve per method of a study of calibration.
pub(super) fn labels(summary: &StudySummary) -> Option<Figure> {
    let place = |row: &Row| Some((method(row), row.labels? as f64));
    curves(summary, place, "labelled trials per new person").map(|(drawing, told)| Figure {
        section: Section::Learning,
        method: None,
        name: "calibration".into(),
        title: "A few labelled trials of a new person".into(),
        caption: "Mean over people who had no trial in training. The first trials of each person, \
                  in recording order, are labelled; the others are tested. Everybody is recentred \
                  by the mean of all their trials, which needs no label."
            .into(),
        alt: format!("Balanced accuracy over the number of labelled trials. {told}."),
        drawing,
    })
}

/// One curve per method and montage of a study of scaling.
pub(super) fn people(summary: &StudySummary) -> Option<Figure> {
    let montages = summary.rows.iter().filter_map(|row| Some(row.size?.0));
    let several = montages.clone().min() != montages.max();
    let place = |row: &Row| {
        let (channels, domains) = row.size?;
        let name = if several {
            format!("{}, {channels} channels", method(row))
        } else {
            method(row)
        };
        Some((name, domains as f64))
    };
    curves(summary, place, "domains trained on").map(|(drawing, told)| Figure {
        section: Section::Learning,
        method: None,
        name: "learning".into(),
        title: "More people to learn from".into(),
        caption: "Mean over folds and seeds, by the number of domains that train and are tested."
            .into(),
        alt: format!("Balanced accuracy over the number of domains. {told}."),
        drawing,
    })
}

/// Rows of one method have names that end alike, behind the name of their cell.
fn method(row: &Row) -> String {
    own_name(row.cell.as_deref(), &row.method).to_owned()
}

/// The curves that have at least two points, and the figures in words.
fn curves(
    summary: &StudySummary,
    place: impl Fn(&Row) -> Option<(String, f64)>,
    axis: &str,
) -> Option<(Drawing, String)> {
    let mut curves: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for row in &summary.rows {
        let Some((name, x)) = place(row) else {
            continue;
        };
        let point = (x, row.accuracy.mean);
        match curves.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push(point),
            None => curves.push((name, vec![point])),
        }
    }
    curves.retain(|(_, points)| points.len() > 1);
    if curves.is_empty() {
        return None;
    }
    for (_, points) in &mut curves {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let stroke = |category: usize| Stroke {
        category: Some(category),
        width: 2.0,
        opacity: 1.0,
        dash: category,
    };
    let lines = curves.iter().enumerate().map(|(k, (_, points))| Line {
        points: points.clone(),
        stroke: stroke(k),
        dots: true,
    });
    let names = curves.iter().enumerate();
    let panel = Panel {
        title: "balanced accuracy",
        lines: lines.collect(),
        legend: names
            .map(|(k, (name, _))| (Key::Line(stroke(k)), name.clone()))
            .collect(),
    };
    let told = curves.iter().map(|(name, points)| {
        let each: Vec<String> = (points.iter())
            .map(|(x, accuracy)| format!("{} with {x}", figure(*accuracy, 3)))
            .collect();
        format!("{name}: {}", each.join(", "))
    });
    let told: Vec<String> = told.collect();
    Some((draw(&[panel], axis), told.join("; ")))
}
