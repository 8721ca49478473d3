//! The page: the result in a sentence and a picture, then what a sceptic asks, in that order.

mod csv;
mod facts;
mod results;
mod script;
mod style;
mod tables;

use super::base::text::{capital, count, escape, name};
use super::figures::{Figure, Gallery, Section, routed_methods};
use crate::StudySummary;
use std::fmt::Write;

/// A section of the page: its anchor, its title, its content.
struct Part {
    id: &'static str,
    title: &'static str,
    body: String,
}

/// The tables of the page as files: name and text.
pub(super) fn csv_files(summary: &StudySummary) -> Vec<(&'static str, String)> {
    vec![
        ("results.csv", results::csv(summary)),
        ("tests.csv", tables::tests_csv(summary)),
        ("subjects.csv", tables::subjects_csv(summary)),
    ]
}

pub(super) fn html(summary: &StudySummary, gallery: &Gallery) -> String {
    let title = format!("stiefel: {} on {}", summary.study, summary.dataset.name);
    let parts = parts(summary, gallery);
    let mut body = header(summary, &parts) + &headline(summary, gallery) + &verdict(summary);
    for part in &parts {
        let _ = writeln!(
            body,
            "<section id=\"{}\"><h2>{}</h2>{}</section>",
            part.id, part.title, part.body
        );
    }
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{}</title><link rel=\"icon\" href=\"data:,\"><style>{}</style></head><body><main>\
         {body}<footer class=\"note\">Made by stiefel {}. Folds are counted from 0, experts from 1.</footer></main><script>{}</script></body></html>\n",
        escape(&title),
        style::sheet(),
        escape(&summary.code),
        script::SCRIPT
    )
}

fn parts(summary: &StudySummary, gallery: &Gallery) -> Vec<Part> {
    let part = |id, title, body| Part { id, title, body };
    let spread = gallery
        .of(Section::Folds)
        .chain(gallery.of(Section::Subjects));
    let mut parts = vec![
        part("table", "Table", results::results(summary)),
        part("tests", "Tests", tables::tests(summary)),
        part(
            "spread",
            "Folds and subjects",
            row(spread, "No unit has finished.") + &tables::subjects(summary),
        ),
    ];
    let learning = row(gallery.of(Section::Learning), "");
    if !learning.is_empty() {
        parts.insert(0, part("learning", "Learning", learning));
    }
    parts.push(part("confusion", "Confusion", confusion(summary, gallery)));
    let heads = scalp(gallery);
    if !heads.is_empty() {
        parts.push(part("heads", "On the head", heads));
    }
    if !routed_methods(summary).is_empty() {
        parts.push(part("routing", "Routing", routing(summary, gallery)));
    }
    let curves: Vec<&Figure> = gallery.of(Section::Curves).collect();
    if !curves.is_empty() {
        let words = "<p class=\"note\">Thin: each unit. Thick: their mean while at least half of them are in training.</p>";
        let body = first_open(&curves, 3, "Training of the other networks");
        parts.push(part("training", "Training", words.to_owned() + &body));
    }
    parts.push(part(
        "methods",
        "Data and methods",
        facts::methods(summary) + &facts::data(summary) + &facts::settings(summary),
    ));
    parts
}

fn header(summary: &StudySummary, parts: &[Part]) -> String {
    let d = &summary.dataset;
    let links: Vec<String> = parts
        .iter()
        .map(|p| format!("<a href=\"#{}\">{}</a>", p.id, p.title))
        .collect();
    let mut about = vec![
        count(d.trials, "trial"),
        count(d.subjects.len(), "subject"),
        count(d.channels.len(), "channel"),
        count(summary.rows.len(), "method"),
        count(facts::seeds(summary).len(), "seed"),
    ];
    about.extend(summary.made.as_ref().map(|made| escape(&made.date)));
    format!(
        "<header><h1>{} on {}</h1><p class=\"muted\">{}</p><nav aria-label=\"Contents\">{}</nav></header>",
        name(&summary.study),
        name(&d.name),
        about.join(" · "),
        links.join(" ")
    )
}

/// The result in a sentence, and its picture beside it; without a comparison the subjects' scores speak for themselves.
fn headline(summary: &StudySummary, gallery: &Gallery) -> String {
    let picture: String = gallery.of(Section::Headline).map(figure).collect();
    let sentence = summary.headline.as_ref().map(|h| h.sentence.as_str());
    let sentence = sentence.or_else(|| summary.verdict.first().map(String::as_str));
    let Some(sentence) = sentence else {
        return String::new();
    };
    format!(
        "<section class=\"headline\" aria-label=\"Result\"><div><p class=\"result\">{}</p><p class=\"note\">{}</p></div>{picture}</section>",
        escape(sentence),
        escape(&protocol(summary))
    )
}

/// How the trials were split, as a sentence.
fn protocol(summary: &StudySummary) -> String {
    match summary.protocol.trim_end_matches('.') {
        "" => String::new(),
        words => format!("{}.", capital(words)),
    }
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

fn figure(figure: &Figure) -> String {
    let caption = if figure.caption.is_empty() {
        String::new()
    } else {
        format!("<figcaption>{}</figcaption>", escape(&figure.caption))
    };
    format!(
        "<figure class=\"{}\"><h4>{}</h4><div class=\"scroll\" tabindex=\"0\" role=\"group\">{}</div>{caption}</figure>",
        figure.drawing.size(),
        name(&figure.title),
        figure.drawing.inline(&figure.title, &figure.alt)
    )
}

fn row<'a>(figures: impl Iterator<Item = &'a Figure>, otherwise: &str) -> String {
    let figures: String = figures.map(figure).collect();
    match (figures.is_empty(), otherwise) {
        (true, "") => String::new(),
        (true, otherwise) => format!("<p>{otherwise}</p>"),
        (false, _) => format!("<div class=\"row\">{figures}</div>"),
    }
}

/// The first figures, and the others folded away, also from paper.
fn first_open(figures: &[&Figure], open: usize, others: &str) -> String {
    let (first, rest) = figures.split_at(open.min(figures.len()));
    let mut out = row(first.iter().copied(), "");
    if !rest.is_empty() {
        let _ = write!(
            out,
            "<details class=\"long\"><summary>{others} ({})</summary>{}</details>",
            rest.len(),
            row(rest.iter().copied(), "")
        );
    }
    out
}

/// The methods of the first sentence first.
fn confusion(summary: &StudySummary, gallery: &Gallery) -> String {
    let named = |f: &&Figure| {
        let headline = summary.headline.as_ref();
        headline.map_or(2, |h| match f.method.as_deref() {
            Some(m) if m == h.method => 0,
            Some(m) if m == h.against => 1,
            _ => 2,
        })
    };
    let mut figures: Vec<&Figure> = gallery.of(Section::Confusion).collect();
    if figures.is_empty() {
        return "<p>No confusion matrices.</p>".into();
    }
    figures.sort_by_key(named);
    let words = "<p class=\"note\">Test trials of all folds and seeds: the share of the true class, and below it the number of trials.</p>";
    words.to_owned() + &first_open(&figures, 4, "Confusion matrices of the other methods")
}

/// The maps of methods with one filter, or with views; those of experts are with their router. Many people's are folded away, also from paper.
fn scalp(gallery: &Gallery) -> String {
    let mut out = row(gallery.of(Section::Scalp), "");
    if !out.is_empty() {
        out.insert_str(
            0,
            "<p class=\"note\">What filters see. The maps are activation patterns, not filters: the two leading ones of each filter, with the names of their strongest electrodes where there is room. The sign of a pattern has no meaning; each map is scaled by its largest value and interpolated by spherical splines within 30° of an \
             electrode.</p>",
        );
    }
    let people = row(gallery.of(Section::People), "");
    if !people.is_empty() {
        let _ = write!(
            out,
            "<details class=\"long\"><summary>The views and maps of every person</summary>{people}</details>"
        );
    }
    for (_, why) in gallery.missing.iter().filter(|m| m.0 == Section::Scalp) {
        let _ = write!(out, "<p class=\"note\">{}</p>", escape(why));
    }
    out
}

/// The router with the highest accuracy is open, the others are folded away.
fn routing(summary: &StudySummary, gallery: &Gallery) -> String {
    let methods = routed_methods(summary);
    let mut out = tables::controls(summary);
    out.push_str(
        "<p class=\"note\">Experts of different folds and seeds are not comparable, so weights, queries, angles and scalp maps are those of one \
         unit, the first fold of the first seed.</p>",
    );
    let pictured = |method: &&&str| {
        let about = |f: &Figure| f.method.as_deref() == Some(**method);
        gallery.of(Section::Routing).any(about)
    };
    let mean = |method: &str| {
        let row = summary.rows.iter().find(|r| r.method == method);
        row.map_or(f64::NEG_INFINITY, |r| r.accuracy.mean)
    };
    let best = methods
        .iter()
        .filter(pictured)
        .max_by(|a, b| mean(a).total_cmp(&mean(b)));
    for method in &methods {
        let about = |f: &&Figure| f.method.as_deref() == Some(*method);
        let figures = gallery.of(Section::Controls).filter(about);
        let figures = figures.chain(gallery.of(Section::Routing).filter(about));
        let open = if Some(method) == best { " open" } else { "" };
        let _ = write!(
            out,
            "<details class=\"long\"{open}><summary>{}</summary>{}</details>",
            name(method),
            row(figures, "No pictures of its router.")
        );
    }
    out
}
