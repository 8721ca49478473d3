//! Which views and electrodes carry the decision of a model on several views: patterns of
//! everybody's weights, shares of the views person by person, and each person's leading pattern.

use super::super::base::colour;
use super::super::base::text::{count, figure};
use super::super::chart::matrix::Matrix;
use super::scalp::heads;
use super::{Figure, Section, file_name, finite, unit_name};
use crate::{StudySummary, UnitRecord};
use stiefel_model::diagnostics::{Carried, CarriedBy};

/// Figures with a row or a map for each of more people than this are long.
const MANY: usize = 16;

/// The figures of the first fold of a method that has several views.
pub(super) fn all(summary: &StudySummary, method: &str) -> Vec<Figure> {
    let units = summary.units.iter().filter(|u| u.method == method);
    let of = |u: &'_ UnitRecord| u.outcome.carried.is_some();
    let Some(unit) = units.filter(|u| of(u)).min_by_key(|u| u.fold) else {
        return Vec::new();
    };
    let Some(carried) = &unit.outcome.carried else {
        return Vec::new();
    };
    let drawn = [
        shared(summary, unit, carried),
        shares(unit, carried),
        people(summary, unit, carried),
    ];
    drawn.into_iter().flatten().collect()
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// Where a figure of every person stands.
fn section(carried: &Carried) -> Section {
    if carried.people.len() > MANY {
        Section::People
    } else {
        Section::Scalp
    }
}

/// The views with their numbers.
fn numbered(carried: &Carried) -> String {
    let each = carried.views.iter().enumerate();
    let each: Vec<String> = each.map(|(v, name)| format!("{}: {name}", v + 1)).collect();
    each.join("; ")
}

/// What positive values of a pattern speak for.
fn towards(summary: &StudySummary) -> &str {
    let classes = &summary.dataset.classes;
    let at = usize::from(classes.len() == 2);
    classes.get(at).map_or("a class", String::as_str)
}

fn shared(summary: &StudySummary, unit: &UnitRecord, carried: &Carried) -> Option<Figure> {
    let of = |(v, name): (usize, &String)| {
        let share = carried.shared.shares.get(v).copied().unwrap_or(0.0);
        let patterns = carried.shared.patterns.get(v).map_or(&[][..], |p| &p[..]);
        let number = v + 1;
        (format!("{number}: {name}: {}", percent(share)), patterns)
    };
    let groups: Vec<(String, &[Vec<f64>])> = carried.views.iter().enumerate().map(of).collect();
    let drawing = heads(summary, &groups)?.draw()?;
    let told: Vec<&str> = groups.iter().map(|g| g.0.as_str()).collect();
    Some(Figure {
        section: Section::Scalp,
        method: Some(unit.method.clone()),
        name: file_name("views", &unit.method),
        title: format!("{}: what everybody's weights look at", unit.method),
        caption: format!(
            "Activation patterns of the shared weights on a typical head, the two leading ones of \
             every view, seen from above, nose up; {}. A map is one source. Where its largest \
             value is positive, power of that source speaks for {}; where it is negative, against \
             it. Other signs within a map are other phases. Each map is scaled by its largest \
             value. The share of a view in the variance of the score stands after its name.",
            unit_name(unit),
            towards(summary)
        ),
        alt: format!(
            "Maps of the head for {}: {}.",
            count(groups.len(), "view"),
            told.join("; ")
        ),
        drawing,
    })
}

fn shares(unit: &UnitRecord, carried: &Carried) -> Option<Figure> {
    if carried.people.is_empty() {
        return None;
    }
    let rows: Vec<&CarriedBy> = std::iter::once(&carried.shared)
        .chain(&carried.people)
        .collect();
    let values: Vec<Vec<Option<f64>>> = (rows.iter())
        .map(|r| r.shares.iter().map(|s| finite(*s)).collect())
        .collect();
    let all = values.iter().flatten().flatten();
    let largest = all.fold(0.0_f64, |m, s| m.max(*s));
    let texts = |row: &Vec<Option<f64>>| row.iter().map(|&s| vec![figure(s, 2)]).collect();
    let chart = Matrix {
        row_title: "whose weights",
        column_title: "view",
        rows: rows.iter().map(|r| r.name.clone()).collect(),
        columns: (1..=carried.views.len()).map(|v| v.to_string()).collect(),
        texts: values.iter().map(texts).collect(),
        values,
        cell: (46.0, 18.0),
        range: (0.0, ((largest * 20.0).ceil() / 20.0).clamp(0.05, 1.0)),
        colour: colour::ordered,
        scale: "share of the view in the variance of the score".into(),
        digits: 2,
    };
    let best = |r: &&CarriedBy| {
        let top = stiefel_linalg::argmax(&r.shares);
        Some(format!("{} {}", r.name, carried.views.get(top)?))
    };
    let told: Vec<String> = rows.iter().filter_map(best).take(20).collect();
    Some(Figure {
        section: section(carried),
        method: Some(unit.method.clone()),
        name: file_name("shares", &unit.method),
        title: format!("{}: which views carry the decision", unit.method),
        caption: format!(
            "How much of the score's variance over the training trials comes from each view: \
             under the weights everybody shares, and under each person's own; {}. Views that \
             carry the same information divide it between them: a small share does not prove that \
             a view could be left out. The views: {}.",
            unit_name(unit),
            numbered(carried)
        ),
        alt: format!("The strongest view by person: {}.", told.join(", ")),
        drawing: chart.draw(),
    })
}

fn people(summary: &StudySummary, unit: &UnitRecord, carried: &Carried) -> Option<Figure> {
    let of = |p: &'_ CarriedBy| {
        let v = stiefel_linalg::argmax(&p.shares);
        carried.views.get(v)?;
        Some((format!("{}: {}", p.name, v + 1), v))
    };
    let named: Vec<(String, usize, &CarriedBy)> = (carried.people.iter())
        .filter_map(|p| of(p).map(|(name, v)| (name, v, p)))
        .collect();
    let groups: Vec<(String, &[Vec<f64>])> = (named.iter())
        .map(|(name, v, p)| (name.clone(), p.patterns.get(*v).map_or(&[][..], |x| &x[..])))
        .collect();
    let drawing = heads(summary, &groups)?.draw()?;
    Some(Figure {
        section: section(carried),
        method: Some(unit.method.clone()),
        name: file_name("people", &unit.method),
        title: format!("{}: what each person's weights look at", unit.method),
        caption: format!(
            "The leading activation pattern of each person's own weights, in the view that \
             carries most of their decision (its number stands after the name); {}. Signs as \
             above. The views: {}.",
            unit_name(unit),
            numbered(carried)
        ),
        alt: format!("Maps of the head for {} people.", groups.len()),
        drawing,
    })
}
