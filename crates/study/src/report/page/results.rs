//! The table of results: each column is defined once, for the page and for the CSV file.

use super::super::base::text::{escape, figure, name, signed};
use super::csv::{Csv, link, number, text};
use super::tables::{close, open};
use crate::{MeanStd, PaperRow, Row, StudySummary};
use std::fmt::Write;
use stiefel_model::tolerance::{ROUTING_GAIN, SHARP_ENTROPY, STRUCTURED_ALIGNMENT};

/// The figures of a field, in the order of the names in the CSV file.
type Values = Vec<Option<f64>>;

/// A column.
struct Column {
    head: &'static str,
    /// What it is, below its name.
    about: &'static str,
    /// The names of its figures in the CSV file.
    names: &'static [&'static str],
    values: fn(&Row) -> Values,
    /// The same of a row of the paper.
    paper: fn(&PaperRow) -> Values,
    shown: fn(&[Option<f64>]) -> String,
}

fn pair(m: Option<MeanStd>) -> Values {
    vec![m.map(|m| m.mean), m.map(|m| m.std)]
}

fn counts(of: Option<(usize, usize)>) -> Values {
    vec![of.map(|o| o.0 as f64), of.map(|o| o.1 as f64)]
}

fn nothing(_: &PaperRow) -> Values {
    Vec::new()
}

fn at(values: &[Option<f64>], i: usize) -> Option<f64> {
    values.get(i).copied().flatten().filter(|v| v.is_finite())
}

fn plain(values: &[Option<f64>]) -> String {
    figure(at(values, 0), 3)
}

fn difference(values: &[Option<f64>]) -> String {
    signed(at(values, 0), 3)
}

/// `first ± second`, the second where it exists.
fn with_spread(first: String, values: &[Option<f64>]) -> String {
    match (at(values, 0), at(values, 1)) {
        (Some(_), Some(std)) => format!("{first} ± {}", figure(std, 3)),
        _ => first,
    }
}

fn mean_std(values: &[Option<f64>]) -> String {
    with_spread(plain(values), values)
}

fn gap(values: &[Option<f64>]) -> String {
    with_spread(difference(values), values)
}

fn ratio(values: &[Option<f64>]) -> String {
    match (at(values, 0), at(values, 1)) {
        (Some(n), Some(all)) => format!("{n}/{all}"),
        _ => "–".into(),
    }
}

fn seconds(values: &[Option<f64>]) -> String {
    let long = at(values, 0).is_some_and(|s| s >= 10.0);
    figure(at(values, 0), if long { 0 } else { 2 })
}

fn columns() -> Vec<Column> {
    vec![
        Column {
            head: "balanced accuracy",
            about: "mean ± standard deviation over folds and seeds",
            names: &["balanced_accuracy", "balanced_accuracy_std"],
            values: |r| pair(Some(r.accuracy)),
            paper: |p| vec![Some(p.accuracy), p.std],
            shown: mean_std,
        },
        Column {
            head: "folds won",
            about: "above the baseline",
            names: &["folds_won", "folds_compared"],
            values: |r| counts(r.folds_won),
            paper: nothing,
            shown: ratio,
        },
        Column {
            head: "Δ_base",
            about: "to the baseline",
            names: &["over_baseline"],
            values: |r| vec![r.over_baseline],
            paper: |p| vec![p.over_baseline],
            shown: difference,
        },
        Column {
            head: "ROC-AUC",
            about: "ranking; 0.5 is chance",
            names: &["roc_auc", "roc_auc_std"],
            values: |r| pair(r.roc_auc),
            paper: nothing,
            shown: mean_std,
        },
        Column {
            head: "κ",
            about: "agreement beyond chance",
            names: &["kappa", "kappa_std"],
            values: |r| pair(r.kappa),
            paper: nothing,
            shown: mean_std,
        },
        Column {
            head: "Δ_K1",
            about: "to itself with uniform routing",
            names: &["proxy_gap", "proxy_gap_std"],
            values: |r| pair(r.proxy_gap),
            paper: |p| vec![p.proxy_gap],
            shown: gap,
        },
        Column {
            head: "gain",
            about: "folds above the threshold",
            names: &["genuine", "genuine_of"],
            values: |r| counts(r.genuine),
            paper: |p| counts(p.folds),
            shown: ratio,
        },
        Column {
            head: "H̄",
            about: "entropy; 1 is uniform",
            names: &["entropy"],
            values: |r| vec![r.entropy],
            paper: |p| vec![p.entropy],
            shown: plain,
        },
        Column {
            head: "r_d",
            about: "share of the weights that domains explain",
            names: &["alignment"],
            values: |r| vec![r.alignment],
            paper: nothing,
            shown: plain,
        },
        Column {
            head: "r_d, paper",
            about: "its formula, every domain alike",
            names: &["alignment_paper"],
            values: |r| vec![r.alignment_paper],
            paper: |p| vec![p.alignment],
            shown: plain,
        },
        Column {
            head: "seconds",
            about: "of a unit",
            names: &["seconds"],
            values: |r| vec![r.seconds],
            paper: nothing,
            shown: seconds,
        },
    ]
}

/// The columns of which some row has a figure.
fn filled(summary: &StudySummary) -> Vec<Column> {
    let some = |values: Values| values.into_iter().flatten().any(f64::is_finite);
    let mut columns = columns();
    // The paper's formula is for those who compare with its figures.
    columns.retain(|c| c.names != ["alignment_paper"] || !summary.paper.is_empty());
    columns.retain(|c| {
        summary.rows.iter().any(|r| some((c.values)(r)))
            || summary.paper.iter().any(|p| some((c.paper)(p)))
    });
    columns
}

/// The main table, with the paper's figures below ours.
pub(super) fn results(summary: &StudySummary) -> String {
    if summary.rows.is_empty() {
        return "<p>No unit has finished: there is no table yet.</p>".into();
    }
    let columns = filled(summary);
    let heads: Vec<(&str, &str)> = (columns.iter()).map(|c| (c.head, c.about)).collect();
    let mut out = open("Results", ("method", ""), &heads);
    let means = summary.rows.iter().map(|r| r.accuracy.mean);
    let best = means
        .filter(|m| m.is_finite())
        .fold(f64::NEG_INFINITY, f64::max);
    for row in &summary.rows {
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{}{}</th>",
            name(&row.method),
            row.about
                .as_deref()
                .map_or_else(String::new, |a| format!("<small>{}</small>", escape(a)))
        );
        for (i, column) in columns.iter().enumerate() {
            let bold = i == 0 && row.accuracy.mean == best;
            out.push_str(&field(column, &(column.values)(row), bold, "–"));
        }
        out.push_str("</tr>");
        if let Some(paper) = summary.paper.iter().find(|p| p.method == row.method) {
            out.push_str(&theirs(paper, &columns, "theirs", "in the paper"));
        }
    }
    for paper in alone(summary) {
        let title = format!("{} in the paper, not run here", name(&paper.method));
        out.push_str(&theirs(paper, &columns, "theirs alone", &title));
    }
    let mut words = "The highest mean is bold; the tests say whether it is a difference. –: does not exist or was not measured.".to_owned();
    if summary.rows.iter().any(|r| r.proxy_gap.is_some()) {
        let _ = write!(
            words,
            " Δ_K1 counts as a gain above {ROUTING_GAIN}, H̄ as sharp below {SHARP_ENTROPY:.2}, r_d as structured above {STRUCTURED_ALIGNMENT:.2}; by the paper’s \
             formula r_d can exceed 1."
        );
    }
    out + &close(&words, &link("results.csv", &csv(summary)))
}

/// The paper's rows that have none of ours.
fn alone(summary: &StudySummary) -> impl Iterator<Item = &PaperRow> {
    let alone = |p: &&PaperRow| summary.rows.iter().all(|r| r.method != p.method);
    summary.paper.iter().filter(alone)
}

fn field(column: &Column, values: &[Option<f64>], bold: bool, missing: &str) -> String {
    let key = at(values, 0).map_or_else(String::new, |v| format!(" data-v=\"{v}\""));
    let bold = if bold { " class=\"best\"" } else { "" };
    let shown = (column.shown)(values);
    let shown = if shown == "–" { missing } else { &shown };
    format!("<td{bold}{key}>{shown}</td>")
}

fn theirs(paper: &PaperRow, columns: &[Column], class: &str, title: &str) -> String {
    let mut out = format!("<tr class=\"{class}\"><th scope=\"row\">{title}</th>");
    for column in columns {
        out.push_str(&field(column, &(column.paper)(paper), false, ""));
    }
    out + "</tr>"
}

/// The same table with full figures.
pub(super) fn csv(summary: &StudySummary) -> String {
    let columns = filled(summary);
    let names = columns.iter().flat_map(|c| c.names.iter().copied());
    let mut table = Csv::new(["method", "source"].into_iter().chain(names));
    let mut line = |method: &str, source: &str, values: Vec<Values>| {
        let mut fields = vec![text(method), source.to_owned()];
        for (column, values) in columns.iter().zip(values) {
            let each = 0..column.names.len();
            fields.extend(each.map(|i| number(at(&values, i))));
        }
        table.line(fields);
    };
    for row in &summary.rows {
        let values = columns.iter().map(|c| (c.values)(row)).collect();
        line(&row.method, "here", values);
        if let Some(paper) = summary.paper.iter().find(|p| p.method == row.method) {
            let values = columns.iter().map(|c| (c.paper)(paper)).collect();
            line(&paper.method, "paper", values);
        }
    }
    for paper in alone(summary) {
        let values = columns.iter().map(|c| (c.paper)(paper)).collect();
        line(&paper.method, "paper", values);
    }
    table.finish()
}
