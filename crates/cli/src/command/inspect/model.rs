//! Model files.

use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value, json};
use stiefel::model::Architecture;
use stiefel::model::file::{AnyHeader, FileHeader, PooledDescription, inspect_any};
use stiefel::model::fitted::About;

use super::Description;
use crate::failure::Failure;
use crate::table::{entry, of};

pub(super) fn describe(path: &Path) -> Result<Description, Failure> {
    match inspect_any(path)? {
        AnyHeader::Network(header) => network(path, &header),
        AnyHeader::Pooled(header) => pooled(path, &header),
    }
}

fn network(path: &Path, header: &FileHeader) -> Result<Description, Failure> {
    let (model, sizes) = (&header.model, &header.model.sizes);
    let network = match &model.config.architecture {
        Architecture::Dasp(c) => format!(
            "DASP: {} experts, {} directions each, width {}, anchor {:?}, domain embedding {}",
            c.experts,
            c.filters,
            c.embedding,
            c.anchor,
            if c.domain_embedding { "on" } else { "off" }
        ),
        Architecture::Spdnet(c) => format!("SPDNet: one filter, {} directions", c.filters),
    };
    let encoder =
        (model.config.encoder).map_or("off".into(), |_| format!("{} columns", sizes.encoded));
    let record = &model.record;
    let best = record.history.get(record.best_epoch);
    let lines = [
        file(path, header),
        entry("network", &network, 12),
        entry("encoder", &encoder, 12),
        trained_on(
            (model.channels.as_deref(), sizes.channels),
            &model.classes,
            (&model.domains, &model.domain_trials),
        ),
        entry(
            "training",
            &format!(
                "{} trials, {} chose the epoch; epoch {} of {}{}",
                record.trials,
                record.validation,
                record.best_epoch + 1,
                record.history.len(),
                if record.cancelled {
                    ", interrupted"
                } else {
                    ""
                }
            ),
            12,
        ),
        entry(
            "validation",
            &best.map_or("–".into(), |e| {
                format!("balanced accuracy {:.3}", e.validation_accuracy)
            }),
            12,
        ),
        history(&header.about),
    ];
    Ok(Description {
        text: lines.join("\n"),
        value: value(path, "stiefel-model", header)?,
    })
}

fn pooled(path: &Path, header: &FileHeader<PooledDescription>) -> Result<Description, Failure> {
    let (model, config) = (&header.model, &header.model.config);
    let own = match config.head.ratio {
        0.0 => "the same weights for everybody (ρ = 0)".to_owned(),
        ratio => format!("shared weights and each domain's own, ρ = {ratio}"),
    };
    let again = if config.refit {
        "; then fitted again on both"
    } else {
        ""
    };
    let lines = [
        file(path, header),
        entry(
            "preset",
            &format!(
                "recommended: one filter, {} directions",
                model.sizes.filters
            ),
            12,
        ),
        entry("head", &own, 12),
        trained_on(
            (model.channels.as_deref(), model.sizes.channels),
            &model.classes,
            (&model.domains, &model.domain_trials),
        ),
        entry(
            "training",
            &format!(
                "{} trials, {} chose C = {}{again}",
                model.trials.0,
                model.trials.1,
                of(model.c, &config.head.candidates)
            ),
            12,
        ),
        history(&header.about),
    ];
    Ok(Description {
        text: lines.join("\n"),
        value: value(path, "stiefel-pooled", header)?,
    })
}

/// How its trials were made, and which they were.
fn history(about: &About) -> String {
    let seen = if about.seen.is_empty() {
        "not known: the file was written by an earlier version".to_owned()
    } else {
        let trained = format!("{} trials it was trained on", about.seen.trained.len());
        match about.seen.stopped.len() {
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

/// Where it is, and who wrote it.
fn file<M>(path: &Path, header: &FileHeader<M>) -> String {
    let numbers: u64 = (header.tensors.values())
        .map(|t| t.shape.iter().product::<u64>())
        .sum();
    let format = format!(
        "version {}, written by stiefel {}, {}, {numbers} numbers in {} tensors",
        header.format_version,
        header.library_version,
        header.precision,
        header.tensors.len()
    );
    let name = entry("file", &path.display().to_string(), 12);
    format!("{name}\n{}", entry("format", &format, 12))
}

/// The data: channels (names, number), classes, domains with their trials.
fn trained_on(
    (channels, count): (Option<&[String]>, usize),
    classes: &[String],
    (domains, trials): (&[String], &[usize]),
) -> String {
    let channels = match channels {
        Some(names) => names.join(" "),
        None => format!("{count} without names"),
    };
    let domains: Vec<String> = (domains.iter().zip(trials))
        .map(|(d, n)| format!("{d} ({n})"))
        .collect();
    [
        entry("channels", &channels, 12),
        entry("classes", &classes.join(", "), 12),
        entry("domains", &domains.join(", "), 12),
    ]
    .join("\n")
}

fn value<M: Serialize>(
    path: &Path,
    format: &str,
    header: &FileHeader<M>,
) -> Result<Value, Failure> {
    let tensors: Map<_, _> = (header.tensors.iter())
        .map(|(name, t)| (name.clone(), json!(t.shape)))
        .collect();
    Ok(json!({
        "kind": "model", "file": path, "format": format, "format_version": header.format_version,
        "library_version": header.library_version, "precision": header.precision,
        "model": serde_json::to_value(&header.model)?, "preparation": header.about.preparation, "method": header.about.method,
        "trained": header.about.seen.trained.len(), "chose": header.about.seen.stopped.len(), "tensors": tensors,
    }))
}
