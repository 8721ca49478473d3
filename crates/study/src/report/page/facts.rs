//! What the study ran on and how: data, rejected trials, unlabelled target data, settings, seeds,
//! date, machine, version, licence, citation.

use super::super::base::text::count;
use crate::StudySummary;
use askama::Template;
use std::collections::BTreeMap;

const PAPER: &str = "I. Costa Maia, P. L. C. Rodrigues, S. Said, M. Congedo: Routing on the \
                     Stiefel Manifold: When Does Adaptive Subspace Selection Help for \
                     Cross-Domain EEG Decoding? Preprint, 2026.";

/// Facts under headings, and what is folded away below them.
#[derive(Template)]
#[template(path = "facts.html")]
pub(super) struct Facts<'a> {
    groups: Vec<Group<'a>>,
    /// Settings: what they are of, and their text.
    folded: Vec<(String, String)>,
    notes: Vec<String>,
}

struct Group<'a> {
    title: &'static str,
    text: Option<&'a str>,
    facts: Vec<(&'static str, String)>,
}

impl<'a> Facts<'a> {
    pub(super) fn of(summary: &'a StudySummary) -> Self {
        Self {
            groups: vec![methods(summary), data(summary)],
            folded: settings(summary),
            notes: notes(summary),
        }
    }
}

/// Seeds in the order in which they ran.
pub(super) fn seeds(summary: &StudySummary) -> Vec<u64> {
    let of_rows = (summary.rows.iter()).flat_map(|r| r.units.iter().map(|u| u.seed));
    let mut seeds = Vec::new();
    for seed in summary.units.iter().map(|u| u.seed).chain(of_rows) {
        if !seeds.contains(&seed) {
            seeds.push(seed);
        }
    }
    seeds
}

fn data(summary: &StudySummary) -> Group<'_> {
    let d = &summary.dataset;
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "not known".into());
    let trials = format!(
        "{} of {} and {}, {}",
        count(d.trials, "trial"),
        count(d.domains.len(), "domain"),
        count(d.subjects.len(), "subject"),
        count(d.channels.len(), "channel")
    );
    Group {
        title: "Data",
        text: None,
        facts: vec![
            ("Dataset", d.name.clone()),
            ("Trials", trials),
            ("Classes", list(&d.classes)),
            ("Channels", list(&d.channels)),
            ("Covariances", known(&d.preparation)),
            ("Rejected trials", rejected(summary)),
            ("Unlabelled target data in whitening", target_data(summary)),
            ("Licence of the data", known(&d.licence)),
            ("Citation of the data", known(&d.citation)),
            ("Fingerprint", format!("SHA-256 {}", d.fingerprint)),
        ],
    }
}

fn list(names: &[String]) -> String {
    match names {
        [] => "none".into(),
        names => names.join(", "),
    }
}

fn rejected(summary: &StudySummary) -> String {
    let rejected = &summary.dataset.rejected;
    if rejected.is_empty() {
        return "Not known: the data came without counts.".into();
    }
    let total: usize = rejected.iter().map(|r| r.1).sum();
    let some = rejected.iter().filter(|r| r.1 > 0);
    let some: Vec<String> = some.map(|(domain, n)| format!("{domain} {n}")).collect();
    let by_domain = match &some[..] {
        [] => String::new(),
        some => format!(" ({})", some.join(", ")),
    };
    format!(
        "{}{by_domain}, by amplitude. Rejection read no labels and ran before the trials were \
         split.",
        count(total, "trial")
    )
}

/// Whether whitening used unlabelled trials of the domains tested on: what the units did, not what
/// was set for a case that may not have come up.
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
            return "No: every domain that was whitened had training trials of its own, and was \
                    whitened by them."
                .into();
        }
        (false, true) => "No.",
    };
    let policies = policies.iter();
    let each = policies.map(|(policy, methods)| format!("{policy} ({})", methods.join(", ")));
    let each: Vec<String> = each.collect();
    format!(
        "{answer} Whitening of domains without training trials: {}.",
        each.join("; ")
    )
}

/// The paragraph to paste, and what is behind it.
fn methods(summary: &StudySummary) -> Group<'_> {
    let seeds: Vec<String> = seeds(summary).iter().map(u64::to_string).collect();
    let mut facts = vec![("Split", super::protocol(summary)), ("Seeds", list(&seeds))];
    if let Some(made) = &summary.made {
        facts.push(("Summary made", made.date.clone()));
        let processor = made.processor.as_deref().unwrap_or("processor not known");
        let threads = count(made.threads, "thread");
        let (system, set) = (&made.system, &made.instructions);
        let machine = format!("{processor}, {threads}, {system}, instruction set {set}");
        facts.push(("Machine", machine));
    }
    let licence = env!("CARGO_PKG_LICENSE").replace("OR", "or");
    facts.extend([
        ("Version", format!("stiefel {}", summary.code)),
        ("Licence", format!("stiefel: {licence}")),
        ("To cite", PAPER.to_owned()),
    ]);
    Group {
        title: "Methods, ready to paste",
        text: Some(&summary.methods),
        facts,
    }
}

/// Every setting of the study, and of each method's first unit.
fn settings(summary: &StudySummary) -> Vec<(String, String)> {
    let text = |value| serde_json::to_string_pretty(value).unwrap_or_default();
    let whole = "Every setting of the study (running it again gives the same table)";
    let mut folded = vec![(whole.to_owned(), text(&summary.settings))];
    for unit in &summary.units {
        let title = format!("Settings of {}", unit.method);
        if folded.iter().all(|(known, _)| *known != title) {
            folded.push((title, text(&unit.settings)));
        }
    }
    folded
}

/// What units had to say, each sentence once with how often.
fn notes(summary: &StudySummary) -> Vec<String> {
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
    let each = counts.iter();
    each.map(|((method, note), n)| format!("{method}: {note} ({})", count(*n, "unit")))
        .collect()
}
