//! Model files.

use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value, json};
use stiefel::model::file::{
    AnyHeader, FileHeader, PooledDescription, ViewsDescription, inspect_any,
};
use stiefel::model::fitted::About;
use stiefel::model::{Architecture, TrainingRecord};

use super::Description;
use crate::failure::Failure;
use crate::table::{entry, of};

pub(super) fn describe(path: &Path) -> Result<Description, Failure> {
    match inspect_any(path)? {
        AnyHeader::Network(header) => network(path, &header),
        AnyHeader::Pooled(header) => pooled(path, &header),
        AnyHeader::Views(header) => views(path, &header),
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
        entry("training", &training(record), 12),
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
                "recommended-1: one filter, {} directions",
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

/// How a network was trained; one that another program trained has no epochs to tell of.
fn training(record: &TrainingRecord) -> String {
    if record.history.is_empty() && !record.cancelled {
        return format!("{} trials, by another program", record.trials);
    }
    format!(
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
    )
}

fn views(path: &Path, header: &FileHeader<ViewsDescription>) -> Result<Description, Failure> {
    let (model, config) = (&header.model, &header.model.config);
    let steps = header.about.preparation.steps();
    let each: Vec<String> = (0..model.sizes.views)
        .map(|v| {
            let k = config.block(v).filters.min(model.sizes.channels);
            let what = steps.and_then(|s| s.views.get(v));
            let what = what.map_or_else(|| format!("view {v}"), ToString::to_string);
            format!("{what} ({k} directions)")
        })
        .collect();
    let own = if config.own > 0.0 {
        format!(
            "shared weights (variance {}) and each domain's own (variance {})",
            config.shared, config.own
        )
    } else {
        format!(
            "the same weights for everybody (variance {})",
            config.shared
        )
    };
    let slopes: Vec<String> = (model.link.slopes.iter())
        .map(|(labels, slope)| format!("{slope:.2} from {labels} labelled trials on"))
        .collect();
    let count = |calibrated: bool| -> Vec<usize> {
        let of = |p: &stiefel::model::file::PersonDescription| {
            if p.calibrated == calibrated {
                p.labels.len()
            } else {
                0
            }
        };
        model.people.iter().map(of).collect()
    };
    let (trained, calibrated) = (count(false), count(true));
    let mut lines = vec![
        file(path, header),
        entry(
            "preset",
            &format!("recommended: {} views", model.sizes.views),
            12,
        ),
        entry("views", &each.join("\n"), 12),
        entry("head", &own, 12),
        entry("slopes", &slopes.join(", "), 12),
        trained_on(
            (model.channels.as_deref(), model.sizes.channels),
            &model.classes,
            (&model.domains, &trained),
        ),
        entry("training", &format!("{} trials", model.trials), 12),
    ];
    if calibrated.iter().any(|n| *n > 0) {
        let met: Vec<String> = (model.domains.iter().zip(&calibrated))
            .filter(|(_, n)| **n > 0)
            .map(|(d, n)| format!("{d} ({n})"))
            .collect();
        lines.push(entry("calibrated", &met.join(", "), 12));
    }
    lines.push(history(&header.about));
    Ok(Description {
        text: lines.join("\n"),
        value: value(path, "stiefel-views", header)?,
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
