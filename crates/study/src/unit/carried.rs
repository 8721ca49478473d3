//! Which views and which electrodes carry the decision of the preset `recommended`.

use crate::{Carried, CarriedBy, Result};
use stiefel_data::Trials;
use stiefel_linalg::MatBatch;
use stiefel_model::ViewsModel;

/// Patterns kept of everybody's weights, and of one person's.
const PATTERNS: (usize, usize) = (2, 1);

/// Of a fitted preset; with `people`, whose training trials give their means, person by person too.
pub(super) fn carried(preset: &ViewsModel, training: &Trials, people: bool) -> Result<Carried> {
    let steps = training.preparation().steps();
    let name = |v: usize| {
        let view = steps.and_then(|s| s.views.get(v));
        view.map_or_else(|| format!("view {v}"), ToString::to_string)
    };
    let views = preset.views();
    let shared = CarriedBy {
        name: "everybody".into(),
        shares: preset.shares(),
        patterns: by_view(&preset.patterns(PATTERNS.0)?, views),
    };
    let mut own = Vec::new();
    for d in training.domains().present().into_iter().filter(|_| people) {
        let name = training.domains().name(d);
        let Some(at) = preset.domains().iter().position(|known| known == name) else {
            continue;
        };
        let trials = training.select(&training.of_domain(d))?;
        let patterns = preset.own_patterns(at, &trials, PATTERNS.1)?;
        own.push(CarriedBy {
            name: name.to_owned(),
            shares: preset.own_shares(at)?,
            patterns: by_view(&patterns, views),
        });
    }
    Ok(Carried {
        views: (0..views).map(name).collect(),
        shared,
        people: own,
    })
}

/// The shares of the views in everybody's weights, in a sentence.
pub(super) fn in_words(carried: &Carried) -> String {
    let each: Vec<String> = (carried.views.iter().zip(&carried.shared.shares))
        .map(|(name, share)| format!("{name} {:.0} %", 100.0 * share))
        .collect();
    format!(
        "share of the views in what everybody's weights decide: {}",
        each.join("; ")
    )
}

/// The patterns of every view's first score.
fn by_view(found: &MatBatch<f64>, views: usize) -> Vec<Vec<Vec<f64>>> {
    let scores = found.count() / views.max(1);
    let rows = |v: usize| found.matrix(v * scores).chunks(found.cols());
    (0..views)
        .map(|v| rows(v).map(<[f64]>::to_vec).collect())
        .collect()
}
