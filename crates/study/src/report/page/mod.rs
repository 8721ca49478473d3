//! The page: sections in the order in which a sceptic reads.

mod facts;
mod style;
mod tables;

use super::base::text::{count, escape, name};
use super::figures::{Figure, Gallery, Section, routed_methods};
use crate::StudySummary;
use std::fmt::Write;

const CONTENTS: [(&str, &str); 8] = [
    ("table", "Table"),
    ("tests", "Tests"),
    ("folds", "Folds"),
    ("subjects", "Subjects"),
    ("confusion", "Confusion"),
    ("routing", "Routing"),
    ("training", "Training"),
    ("methods", "Data and methods"),
];

pub(super) fn html(summary: &StudySummary, gallery: &Gallery) -> String {
    let title = format!("stiefel: {} on {}", summary.study, summary.dataset.name);
    let sections = [
        section(0, &tables::results(summary)),
        section(1, &tables::tests(summary)),
        section(2, &column(gallery, Section::Folds, "No unit has finished.")),
        section(
            3,
            &(column(gallery, Section::Subjects, "No scores by subject.")
                + &tables::subjects(summary)),
        ),
        section(
            4,
            &row(gallery.of(Section::Confusion), "No confusion matrices."),
        ),
        section(5, &routing(summary, gallery)),
        section(
            6,
            &row(
                gallery.of(Section::Curves),
                "No method of this study is trained by epochs.",
            ),
        ),
        section(
            7,
            &(facts::data(summary) + "<h3>Methods, ready to paste</h3>" + &facts::methods(summary)),
        ),
    ];
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{}</title><link rel=\"icon\" href=\"data:,\"><style>{}</style></head><body><main>\
         {}{}{}<footer class=\"note\">Made by stiefel {}. Folds are counted from 0, experts from 1.</footer></main></body></html>\n",
        escape(&title),
        style::sheet(),
        header(summary),
        verdict(summary),
        sections.concat(),
        escape(&summary.code)
    )
}

fn header(summary: &StudySummary) -> String {
    let d = &summary.dataset;
    let seeds = facts::seeds(summary);
    let links: Vec<String> = CONTENTS
        .iter()
        .map(|(id, title)| format!("<a href=\"#{id}\">{title}</a>"))
        .collect();
    format!(
        "<header><h1>{} on {}</h1><p class=\"muted\">{} · {} · {} · {} · {} · {}</p><p>{}</p><nav aria-label=\"Contents\">{}</nav></header>",
        name(&summary.study),
        name(&d.name),
        count(d.trials, "trial"),
        count(d.channels.len(), "channel"),
        count(d.domains.len(), "domain"),
        count(d.subjects.len(), "subject"),
        count(seeds.len(), "seed"),
        count(summary.rows.len(), "method"),
        escape(&summary.protocol),
        links.join(" ")
    )
}

fn verdict(summary: &StudySummary) -> String {
    let mut items = String::new();
    for sentence in &summary.verdict {
        let _ = write!(items, "<li>{}</li>", escape(sentence));
    }
    if items.is_empty() {
        items = "<li>None: the study has not said what its figures mean.</li>".into();
    }
    format!(
        "<section class=\"verdict\" aria-label=\"Verdict\"><strong>Verdict</strong><ul>{items}</ul></section>"
    )
}

fn section(number: usize, body: &str) -> String {
    let (id, title) = CONTENTS[number];
    format!("<section id=\"{id}\"><h2>{title}</h2>{body}</section>\n")
}

fn figure(figure: &Figure) -> String {
    let caption = if figure.caption.is_empty() {
        String::new()
    } else {
        format!("<figcaption>{}</figcaption>", escape(&figure.caption))
    };
    format!(
        "<figure><h4>{}</h4><div class=\"scroll\" tabindex=\"0\" role=\"group\">{}</div>{caption}</figure>",
        name(&figure.title),
        figure.drawing.inline(&figure.title, &figure.alt)
    )
}

fn column(gallery: &Gallery, section: Section, otherwise: &str) -> String {
    let figures: String = gallery.of(section).map(figure).collect();
    or(figures, otherwise)
}

fn row<'a>(figures: impl Iterator<Item = &'a Figure>, otherwise: &str) -> String {
    let figures: String = figures.map(figure).collect();
    if figures.is_empty() {
        return or(figures, otherwise);
    }
    format!("<div class=\"row\">{figures}</div>")
}

fn or(text: String, otherwise: &str) -> String {
    if text.is_empty() {
        format!("<p>{otherwise}</p>")
    } else {
        text
    }
}

fn routing(summary: &StudySummary, gallery: &Gallery) -> String {
    let methods = routed_methods(summary);
    if methods.is_empty() {
        return "<p>No method of this study routes.</p>".into();
    }
    let mut out = tables::controls(summary);
    out.push_str(
        "<p class=\"note\">Experts of different folds and seeds are not comparable, so weights, queries, angles and scalp maps are those of one \
         unit, the first fold of the first seed.</p>",
    );
    for method in methods {
        let about = |f: &&Figure| f.method.as_deref() == Some(method);
        let _ = write!(out, "<h3>{}</h3>", name(method));
        out.extend(gallery.of(Section::Controls).filter(about).map(figure));
        out.push_str(&row(
            gallery.of(Section::Routing).filter(about),
            "No pictures of its router.",
        ));
    }
    for (_, why) in gallery.missing.iter().filter(|m| m.0 == Section::Routing) {
        let _ = write!(out, "<p class=\"note\">{}</p>", escape(why));
    }
    out
}
