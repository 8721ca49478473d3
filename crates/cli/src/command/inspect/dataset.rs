//! Datasets of covariances.

use serde_json::{Value, json};
use stiefel::data::{LabelOrder, Trials};
use stiefel::eeg::covariance::Rank;
use stiefel::model::scaling::ScalingRule;
use stiefel::study::DatasetSummary;

use super::{Description, quality};
use crate::bar::Bar;
use crate::failure::Failure;
use crate::table::{columns, entry};

/// So many causes of a loss of rank are told of each domain.
const SHOWN: usize = 8;

/// One domain in numbers.
struct DomainFigures {
    name: String,
    trials: Vec<usize>,
    rejected: Option<usize>,
    /// Of the mean covariance.
    rank: Rank,
    /// Median over trials.
    condition: f64,
}

/// Describes trials of `source`, and what to train on them.
pub(super) fn describe(source: &str, trials: &Trials) -> Result<Description, Failure> {
    let (summary, sessions) = (DatasetSummary::of(trials), trials.sessions());
    let bar = Bar::new("ranks", trials.len());
    let figures: Result<Vec<DomainFigures>, Failure> = (trials.domains().present())
        .into_iter()
        .map(|d| figures(trials, d, &bar))
        .collect();
    drop(bar);
    let figures = figures?;
    let mut lines = vec![
        entry("data set", &summary.name, 12),
        entry(
            "trials",
            &format!(
                "{} of {} channels; {} domains, {} subjects{}",
                summary.trials,
                summary.channels.len(),
                summary.domains.len(),
                summary.subjects.len(),
                sessions.as_ref().map_or(String::new(), |s| format!(
                    ", sessions {}",
                    s.names().join(", ")
                ))
            ),
            12,
        ),
        entry("channels", &summary.channels.join(" "), 12),
    ];
    lines.push(entry("made", &trials.preparation().to_string(), 12));
    if trials.views() > 1 {
        let recipe = trials.preparation().recipe();
        let each: Vec<String> = match recipe.filter(|r| r.views.len() == trials.views()) {
            Some(recipe) => recipe.views.iter().map(ToString::to_string).collect(),
            None => vec![format!("{}, of unknown bands and windows", trials.views())],
        };
        lines.push(entry("views", &each.join("\n"), 12));
    }
    if let Some(licence) = &summary.licence {
        lines.push(entry("licence", licence, 12));
    }
    let order = trials.label_order();
    if let Some(order) = order.filter(LabelOrder::is_blocked) {
        let text = format!("{order}: classes come in stretches; study with --split block");
        lines.push(entry("labels", &text, 12));
    }
    lines.push(entry("fingerprint", &summary.fingerprint, 12));
    lines.push(format!("\n{}", table(summary.classes.as_slice(), &figures)));
    lines.extend(quality::table(&trials.origin().quality));
    for f in &figures {
        for loss in f.rank.losses.iter().take(SHOWN) {
            lines.push(entry("note", &format!("{}: {loss}", f.name), 12));
        }
        if let Some(more) = f.rank.losses.len().checked_sub(SHOWN).filter(|&n| n > 0) {
            let text = format!(
                "{}: and {more} more of this kind; --json has them all",
                f.name
            );
            lines.push(entry("note", &text, 12));
        }
    }
    let command = format!("stiefel train {source} -o model.stiefel");
    let (n, d) = (trials.channels_count(), summary.domains.len());
    let sizes = ScalingRule::default().recommend(n, d)?;
    lines.push(format!("\n{}", entry("to train", &command, 12)));
    let heading = "sizes of a routed network (--model dasp)";
    lines.push(format!("\n{heading}\n{}", sizes.to_string().trim_end()));
    Ok(Description {
        text: lines.join("\n"),
        value: json!({
            "kind": "dataset", "command": command, "networks": sizes, "preparation": trials.preparation(), "summary": serde_json::to_value(&summary)?,
            "sessions": sessions.as_ref().map(|s| s.names().to_vec()),
            "quality": trials.origin().quality,
            "label_order": order.map(|o| json!({"correlation": o.correlation, "pairs": o.pairs})),
            "runs": trials.runs().map(|r| r.names().to_vec()),
            "domains": figures.iter().map(|f| value(f, &summary.classes)).collect::<Vec<_>>(),
        }),
    })
}

fn figures(t: &Trials, domain: usize, bar: &Bar) -> Result<DomainFigures, Failure> {
    let (n, at, channels) = (t.channels_count(), t.of_domain(domain), t.channel_names());
    let name = t.domains().name(domain).to_owned();
    let mut mean = vec![0.0; n * n];
    let mut conditions = Vec::with_capacity(at.len());
    let mut counts = vec![0; t.classes().names().len()];
    // How many samples a covariance came from is not known here; a loss of rank is put down to
    // other causes.
    let rank = |matrix: &[f64]| Rank::of(matrix, &channels, usize::MAX);
    for &i in &at {
        counts[t.classes().indices()[i]] += 1;
        let matrix = t.covariances().matrix(i);
        for (m, x) in mean.iter_mut().zip(matrix) {
            *m += x / at.len() as f64;
        }
        conditions.push(rank(matrix)?.condition);
        bar.advance();
    }
    conditions.sort_by(f64::total_cmp);
    let rejected = t.origin().rejected.iter().find(|(d, _)| *d == name);
    Ok(DomainFigures {
        name,
        trials: counts,
        rejected: rejected.map(|r| r.1),
        rank: rank(&mean)?,
        condition: conditions[conditions.len() / 2],
    })
}

fn table(classes: &[String], figures: &[DomainFigures]) -> String {
    let mut heading = vec!["DOMAIN".to_owned()];
    heading.extend(classes.iter().cloned());
    heading.extend(["REJECTED", "RANK", "CONDITION", "OF TRIALS"].map(String::from));
    let mut rows = vec![heading];
    for f in figures {
        let mut row = vec![f.name.clone()];
        row.extend(f.trials.iter().map(usize::to_string));
        row.push(f.rejected.map_or("–".into(), |r| r.to_string()));
        row.push(format!("{} of {}", f.rank.rank, f.rank.n));
        row.push(format!("{:.1e}", f.rank.condition));
        row.push(format!("{:.1e}", f.condition));
        rows.push(row);
    }
    columns(&rows)
}

fn value(f: &DomainFigures, classes: &[String]) -> Value {
    let each = classes
        .iter()
        .cloned()
        .zip(f.trials.iter().map(|n| json!(n)));
    json!({
        "domain": f.name, "trials": each.collect::<serde_json::Map<_, _>>(), "rejected": f.rejected,
        "rank": f.rank.rank, "condition": f.rank.condition, "median_trial_condition": f.condition,
        "losses": f.rank.losses.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}
