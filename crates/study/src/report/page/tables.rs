//! The tables of the page.

use super::super::base::text::{figure, name, p_value, signed};
use crate::{MeanStd, PaperRow, Row, StudySummary};
use std::fmt::Write;
use stiefel_linalg::tolerance::{ROUTING_GAIN, SHARP_ENTROPY, SIGNIFICANT, STRUCTURED_ALIGNMENT};

fn mean_std(m: Option<MeanStd>) -> String {
    match m {
        Some(m) if m.mean.is_finite() => format!("{} ± {}", figure(m.mean, 3), figure(m.std, 3)),
        _ => "–".into(),
    }
}

fn of(pair: Option<(usize, usize)>) -> String {
    pair.map_or_else(|| "–".into(), |(n, all)| format!("{n}/{all}"))
}

/// What the rows of the ablation are called.
const ABLATION: &str = " ref: naive routing, anchored at the first expert, with coupled keys and no auxiliary loss. b1, b2, b4: ref \
with the loss of balance, entropy or alignment. b12: ref with an anchor of its own. dsp: b12 with queries from the frozen encoder of the domains. dasp-full: dsp with \
the loss of alignment and decoupled keys.";

/// The main table, with the paper's figures below ours.
pub(super) fn results(summary: &StudySummary) -> String {
    if summary.rows.is_empty() {
        return "<p>No unit has finished: there is no table yet.</p>".into();
    }
    let above = format!("Δ_K1 &gt; {ROUTING_GAIN}");
    let columns = [
        "balanced accuracy",
        "folds won",
        "ROC-AUC",
        "κ",
        "Δ_base",
        "Δ_K1",
        &above,
        "H̄",
        "r_d",
        "r_d, paper's formula",
        "seconds",
    ];
    let mut out = format!("{}{}", open("Results"), head("method", &columns));
    let means = summary.rows.iter().map(|r| r.accuracy.mean);
    let best = means
        .filter(|m| m.is_finite())
        .fold(f64::NEG_INFINITY, f64::max);
    for row in &summary.rows {
        out.push_str(&ours(row, row.accuracy.mean == best));
        if let Some(paper) = summary.paper.iter().find(|p| p.method == row.method) {
            out.push_str(&theirs(paper, "in the paper"));
        }
    }
    let alone = |p: &&PaperRow| summary.rows.iter().all(|r| r.method != p.method);
    for paper in summary.paper.iter().filter(alone) {
        let title = format!("{} in the paper, not run here", name(&paper.method));
        out.push_str(&theirs(paper, &title));
    }
    out + &close(&format!(
        "Mean ± standard deviation over folds and seeds; the highest mean is bold, whether it is a difference is for the tests to say. \
         Folds won: folds (of each seed) above the baseline. Δ_base: mean difference to the baseline on the same fold and seed. Δ_K1: \
         to the same model with uniform routing. H̄: routing entropy (sharp below {SHARP_ENTROPY:.2}). r_d: domain alignment, the share of the weights' variance that \
         the domains explain (structured above {STRUCTURED_ALIGNMENT:.2}); the paper's formula counts every domain alike and can exceed 1. Seconds: mean of a unit. –: does not exist or was not measured.{}",
        if summary.study == "ablation" {
            ABLATION
        } else {
            ""
        }
    ))
}

fn ours(row: &Row, best: bool) -> String {
    let gap = row.proxy_gap.filter(|g| g.mean.is_finite());
    let gap = gap.map_or_else(
        || "–".into(),
        |g| format!("{} ± {}", signed(g.mean, 3), figure(g.std, 3)),
    );
    let fields = [
        of(row.folds_won),
        mean_std(row.roc_auc),
        mean_std(row.kappa),
        signed(row.over_baseline, 3),
        gap,
        of(row.genuine),
        figure(row.entropy, 3),
        figure(row.alignment, 3),
        figure(row.alignment_paper, 3),
        figure(
            row.seconds,
            if row.seconds.is_some_and(|s| s >= 10.0) {
                0
            } else {
                2
            },
        ),
    ];
    format!(
        "<tr><th scope=\"row\">{}</th><td{}>{}</td><td>{}</td></tr>",
        name(&row.method),
        if best { " class=\"best\"" } else { "" },
        mean_std(Some(row.accuracy)),
        fields.join("</td><td>")
    )
}

fn theirs(paper: &PaperRow, title: &str) -> String {
    let std = paper
        .std
        .map_or_else(String::new, |s| format!(" ± {}", figure(s, 3)));
    let shown = |text: String| if text == "–" { String::new() } else { text };
    let fields = [
        format!("{}{std}", figure(paper.accuracy, 3)),
        String::new(),
        String::new(),
        String::new(),
        shown(signed(paper.over_baseline, 3)),
        shown(signed(paper.proxy_gap, 3)),
        shown(of(paper.folds)),
        shown(figure(paper.entropy, 3)),
        String::new(),
        shown(figure(paper.alignment, 3)),
        String::new(),
    ];
    format!(
        "<tr class=\"theirs\"><th scope=\"row\">{title}</th><td>{}</td></tr>",
        fields.join("</td><td>")
    )
}

/// The beginning of a table that scrolls where it is too wide.
fn open(label: &str) -> String {
    format!("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\"><table>")
}

/// The line of headings; they are escaped already.
fn head(first: &str, columns: &[impl AsRef<str>]) -> String {
    let mut out = format!("<thead><tr><th scope=\"col\">{first}</th>");
    for column in columns {
        let _ = write!(out, "<th scope=\"col\">{}</th>", column.as_ref());
    }
    out + "</tr></thead><tbody>"
}

/// The end of a table, with words below it.
fn close(words: &str) -> String {
    format!("</tbody></table></div><p class=\"note\">{words}</p>")
}

/// The tests, paired by subject.
pub(super) fn tests(summary: &StudySummary) -> String {
    if summary.comparisons.is_empty() {
        return "<p>No tests: they need at least two methods and scores of several subjects.</p>"
            .into();
    }
    let columns = [
        "against",
        "subjects",
        "mean difference",
        "effect d_z",
        "Wilcoxon p",
        "sign-flip p",
        "Holm p",
    ];
    let mut out = format!("{}{}", open("Tests"), head("method", &columns));
    for c in &summary.comparisons {
        let small = if c.holm.is_some_and(|p| p < SIGNIFICANT) {
            " class=\"small-p\""
        } else {
            ""
        };
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{}</th><td class=\"name\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td{small}>{}</td></tr>",
            name(&c.method),
            name(&c.against),
            c.subjects,
            signed(c.difference, 3),
            signed(c.effect, 2),
            p_value(c.wilcoxon),
            p_value(c.sign_flip),
            p_value(c.holm)
        );
    }
    out + &close(&format!(
        "Paired by subject (scores averaged over folds and seeds), two-sided. Effect: mean difference over its standard deviation. \
         Holm: the sign-flip p-value corrected over the comparisons of this table; below {SIGNIFICANT} it is bold."
    ))
}

/// Mean balanced accuracy under the controls.
pub(super) fn controls(summary: &StudySummary) -> String {
    let rows: Vec<&Row> = summary
        .rows
        .iter()
        .filter(|r| !r.controls.is_empty())
        .collect();
    let mut names: Vec<&str> = Vec::new();
    for (key, _) in rows.iter().flat_map(|r| &r.controls) {
        if !names.contains(&key.as_str()) {
            names.push(key);
        }
    }
    if names.is_empty() {
        return String::new();
    }
    let mut columns = vec!["as trained".to_owned()];
    columns.extend(names.iter().map(|key| name(key)));
    let mut out = format!("{}{}", open("Controls"), head("method", &columns));
    for row in rows {
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td>",
            name(&row.method),
            figure(row.accuracy.mean, 3)
        );
        for key in &names {
            let value = row.controls.iter().find(|c| c.0 == *key).map(|c| c.1);
            let _ = write!(out, "<td>{}</td>", figure(value, 3));
        }
        out.push_str("</tr>");
    }
    out + &close("Mean balanced accuracy with the routing replaced.")
}

/// Balanced accuracy per subject and method.
pub(super) fn subjects(summary: &StudySummary) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (key, _) in summary.rows.iter().flat_map(|r| &r.per_subject) {
        if !names.contains(&key.as_str()) {
            names.push(key);
        }
    }
    if names.is_empty() {
        return String::new();
    }
    let columns: Vec<String> = summary.rows.iter().map(|row| name(&row.method)).collect();
    let summary_line = "<details><summary>The figures</summary>";
    let mut out = format!(
        "{summary_line}{}{}",
        open("Subjects"),
        head("subject", &columns)
    );
    for key in names {
        let _ = write!(out, "<tr><th scope=\"row\">{}</th>", name(key));
        for row in &summary.rows {
            let value = row.per_subject.iter().find(|s| s.0 == key).map(|s| s.1);
            let _ = write!(out, "<td>{}</td>", figure(value, 3));
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div></details>");
    out
}
