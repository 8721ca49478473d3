//! What a study means, in words, and how it was done, ready to paste.

use crate::config::{SplitUnit, Study};
use crate::stats::{TEST_SEED, above_chance, attainable};
use crate::tolerance::SIGNIFICANT;
use crate::{Comparison, Plan, Result, Row};
use std::collections::{BTreeMap, BTreeSet};
use stiefel_data::LabelOrder;
use stiefel_model::Precision;
use stiefel_model::precondition::{Scaling, Whitening};

pub(crate) fn verdict(
    plan: &Plan,
    rows: &[Row],
    comparisons: &[Comparison],
) -> Result<Vec<String>> {
    if plan.config.study == Study::Null {
        return null(plan, rows);
    }
    let mut said: Vec<String> = highest(rows).into_iter().collect();
    for row in rows {
        let (name, own) = (&row.method, row.accuracy.mean);
        let routing = row.routing.as_ref();
        said.extend(routing.map(|verdict| format!("{name} ({own:.3}): {verdict}")));
    }
    said.extend(differences(comparisons));
    if plan.config.split == SplitUnit::Trial && !plan.config.study.has_own_folds() {
        let order = plan.trials.label_order().filter(LabelOrder::is_blocked);
        let stretches = order.map_or_else(String::new, |order| {
            format!(", and classes come in stretches: {order}")
        });
        said.push(format!(
            "Test trials share their runs with training trials{stretches}; hold out whole runs \
             (--split block) to see what is left without that."
        ));
    }
    said.extend(single_class(plan).into_iter().map(|name| {
        format!("{name} has trials of one class only, and enters no mean or test by person.")
    }));
    Ok(said)
}

/// Lists people with trials of a single class: a recall of theirs is no balanced accuracy.
fn single_class(plan: &Plan) -> Vec<String> {
    let (subjects, classes) = (plan.trials.subjects(), plan.trials.classes().indices());
    let mut of: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (&subject, &class) in subjects.indices().iter().zip(classes) {
        of.entry(subject).or_default().insert(class);
    }
    let single = of.into_iter().filter(|(_, classes)| classes.len() < 2);
    single.map(|(s, _)| subjects.name(s).to_owned()).collect()
}

/// The highest mean, of all that show the same three decimals.
fn highest(rows: &[Row]) -> Option<String> {
    let shown = |row: &Row| format!("{:.3}", row.accuracy.mean);
    let best = rows.iter().map(|r| r.accuracy.mean).reduce(f64::max)?;
    let best = format!("{best:.3}");
    let names: Vec<&str> = (rows.iter())
        .filter(|r| shown(r) == best)
        .map(|r| r.method.as_str())
        .collect();
    let tie = match names.len() {
        1 => String::new(),
        n => format!(" ({n} methods to these three decimals)"),
    };
    Some(format!(
        "The highest mean balanced accuracy is {best}, of {}{tie}.",
        listed(&names)
    ))
}

/// `a`, `a and b`, `a, b and c`.
fn listed(names: &[&str]) -> String {
    match names {
        [most @ .., last] if !most.is_empty() => format!("{} and {last}", most.join(", ")),
        _ => names.join(""),
    }
}

/// The differences that are significant; where there are none, whether any could have been.
fn differences(comparisons: &[Comparison]) -> Vec<String> {
    let significant = |c: &Comparison| {
        let p = c.holm.filter(|p| *p < SIGNIFICANT)?;
        let side = if c.difference > 0.0 { "above" } else { "below" };
        Some(format!(
            "{} is {side} {} by {:.3} over {} subjects (sign-flip {} after Holm).",
            c.method,
            c.against,
            c.difference.abs(),
            c.subjects,
            p_value(p)
        ))
    };
    let found: Vec<String> = comparisons.iter().filter_map(significant).collect();
    let Some(subjects) = comparisons.iter().map(|c| c.subjects).max() else {
        return found;
    };
    if !found.is_empty() {
        return found;
    }
    let made = comparisons.iter().filter(|c| c.holm.is_some()).count();
    let smallest = attainable(subjects, made.max(1), 2);
    let made = counted(made.max(1), "comparison");
    let subjects = counted(subjects, "subject");
    vec![if smallest < SIGNIFICANT {
        format!(
            "No difference is significant, paired by subject, after Holm's correction ({subjects} \
             and {made} could have reached p = {smallest:.3})."
        )
    } else {
        format!(
            "With {subjects} and {made} no difference could have been significant: the smallest p \
             after Holm's correction that they can reach is {smallest:.3}."
        )
    }]
}

/// `p = 0.012`, or `p < 0.001`.
pub(crate) fn p_value(p: f64) -> String {
    if p < 0.001 {
        "p < 0.001".into()
    } else {
        format!("p = {p:.3}")
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The null control: everything above chance is leakage. Subjects are tested, for folds share
/// trials.
fn null(plan: &Plan, rows: &[Row]) -> Result<Vec<String>> {
    let chance = 1.0 / plan.summary.classes.len().max(1) as f64;
    let of_row = |row: &Row| row.per_subject.iter().map(|s| s.1).collect();
    let scores: Vec<Vec<f64>> = rows.iter().map(of_row).collect();
    let tested = above_chance(&scores, chance, TEST_SEED)?;
    let line = |(row, p): (&Row, Option<f64>)| {
        let subjects = row.per_subject.len();
        let smallest = attainable(subjects, rows.len(), 1);
        let told = match p {
            _ if smallest >= SIGNIFICANT => format!(
                "with {} and {} nothing could have been called above chance (the smallest p they \
                 can reach is {smallest:.3})",
                counted(subjects, "subject"),
                counted(rows.len(), "method")
            ),
            Some(p) if p < SIGNIFICANT => format!(
                "it tells runs apart (p = {p:.3} by subject, after Holm): in a study split like \
                 this one, that much can be leakage"
            ),
            _ => "it cannot be told from chance by subject".into(),
        };
        format!(
            "{}: {:.3} with labels that say only the run (chance {chance:.2}); {told}.",
            row.method, row.accuracy.mean
        )
    };
    Ok(rows.iter().zip(tested).map(line).collect())
}

/// The methods paragraph.
pub(crate) fn methods(plan: &Plan) -> String {
    let d = &plan.summary;
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
            "{count} trials were rejected by amplitude within their domain, before splitting and \
             without reading labels. "
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
        "Pre-conditioning, fitted on the training trials of each domain: relative Tikhonov \
         loading 1e-8, {whitening}, {scaling}. "
    ));
    let t = &plan.config.training;
    parts.push(format!(
        "Networks: Adam (lr {}, β {} and {}), batch {}, at most {} epochs, patience {} on \
         validation balanced accuracy, best epoch restored, {}. ",
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
    let routed = plan.units.iter().map(|u| &u.method.spec).find_map(|spec| {
        let setting = |name| spec.setting(name)?.as_u64();
        Some((
            setting("architecture.filters")?,
            setting("architecture.experts")?,
            setting("architecture.embedding")?,
        ))
    });
    if let Some((filters, experts, embedding)) = routed {
        parts.push(format!(
            "Routed networks: k = {filters}, K = {experts}, m = {embedding}. "
        ));
    }
    let seeds: Vec<String> = plan.config.seeds.iter().map(u64::to_string).collect();
    parts.push(format!(
        "Seeds {}. Tests are paired by subject (scores averaged over folds and seeds): Wilcoxon \
         signed-rank and sign-flip permutation, Holm's correction; folds and seeds are described, \
         not tested. stiefel {} (MIT or Apache-2.0).",
        seeds.join(", "),
        crate::CODE
    ));
    if let Some(licence) = &d.licence {
        parts.push(format!(" Recordings under {licence}."));
    }
    parts.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(method: &str, mean: f64) -> Row {
        let score = serde_json::json!({"mean": mean, "std": 0.0, "count": 5});
        let value = serde_json::json!({"method": method, "accuracy": score, "controls": [], "units": [], "per_subject": [],
            "confusion": []});
        serde_json::from_value(value).unwrap()
    }

    fn comparison(subjects: usize, p: f64) -> Comparison {
        Comparison {
            method: "dasp".into(),
            against: "baseline".into(),
            subjects,
            difference: 0.02,
            interval: None,
            people: Vec::new(),
            effect: None,
            wilcoxon: None,
            sign_flip: Some(p),
            holm: Some(p),
        }
    }

    #[test]
    fn all_that_show_the_highest_figure_are_named() {
        let rows = [
            ("baseline", 0.8159),
            ("naive", 0.8162),
            ("dasp", 0.8161),
            ("mdm", 0.7),
        ];
        let rows = rows.map(|(name, mean)| row(name, mean));
        let said = highest(&rows).unwrap();
        assert!(
            said.ends_with(
                "is 0.816, of baseline, naive and dasp (3 methods to these three decimals)."
            ),
            "{said}"
        );
        assert!(highest(&rows[3..]).unwrap().ends_with("is 0.700, of mdm."));
        assert_eq!(highest(&[]), None);
    }

    #[test]
    fn silence_says_what_could_have_been_heard() {
        let said = differences(&vec![comparison(6, 0.4); 11]).concat();
        assert!(
            said.starts_with(
                "With 6 subjects and 11 comparisons no difference could have been significant"
            ),
            "{said}"
        );
        let said = differences(&vec![comparison(20, 0.4); 11]).concat();
        assert!(
            said.starts_with("No difference is significant") && said.contains("20 subjects"),
            "{said}"
        );
        let mut one = comparison(1, 0.4);
        one.holm = None;
        assert!(
            differences(&[one])
                .concat()
                .starts_with("With 1 subject and 1 comparison no")
        );
        assert!(
            differences(&[comparison(20, 0.01)])
                .concat()
                .starts_with("dasp is above baseline by 0.020")
        );
        let said = differences(&[comparison(20, 0.0002)]).concat();
        assert!(
            said.ends_with("(sign-flip p < 0.001 after Holm)."),
            "{said}"
        );
        assert!(differences(&[]).is_empty());
    }
}
