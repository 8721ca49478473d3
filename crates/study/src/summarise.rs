//! From records to a summary: means over folds and seeds, tests paired by subject.

use crate::stats::{compare, holm, mean_std};
use crate::{
    Comparison, MeanStd, Plan, Result, Row, Store, StudySummary, UnitRecord, UnitScore, paper,
    report, verdict,
};
use stiefel_model::metrics::Confusion;
use stiefel_model::routing_stats::GAP_THRESHOLD;

/// Seed of the sign-flip test: the same table every time.
const TEST_SEED: u64 = 0;

/// What the records of a plan say.
pub fn summarise(plan: &Plan, units: Vec<UnitRecord>) -> Result<StudySummary> {
    let methods: Vec<String> = plan.methods().into_iter().map(Into::into).collect();
    let rows: Result<Vec<Row>> = methods.iter().map(|m| row(plan, m, &units)).collect();
    let rows = rows?;
    let comparisons = comparisons(&rows)?;
    let settings = serde_json::to_value(&plan.config)
        .map_err(|e| crate::StudyError::setting(e.to_string(), "this is a fault of the library"))?;
    let verdict = verdict::verdict(plan, &rows, &comparisons);
    let methods = verdict::methods(plan);
    Ok(StudySummary {
        study: plan.config.study.name().into(),
        dataset: plan.data.summary.clone(),
        protocol: plan.protocol.clone(),
        settings,
        code: crate::CODE.into(),
        paper: paper::rows(&plan.data.summary.name, plan.config.study),
        rows,
        comparisons,
        verdict,
        methods,
        units,
    })
}

/// [`summarise`], and writes the summary and the report into the store.
pub fn conclude(plan: &Plan, store: &Store, units: Vec<UnitRecord>) -> Result<StudySummary> {
    let summary = summarise(plan, units)?;
    store.write("summary.json", &summary)?;
    report::write(&summary, store.folder())?;
    Ok(summary)
}

/// The baseline a row is compared with: that of its own cell.
fn baseline_of(method: &str) -> String {
    match method.rsplit_once(": ") {
        Some((cell, _)) => format!("{cell}: baseline"),
        None => "baseline".into(),
    }
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
    let base = baseline_of(method);
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
    let mean = |values: &[f64]| {
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let mut controls = Vec::new();
    let mut control = |name: &str, values: Vec<f64>| {
        if let Some(mean) = mean(&values) {
            controls.push((name.to_owned(), mean));
        }
    };
    control(
        "K=1 proxy",
        measures(&|u| report(u)?.proxy_accuracy.value()),
    );
    control(
        "permuted",
        measures(&|u| Some(report(u)?.controls?.permuted)),
    );
    control(
        "domain mean",
        measures(&|u| Some(report(u)?.controls?.domain_mean)),
    );
    control(
        "hard top-1",
        measures(&|u| Some(report(u)?.controls?.hard_top1)),
    );
    control(
        "retrained K=1",
        measures(&|u| report(u)?.controls?.retrained),
    );
    let unit = |u: &&UnitRecord| UnitScore {
        fold: u.fold,
        seed: u.seed,
        accuracy: accuracy(u),
    };
    Ok(Row {
        method: method.into(),
        accuracy: mean_std(&scores)?,
        roc_auc: optional(&measures(&|u| u.outcome.scores.roc_auc.value()))?,
        kappa: optional(&measures(&|u| u.outcome.scores.kappa.value()))?,
        over_baseline: compared.then_some(over),
        folds_won: compared.then_some((won, pairs.len())),
        genuine: (!gaps.is_empty()).then(|| {
            (
                gaps.iter().filter(|g| **g > GAP_THRESHOLD).count(),
                gaps.len(),
            )
        }),
        proxy_gap: optional(&gaps)?,
        entropy: mean(&measures(&|u| report(u)?.stats?.entropy.value())),
        alignment: mean(&measures(&|u| report(u)?.stats?.domain_alignment.value())),
        controls,
        units: own.iter().map(unit).collect(),
        per_subject: per_subject(plan, &own)?,
        confusion: confusion(plan, &own),
        seconds: mean(&measures(&|u| u.seconds)),
    })
}

/// Balanced accuracy of each subject in each unit, averaged over the units that test it.
fn per_subject(plan: &Plan, units: &[&UnitRecord]) -> Result<Vec<(String, f64)>> {
    let summary = &plan.data.summary;
    let classes = summary.classes.len();
    let mut scores: Vec<Vec<f64>> = vec![Vec::new(); summary.subjects.len()];
    for unit in units {
        let o = &unit.outcome;
        for (subject, of) in scores.iter_mut().enumerate() {
            let at: Vec<usize> = (0..o.truth.len())
                .filter(|&i| summary.subject_of_domain[o.domains[i]] == subject)
                .collect();
            if at.is_empty() {
                continue;
            }
            let pick = |v: &[usize]| at.iter().map(|&i| v[i]).collect::<Vec<_>>();
            let confusion = Confusion::new(&pick(&o.truth), &pick(&o.decided), classes)?;
            of.extend(confusion.balanced_accuracy().value());
        }
    }
    let named = summary.subjects.iter().zip(scores);
    Ok(named
        .filter(|(_, s)| !s.is_empty())
        .map(|(name, s)| (name.clone(), s.iter().sum::<f64>() / s.len() as f64))
        .collect())
}

fn confusion(plan: &Plan, units: &[&UnitRecord]) -> Vec<Vec<usize>> {
    let classes = plan.data.summary.classes.len();
    let mut table = vec![vec![0; classes]; classes];
    for unit in units {
        for (&t, &d) in unit.outcome.truth.iter().zip(&unit.outcome.decided) {
            table[t][d] += 1;
        }
    }
    table
}

/// What the recommended preset has to beat beside the baseline.
const RIVALS: [&str; 2] = ["ts+lr", "ts+lr-per-domain"];

/// Every row against the baseline of its cell, and the recommended preset against its rivals, paired by subject.
fn comparisons(rows: &[Row]) -> Result<Vec<Comparison>> {
    let find = |name: &str| rows.iter().find(|r| r.method == name);
    let mut pairs: Vec<(&Row, &Row)> = Vec::new();
    for row in rows {
        let base = find(&baseline_of(&row.method)).filter(|b| b.method != row.method);
        pairs.extend(base.map(|b| (row, b)));
    }
    if let Some(preset) = find("recommended") {
        pairs.extend(RIVALS.iter().filter_map(|r| Some((preset, find(r)?))));
    }
    let found: Result<Vec<Comparison>> = pairs.into_iter().map(|(a, b)| compared(a, b)).collect();
    let mut found = found?;
    let p: Vec<Option<f64>> = found.iter().map(|c| c.sign_flip).collect();
    for (comparison, corrected) in found.iter_mut().zip(holm(&p)?) {
        comparison.holm = corrected;
    }
    Ok(found)
}

fn compared(row: &Row, against: &Row) -> Result<Comparison> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for (subject, score) in &row.per_subject {
        if let Some((_, other)) = against.per_subject.iter().find(|(s, _)| s == subject) {
            ours.push(*score);
            theirs.push(*other);
        }
    }
    let paired = compare(&ours, &theirs, TEST_SEED)?;
    Ok(Comparison {
        method: row.method.clone(),
        against: against.method.clone(),
        subjects: paired.subjects,
        difference: paired.difference.value().unwrap_or(0.0),
        effect: paired.effect.value(),
        wilcoxon: paired.wilcoxon.value(),
        sign_flip: paired.sign_flip.value(),
        holm: None,
    })
}
