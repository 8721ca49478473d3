//! The other tables: tests, controls, subjects.

use super::numbers::field;
use super::{Cell, Column, Line, Table, figure, p_value, signed};
use crate::stats::CONFIDENCE;
use crate::tolerance::SIGNIFICANT;
use crate::{Comparison, Row, StudySummary};
use stiefel_data::Amplitudes;

/// Findings of a person that are shown.
const SHOWN: usize = 3;

fn line(label: &str, cells: Vec<Cell>) -> Line {
    Line {
        label: label.to_owned(),
        key: label.to_owned(),
        about: String::new(),
        class: "",
        cells,
    }
}

/// Returns the tests, paired by subject.
pub(crate) fn tests(summary: &StudySummary) -> Table {
    let interval = Column {
        head: format!("{:.0} % interval", 100.0 * CONFIDENCE),
        brief: String::new(),
        about: "of the mean, by Student’s t".into(),
        fields: vec!["low".into(), "high".into()],
    };
    let brief = |brief: &str, column: Column| Column {
        brief: brief.into(),
        ..column
    };
    let columns = vec![
        Column::new("against", "", "against"),
        Column::new("subjects", "", "subjects"),
        brief(
            "difference",
            Column::new("mean difference", "over subjects", "difference"),
        ),
        interval,
        brief(
            "effect",
            Column::new("effect d_z", "mean over standard deviation", "effect"),
        ),
        brief(
            "Wilcoxon",
            Column::new("Wilcoxon p", "signed ranks", "wilcoxon"),
        ),
        brief(
            "sign-flip",
            Column::new("sign-flip p", "of the mean", "sign_flip"),
        ),
        brief(
            "Holm",
            Column::new("Holm p", "sign-flip, corrected over this table", "holm"),
        ),
    ];
    Table {
        name: "Tests",
        file: "tests.csv",
        first: "method",
        columns,
        lines: summary.comparisons.iter().map(test).collect(),
        note: format!(
            "Paired by subject (scores averaged over folds and seeds), two-sided; a Holm p below \
             {SIGNIFICANT} is bold."
        ),
    }
}

fn test(c: &Comparison) -> Line {
    let interval = c.interval.filter(|i| i.0.is_finite() && i.1.is_finite());
    let shown = |(low, high)| format!("{} to {}", signed(low, 3), signed(high, 3));
    let ends = [c.interval.map(|i| i.0), c.interval.map(|i| i.1)];
    let interval = Cell {
        shown: interval.map_or_else(|| "–".into(), shown),
        sort: interval.map(|i| i.0),
        fields: ends.map(field).to_vec(),
        ..Cell::default()
    };
    let significant = c.holm.is_some_and(|p| p < SIGNIFICANT);
    let cells = vec![
        Cell::text(&c.against),
        Cell::new(Some(c.subjects as f64), c.subjects.to_string()),
        Cell::new(Some(c.difference), signed(c.difference, 3)),
        interval,
        Cell::new(c.effect, signed(c.effect, 2)),
        Cell::new(c.wilcoxon, p_value(c.wilcoxon)),
        Cell::new(c.sign_flip, p_value(c.sign_flip)),
        Cell {
            class: if significant { "small-p" } else { "" },
            ..Cell::new(c.holm, p_value(c.holm))
        },
    ];
    line(&c.method, cells)
}

/// Returns the mean balanced accuracy under each control.
pub(crate) fn controls(summary: &StudySummary) -> Table {
    let rows: Vec<&Row> = (summary.rows.iter())
        .filter(|r| !r.controls.is_empty())
        .collect();
    let names = in_order(rows.iter().flat_map(|r| &r.controls).map(|c| c.0.as_str()));
    let mut columns = vec![Column::new("as trained", "its own routing", "as_trained")];
    columns.extend(
        names
            .iter()
            .map(|name| Column::new(name, about_control(name), name)),
    );
    let one = |row: &&Row| {
        let mut cells = vec![Cell::new(
            Some(row.accuracy.mean),
            figure(row.accuracy.mean, 3),
        )];
        cells.extend(names.iter().map(|name| {
            let value = row.controls.iter().find(|c| c.0 == *name).map(|c| c.1);
            Cell::new(value, figure(value, 3))
        }));
        line(&row.method, cells)
    };
    Table {
        name: "Controls",
        file: "controls.csv",
        first: "controls",
        columns,
        lines: rows.iter().map(one).collect(),
        note: "Mean balanced accuracy with the routing replaced.".into(),
    }
}

fn about_control(name: &str) -> &'static str {
    match name {
        "K=1 proxy" => "uniform weights",
        "permuted" => "weights of another trial",
        "domain mean" => "mean weights of the domain",
        "hard top-1" => "strongest expert alone",
        "retrained K=1" => "one expert, trained anew",
        _ => "",
    }
}

/// Returns the balanced accuracy per subject and method.
pub(crate) fn subjects(summary: &StudySummary) -> Table {
    let all = summary.rows.iter().flat_map(|r| &r.per_subject);
    let score = |row: &Row, subject: &str| {
        let found = row.per_subject.iter().find(|s| s.0 == subject);
        found.map(|s| s.1).filter(|v| v.is_finite())
    };
    let one = |subject: &str| {
        let scores = summary.rows.iter().map(|row| score(row, subject));
        line(
            subject,
            scores.map(|s| Cell::new(s, figure(s, 3))).collect(),
        )
    };
    Table {
        name: "Subjects",
        file: "subjects.csv",
        first: "subject",
        columns: (summary.rows.iter())
            .map(|row| Column::new(&row.method, "", &row.method))
            .collect(),
        lines: in_order(all.map(|s| s.0.as_str()))
            .into_iter()
            .map(one)
            .collect(),
        note: "Balanced accuracy, averaged over folds and seeds.".into(),
    }
}

/// Returns the amplitudes of each person, and what is wrong with their signals.
pub(crate) fn signals(summary: &StudySummary) -> Table {
    let quality = &summary.dataset.quality;
    let one = |own: &Amplitudes| {
        let mut sorted = own.median.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |i: usize| sorted.get(i).copied();
        let ends = [at(sorted.len() / 2), at(0), sorted.last().copied()];
        let mut cells = ends.map(|x| Cell::new(x, figure(x, 3))).to_vec();
        let of = quality.findings.iter().filter(|f| f.domain == own.domain);
        let all: Vec<String> = of.map(ToString::to_string).collect();
        let shown = match &all[..] {
            [] => "none".to_owned(),
            all if all.len() > SHOWN => {
                let more = all.len() - SHOWN;
                format!("{}; and {more} more", all[..SHOWN].join("; "))
            }
            all => all.join("; "),
        };
        cells.push(Cell {
            shown,
            ..Cell::text(&all.join("; "))
        });
        line(&own.domain, cells)
    };
    let mut columns = ["median", "lowest", "highest"]
        .map(|n| Column::new(n, "", n))
        .to_vec();
    columns.push(Column::new("findings", "", "findings"));
    Table {
        name: "Signals",
        file: "signals.csv",
        first: "domain",
        columns,
        lines: quality.amplitudes.iter().map(one).collect(),
        note: format!(
            "Amplitude: {}. Median over a person’s electrodes; lowest and highest electrode.",
            quality.measure
        ),
    }
}

/// Different names, in the order of their first use.
fn in_order<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}
