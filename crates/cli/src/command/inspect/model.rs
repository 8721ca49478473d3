//! Model files.

use std::path::Path;

use serde_json::{Map, json};
use stiefel::model::FittedModel;
use stiefel::model::file::{FORMAT_VERSION, Header};

use super::Description;
use crate::failure::Failure;
use crate::table::entry;

pub(super) fn describe(path: &Path) -> Result<Description, Failure> {
    let (model, header) = FittedModel::load_with_header(path)?;
    let mut lines = vec![
        entry("file", &path.display().to_string(), 12),
        entry("format", &format(&header), 12),
        entry("model", &kind(&model), 12),
    ];
    let own = model.describe();
    lines.extend(own.iter().map(|line| entry(line.heading, &line.text, 12)));
    lines.push(trained_on(&model));
    lines.push(history(&model));
    let tensors: Map<_, _> = (header.tensors.iter())
        .map(|(name, t)| (name.clone(), json!(t.shape)))
        .collect();
    let about = model.about();
    Ok(Description {
        text: lines.join("\n"),
        value: json!({
            "kind": "model", "file": path, "model": model.name(), "format_version": FORMAT_VERSION,
            "library_version": header.library_version, "names": model.names(),
            "settings": model.spec()?.settings(), "described": own,
            "preparation": about.preparation, "method": about.method,
            "trained": about.seen.trained_count(), "chose": about.seen.stopped_count(),
            "tensors": tensors,
        }),
    })
}

fn kind(model: &FittedModel) -> String {
    let about = model.model().kind().about();
    format!("{}: {about}", model.name())
}

fn format(header: &Header) -> String {
    let numbers: u64 = (header.tensors.values())
        .map(|t| t.shape.iter().product::<u64>())
        .sum();
    format!(
        "version {FORMAT_VERSION}, written by stiefel {}, {numbers} numbers in {} tensors",
        header.library_version,
        header.tensors.len()
    )
}

/// The data: channels (names, number), views, classes, domains with their trials.
fn trained_on(model: &FittedModel) -> String {
    let channels = match model.channels() {
        Some(names) => names.join(" "),
        None => format!("{} without names", model.channel_count()),
    };
    let domains: Vec<String> = (model.domains().iter().enumerate())
        .map(|(d, name)| format!("{name} ({})", model.model().trial_count(d)))
        .collect();
    let recipe = model.preparation().recipe();
    let views: Vec<String> = (0..model.view_count())
        .map(|v| {
            let view = recipe.and_then(|r| r.views.get(v));
            view.map_or_else(|| format!("view {v}"), ToString::to_string)
        })
        .collect();
    [
        entry("channels", &channels, 12),
        entry("views", &views.join("\n"), 12),
        entry("classes", &model.classes().join(", "), 12),
        entry("domains", &domains.join(", "), 12),
    ]
    .join("\n")
}

/// How its trials were made, and which they were.
fn history(model: &FittedModel) -> String {
    let about = model.about();
    let seen = if about.seen.is_empty() {
        "not known".to_owned()
    } else {
        let trained = format!("{} trials it was trained on", about.seen.trained_count());
        match about.seen.stopped_count() {
            0 => trained,
            chose => format!("{trained}, {chose} that chose its epoch or its penalty"),
        }
    };
    let mut lines = vec![
        entry("made", &about.preparation.to_string(), 12),
        entry("remembers", &seen, 12),
    ];
    lines.extend(about.method.iter().map(|m| entry("method", m, 12)));
    lines.join("\n")
}
