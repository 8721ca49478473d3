//! One unit's router: weights by domain, queries, angles between experts.

use super::super::base::colour;
use super::super::base::text::{capital, figure};
use super::super::chart::matrix::Matrix;
use super::super::chart::scatter::{LEGEND, Scatter};
use super::{Figure, Section, domain_name, file_name, finite, unit_name};
use crate::{RoutingRecord, StudySummary, UnitRecord};

pub(super) fn all(summary: &StudySummary, unit: &UnitRecord) -> Vec<Figure> {
    let Some(routing) = &unit.outcome.routing else {
        return Vec::new();
    };
    let drawn = [
        weights(summary, unit, routing),
        queries(summary, unit, routing),
        angles(unit, routing),
    ];
    drawn.into_iter().flatten().collect()
}

/// More domains than this stand side by side without their names.
const MANY: usize = 16;

fn experts(count: usize) -> Vec<String> {
    (1..=count).map(|k| k.to_string()).collect()
}

fn weights(summary: &StudySummary, unit: &UnitRecord, routing: &RoutingRecord) -> Option<Figure> {
    let table = &routing.domain_weights;
    let experts_count = table.iter().map(Vec::len).max().filter(|&k| k > 0)?;
    let values: Vec<Vec<Option<f64>>> = table
        .iter()
        .map(|row| row.iter().map(|&w| finite(w)).collect())
        .collect();
    let largest = values
        .iter()
        .flatten()
        .flatten()
        .fold(0.0_f64, |m, &w| m.max(w));
    // The scale starts at zero and never blows up a router that does nothing.
    let high = ((largest * 20.0).ceil() / 20.0).clamp((2.0 / experts_count as f64).min(1.0), 1.0);
    // Many domains stand side by side, in narrow columns; few have a row with their name.
    let across = table.len() > MANY;
    let written = experts_count <= 10 && !across;
    let texts = |row: &Vec<Option<f64>>| row.iter().map(|&w| vec![figure(w, 2)]).collect();
    let strongest = table.iter().enumerate().filter_map(|(d, row)| {
        let best = (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b]))?;
        Some(format!("{} {}", domain_name(summary, d), best + 1))
    });
    let strongest: Vec<String> = strongest.take(20).collect();
    let domains: Vec<String> = (0..table.len()).map(|d| domain_name(summary, d)).collect();
    let texts = if written {
        values.iter().map(texts).collect()
    } else {
        Vec::new()
    };
    let scale = format!(
        "mean weight (uniform: {})",
        figure(1.0 / experts_count as f64, 3)
    );
    let of = |k: usize| {
        values
            .iter()
            .map(|row| row.get(k).copied().flatten())
            .collect()
    };
    let turned: Vec<Vec<Option<f64>>> = (0..experts_count).map(of).collect();
    let chart = Matrix {
        row_title: if across { "expert" } else { "domain" },
        column_title: if across { "domain" } else { "expert" },
        rows: if across {
            experts(experts_count)
        } else {
            domains.clone()
        },
        columns: if across {
            domains
        } else {
            experts(experts_count)
        },
        texts,
        values: if across { turned } else { values },
        cell: if across {
            ((400.0 / table.len() as f64).clamp(2.0, 11.0), 20.0)
        } else {
            (if written { 38.0 } else { 26.0 }, 20.0)
        },
        range: (0.0, high),
        colour: colour::ordered,
        scale,
        digits: 2,
    };
    let empty = if table.iter().any(Vec::is_empty) {
        if across {
            " Empty columns: the domain has no test trials in this fold."
        } else {
            " Empty rows: the domain has no test trials in this fold."
        }
    } else {
        ""
    };
    Some(Figure {
        section: Section::Routing,
        method: Some(unit.method.clone()),
        name: file_name("routing", &unit.method),
        title: format!("{}: routing weights", unit.method),
        caption: format!(
            "Mean over each domain's test trials; {}.{empty}",
            unit_name(unit)
        ),
        alt: format!(
            "A field for each domain and each of {experts_count} experts. Expert with the largest \
             mean weight by domain: {}.",
            strongest.join(", ")
        ),
        drawing: chart.draw(),
    })
}

fn queries(summary: &StudySummary, unit: &UnitRecord, routing: &RoutingRecord) -> Option<Figure> {
    let points: Vec<([f64; 2], usize)> = routing
        .queries
        .iter()
        .copied()
        .zip(unit.outcome.domains.iter().copied())
        .filter(|(q, _)| q.iter().all(|v| v.is_finite()))
        .collect();
    if points.is_empty() {
        return None;
    }
    let mut groups: Vec<usize> = points.iter().map(|p| p.1).collect();
    groups.sort_unstable();
    groups.dedup();
    let many = groups.len() > LEGEND;
    let alt = format!(
        "{} test trials of {} domains on the first two principal axes of their queries.",
        points.len(),
        groups.len()
    );
    let chart = Scatter {
        points,
        groups: groups
            .into_iter()
            .map(|d| (d, domain_name(summary, d)))
            .collect(),
        axes: ["first principal axis", "second"],
    };
    Some(Figure {
        section: Section::Routing,
        method: Some(unit.method.clone()),
        name: file_name("queries", &unit.method),
        title: format!("{}: queries of the test trials", unit.method),
        caption: format!(
            "Coloured by domain{}; {}. Axes have the same scale.",
            if many {
                " (its name under the pointer)"
            } else {
                ""
            },
            unit_name(unit)
        ),
        alt,
        drawing: chart.draw(),
    })
}

fn angles(unit: &UnitRecord, routing: &RoutingRecord) -> Option<Figure> {
    let table = &routing.angles;
    let count = table.len();
    if count == 0 || table.iter().any(|row| row.len() != count) {
        return None;
    }
    let values: Vec<Vec<Option<f64>>> = table
        .iter()
        .map(|row| row.iter().map(|&a| finite(a)).collect())
        .collect();
    let largest = values
        .iter()
        .flatten()
        .flatten()
        .fold(0.0_f64, |m, &a| m.max(a));
    let high = ((largest / 5.0).ceil() * 5.0).clamp(5.0, 90.0);
    let written = count <= 10;
    let texts = |row: &Vec<Option<f64>>| row.iter().map(|&a| vec![figure(a, 0)]).collect();
    let mut words = String::new();
    if let Some(diversity) = &routing.report.diversity {
        let degrees = |m: &stiefel_model::Measure| match m.value() {
            Some(v) => format!("{}°", figure(v, 1)),
            None => "–".into(),
        };
        words = format!(
            " Mean over pairs {} (random subspaces of this size: {}; share of the largest \
             possible: {}).",
            degrees(&diversity.mean_angle),
            degrees(&diversity.random_mean_angle),
            figure(diversity.share_of_largest.value(), 2)
        );
    }
    let chart = Matrix {
        row_title: "expert",
        column_title: "expert",
        rows: experts(count),
        columns: experts(count),
        texts: if written {
            values.iter().map(texts).collect()
        } else {
            Vec::new()
        },
        values,
        cell: if written { (34.0, 26.0) } else { (24.0, 18.0) },
        range: (0.0, high),
        colour: colour::ordered,
        scale: "mean principal angle, degrees".into(),
        digits: 1,
    };
    Some(Figure {
        section: Section::Routing,
        method: Some(unit.method.clone()),
        name: file_name("angles", &unit.method),
        title: format!("{}: angles between experts", unit.method),
        caption: format!("{}.{words}", capital(&unit_name(unit))),
        alt: format!("Mean principal angle between each pair of {count} experts, degrees.{words}"),
        drawing: chart.draw(),
    })
}
