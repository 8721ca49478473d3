//! `stiefel evaluate`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use stiefel::model::metrics::{Decisions, DomainScores, Scores};

use crate::decoding::{AnyDecoder, Unseen, decide_all};
use crate::failure::Outcome;
use crate::output::Output;
use crate::record::{Record, TrialPart, judged};
use crate::source::Part;
use crate::table::{columns, entry};

#[derive(Debug, Args)]
#[command(after_help = "\
On the data the model was trained on, the trials held out from training are judged (or else those that chose the epoch or C),
unless --part says otherwise. Domains the model was not trained on need --unseen-whitening.")]
pub(crate) struct Arguments {
    /// The model file
    model: PathBuf,
    /// The data: a dataset file, a public data set, or synthetic:…
    source: String,
    #[command(flatten)]
    part: Part,
    #[command(flatten)]
    unseen: Unseen,
    /// Which trials, where the data are those of the training
    #[arg(long = "part", value_enum, value_name = "PART")]
    trials: Option<TrialPart>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        let mut decoder = AnyDecoder::load(&self.model)?;
        let data = decoder.load_data(&self.source, self.part.choice())?;
        let record = Record::of(&self.model, &data);
        let (at, which) = judged(record.as_ref(), self.trials, data.trials.len())?;
        let trials = data.trials.select(&at)?;
        let truth = decoder.truth(&trials)?;
        let decided = decide_all(&mut decoder, &trials, &self.unseen)?;
        let classes = decoder.classes();
        let two = classes.len() == 2;
        let values: Vec<f64> = (decided.probabilities.chunks_exact(classes.len()))
            .map(|p| p[1.min(p.len() - 1)])
            .collect();
        let best = decided.classes(classes.len());
        let decisions = Decisions {
            truth: &truth,
            decided: &best,
            values: two.then_some(&values[..]),
            classes: classes.len(),
        };
        let (all, each) = (decisions.scores()?, decisions.per_domain(trials.domains())?);
        if self.json {
            return output.json(&json!({
                "model": self.model, "dataset": data.summary, "judged": which, "unseen": decided.unseen,
                "classes": classes, "scores": all, "domains": each, "configuration": output.configuration(),
            }));
        }
        let mut lines = vec![entry("judged", &which, 12)];
        lines.extend(decided.unseen.iter().map(|u| entry("unseen", u, 12)));
        lines.push(String::new());
        lines.push(table(&all, &each));
        lines.push(format!("\n{}", confusion(&all, classes)));
        output.line(&lines.join("\n"))
    }
}

fn table(all: &Scores, each: &[DomainScores]) -> String {
    let row = |name: &str, s: &Scores| {
        let short = |m: &stiefel::model::Measure| {
            m.value()
                .map_or_else(|| "–".to_owned(), |x| format!("{x:.3}"))
        };
        vec![
            name.to_owned(),
            s.trials.to_string(),
            short(&s.balanced_accuracy),
            short(&s.roc_auc),
            short(&s.kappa),
        ]
    };
    let heading = ["DOMAIN", "TRIALS", "BALANCED ACCURACY", "ROC-AUC", "KAPPA"];
    let mut rows = vec![heading.map(String::from).to_vec()];
    rows.extend(each.iter().map(|d| row(&d.name, &d.scores)));
    rows.push(row("all", all));
    columns(&rows)
}

/// True classes down, decided ones across.
fn confusion(scores: &Scores, classes: &[String]) -> String {
    let mut heading = vec!["TRUE \\ DECIDED".to_owned()];
    heading.extend(classes.iter().cloned());
    let mut rows = vec![heading];
    for (c, name) in classes.iter().enumerate() {
        let mut row = vec![name.clone()];
        row.extend(scores.confusion.row(c).iter().map(usize::to_string));
        rows.push(row);
    }
    columns(&rows)
}
