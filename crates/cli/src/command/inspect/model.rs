//! Model files.

use std::path::Path;

use serde_json::json;
use stiefel::model::{Architecture, inspect_file};

use super::Description;
use crate::failure::Failure;
use crate::table::entry;

pub(super) fn describe(path: &Path) -> Result<Description, Failure> {
    let header = inspect_file(path)?;
    let (model, sizes) = (&header.model, &header.model.sizes);
    let network = match &model.config.architecture {
        Architecture::Dasp(c) => format!(
            "DASP: {} experts, {} directions each, width {}, anchor {:?}, domain embedding {}",
            c.experts,
            c.filters,
            c.width,
            c.anchor,
            if c.domain_embedding { "on" } else { "off" }
        ),
        Architecture::Spdnet(c) => format!("SPDNet: one filter, {} directions", c.filters),
    };
    let encoder =
        (model.config.encoder).map_or("off".into(), |_| format!("{} columns", sizes.encoded));
    let domains: Vec<String> = (model.domains.iter().zip(&model.domain_trials))
        .map(|(d, n)| format!("{d} ({n})"))
        .collect();
    let record = &model.record;
    let best = record.history.get(record.best_epoch);
    let channels = match &model.channels {
        Some(names) => names.join(" "),
        None => format!("{} without names", sizes.channels),
    };
    let numbers: u64 = (header.tensors.values())
        .map(|t| t.shape.iter().product::<u64>())
        .sum();
    let lines = [
        entry("file", &path.display().to_string(), 12),
        entry(
            "format",
            &format!(
                "version {}, written by stiefel {}, {}, {numbers} numbers in {} tensors",
                header.format_version,
                header.library_version,
                header.precision,
                header.tensors.len()
            ),
            12,
        ),
        entry("network", &network, 12),
        entry("encoder", &encoder, 12),
        entry("channels", &channels, 12),
        entry("classes", &model.classes.join(", "), 12),
        entry("domains", &domains.join(", "), 12),
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
    ];
    let tensors: serde_json::Map<_, _> = (header.tensors.iter())
        .map(|(name, t)| (name.clone(), json!(t.shape)))
        .collect();
    Ok(Description {
        text: lines.join("\n"),
        value: json!({
            "kind": "model", "file": path, "format_version": header.format_version,
            "library_version": header.library_version, "precision": header.precision,
            "model": serde_json::to_value(model)?, "tensors": tensors,
        }),
    })
}
