//! What the study ran on and how: data, rejected trials, unlabelled target data, settings, seeds, version, licence, citation.

use super::super::base::text::{count, escape};
use crate::StudySummary;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use stiefel_model::precondition::UnseenPolicy;

const PAPER: &str = "I. Costa Maia, P. L. C. Rodrigues, S. Said, M. Congedo: Routing on the Stiefel Manifold: When Does Adaptive \
Subspace Selection Help for Cross-Domain EEG Decoding? Preprint, 2026.";

/// Seeds in the order in which they ran.
pub(super) fn seeds(summary: &StudySummary) -> Vec<u64> {
    let of_rows = summary
        .rows
        .iter()
        .flat_map(|r| r.units.iter().map(|u| u.seed));
    let mut seeds = Vec::new();
    for seed in summary.units.iter().map(|u| u.seed).chain(of_rows) {
        if !seeds.contains(&seed) {
            seeds.push(seed);
        }
    }
    seeds
}

pub(super) fn data(summary: &StudySummary) -> String {
    let d = &summary.dataset;
    let mut out = String::from("<dl>");
    let mut fact = |name: &str, text: String| {
        let _ = write!(out, "<dt>{name}</dt><dd>{text}</dd>");
    };
    fact("Dataset", escape(&d.name));
    fact(
        "Trials",
        format!(
            "{} of {} and {}, {}",
            count(d.trials, "trial"),
            count(d.domains.len(), "domain"),
            count(d.subjects.len(), "subject"),
            count(d.channels.len(), "channel")
        ),
    );
    fact("Classes", list(&d.classes));
    fact("Channels", list(&d.channels));
    fact("Covariances", known(d.preparation.as_deref()));
    fact("Rejected trials", rejected(summary));
    fact("Unlabelled target data in whitening", target_data(summary));
    fact("Licence of the data", known(d.licence.as_deref()));
    fact("Citation of the data", known(d.citation.as_deref()));
    fact("Fingerprint", format!("SHA-256 {}", escape(&d.fingerprint)));
    out.push_str("</dl>");
    out
}

fn known(text: Option<&str>) -> String {
    text.map_or_else(|| "not known".into(), escape)
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        "none".into()
    } else {
        escape(&names.join(", "))
    }
}

fn rejected(summary: &StudySummary) -> String {
    let rejected = &summary.dataset.rejected;
    if rejected.is_empty() {
        return "Not known: the data came without counts.".into();
    }
    let total: usize = rejected.iter().map(|r| r.1).sum();
    let some: Vec<String> = rejected
        .iter()
        .filter(|r| r.1 > 0)
        .map(|(domain, n)| format!("{} {n}", escape(domain)))
        .collect();
    let by_domain = if some.is_empty() {
        String::new()
    } else {
        format!(" ({})", some.join(", "))
    };
    format!(
        "{}{by_domain}, by amplitude. Rejection read no labels and ran before the trials were split.",
        count(total, "trial")
    )
}

/// Whether whitening used unlabelled trials of the domains tested on: the policy for unseen domains, wherever settings name one
/// (`unseen`, null for none).
fn target_data(summary: &StudySummary) -> String {
    let mut policies: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let (mut named, mut uses, mut unclear) = (false, false, false);
    let whole = std::iter::once(("all methods", &summary.settings));
    let units = summary
        .units
        .iter()
        .map(|u| (u.method.as_str(), &u.settings));
    for (method, settings) in whole.chain(units) {
        visit(settings, &mut |value| {
            named = true;
            if value.is_null() {
                return;
            }
            let policy = serde_json::from_value::<UnseenPolicy>(value.clone());
            uses |= policy.as_ref().is_ok_and(UnseenPolicy::uses_target_data);
            unclear |= policy.is_err();
            let policy = policy.map_or_else(|_| value.to_string(), |p| p.to_string());
            let methods = policies.entry(policy).or_default();
            if !methods.contains(&method) {
                methods.push(method);
            }
        });
    }
    let answer = match (named, uses, unclear) {
        (false, ..) => return "Not known: the settings do not say how domains without training trials are whitened.".into(),
        (_, true, _) => "Yes: whitening used unlabelled trials of the domains tested on.",
        (_, _, true) => "Not known: the policy is none of pooled, own-mean and causal.",
        _ if policies.is_empty() => {
            return "No: every domain is whitened by its own training trials, there is no policy for domains without any.".into();
        }
        _ => "No.",
    };
    let policies: Vec<String> = policies
        .iter()
        .map(|(policy, methods)| format!("{} ({})", escape(policy), escape(&methods.join(", "))))
        .collect();
    format!(
        "{answer} Policy for domains without training trials: {}.",
        policies.join("; ")
    )
}

/// Every value under a key `unseen`.
fn visit(settings: &Value, found: &mut impl FnMut(&Value)) {
    match settings {
        Value::Object(fields) => {
            for (key, value) in fields {
                if key == "unseen" {
                    found(value);
                }
                visit(value, found);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| visit(value, found)),
        _ => (),
    }
}

pub(super) fn methods(summary: &StudySummary) -> String {
    let seeds: Vec<String> = seeds(summary).iter().map(u64::to_string).collect();
    let settings = serde_json::to_string_pretty(&summary.settings).unwrap_or_default();
    let mut out = format!(
        "<p class=\"methods\">{}</p><dl><dt>Split</dt><dd>{}</dd><dt>Seeds</dt><dd>{}</dd><dt>Version</dt><dd>{}</dd>\
         <dt>Licence</dt><dd>stiefel: {}</dd><dt>To cite</dt><dd>{PAPER}</dd></dl>\
         <details><summary>Every setting of the study (running it again gives the same table)</summary><pre>{}</pre></details>",
        escape(&summary.methods),
        escape(&summary.protocol),
        if seeds.is_empty() {
            "none".into()
        } else {
            seeds.join(", ")
        },
        escape(&summary.code),
        env!("CARGO_PKG_LICENSE").replace("OR", "or"),
        escape(&settings)
    );
    out.push_str(&settings_by_method(summary));
    out.push_str(&notes(summary));
    out
}

/// The configuration of each method's first unit.
fn settings_by_method(summary: &StudySummary) -> String {
    let mut out = String::new();
    let mut seen: Vec<&str> = Vec::new();
    for unit in &summary.units {
        if seen.contains(&unit.method.as_str()) {
            continue;
        }
        seen.push(&unit.method);
        let settings = serde_json::to_string_pretty(&unit.settings).unwrap_or_default();
        let _ = write!(
            out,
            "<details><summary>Settings of {}</summary><pre>{}</pre></details>",
            escape(&unit.method),
            escape(&settings)
        );
    }
    out
}

/// What units had to say, each sentence once with how often.
fn notes(summary: &StudySummary) -> String {
    let mut counts: Vec<((&str, &str), usize)> = Vec::new();
    for unit in &summary.units {
        for note in &unit.outcome.notes {
            let key = (unit.method.as_str(), note.as_str());
            match counts.iter_mut().find(|c| c.0 == key) {
                Some(known) => known.1 += 1,
                None => counts.push((key, 1)),
            }
        }
    }
    if counts.is_empty() {
        return String::new();
    }
    let mut out = format!(
        "<details><summary>Notes of the units ({})</summary><ul>",
        counts.len()
    );
    for ((method, note), n) in counts {
        let _ = write!(
            out,
            "<li>{}: {} ({})</li>",
            escape(method),
            escape(note),
            count(n, "unit")
        );
    }
    out.push_str("</ul></details>");
    out
}
