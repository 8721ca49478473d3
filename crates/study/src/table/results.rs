//! The table of results, with the paper's figures below ours.

use super::numbers::field;
use super::{Cell, Column, Line, Table, figure, signed};
use crate::{MeanStd, PaperRow, Row, StudySummary};
use std::fmt::Write;
use stiefel_model::tolerance::{ROUTING_GAIN, SHARP_ENTROPY, STRUCTURED_ALIGNMENT};

/// The figures of a cell, in the order of its fields.
type Values = Vec<Option<f64>>;

/// A column, and how it is made of a row.
struct Figures {
    head: &'static str,
    brief: &'static str,
    about: &'static str,
    fields: &'static [&'static str],
    values: fn(&Row) -> Values,
    paper: fn(&PaperRow) -> Values,
    shown: fn(&[Option<f64>]) -> String,
    /// How it is shown on the terminal.
    short: fn(&[Option<f64>]) -> String,
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

const ALL: [Figures; 11] = [
    Figures {
        head: "balanced accuracy",
        brief: "bAcc",
        about: "mean ± standard deviation over folds and seeds",
        fields: &["balanced_accuracy", "balanced_accuracy_std"],
        values: |r| pair(Some(r.accuracy)),
        paper: |p| vec![Some(p.accuracy), p.std],
        shown: mean_std,
        short: mean_std,
    },
    Figures {
        head: "folds won",
        brief: "won",
        about: "above the baseline",
        fields: &["folds_won", "folds_compared"],
        values: |r| counts(r.folds_won),
        paper: nothing,
        shown: ratio,
        short: ratio,
    },
    Figures {
        head: "Δ_base",
        brief: "Δ_base",
        about: "to the baseline",
        fields: &["over_baseline"],
        values: |r| vec![r.over_baseline],
        paper: |p| vec![p.over_baseline],
        shown: difference,
        short: difference,
    },
    Figures {
        head: "ROC-AUC",
        brief: "AUC",
        about: "ranking; 0.5 is chance",
        fields: &["roc_auc", "roc_auc_std"],
        values: |r| pair(r.roc_auc),
        paper: nothing,
        shown: mean_std,
        short: plain,
    },
    Figures {
        head: "κ",
        brief: "κ",
        about: "agreement beyond chance",
        fields: &["kappa", "kappa_std"],
        values: |r| pair(r.kappa),
        paper: nothing,
        shown: mean_std,
        short: plain,
    },
    Figures {
        head: "Δ_K1",
        brief: "Δ_K1",
        about: "to itself with uniform routing",
        fields: &["proxy_gap", "proxy_gap_std"],
        values: |r| pair(r.proxy_gap),
        paper: |p| vec![p.proxy_gap],
        shown: gap,
        short: difference,
    },
    Figures {
        head: "gain",
        brief: "gain",
        about: "folds above the threshold",
        fields: &["genuine", "genuine_of"],
        values: |r| counts(r.genuine),
        paper: |p| counts(p.folds),
        shown: ratio,
        short: ratio,
    },
    Figures {
        head: "H̄",
        brief: "H̄",
        about: "entropy; 1 is uniform",
        fields: &["entropy"],
        values: |r| vec![r.entropy],
        paper: |p| vec![p.entropy],
        shown: plain,
        short: plain,
    },
    Figures {
        head: "r_d",
        brief: "r_d",
        about: "share of the weights that domains explain",
        fields: &["alignment"],
        values: |r| vec![r.alignment],
        paper: nothing,
        shown: plain,
        short: plain,
    },
    Figures {
        head: "r_d, paper",
        brief: "",
        about: "its formula, every domain alike",
        fields: &["alignment_paper"],
        values: |r| vec![r.alignment_paper],
        paper: |p| vec![p.alignment],
        shown: plain,
        short: plain,
    },
    Figures {
        head: "seconds",
        brief: "",
        about: "of a unit",
        fields: &["seconds"],
        values: |r| vec![r.seconds],
        paper: nothing,
        shown: seconds,
        short: seconds,
    },
];

impl Figures {
    fn column(&self) -> Column {
        Column {
            head: self.head.into(),
            brief: self.brief.into(),
            about: self.about.into(),
            fields: self.fields.iter().map(|&f| f.into()).collect(),
        }
    }

    fn cell(&self, values: &[Option<f64>], class: &'static str, missing: bool) -> Cell {
        let or_empty = |text: String| {
            if missing && text == "–" {
                String::new()
            } else {
                text
            }
        };
        Cell {
            shown: or_empty((self.shown)(values)),
            brief: Some(or_empty((self.short)(values))),
            sort: at(values, 0),
            class,
            fields: (0..self.fields.len())
                .map(|i| field(at(values, i)))
                .collect(),
        }
    }

    /// Tells whether some row has a figure.
    fn is_filled(&self, summary: &StudySummary) -> bool {
        let some = |values: Values| values.into_iter().flatten().any(f64::is_finite);
        // The paper's formula is for those who compare with its figures.
        let wanted = self.fields != ["alignment_paper"] || !summary.paper.is_empty();
        let ours = || summary.rows.iter().any(|r| some((self.values)(r)));
        wanted && (ours() || summary.paper.iter().any(|p| some((self.paper)(p))))
    }
}

/// Returns the table of results.
pub(crate) fn results(summary: &StudySummary) -> Table {
    let filled: Vec<Figures> = ALL.into_iter().filter(|f| f.is_filled(summary)).collect();
    let mut columns = vec![Column {
        fields: vec!["source".into()],
        ..Column::default()
    }];
    columns.extend(filled.iter().map(Figures::column));
    let source = |text: &str| Cell {
        fields: vec![text.to_owned()],
        ..Cell::default()
    };
    let means = summary.rows.iter().map(|r| r.accuracy.mean);
    let best = means
        .filter(|m| m.is_finite())
        .fold(f64::NEG_INFINITY, f64::max);
    let ours = |row: &Row| {
        let mut cells = vec![source("here")];
        cells.extend(filled.iter().enumerate().map(|(i, column)| {
            let bold = if i == 0 && row.accuracy.mean == best {
                "best"
            } else {
                ""
            };
            column.cell(&(column.values)(row), bold, false)
        }));
        Line {
            label: row.method.clone(),
            key: row.method.clone(),
            about: row.about.clone().unwrap_or_default(),
            class: "",
            cells,
        }
    };
    let theirs = |paper: &PaperRow, label: String, class| {
        let mut cells = vec![source("paper")];
        cells.extend(
            filled
                .iter()
                .map(|column| column.cell(&(column.paper)(paper), "", true)),
        );
        Line {
            label,
            key: paper.method.clone(),
            about: String::new(),
            class,
            cells,
        }
    };
    let mut lines = Vec::new();
    for row in &summary.rows {
        lines.push(ours(row));
        if let Some(paper) = summary.paper.iter().find(|p| p.method == row.method) {
            lines.push(theirs(paper, "  in the paper".into(), "theirs"));
        }
    }
    for paper in &summary.paper {
        if summary.rows.iter().all(|r| r.method != paper.method) && !summary.rows.is_empty() {
            let label = format!("{} in the paper, not run here", paper.method);
            lines.push(theirs(paper, label, "theirs alone"));
        }
    }
    Table {
        name: "Results",
        file: "results.csv",
        first: "method",
        columns,
        lines,
        note: note(summary),
    }
}

fn note(summary: &StudySummary) -> String {
    let mut words = "The highest mean is bold; the tests say whether it is a difference. –: does \
                     not exist or was not measured."
        .to_owned();
    if summary.rows.iter().any(|r| r.proxy_gap.is_some()) {
        let _ = write!(
            words,
            " Δ_K1 counts as a gain above {ROUTING_GAIN}, H̄ as sharp below {SHARP_ENTROPY:.2}, \
             r_d as structured above {STRUCTURED_ALIGNMENT:.2}; by the paper’s formula r_d can \
             exceed 1."
        );
    }
    words
}
