//! The page: the result in a sentence and a picture, then what a sceptic asks, in that order.
//!
//! Its words and tags are in `templates/`; every text is escaped there.

mod facts;

use super::base::svg::{DARK_RULES, RULES};
use super::base::text::{capital, count, short};
use super::figures::{Figure, Gallery, Section, routed_methods};
use crate::table::{self, Table};
use crate::{StudyError, StudySummary};
use askama::Template;
use std::fmt::Write;

/// The style sheet of the page, beside that of its figures.
const STYLE: &str = include_str!("../../../templates/report.css");
/// The one script of the page, which sorts tables. Without it everything is there.
const SCRIPT: &str = include_str!("../../../templates/report.js");

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    summary: &'a StudySummary,
    title: String,
    about: String,
    style: String,
    script: &'static str,
    parts: Vec<Part>,
    sentence: Option<&'a str>,
    protocol: String,
    picture: String,
}

/// A section of the page: its anchor, its title, its content.
struct Part {
    id: &'static str,
    title: &'static str,
    body: String,
}

#[derive(Template)]
#[template(path = "table.html")]
struct TablePart<'a> {
    table: &'a Table,
    csv: String,
}

#[derive(Template)]
#[template(path = "figures.html")]
struct Figures<'a> {
    figures: &'a [&'a Figure],
}

impl Figure {
    fn svg(&self) -> String {
        self.drawing.inline(&self.title, &self.alt)
    }
}

/// Details folded away, also from paper.
#[derive(Template)]
#[template(
    source = "<details class=\"long\"{% if open %} open{% endif %}><summary>{{ self::short(title) \
              }}</summary>{{ body|safe }}</details>",
    ext = "html"
)]
struct Details<'a> {
    title: &'a str,
    open: bool,
    body: String,
}

/// A paragraph.
#[derive(Template)]
#[template(
    source = "<p{% if note %} class=\"note\"{% endif %}>{{ text }}</p>",
    ext = "html"
)]
struct Paragraph<'a> {
    text: &'a str,
    note: bool,
}

fn rendered(template: &impl Template) -> Result<String, StudyError> {
    template
        .render()
        .map_err(|e| StudyError::Page(e.to_string()))
}

fn words(text: &str) -> Result<String, StudyError> {
    rendered(&Paragraph { text, note: false })
}

fn note(text: &str) -> Result<String, StudyError> {
    rendered(&Paragraph { text, note: true })
}

/// The tables of the page as files: name and text.
pub(super) fn csv_files(summary: &StudySummary) -> Vec<(&'static str, String)> {
    let tables = [
        table::results(summary),
        table::controls(summary),
        table::tests(summary),
        table::subjects(summary),
        table::signals(summary),
    ];
    let filled = tables.iter().filter(|t| !t.lines.is_empty());
    filled.map(|t| (t.file, t.csv())).collect()
}

pub(super) fn html(summary: &StudySummary, gallery: &Gallery) -> Result<String, StudyError> {
    let d = &summary.dataset;
    let mut about = vec![
        count(d.trials, "trial"),
        count(d.subjects.len(), "subject"),
        count(d.channels.len(), "channel"),
        count(summary.rows.len(), "method"),
        count(facts::seeds(summary).len(), "seed"),
    ];
    about.extend(summary.made.as_ref().map(|made| made.date.clone()));
    let sentence = summary.headline.as_ref().map(|h| h.sentence.as_str());
    let pictures: Vec<&Figure> = gallery.of(Section::Headline).collect();
    rendered(&Page {
        summary,
        title: format!("stiefel: {} on {}", summary.study, d.name),
        about: about.join(" · "),
        style: format!(
            "{STYLE}{RULES}@media screen and (prefers-color-scheme:dark){{{DARK_RULES}}}"
        ),
        script: SCRIPT,
        parts: parts(summary, gallery)?,
        sentence: sentence.or_else(|| summary.verdict.first().map(String::as_str)),
        protocol: protocol(summary),
        picture: row(&pictures)?,
    })
}

fn parts(summary: &StudySummary, gallery: &Gallery) -> Result<Vec<Part>, StudyError> {
    let part = |id, title, body| Part { id, title, body };
    let of = |section| gallery.of(section).collect::<Vec<_>>();
    let mut parts = Vec::new();
    let learning = row(&of(Section::Learning))?;
    if !learning.is_empty() {
        parts.push(part("learning", "Learning", learning));
    }
    let none = "No unit has finished: there is no table yet.";
    parts.push(part(
        "table",
        "Table",
        shown(&table::results(summary), none)?,
    ));
    let none = "No tests: they need at least two methods and scores of several subjects.";
    parts.push(part("tests", "Tests", shown(&table::tests(summary), none)?));
    parts.push(part(
        "spread",
        "Folds and subjects",
        spread(summary, gallery)?,
    ));
    parts.push(part("confusion", "Confusion", confusion(summary, gallery)?));
    let heads = scalp(gallery)?;
    if !heads.is_empty() {
        parts.push(part("heads", "On the head", heads));
    }
    if !routed_methods(summary).is_empty() {
        parts.push(part("routing", "Routing", routing(summary, gallery)?));
    }
    let curves = of(Section::Curves);
    if !curves.is_empty() {
        let about =
            "Thin: each unit. Thick: their mean while at least half of them are in training.";
        let body = first_open(&curves, 3, "Training of the other networks")?;
        parts.push(part("training", "Training", note(about)? + &body));
    }
    let signals = shown(&table::signals(summary), "")?;
    if !signals.is_empty() {
        parts.push(part("signals", "Signals", signals));
    }
    let body = rendered(&facts::Facts::of(summary))?;
    parts.push(part("methods", "Data and methods", body));
    Ok(parts)
}

/// How the trials were split, as a sentence.
fn protocol(summary: &StudySummary) -> String {
    match summary.protocol.trim_end_matches('.') {
        "" => String::new(),
        words => format!("{}.", capital(words)),
    }
}

/// A table that scrolls where it is too wide, with a link that saves it; words where it is empty.
fn shown(table: &Table, none: &str) -> Result<String, StudyError> {
    if table.lines.is_empty() {
        return if none.is_empty() {
            Ok(String::new())
        } else {
            words(none)
        };
    }
    rendered(&TablePart {
        table,
        csv: percent_encoded(&table.csv()),
    })
}

fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len() * 2);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// Figures side by side.
fn row(figures: &[&Figure]) -> Result<String, StudyError> {
    if figures.is_empty() {
        return Ok(String::new());
    }
    rendered(&Figures { figures })
}

fn folded(title: &str, body: String) -> Result<String, StudyError> {
    let open = false;
    rendered(&Details { title, open, body })
}

/// The first figures, and the others folded away.
fn first_open(figures: &[&Figure], open: usize, others: &str) -> Result<String, StudyError> {
    let (first, rest) = figures.split_at(open.min(figures.len()));
    let mut out = row(first)?;
    if !rest.is_empty() {
        out += &folded(&format!("{others} ({})", rest.len()), row(rest)?)?;
    }
    Ok(out)
}

fn spread(summary: &StudySummary, gallery: &Gallery) -> Result<String, StudyError> {
    let figures: Vec<&Figure> = gallery
        .of(Section::Folds)
        .chain(gallery.of(Section::Subjects))
        .collect();
    let mut out = if figures.is_empty() {
        words("No unit has finished.")?
    } else {
        row(&figures)?
    };
    let table = shown(&table::subjects(summary), "")?;
    if !table.is_empty() {
        out += &folded("The figures of every subject", table)?;
    }
    Ok(out)
}

/// The methods of the first sentence first.
fn confusion(summary: &StudySummary, gallery: &Gallery) -> Result<String, StudyError> {
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
        return words("No confusion matrices.");
    }
    figures.sort_by_key(named);
    let about = "Test trials of all folds and seeds: the share of the true class, and below it \
                 the number of trials.";
    Ok(note(about)? + &first_open(&figures, 4, "Confusion matrices of the other methods")?)
}

/// The maps of methods with one filter, or with views; those of experts are with their router.
fn scalp(gallery: &Gallery) -> Result<String, StudyError> {
    let heads: Vec<&Figure> = gallery.of(Section::Scalp).collect();
    let mut out = String::new();
    if !heads.is_empty() {
        out += &note(
            "What filters see. The maps are activation patterns, not filters: the two leading \
             ones of each filter, with the names of their strongest electrodes where there is \
             room. The sign of a pattern has no meaning; each map is scaled by its largest value \
             and interpolated by spherical splines within 30° of an electrode.",
        )?;
        out += &row(&heads)?;
    }
    let people: Vec<&Figure> = gallery.of(Section::People).collect();
    if !people.is_empty() {
        out += &folded("The views and maps of every person", row(&people)?)?;
    }
    for (_, why) in gallery.missing.iter().filter(|m| m.0 == Section::Scalp) {
        out += &note(why)?;
    }
    Ok(out)
}

/// The router with the highest accuracy is open, the others are folded away.
fn routing(summary: &StudySummary, gallery: &Gallery) -> Result<String, StudyError> {
    let mut out = shown(&table::controls(summary), "")?;
    out += &note(
        "Experts of different folds and seeds are not comparable, so weights, queries, angles and \
         scalp maps are those of one unit, the first fold of the first seed.",
    )?;
    let methods = routed_methods(summary);
    let about = |section, method: &str| {
        let own = move |f: &&Figure| f.method.as_deref() == Some(method);
        gallery.of(section).filter(own).collect::<Vec<_>>()
    };
    let mean = |method: &str| {
        let row = summary.rows.iter().find(|r| r.method == method);
        row.map_or(f64::NEG_INFINITY, |r| r.accuracy.mean)
    };
    let pictured = methods
        .iter()
        .filter(|m| !about(Section::Routing, m).is_empty());
    let best = pictured.max_by(|a, b| mean(a).total_cmp(&mean(b))).copied();
    for method in methods {
        let mut figures = about(Section::Controls, method);
        figures.extend(about(Section::Routing, method));
        let body = if figures.is_empty() {
            words("No pictures of its router.")?
        } else {
            row(&figures)?
        };
        out += &rendered(&Details {
            title: method,
            open: Some(method) == best,
            body,
        })?;
    }
    Ok(out)
}
