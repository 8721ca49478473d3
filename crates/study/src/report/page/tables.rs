//! The other tables of the page: tests, controls, subjects.

use super::super::base::text::{figure, name, p_value, signed};
use super::csv::{Csv, link, number, text};
use crate::stats::CONFIDENCE;
use crate::tolerance::SIGNIFICANT;
use crate::{Row, StudySummary};
use std::fmt::Write;

/// The beginning of a table that scrolls where it is too wide: its heads with what they mean, which are escaped already.
pub(super) fn open(
    label: &str,
    (first, about): (&str, &str),
    columns: &[(impl AsRef<str>, impl AsRef<str>)],
) -> String {
    let note = |about: &str| match about {
        "" => String::new(),
        about => format!("<small>{about}</small>"),
    };
    let mut out = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\"><table class=\"sortable\"><thead><tr>\
         <th scope=\"col\"><span>{first}</span>{}</th>",
        note(about)
    );
    for (head, about) in columns {
        let (head, about) = (head.as_ref(), note(about.as_ref()));
        let _ = write!(out, "<th scope=\"col\"><span>{head}</span>{about}</th>");
    }
    out + "</tr></thead><tbody>"
}

/// The end of a table, with words and a link below it.
pub(super) fn close(words: &str, link: &str) -> String {
    format!("</tbody></table></div><p class=\"note\">{words} {link}</p>")
}

/// A field with the figure by which it is sorted.
fn field(value: Option<f64>, class: &str, shown: &str) -> String {
    let key = value
        .filter(|v| v.is_finite())
        .map_or_else(String::new, |v| format!(" data-v=\"{v}\""));
    format!("<td{class}{key}>{shown}</td>")
}

/// The tests, paired by subject.
pub(super) fn tests(summary: &StudySummary) -> String {
    if summary.comparisons.is_empty() {
        return "<p>No tests: they need at least two methods and scores of several subjects.</p>"
            .into();
    }
    let percent = format!("{:.0} % interval", 100.0 * CONFIDENCE);
    let columns = [
        ("against", ""),
        ("subjects", ""),
        ("mean difference", "over subjects"),
        (&percent, "of the mean, by Student’s t"),
        ("effect d_z", "mean over standard deviation"),
        ("Wilcoxon p", "signed ranks"),
        ("sign-flip p", "of the mean"),
        ("Holm p", "sign-flip, corrected over this table"),
    ];
    let mut out = open("Tests", ("method", ""), &columns);
    for c in &summary.comparisons {
        let small = if c.holm.is_some_and(|p| p < SIGNIFICANT) {
            " class=\"small-p\""
        } else {
            ""
        };
        let interval = c.interval.filter(|i| i.0.is_finite() && i.1.is_finite());
        let shown = interval.map_or_else(
            || "–".into(),
            |(low, high)| format!("{} to {}", signed(low, 3), signed(high, 3)),
        );
        let fields = [
            format!("<td class=\"name\">{}</td>", name(&c.against)),
            field(Some(c.subjects as f64), "", &c.subjects.to_string()),
            field(Some(c.difference), "", &signed(c.difference, 3)),
            field(interval.map(|i| i.0), "", &shown),
            field(c.effect, "", &signed(c.effect, 2)),
            field(c.wilcoxon, "", &p_value(c.wilcoxon)),
            field(c.sign_flip, "", &p_value(c.sign_flip)),
            field(c.holm, small, &p_value(c.holm)),
        ];
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{}</th>{}</tr>",
            name(&c.method),
            fields.concat()
        );
    }
    let words = format!(
        "Paired by subject (scores averaged over folds and seeds), two-sided; a Holm p below {SIGNIFICANT} is bold."
    );
    out + &close(&words, &link("tests.csv", &tests_csv(summary)))
}

/// The tests with full figures.
pub(super) fn tests_csv(summary: &StudySummary) -> String {
    let mut table = Csv::new([
        "method",
        "against",
        "subjects",
        "difference",
        "low",
        "high",
        "effect",
        "wilcoxon",
        "sign_flip",
        "holm",
    ]);
    for c in &summary.comparisons {
        let mut fields = vec![text(&c.method), text(&c.against), c.subjects.to_string()];
        let figures = [
            Some(c.difference),
            c.interval.map(|i| i.0),
            c.interval.map(|i| i.1),
            c.effect,
            c.wilcoxon,
            c.sign_flip,
            c.holm,
        ];
        fields.extend(figures.map(number));
        table.line(fields);
    }
    table.finish()
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
    let mut columns = vec![("as trained".to_owned(), "its own routing")];
    columns.extend(names.iter().map(|key| (name(key), control(key))));
    let mut out = open("Controls", ("method", ""), &columns);
    for row in rows {
        let own = row.accuracy.mean;
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{}</th>{}",
            name(&row.method),
            field(Some(own), "", &figure(own, 3))
        );
        for key in &names {
            let value = row.controls.iter().find(|c| c.0 == *key).map(|c| c.1);
            out.push_str(&field(value, "", &figure(value, 3)));
        }
        out.push_str("</tr>");
    }
    out + &close("Mean balanced accuracy with the routing replaced.", "")
}

/// What a control does.
fn control(key: &str) -> &'static str {
    match key {
        "K=1 proxy" => "uniform weights",
        "permuted" => "weights of another trial",
        "domain mean" => "mean weights of the domain",
        "hard top-1" => "strongest expert alone",
        "retrained K=1" => "one expert, trained anew",
        _ => "",
    }
}

/// The subjects, in the order in which rows name them.
fn subject_names(summary: &StudySummary) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (key, _) in summary.rows.iter().flat_map(|r| &r.per_subject) {
        if !names.contains(&key.as_str()) {
            names.push(key);
        }
    }
    names
}

fn score(row: &Row, subject: &str) -> Option<f64> {
    let found = row.per_subject.iter().find(|s| s.0 == subject);
    found.map(|s| s.1).filter(|v| v.is_finite())
}

/// Balanced accuracy per subject and method.
pub(super) fn subjects(summary: &StudySummary) -> String {
    let names = subject_names(summary);
    if names.is_empty() {
        return String::new();
    }
    let columns: Vec<(String, &str)> = (summary.rows.iter())
        .map(|row| (name(&row.method), ""))
        .collect();
    let mut out = format!(
        "<details class=\"long\"><summary>The figures of every subject</summary>{}",
        open("Subjects", ("subject", ""), &columns)
    );
    for key in names {
        let _ = write!(out, "<tr><th scope=\"row\">{}</th>", name(key));
        for row in &summary.rows {
            let value = score(row, key);
            out.push_str(&field(value, "", &figure(value, 3)));
        }
        out.push_str("</tr>");
    }
    let link = link("subjects.csv", &subjects_csv(summary));
    out + &close("Balanced accuracy, averaged over folds and seeds.", &link) + "</details>"
}

/// The same with full figures.
pub(super) fn subjects_csv(summary: &StudySummary) -> String {
    let methods = summary.rows.iter().map(|row| row.method.as_str());
    let mut table = Csv::new(["subject"].into_iter().chain(methods));
    for key in subject_names(summary) {
        let scores = summary.rows.iter().map(|row| number(score(row, key)));
        let fields: Vec<String> = std::iter::once(text(key)).chain(scores).collect();
        table.line(fields);
    }
    table.finish()
}
