//! What the study ran on and how: data, rejected trials, unlabelled target data, settings, seeds, date, machine, version, licence, citation.

use super::super::base::text::{count, escape};
use crate::StudySummary;
use std::collections::BTreeMap;
use std::fmt::Write;
use stiefel_data::Quality;

/// Findings of a person that are told.
const TOLD: usize = 3;

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
    let mut out = String::from("<h3>Data</h3><dl>");
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
    out.push_str(&signals(&d.quality));
    out
}

/// Writes a short table of amplitudes by person, with what is wrong with the signals.
fn signals(quality: &Quality) -> String {
    if quality.amplitudes.is_empty() {
        return String::new();
    }
    let mut out = format!(
        "<h3>Signals</h3><p>Amplitude: {}. Median over a person's electrodes; lowest and highest \
         electrode.</p><table><thead><tr><th>Domain</th><th>Median</th><th>Lowest</th>\
         <th>Highest</th><th>Findings</th></tr></thead><tbody>",
        escape(&quality.measure)
    );
    for own in &quality.amplitudes {
        let mut sorted = own.median.clone();
        sorted.sort_by(f64::total_cmp);
        let cell = |at: usize| {
            sorted
                .get(at)
                .map_or_else(|| "–".into(), |x| format!("{x:.3}"))
        };
        let of = quality.findings.iter().filter(|f| f.domain == own.domain);
        let told: Vec<String> = of.clone().take(TOLD).map(ToString::to_string).collect();
        let more = of.count() - told.len();
        let mut findings = if told.is_empty() {
            "none".into()
        } else {
            told.join("; ")
        };
        if more > 0 {
            let _ = write!(findings, "; and {more} more");
        }
        let _ = write!(
            out,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(&own.domain),
            cell(sorted.len() / 2),
            cell(0),
            cell(sorted.len().saturating_sub(1)),
            escape(&findings)
        );
    }
    out.push_str("</tbody></table>");
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

/// Whether whitening used unlabelled trials of the domains tested on: what the units did, not what was set for a case that may not
/// have come up.
fn target_data(summary: &StudySummary) -> String {
    let mut policies: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let (mut known, mut uses) = (!summary.units.is_empty(), false);
    for unit in &summary.units {
        let Some(new) = &unit.outcome.new_domains else {
            known = false;
            continue;
        };
        let Some(policy) = new.policy.filter(|_| !new.names.is_empty()) else {
            continue;
        };
        uses |= policy.uses_target_data();
        let methods = policies.entry(policy.to_string()).or_default();
        if !methods.contains(&unit.method.as_str()) {
            methods.push(&unit.method);
        }
    }
    let answer = match (uses, known) {
        (true, _) => "Yes: whitening used unlabelled trials of the domains that were tested.",
        (false, false) => return "Not known: the records of the units do not say.".into(),
        (false, true) if policies.is_empty() => {
            return "No: every domain that was whitened had training trials of its own, and was whitened by them.".into();
        }
        (false, true) => "No.",
    };
    let policies: Vec<String> = policies
        .iter()
        .map(|(policy, methods)| format!("{} ({})", escape(policy), escape(&methods.join(", "))))
        .collect();
    format!(
        "{answer} Whitening of domains without training trials: {}.",
        policies.join("; ")
    )
}

/// The paragraph to paste, and what is behind it.
pub(super) fn methods(summary: &StudySummary) -> String {
    let seeds: Vec<String> = seeds(summary).iter().map(u64::to_string).collect();
    let mut out = format!(
        "<h3>Methods, ready to paste</h3><p class=\"methods\">{}</p><dl><dt>Split</dt><dd>{}</dd><dt>Seeds</dt><dd>{}</dd>",
        escape(&summary.methods),
        escape(&super::protocol(summary)),
        if seeds.is_empty() {
            "none".into()
        } else {
            seeds.join(", ")
        },
    );
    let mut fact = |name: &str, text: String| {
        let _ = write!(out, "<dt>{name}</dt><dd>{text}</dd>");
    };
    if let Some(made) = &summary.made {
        fact("Summary made", escape(&made.date));
        let processor = made.processor.as_deref().unwrap_or("processor not known");
        fact(
            "Machine",
            format!(
                "{}, {}, {}, instruction set {}",
                escape(processor),
                count(made.threads, "thread"),
                escape(&made.system),
                escape(&made.instructions)
            ),
        );
    }
    fact("Version", format!("stiefel {}", escape(&summary.code)));
    let licence = env!("CARGO_PKG_LICENSE").replace("OR", "or");
    fact("Licence", format!("stiefel: {licence}"));
    fact("To cite", PAPER.to_owned());
    out + "</dl>"
}

/// Every setting and what units said, folded away.
pub(super) fn settings(summary: &StudySummary) -> String {
    let settings = serde_json::to_string_pretty(&summary.settings).unwrap_or_default();
    format!(
        "<details class=\"long\"><summary>Every setting of the study (running it again gives the same table)</summary><pre>{}</pre></details>{}{}",
        escape(&settings),
        settings_by_method(summary),
        notes(summary)
    )
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
            "<details class=\"long\"><summary>Settings of {}</summary><pre>{}</pre></details>",
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
        "<details class=\"long\"><summary>Notes of the units ({})</summary><ul>",
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
