//! Which methods of a study are compared, paired by subject, and the comparison that its first
//! sentence is about.

use crate::config::Study;
use crate::plan::{in_cell, own_name};
use crate::roster::{BASELINE, CALIBRATION};
use crate::stats::{CONFIDENCE, TEST_SEED, compare, holm, mean_interval, trial_interval};
use crate::verdict::p_value;
use crate::{Comparison, Headline, PersonDifference, Plan, Result, Row, Unit, UnitRecord};
use std::collections::BTreeMap;
use stiefel_model::registry;

/// A row and what it is set against.
type Pair<'a> = (&'a Row, &'a Row);

/// Compares every row with the baseline of its cell, and the default model and the best method that
/// is no peer with the strongest peer, whichever it is. Paired by subject.
pub(crate) fn comparisons(
    plan: &Plan,
    rows: &[Row],
    units: &[UnitRecord],
) -> Result<Vec<Comparison>> {
    let mut pairs: Vec<Pair> = Vec::new();
    for row in rows {
        let base = in_cell(row.cell.as_deref(), BASELINE);
        let base = rows.iter().find(|b| b.method == base && *b != row);
        pairs.extend(base.map(|b| (row, b)));
    }
    for cell in cells(rows) {
        for (row, other) in rivals(plan, rows, cell) {
            let known = |&(a, b): &Pair| (a == row && b == other) || (a == other && b == row);
            if !pairs.iter().any(known) {
                pairs.push((row, other));
            }
        }
    }
    let found: Result<Vec<Comparison>> = pairs
        .into_iter()
        .map(|(a, b)| compared(plan, a, b, units))
        .collect();
    let mut found = found?;
    let p: Vec<Option<f64>> = found.iter().map(|c| c.sign_flip).collect();
    for (comparison, corrected) in found.iter_mut().zip(holm(&p)?) {
        comparison.holm = corrected;
    }
    Ok(found)
}

/// The parts of the data, in the order of the table.
fn cells(rows: &[Row]) -> Vec<Option<&str>> {
    let mut cells: Vec<Option<&str>> = Vec::new();
    for row in rows {
        let cell = row.cell.as_deref();
        if !cells.contains(&cell) {
            cells.push(cell);
        }
    }
    cells
}

/// Pairs the default model and the best method that is no peer with the strongest peer of the cell;
/// the first pair is what a reader asks for first.
fn rivals<'a>(plan: &Plan, rows: &'a [Row], cell: Option<&str>) -> Vec<Pair<'a>> {
    let is_peer = |row: &&Row| {
        let of_row = |u: &&Unit| u.name == row.method;
        let unit = plan.units.iter().find(of_row);
        unit.is_some_and(|u| u.method.spec.kind().is_peer())
    };
    let of = || rows.iter().filter(|r| r.cell.as_deref() == cell);
    let Some(strongest) = best(of().filter(is_peer)) else {
        return Vec::new();
    };
    let ours = best(of().filter(|r| !is_peer(r)));
    let preset = named(rows, cell, registry::DEFAULT);
    let mut wanted: Vec<Pair> = (preset.into_iter().chain(ours))
        .map(|row| (row, strongest))
        .collect();
    if plan.config.study == Study::Calibration {
        wanted.extend(preset.zip(named(rows, cell, CALIBRATION[1])));
    }
    wanted
}

/// The row of a method in a part of the data.
fn named<'a>(rows: &'a [Row], cell: Option<&str>, method: &str) -> Option<&'a Row> {
    let name = in_cell(cell, method);
    rows.iter()
        .find(|r| r.cell.as_deref() == cell && r.method == name)
}

/// The row of the highest mean, the first of equals.
fn best<'a>(rows: impl Iterator<Item = &'a Row>) -> Option<&'a Row> {
    rows.reduce(|best, row| {
        if row.accuracy.mean > best.accuracy.mean {
            row
        } else {
            best
        }
    })
}

fn compared(plan: &Plan, row: &Row, against: &Row, units: &[UnitRecord]) -> Result<Comparison> {
    let (mut ours, mut theirs, mut people) = (Vec::new(), Vec::new(), Vec::new());
    let [right, wrong] = [row, against].map(|r| rights(plan, &r.method, units));
    for (subject, score) in &row.per_subject {
        let Some((_, other)) = against.per_subject.iter().find(|(s, _)| s == subject) else {
            continue;
        };
        ours.push(*score);
        theirs.push(*other);
        people.push(person(subject, score - other, (&right, &wrong))?);
    }
    let differences: Vec<f64> = people.iter().map(|p| p.difference).collect();
    let paired = compare(&ours, &theirs, TEST_SEED)?;
    Ok(Comparison {
        method: row.method.clone(),
        against: against.method.clone(),
        subjects: paired.subjects,
        difference: paired.difference.value().unwrap_or(0.0),
        interval: mean_interval(&differences)?,
        people,
        effect: paired.effect.value(),
        wilcoxon: paired.wilcoxon.value(),
        sign_flip: paired.sign_flip.value(),
        holm: None,
    })
}

/// By subject and trial: its class, and how often the method was right, of how many times it was
/// asked.
type Rights<'a> = BTreeMap<&'a str, BTreeMap<usize, (usize, f64, f64)>>;

fn rights<'a>(plan: &'a Plan, method: &str, units: &[UnitRecord]) -> Rights<'a> {
    let summary = &plan.summary;
    let mut all: Rights = BTreeMap::new();
    for unit in units.iter().filter(|u| u.method == method) {
        let o = &unit.outcome;
        for (i, &trial) in o.test.iter().enumerate() {
            let subject = &summary.subjects[summary.subject_of_domain[o.domains[i]]];
            let of = all.entry(subject).or_default().entry(trial);
            let (_, right, asked) = of.or_insert((o.truth[i], 0.0, 0.0));
            *right += f64::from(u8::from(o.decided[i] == o.truth[i]));
            *asked += 1.0;
        }
    }
    all
}

fn person(
    subject: &str,
    difference: f64,
    (ours, theirs): (&Rights, &Rights),
) -> Result<PersonDifference> {
    let mut classes: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    let other = theirs.get(subject);
    for (trial, (class, right, asked)) in ours.get(subject).into_iter().flatten() {
        if let Some((_, r, a)) = other.and_then(|o| o.get(trial)) {
            classes
                .entry(*class)
                .or_default()
                .push(right / asked - r / a);
        }
    }
    let classes: Vec<Vec<f64>> = classes.into_values().collect();
    let half = trial_interval(&classes)?;
    Ok(PersonDifference {
        subject: subject.to_owned(),
        difference,
        interval: half.map(|h| ((difference - h).max(-1.0), (difference + h).min(1.0))),
        trials: classes.iter().map(Vec::len).sum(),
    })
}

/// The first sentence: the preset, or the best method that is no peer, against the strongest peer;
/// without peers the best method against the baseline. Where the study has several parts of the
/// data, in the first of them: one chosen by its result would flatter.
pub(crate) fn headline(plan: &Plan, rows: &[Row], comparisons: &[Comparison]) -> Option<Headline> {
    if plan.config.study == Study::Null {
        return None;
    }
    let pair = |cell| {
        let first = rivals(plan, rows, cell).into_iter().next();
        first
            .map(|pair| (pair, ", the strongest peer"))
            .or_else(|| {
                let of = || rows.iter().filter(|r| r.cell.as_deref() == cell);
                let base = in_cell(cell, BASELINE);
                let other = best(of().filter(|r| r.method != base))?;
                Some(((other, of().find(|r| r.method == base)?), ""))
            })
    };
    let ((one, other), role) = cells(rows).into_iter().find_map(pair)?;
    let c = (comparisons.iter()).find(|c| c.method == one.method && c.against == other.method);
    // Where both have been compared the other way round, the sentence is about that.
    let (c, role) = match c {
        Some(c) => (c, role),
        None => (
            (comparisons.iter()).find(|c| c.against == one.method && c.method == other.method)?,
            "",
        ),
    };
    if c.people.is_empty() {
        return None;
    }
    Some(Headline {
        sentence: sentence(rows, c, role),
        method: c.method.clone(),
        against: c.against.clone(),
    })
}

fn sentence(rows: &[Row], c: &Comparison, role: &str) -> String {
    let mean = |name: &str| {
        let row = rows.iter().find(|r| r.method == name);
        row.map_or(f64::NAN, |r| r.accuracy.mean)
    };
    let cell = rows.iter().find(|r| r.method == c.method);
    let cell = cell.and_then(|r| r.cell.as_deref());
    let place = cell.map_or(String::new(), |cell| format!("With “{cell}”, "));
    let (one, other) = (own_name(cell, &c.method), own_name(cell, &c.against));
    let gain = c.people.iter().filter(|p| p.difference > 0.0).count();
    let lose = c.people.iter().filter(|p| p.difference < 0.0).count();
    let side = if c.difference < 0.0 { "below" } else { "above" };
    let percent = 100.0 * CONFIDENCE;
    let interval = c.interval.map_or(String::new(), |(low, high)| {
        format!(", {percent:.0} % interval {low:+.3} to {high:+.3}").replace('-', "−")
    });
    let p = c
        .holm
        .map_or(String::new(), |p| format!("; {} after Holm", p_value(p)));
    format!(
        "{place}{one} reaches a balanced accuracy of {:.3}, {other}{role}, {:.3}. Person by \
         person it is {:.3} {side} (mean of {} people{interval}{p}): {gain} gain, {lose} lose.",
        mean(&c.method),
        mean(&c.against),
        c.difference.abs(),
        c.subjects,
    )
}
