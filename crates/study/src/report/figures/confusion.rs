//! Summed confusion matrices.

use super::super::base::colour;
use super::super::base::text::figure;
use super::super::chart::matrix::Matrix;
use super::{Figure, Section, file_name};
use crate::{Row, StudySummary};

pub(super) fn matrix(summary: &StudySummary, row: &Row) -> Option<Figure> {
    let size = row.confusion.len();
    let square = row.confusion.iter().all(|r| r.len() == size);
    if size == 0 || !square {
        return None;
    }
    let classes: Vec<String> = (0..size)
        .map(|c| match summary.dataset.classes.get(c) {
            Some(name) => name.clone(),
            None => format!("class {c}"),
        })
        .collect();
    let shares: Vec<Vec<Option<f64>>> = row
        .confusion
        .iter()
        .map(|counts| {
            let total: usize = counts.iter().sum();
            let share = |&n: &usize| (total > 0).then(|| n as f64 / total as f64);
            counts.iter().map(share).collect()
        })
        .collect();
    let texts = row.confusion.iter().zip(&shares).map(|(counts, shares)| {
        let field = |(n, share): (&usize, &Option<f64>)| {
            let percent =
                share.map_or_else(|| "–".into(), |s| format!("{}%", figure(100.0 * s, 0)));
            vec![percent, n.to_string()]
        };
        counts.iter().zip(shares).map(field).collect()
    });
    let recall: Vec<String> = (0..size)
        .map(|c| {
            format!(
                "{} {}",
                classes[c],
                figure(shares[c][c].map(|s| 100.0 * s), 0)
            )
        })
        .collect();
    let texts: Vec<Vec<Vec<String>>> = texts.collect();
    let chart = Matrix {
        row_title: "true",
        column_title: "decided",
        rows: classes.clone(),
        columns: classes,
        values: shares,
        texts,
        cell: (48.0, 34.0),
        range: (0.0, 1.0),
        colour: colour::ordered,
        scale: String::new(),
        digits: 1,
    };
    Some(Figure {
        section: Section::Confusion,
        method: Some(row.method.clone()),
        name: file_name("confusion", &row.method),
        title: row.method.clone(),
        caption: String::new(),
        alt: format!(
            "Percent decided rightly by true class: {}.",
            recall.join(", ")
        ),
        drawing: chart.draw(),
    })
}
