//! What a study means, in words, and how it was done, ready to paste.

use crate::config::{SplitUnit, Study};
use crate::method::{Method, Precision};
use crate::{Comparison, Plan, Row};
use stiefel_model::Architecture;
use stiefel_model::precondition::{Scaling, Whitening};
use stiefel_model::routing_stats::{GAP_FOLDS_PERCENT, GAP_THRESHOLD};

/// A difference in balanced accuracy below this is called none.
const SAME: f64 = 0.005;

/// Below this a corrected p-value is called significant.
const LEVEL: f64 = 0.05;

pub(crate) fn verdict(plan: &Plan, rows: &[Row], comparisons: &[Comparison]) -> Vec<String> {
    let mut said = Vec::new();
    if plan.config.study == Study::Null {
        return null(plan, rows);
    }
    if let Some(best) = rows
        .iter()
        .max_by(|a, b| a.accuracy.mean.total_cmp(&b.accuracy.mean))
    {
        said.push(format!(
            "The highest mean balanced accuracy is {:.3}, of {}.",
            best.accuracy.mean, best.method
        ));
    }
    for row in rows {
        if let Some(text) = routing(row) {
            said.push(text);
        }
    }
    for c in comparisons {
        let Some(p) = c.holm else { continue };
        if p < LEVEL {
            let side = if c.difference > 0.0 { "above" } else { "below" };
            said.push(format!(
                "{} is {side} {} by {:.3} over {} subjects (sign-flip p = {p:.3} after Holm).",
                c.method,
                c.against,
                c.difference.abs(),
                c.subjects
            ));
        }
    }
    let silent = comparisons
        .iter()
        .all(|c| c.holm.is_none_or(|p| p >= LEVEL));
    if silent && !comparisons.is_empty() {
        said.push("No method differs significantly from the baseline, paired by subject, after Holm's correction.".into());
    }
    if plan.config.split == SplitUnit::Trial
        && !matches!(
            plan.config.study,
            Study::Loso | Study::Online | Study::Session
        )
    {
        said.push(
            "Test trials share their runs with training trials; hold out whole runs (--split block) to see what is left without that."
                .into(),
        );
    }
    said
}

/// Whether routing is what helps, from the gap and the controls.
fn routing(row: &Row) -> Option<String> {
    let (genuine, folds) = row.genuine?;
    let own = row.accuracy.mean;
    let control = |name: &str| {
        let found = row.controls.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| *value)
    };
    let as_good = |name: &str| control(name).filter(|c| *c >= own - SAME);
    let gap = row.proxy_gap?.mean;
    let enough = genuine * 100 >= folds * GAP_FOLDS_PERCENT;
    let head = format!("{} ({own:.3}):", row.method);
    if !enough && gap > GAP_THRESHOLD {
        return Some(format!(
            "{head} no consistent gain from routing: Δ_K1 is {gap:+.3} on average, but above {GAP_THRESHOLD} in {genuine} of {folds} folds only."
        ));
    }
    if !enough {
        return Some(format!(
            "{head} routing is not what helps here: with the experts averaged the same weights score {:.3} (Δ_K1 = {gap:+.3}, above \
             {GAP_THRESHOLD} in {genuine} of {folds} folds).",
            own - gap
        ));
    }
    if let Some(single) = as_good("retrained K=1") {
        return Some(format!(
            "{head} the averaged experts are worse (Δ_K1 = {gap:+.3}), but one expert trained from scratch scores {single:.3}: routing \
             is not what helps here."
        ));
    }
    if let Some(permuted) = as_good("permuted") {
        return Some(format!(
            "{head} the averaged experts are worse (Δ_K1 = {gap:+.3}), but with weights handed to other trials the model scores \
             {permuted:.3}: routing is not what helps here."
        ));
    }
    if let Some(mean) = as_good("domain mean") {
        return Some(format!(
            "{head} routing is used (Δ_K1 = {gap:+.3}, above {GAP_THRESHOLD} in {genuine} of {folds} folds), by domain rather than by trial: each domain's mean \
             weights score {mean:.3}."
        ));
    }
    Some(format!(
        "{head} genuine routing by the paper's rule (Δ_K1 = {gap:+.3}, above {GAP_THRESHOLD} in {genuine} of {folds} folds), and no control does as well."
    ))
}

/// The null control: everything above chance is leakage.
fn null(plan: &Plan, rows: &[Row]) -> Vec<String> {
    let chance = 1.0 / plan.data.summary.classes.len().max(1) as f64;
    let line = |row: &Row| {
        let above = row.accuracy.mean - chance;
        let text = if above > 2.0 * row.accuracy.std / (row.accuracy.count as f64).sqrt() {
            "tells runs apart: in a study split like this one, that much can be leakage"
        } else {
            "cannot tell runs apart beyond chance"
        };
        format!(
            "{}: {:.3} with labels that say only the run (chance {chance:.2}); it {text}.",
            row.method, row.accuracy.mean
        )
    };
    rows.iter().map(line).collect()
}

/// The methods paragraph.
pub(crate) fn methods(plan: &Plan) -> String {
    let d = &plan.data.summary;
    let mut parts = vec![format!(
        "Dataset {} (SHA-256 {}…): {} trials, {} channels, {} domains of {} subjects, classes {}. ",
        d.name,
        &d.fingerprint[..12.min(d.fingerprint.len())],
        d.trials,
        d.channels.len(),
        d.domains.len(),
        d.subjects.len(),
        d.classes.join(", ")
    )];
    if let Some(preparation) = &d.preparation {
        parts.push(format!("Covariances: {preparation}. "));
    }
    if !d.rejected.is_empty() {
        let count: usize = d.rejected.iter().map(|(_, n)| n).sum();
        parts.push(format!(
            "{count} trials were rejected by amplitude within their domain, before splitting and without reading labels. "
        ));
    }
    parts.push(format!("Split: {}. ", plan.protocol));
    let whitening = match plan.config.whitening {
        Whitening::Symmetric => "symmetric whitening by the Euclidean mean",
        Whitening::Pca => "principal-component whitening by the Euclidean mean",
        Whitening::None => "no whitening",
    };
    let scaling = match plan.config.scaling {
        Scaling::PerTrial => "each matrix scaled by tr(X)/‖X‖²",
        Scaling::PerDomain => "one scale per domain",
        Scaling::None => "no scaling",
    };
    parts.push(format!(
        "Pre-conditioning, fitted on the training trials of each domain: relative Tikhonov loading 1e-8, {whitening}, {scaling}. "
    ));
    let t = &plan.config.training;
    parts.push(format!(
        "Networks: Adam (lr {}, β {} and {}), batch {}, at most {} epochs, patience {} on validation balanced accuracy, best epoch restored, {}. ",
        t.adam.learning_rate,
        t.adam.beta1,
        t.adam.beta2,
        t.batch,
        t.epochs,
        t.patience,
        match plan.config.precision {
            Precision::F32 => "single precision",
            Precision::F64 => "double precision",
        }
    ));
    let routed = plan.units.iter().find_map(|u| match &u.method {
        Method::Network { model, .. } => match model.architecture {
            Architecture::Dasp(config) => Some(config),
            Architecture::Spdnet(_) => None,
        },
        Method::Pooled { .. } | Method::Peer { .. } => None,
    });
    if let Some(c) = routed {
        parts.push(format!(
            "Routed networks: k = {}, K = {}, m = {}. ",
            c.filters, c.experts, c.embedding
        ));
    }
    let seeds: Vec<String> = plan.config.seeds.iter().map(u64::to_string).collect();
    parts.push(format!(
        "Seeds {}. Tests are paired by subject (scores averaged over folds and seeds): Wilcoxon signed-rank and sign-flip permutation, Holm's \
         correction; folds and seeds are described, not tested. stiefel {} (MIT or Apache-2.0).",
        seeds.join(", "),
        crate::CODE
    ));
    if let Some(licence) = &d.licence {
        parts.push(format!(" Recordings under {licence}."));
    }
    parts.concat()
}
