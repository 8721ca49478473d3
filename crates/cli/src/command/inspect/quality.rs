//! Amplitudes of electrodes and people, and what is wrong with them.

use stiefel::data::{Amplitudes, Finding, Quality};

use crate::table::columns;

/// Returns a table by electrode where there is one person, and by person where there are several;
/// none where nobody has looked.
pub(super) fn table(quality: &Quality) -> Option<String> {
    let rows = match &quality.amplitudes[..] {
        [] => return None,
        [one] => by_electrode(quality, one),
        several => by_person(quality, several),
    };
    Some(format!(
        "\namplitude: {}\n{}",
        quality.measure,
        columns(&rows)
    ))
}

fn by_electrode(quality: &Quality, own: &Amplitudes) -> Vec<Vec<String>> {
    let heading = ["ELECTRODE", "MEDIAN", "LOWEST", "HIGHEST", "FINDINGS"];
    let mut rows = vec![heading.map(String::from).to_vec()];
    for (c, name) in quality.electrodes.iter().enumerate() {
        let of = |f: &&Finding| f.electrodes.contains(name);
        rows.push(vec![
            name.clone(),
            figure(own.median[c]),
            figure(own.low[c]),
            figure(own.high[c]),
            kinds(quality.findings.iter().filter(of)),
        ]);
    }
    let of_all = quality.findings.iter().filter(|f| f.electrodes.is_empty());
    let mut all = vec!["all".to_owned(), figure(middle(&own.median))];
    all.extend([
        figure(least(&own.low)),
        figure(most(&own.high)),
        kinds(of_all),
    ]);
    rows.push(all);
    rows
}

fn by_person(quality: &Quality, people: &[Amplitudes]) -> Vec<Vec<String>> {
    let heading = ["DOMAIN", "MEDIAN", "LOWEST", "HIGHEST", "FINDINGS"];
    let mut rows = vec![heading.map(String::from).to_vec()];
    for own in people {
        let electrode = |figures: &[f64], value: f64| {
            let at = figures.iter().position(|x| *x == value);
            let name = at.map_or("", |c| quality.electrodes[c].as_str());
            format!("{} {name}", figure(value))
        };
        let of = |f: &&Finding| f.domain == own.domain;
        rows.push(vec![
            own.domain.clone(),
            figure(middle(&own.median)),
            electrode(&own.median, least(&own.median)),
            electrode(&own.median, most(&own.median)),
            kinds(quality.findings.iter().filter(of)),
        ]);
    }
    rows
}

/// Lists the kinds of findings, each with its number where there are several.
fn kinds<'a>(findings: impl Iterator<Item = &'a Finding>) -> String {
    let mut counts = std::collections::BTreeMap::new();
    for finding in findings {
        *counts.entry(finding.kind).or_insert(0) += 1;
    }
    let each = counts.into_iter().map(|(kind, count)| match count {
        1 => kind.to_string(),
        count => format!("{kind} ×{count}"),
    });
    each.collect::<Vec<_>>().join(", ")
}

fn middle(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

fn figure(x: f64) -> String {
    match x {
        0.0 => "0".into(),
        x if x.abs() < 1e-2 || x.abs() >= 1e6 => format!("{x:.1e}"),
        x if x.abs() < 100.0 => format!("{x:.2}"),
        x => format!("{x:.0}"),
    }
}
