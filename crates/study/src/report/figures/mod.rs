//! From a study to its figures.

mod accuracy;
mod confusion;
mod controls;
mod curves;
mod differences;
mod learning;
mod routing;
mod scalp;
mod views;

use super::base::svg::Drawing;
use super::base::text::slug;
use crate::{StudySummary, UnitRecord};
use std::collections::{BTreeMap, HashSet};

/// Where a figure belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Headline,
    Learning,
    Folds,
    Subjects,
    Confusion,
    Scalp,
    /// A row or a map for each of many people.
    People,
    Controls,
    Routing,
    Curves,
}

/// A figure with its words.
#[derive(Debug)]
pub(super) struct Figure {
    pub section: Section,
    /// The method it is about, where it is about one.
    pub method: Option<String>,
    /// File name without ending.
    pub name: String,
    pub title: String,
    /// What a reader needs in order to read it.
    pub caption: String,
    /// What it shows, for those who do not see it.
    pub alt: String,
    pub drawing: Drawing,
}

/// All figures, and why some are missing.
#[derive(Debug, Default)]
pub(super) struct Gallery {
    pub figures: Vec<Figure>,
    pub missing: Vec<(Section, String)>,
}

impl Gallery {
    pub(super) fn new(summary: &StudySummary) -> Self {
        let mut gallery = Self::default();
        gallery.figures.extend(differences::headline(summary));
        gallery.figures.extend(learning::labels(summary));
        gallery.figures.extend(learning::people(summary));
        gallery.figures.extend(accuracy::folds(summary));
        gallery.figures.extend(accuracy::subjects(summary));
        gallery.figures.extend(
            summary
                .rows
                .iter()
                .filter_map(|row| confusion::matrix(summary, row)),
        );
        let routed = routed_methods(summary);
        for row in &summary.rows {
            gallery.figures.extend(views::all(summary, &row.method));
            let Some(unit) = shown_unit(summary, &row.method) else {
                continue;
            };
            if routed.contains(&row.method.as_str()) {
                gallery
                    .figures
                    .extend(controls::per_fold(summary, &row.method));
                gallery.figures.extend(routing::all(summary, unit));
            }
            match scalp::patterns(summary, unit) {
                Ok(figure) => gallery.figures.extend(figure),
                Err(why) => gallery.missing.push((Section::Scalp, why)),
            }
        }
        let heads = |f: &Figure| f.section == Section::Scalp || f.name.starts_with("scalp");
        if gallery.figures.iter().any(heads) {
            gallery.figures.extend(scalp::montage(summary));
        }
        let methods = summary.rows.iter().map(|row| row.method.as_str());
        gallery
            .figures
            .extend(methods.filter_map(|method| curves::training(summary, method)));
        gallery.name_apart();
        gallery
    }

    pub(super) fn of(&self, section: Section) -> impl Iterator<Item = &Figure> {
        self.figures.iter().filter(move |f| f.section == section)
    }

    /// Methods whose names differ only in what file names cannot say get a number.
    fn name_apart(&mut self) {
        let mut taken = HashSet::new();
        for figure in &mut self.figures {
            let stem = figure.name.clone();
            let mut count = 1;
            while !taken.insert(figure.name.clone()) {
                count += 1;
                figure.name = format!("{stem}-{count}");
            }
        }
    }
}

/// The methods that have a routing record, in the order of the table.
pub(super) fn routed_methods(summary: &StudySummary) -> Vec<&str> {
    let routed = |method: &str| {
        let mut units = units_of(summary, method);
        units.any(|u| u.outcome.routing.is_some())
    };
    let names = summary.rows.iter().map(|row| row.method.as_str());
    names.filter(|method| routed(method)).collect()
}

fn units_of<'a>(
    summary: &'a StudySummary,
    method: &'a str,
) -> impl Iterator<Item = &'a UnitRecord> {
    summary.units.iter().filter(move |u| u.method == method)
}

/// The unit whose filters are shown: experts of different units have nothing to do with each other,
/// so none are averaged. The first fold, and in it the first seed.
fn shown_unit<'a>(summary: &'a StudySummary, method: &'a str) -> Option<&'a UnitRecord> {
    // `min_by_key` keeps the first of equals: the seed that the study ran first.
    units_of(summary, method).min_by_key(|u| u.fold)
}

/// `fold 0, seed 7`.
fn unit_name(unit: &UnitRecord) -> String {
    format!(
        "{}, seed {}",
        fold_name(unit.fold, unit.held_out.as_deref()),
        unit.seed
    )
}

/// `fold 0`, with what is held out where it has a name.
fn fold_name(fold: usize, held_out: Option<&str>) -> String {
    match held_out {
        Some(name) => format!("fold {fold} ({name} held out)"),
        None => format!("fold {fold}"),
    }
}

/// The names of all folds.
fn fold_names(summary: &StudySummary) -> BTreeMap<usize, String> {
    let name = |u: &UnitRecord| (u.fold, fold_name(u.fold, u.held_out.as_deref()));
    summary.units.iter().map(name).collect()
}

fn file_name(kind: &str, method: &str) -> String {
    format!("{kind}-{}", slug(method))
}

fn domain_name(summary: &StudySummary, domain: usize) -> String {
    let name = summary.dataset.domains.get(domain);
    name.cloned().unwrap_or_else(|| format!("domain {domain}"))
}

fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|v| v.is_finite())
}
