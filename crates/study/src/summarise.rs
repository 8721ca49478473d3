//! From records to a summary: means over folds and seeds, tests paired by subject.

use crate::comparisons::{comparisons, headline};
use crate::plan::{in_cell, own_name};
use crate::stats::mean_std;
use crate::{
    Made, MeanStd, Plan, Result, Row, Store, StudySummary, Unit, UnitRecord, UnitScore, paper,
    report, verdict,
};
use std::collections::{BTreeMap, BTreeSet};
use stiefel_model::diagnostics::{RoutedBy, RoutingEvidence, RoutingFigures};
use stiefel_model::kind::Kind;
use stiefel_model::metrics::Confusion;

/// What the records of a plan say.
pub fn summarise(plan: &Plan, units: Vec<UnitRecord>) -> Result<StudySummary> {
    let methods: Vec<String> = plan.methods().into_iter().map(Into::into).collect();
    let rows: Result<Vec<Row>> = methods.iter().map(|m| row(plan, m, &units)).collect();
    let rows = rows?;
    let comparisons = comparisons(plan, &rows, &units)?;
    let settings = serde_json::to_value(&plan.config)
        .map_err(|e| crate::StudyError::setting(e.to_string(), "this is a fault of the library"))?;
    let verdict = verdict::verdict(plan, &rows, &comparisons)?;
    let methods = verdict::methods(plan);
    Ok(StudySummary {
        study: plan.config.study.name().into(),
        dataset: plan.summary.clone(),
        protocol: plan.protocol.clone(),
        settings,
        code: crate::unit::version()?,
        paper: paper::rows(&plan.summary.name, plan.config.study),
        headline: headline(plan, &rows, &comparisons),
        rows,
        comparisons,
        verdict,
        methods,
        made: None,
        units,
    })
}

/// [`summarise`], with date and machine, and writes the summary and the report into the store.
pub fn conclude(plan: &Plan, store: &Store, units: Vec<UnitRecord>) -> Result<StudySummary> {
    let summary = StudySummary {
        made: Some(Made::now()?),
        ..summarise(plan, units)?
    };
    store.write("summary.json", &summary)?;
    report::write(&summary, store.folder())?;
    Ok(summary)
}

fn accuracy(record: &UnitRecord) -> f64 {
    // A test set without trials is refused when the split is made.
    let accuracy = &record.outcome.scores.balanced_accuracy;
    accuracy.value().unwrap_or(0.0)
}

fn optional(values: &[f64]) -> Result<Option<MeanStd>> {
    if values.is_empty() {
        return Ok(None);
    }
    Ok(Some(mean_std(values)?))
}

fn row(plan: &Plan, method: &str, units: &[UnitRecord]) -> Result<Row> {
    let own: Vec<&UnitRecord> = units.iter().filter(|u| u.method == method).collect();
    let scores: Vec<f64> = own.iter().map(|u| accuracy(u)).collect();
    let unit = plan.units.iter().find(|u| u.name == method);
    let cell = unit.and_then(|u| u.cell.clone());
    let base = in_cell(cell.as_deref(), crate::roster::BASELINE);
    let reference = |u: &UnitRecord| {
        let same = |b: &&UnitRecord| b.method == base && b.fold == u.fold && b.seed == u.seed;
        units.iter().find(same).map(accuracy)
    };
    let pairs: Vec<(f64, f64)> = own
        .iter()
        .filter_map(|u| Some((accuracy(u), reference(u)?)))
        .collect();
    let compared = method != base && !pairs.is_empty();
    let over: f64 = pairs.iter().map(|(a, b)| a - b).sum::<f64>() / pairs.len().max(1) as f64;
    let won = pairs.iter().filter(|(a, b)| a > b).count();
    let measures = |f: &dyn Fn(&UnitRecord) -> Option<f64>| -> Vec<f64> {
        own.iter().filter_map(|u| f(u)).collect()
    };
    let report = |u: &UnitRecord| u.outcome.routing.as_ref().map(|r| r.report.clone());
    let gaps = measures(&|u| report(u)?.proxy_gap.value());
    let evidence = evidence(plan, &own);
    let routed = !evidence.sets.is_empty();
    let unit = |u: &&UnitRecord| UnitScore {
        fold: u.fold,
        seed: u.seed,
        accuracy: accuracy(u),
    };
    Ok(Row {
        method: method.into(),
        about: crate::about(plan.config.study, own_name(cell.as_deref(), method)),
        labels: plan.labels(method),
        size: plan.size(method),
        cell,
        accuracy: mean_std(&scores)?,
        roc_auc: optional(&measures(&|u| u.outcome.scores.roc_auc.value()))?,
        kappa: optional(&measures(&|u| u.outcome.scores.kappa.value()))?,
        over_baseline: compared.then_some(over),
        folds_won: compared.then_some((won, pairs.len())),
        genuine: routed.then(|| (evidence.won_count(), evidence.sets.len())),
        routing: routed.then(|| evidence.verdict()),
        proxy_gap: optional(&gaps)?,
        entropy: mean(&measures(&|u| report(u)?.stats?.entropy.value())),
        alignment: mean(&measures(&|u| report(u)?.stats?.domain_alignment.value())),
        alignment_paper: mean(&measures(&|u| {
            report(u)?.stats?.domain_alignment_paper.value()
        })),
        controls: controls(&evidence),
        units: own.iter().map(unit).collect(),
        per_subject: per_subject(plan, &own)?,
        confusion: confusion(plan, &own),
        seconds: mean(&measures(&|u| u.seconds)),
    })
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// What a verdict on a method's routing reads: the figures of every unit, and how many different
/// trials they judged (every seed judges them again).
fn evidence(plan: &Plan, units: &[&UnitRecord]) -> RoutingEvidence {
    let Some(first) = units.first() else {
        return RoutingEvidence::default();
    };
    let of_method = |u: &&Unit| u.name == first.method;
    let kind = plan
        .units
        .iter()
        .find(of_method)
        .map(|u| u.method.spec.kind());
    let new_people = plan.config.study.holds_out_people();
    let figures = |u: &&UnitRecord| {
        let figures = u.outcome.routing.as_ref()?.report.figures()?;
        Some(RoutingFigures {
            domain_mean: figures.domain_mean.filter(|_| !new_people),
            ..figures
        })
    };
    let outcomes = units.iter().map(|u| &u.outcome);
    let judged: BTreeMap<usize, usize> = outcomes
        .flat_map(|o| o.test.iter().copied().zip(o.truth.iter().copied()))
        .collect();
    let mut trials = vec![0; plan.summary.classes.len()];
    for &class in judged.values() {
        trials[class] += 1;
    }
    RoutingEvidence {
        sets: units.iter().filter_map(figures).collect(),
        trials,
        routed_by: kind.map_or_else(RoutedBy::default, Kind::routed_by),
        chosen: false,
    }
}

/// Mean balanced accuracy under each control, by the names of the table.
fn controls(evidence: &RoutingEvidence) -> Vec<(String, f64)> {
    let of = |name: &str, f: &dyn Fn(&RoutingFigures) -> Option<f64>| {
        let values: Vec<f64> = evidence.sets.iter().filter_map(f).collect();
        Some((name.to_owned(), mean(&values)?))
    };
    let all = [
        of("K=1 proxy", &|s| Some(s.proxy)),
        of("permuted", &|s| Some(s.permuted)),
        of("domain mean", &|s| s.domain_mean),
        of("hard top-1", &|s| s.hard_top1),
        of("retrained K=1", &|s| s.retrained),
    ];
    all.into_iter().flatten().collect()
}

/// Balanced accuracy of each subject in each unit, averaged over the units that test it. Of people
/// with a single class it would be a recall: they are left out.
fn per_subject(plan: &Plan, units: &[&UnitRecord]) -> Result<Vec<(String, f64)>> {
    let summary = &plan.summary;
    let classes = summary.classes.len();
    let mut scores: Vec<Vec<f64>> = vec![Vec::new(); summary.subjects.len()];
    let mut truths: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); summary.subjects.len()];
    for unit in units {
        let o = &unit.outcome;
        for (subject, of) in scores.iter_mut().enumerate() {
            let at: Vec<usize> = (0..o.truth.len())
                .filter(|&i| summary.subject_of_domain[o.domains[i]] == subject)
                .collect();
            if at.is_empty() {
                continue;
            }
            truths[subject].extend(at.iter().map(|&i| o.truth[i]));
            let pick = |v: &[usize]| at.iter().map(|&i| v[i]).collect::<Vec<_>>();
            let confusion = Confusion::new(&pick(&o.truth), &pick(&o.decided), classes)?;
            of.extend(confusion.balanced_accuracy().value());
        }
    }
    let named = summary.subjects.iter().zip(scores).zip(truths);
    Ok(named
        .filter(|((_, s), truth)| !s.is_empty() && truth.len() > 1)
        .map(|((name, s), _)| (name.clone(), s.iter().sum::<f64>() / s.len() as f64))
        .collect())
}

fn confusion(plan: &Plan, units: &[&UnitRecord]) -> Vec<Vec<usize>> {
    let classes = plan.summary.classes.len();
    let mut table = vec![vec![0; classes]; classes];
    for unit in units {
        for (&t, &d) in unit.outcome.truth.iter().zip(&unit.outcome.decided) {
            table[t][d] += 1;
        }
    }
    table
}
