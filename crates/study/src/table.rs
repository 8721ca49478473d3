//! The table, as people read it. Nothing in it differs from run to run.

use crate::StudySummary;
use std::fmt::Write;

/// The table, the tests and the verdict as text.
pub fn text(summary: &StudySummary) -> String {
    let mut lines = vec![header(summary)];
    for row in &summary.rows {
        let of = |x: Option<f64>, sign: bool| match x {
            Some(x) if sign => format!("{x:+.3}"),
            Some(x) => format!("{x:.3}"),
            None => "–".into(),
        };
        let ratio = |x: Option<(usize, usize)>| x.map_or("–".into(), |(a, b)| format!("{a}/{b}"));
        let mut line = vec![
            row.method.clone(),
            format!("{:.3}", row.accuracy.mean),
            format!("{:.3}", row.accuracy.std),
            of(row.roc_auc.map(|a| a.mean), false),
            of(row.kappa.map(|a| a.mean), false),
            of(row.over_baseline, true),
            ratio(row.folds_won),
            of(row.proxy_gap.map(|g| g.mean), true),
            ratio(row.genuine),
            of(row.entropy, false),
            of(row.alignment, false),
        ];
        if !summary.paper.is_empty() {
            let paper = summary.paper.iter().find(|p| p.method == row.method);
            line.push(of(paper.map(|p| p.accuracy), false));
        }
        lines.push(line);
    }
    let mut out = aligned(&lines);
    controls(summary, &mut out);
    tests(summary, &mut out);
    if !summary.verdict.is_empty() {
        out.push('\n');
        for sentence in &summary.verdict {
            let _ = writeln!(out, "{sentence}");
        }
    }
    out
}

fn header(summary: &StudySummary) -> Vec<String> {
    let mut names = vec![
        "method", "bAcc", "std", "AUC", "kappa", "Δ_base", "won", "Δ_K1", "genuine", "H̄", "r_d",
    ];
    if !summary.paper.is_empty() {
        names.push("paper");
    }
    names.into_iter().map(Into::into).collect()
}

fn controls(summary: &StudySummary, out: &mut String) {
    let routed: Vec<_> = summary
        .rows
        .iter()
        .filter(|r| !r.controls.is_empty())
        .collect();
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in routed.iter().flat_map(|r| &r.controls) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return;
    }
    let mut lines = vec![vec!["controls".to_owned(), "as it is".to_owned()]];
    lines[0].extend(names.iter().map(|n| (*n).to_owned()));
    for row in routed {
        let mut line = vec![row.method.clone(), format!("{:.3}", row.accuracy.mean)];
        for name in &names {
            let found = row.controls.iter().find(|(n, _)| n == name);
            line.push(found.map_or("–".into(), |(_, x)| format!("{x:.3}")));
        }
        lines.push(line);
    }
    out.push('\n');
    out.push_str(&aligned(&lines));
}

fn tests(summary: &StudySummary, out: &mut String) {
    if summary.comparisons.is_empty() {
        return;
    }
    let heads = [
        "by subject",
        "against",
        "subjects",
        "difference",
        "effect",
        "Wilcoxon",
        "sign-flip",
        "Holm",
    ];
    let mut lines = vec![heads.map(String::from).to_vec()];
    let of = |x: Option<f64>| x.map_or("–".into(), |x| format!("{x:.3}"));
    for c in &summary.comparisons {
        lines.push(vec![
            c.method.clone(),
            c.against.clone(),
            c.subjects.to_string(),
            format!("{:+.3}", c.difference),
            of(c.effect),
            of(c.wilcoxon),
            of(c.sign_flip),
            of(c.holm),
        ]);
    }
    out.push('\n');
    out.push_str(&aligned(&lines));
}

/// Columns as wide as their widest cell: the first to the left, the others to the right. Widths are counted in characters that
/// take a place (a combining bar takes none).
fn aligned(lines: &[Vec<String>]) -> String {
    let width = |text: &str| text.chars().filter(|c| *c != '\u{304}').count();
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let widest: Vec<usize> = (0..columns)
        .map(|c| {
            lines
                .iter()
                .filter_map(|l| l.get(c))
                .map(|s| width(s))
                .max()
                .unwrap_or(0)
        })
        .collect();
    let mut out = String::new();
    for line in lines {
        for (c, cell) in line.iter().enumerate() {
            let pad = " ".repeat(widest[c] - width(cell));
            let parts = match c {
                0 => ["", cell, &pad],
                _ => ["  ", &pad, cell],
            };
            out.extend(parts);
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
    out
}
