//! The tables of the page.

use super::super::base::text::{escape, figure, p_value, signed};
use crate::{MeanStd, PaperRow, Row, StudySummary};
use std::fmt::Write;

fn mean_std(m: Option<MeanStd>) -> String {
    match m {
        Some(m) if m.mean.is_finite() => format!("{} ± {}", figure(m.mean, 3), figure(m.std, 3)),
        _ => "–".into(),
    }
}

fn of(pair: Option<(usize, usize)>) -> String {
    pair.map_or_else(|| "–".into(), |(n, all)| format!("{n}/{all}"))
}

/// A field with the paper's figure below ours.
fn beside(ours: &str, theirs: Option<String>, class: &str) -> String {
    let theirs = theirs.map_or_else(String::new, |t| {
        format!("<span class=\"theirs\">paper {t}</span>")
    });
    format!("<td{class}>{ours}{theirs}</td>")
}

/// The main table.
pub(super) fn results(summary: &StudySummary) -> String {
    if summary.rows.is_empty() {
        return "<p>No unit has finished: there is no table yet.</p>".into();
    }
    let mut out = String::from(
        "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">method</th><th scope=\"col\">balanced accuracy</th>\
         <th scope=\"col\">folds won</th><th scope=\"col\">ROC-AUC</th><th scope=\"col\">κ</th><th scope=\"col\">Δ_base</th>\
         <th scope=\"col\">Δ_K1</th><th scope=\"col\">Δ_K1 &gt; 0.01</th><th scope=\"col\">H̄</th><th scope=\"col\">r_d</th>\
         <th scope=\"col\">seconds</th></tr></thead><tbody>",
    );
    let means = summary.rows.iter().map(|r| r.accuracy.mean);
    let best = means
        .filter(|m| m.is_finite())
        .fold(f64::NEG_INFINITY, f64::max);
    for row in &summary.rows {
        let paper = summary.paper.iter().find(|p| p.method == row.method);
        out.push_str(&ours(row, paper, row.accuracy.mean == best));
    }
    let known = |p: &&PaperRow| summary.rows.iter().all(|r| r.method != p.method);
    for paper in summary.paper.iter().filter(known) {
        out.push_str(&theirs_alone(paper));
    }
    let beside = if summary.paper.is_empty() {
        ""
    } else {
        " “paper”: the published figure."
    };
    let _ = write!(
        out,
        "</tbody><caption>Mean ± standard deviation over folds and seeds; the highest mean is bold, whether it is a difference is for the tests to say. \
         Folds won: folds (of each seed) above the baseline. Δ_base: mean difference to the baseline on the same fold and seed. Δ_K1: \
         to the same model with uniform routing. H̄: routing entropy (sharp below 0.70). r_d: domain alignment (structured above 0.10). \
         Seconds: mean of a unit. –: does not exist or was not measured.{beside}</caption></table></div>"
    );
    out
}

fn ours(row: &Row, paper: Option<&PaperRow>, best: bool) -> String {
    let accuracy = paper.map(|p| match p.std {
        Some(std) => format!("{} ± {}", figure(p.accuracy, 3), figure(std, 3)),
        None => figure(p.accuracy, 3),
    });
    let theirs = |value: fn(&PaperRow) -> Option<f64>, sign: bool| {
        let v = paper.and_then(value)?;
        Some(if sign { signed(v, 3) } else { figure(v, 3) })
    };
    let gap = row.proxy_gap.filter(|g| g.mean.is_finite());
    let gap = gap.map_or_else(
        || "–".into(),
        |g| format!("{} ± {}", signed(g.mean, 3), figure(g.std, 3)),
    );
    let fields = [
        beside(
            &mean_std(Some(row.accuracy)),
            accuracy,
            if best { " class=\"best\"" } else { "" },
        ),
        beside(&of(row.folds_won), None, ""),
        beside(&mean_std(row.roc_auc), None, ""),
        beside(&mean_std(row.kappa), None, ""),
        beside(
            &signed(row.over_baseline, 3),
            theirs(|p| p.over_baseline, true),
            "",
        ),
        beside(&gap, theirs(|p| p.proxy_gap, true), ""),
        beside(
            &of(row.genuine),
            paper.and_then(|p| p.folds).map(|f| of(Some(f))),
            "",
        ),
        beside(&figure(row.entropy, 3), theirs(|p| p.entropy, false), ""),
        beside(
            &figure(row.alignment, 3),
            theirs(|p| p.alignment, false),
            "",
        ),
        beside(&seconds(row.seconds), None, ""),
    ];
    format!(
        "<tr><th scope=\"row\">{}</th>{}</tr>",
        escape(&row.method),
        fields.concat()
    )
}

fn seconds(s: f64) -> String {
    figure(s, if s < 10.0 { 2 } else { 0 })
}

/// A row of the paper without one of ours.
fn theirs_alone(paper: &PaperRow) -> String {
    let std = paper
        .std
        .map_or_else(String::new, |s| format!(" ± {}", figure(s, 3)));
    let theirs = |text: String| beside("–", (text != "–").then_some(text), "");
    let none = || "<td>–</td>";
    [
        format!(
            "<tr><th scope=\"row\">{} <span class=\"theirs\">not run here</span></th>",
            escape(&paper.method)
        ),
        theirs(format!("{}{std}", figure(paper.accuracy, 3))),
        none().repeat(3),
        theirs(signed(paper.over_baseline, 3)),
        theirs(signed(paper.proxy_gap, 3)),
        theirs(of(paper.folds)),
        theirs(figure(paper.entropy, 3)),
        theirs(figure(paper.alignment, 3)),
        none().to_owned(),
        "</tr>".to_owned(),
    ]
    .concat()
}

/// The tests, paired by subject.
pub(super) fn tests(summary: &StudySummary) -> String {
    if summary.comparisons.is_empty() {
        return "<p>No tests: they need at least two methods and scores of several subjects.</p>"
            .into();
    }
    let mut out = String::from(
        "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">method</th><th scope=\"col\" class=\"name\">against</th>\
         <th scope=\"col\">subjects</th><th scope=\"col\">mean difference</th><th scope=\"col\">effect d_z</th><th scope=\"col\">Wilcoxon p</th>\
         <th scope=\"col\">sign-flip p</th><th scope=\"col\">Holm p</th></tr></thead><tbody>",
    );
    for c in &summary.comparisons {
        let small = if c.holm.is_some_and(|p| p < 0.05) {
            " class=\"small-p\""
        } else {
            ""
        };
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{}</th><td class=\"name\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td{small}>{}</td></tr>",
            escape(&c.method),
            escape(&c.against),
            c.subjects,
            signed(c.difference, 3),
            signed(c.effect, 2),
            p_value(c.wilcoxon),
            p_value(c.sign_flip),
            p_value(c.holm)
        );
    }
    out.push_str(
        "</tbody><caption>Paired by subject (scores averaged over folds and seeds), two-sided. Effect: mean difference over its standard \
         deviation. Holm: the sign-flip p-value corrected over the comparisons of this table; below 0.05 it is bold.</caption></table></div>",
    );
    out
}

/// Mean balanced accuracy under the controls.
pub(super) fn controls(summary: &StudySummary) -> String {
    let rows: Vec<&Row> = summary
        .rows
        .iter()
        .filter(|r| !r.controls.is_empty())
        .collect();
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flat_map(|r| &r.controls) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">method</th><th scope=\"col\">as trained</th>",
    );
    for name in &names {
        let _ = write!(out, "<th scope=\"col\">{}</th>", escape(name));
    }
    out.push_str("</tr></thead><tbody>");
    for row in rows {
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td>",
            escape(&row.method),
            figure(row.accuracy.mean, 3)
        );
        for name in &names {
            let value = row.controls.iter().find(|c| c.0 == *name).map(|c| c.1);
            let _ = write!(out, "<td>{}</td>", figure(value, 3));
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody><caption>Mean balanced accuracy with the routing replaced.</caption></table></div>");
    out
}

/// Balanced accuracy per subject and method.
pub(super) fn subjects(summary: &StudySummary) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in summary.rows.iter().flat_map(|r| &r.per_subject) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "<details><summary>The figures</summary><div class=\"scroll\"><table><thead><tr><th scope=\"col\">subject</th>",
    );
    for row in &summary.rows {
        let _ = write!(out, "<th scope=\"col\">{}</th>", escape(&row.method));
    }
    out.push_str("</tr></thead><tbody>");
    for name in names {
        let _ = write!(out, "<tr><th scope=\"row\">{}</th>", escape(name));
        for row in &summary.rows {
            let value = row.per_subject.iter().find(|s| s.0 == name).map(|s| s.1);
            let _ = write!(out, "<td>{}</td>", figure(value, 3));
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div></details>");
    out
}
