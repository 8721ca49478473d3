//! `stiefel calibrate`: a few labelled trials of a person, and the model knows them.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use stiefel::data::Trials;
use stiefel::model::FittedModel;
use stiefel::model::registry::KINDS;

use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::source::{Part, check_output, load_for};
use crate::table::entry;

const HELP: &str = "\
The data are labelled trials of one or several people, new or known: dataset files, public data
sets, synthetic:…, or recordings, as many as you like. Recordings are prepared as the model's \
                    training
trials were. Two trials of two classes are enough to begin with; more can follow, in one file or \
                    one
after the other, with the same result. Take equally many trials of each class: --per-class takes \
                    that
many of each, and refuses where there are fewer. Uneven trials calibrate worse, though the classes \
                    are
weighted alike; a class without a trial is decided worse than before, and is named.

Only what the model knows of these people changes; for everybody else it decides as before, to the
bit. From then on the model knows a calibrated person, and `evaluate`, `predict` and `live` need
no --adapt for them. If you give one (own-mean, causal), the mean of a calibrated person
continues to learn from their unlabelled trials.

The trials count as seen: `evaluate` scores the others.

";

#[derive(Debug, Args)]
#[command(after_help = help())]
pub(crate) struct Arguments {
    /// The model file
    model: PathBuf,
    /// The labelled trials, from one or several sources
    #[arg(required = true)]
    sources: Vec<String>,
    /// The model file to write
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Replace the model file if it exists
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    part: Part,
    /// Take the first N trials of each class of every domain, in recording order [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    per_class: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Returns what follows the options in the help; the models are those of the registry.
fn help() -> String {
    let calibrate = |two: bool| {
        let kinds = KINDS.iter().filter(|k| k.calibrates(2));
        let kinds = kinds.filter(|k| k.calibrates(3) != two).map(|k| k.name());
        kinds.collect::<Vec<_>>().join(", ")
    };
    let said = format!(
        "Models that can be calibrated are {}; for two classes also {}.",
        calibrate(false),
        calibrate(true)
    );
    format!("{HELP}{}", entry("", &said, 0).trim_start())
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        check_output(&self.output, self.overwrite)?;
        let model = FittedModel::load(&self.model)?;
        let sets: Result<Vec<Trials>, Failure> = (self.sources.iter())
            .map(|source| Ok(model.accept(&load_for(&model, source, &self.part, false)?)?))
            .collect();
        let trials = self.chosen(&model, Trials::together(&sets?)?)?;
        let calibrated = model.calibrate(&trials)?;
        calibrated.save(&self.output, self.overwrite)?;
        let names = trials.domains();
        let domains: Vec<&str> = names.present().into_iter().map(|d| names.name(d)).collect();
        let balance = calibrated.balance(&domains);
        if self.json {
            let each: Vec<_> = (balance.iter())
                .map(|b| json!({ "domain": b.domain, "labelled": b.counts, "uneven": b.is_uneven(), "missing": b.missing() }))
                .collect();
            return output.json(&json!({
                "model": self.model, "output": self.output, "trials": trials.len(), "domains": each,
                "configuration": output.configuration(),
            }));
        }
        let mut lines = vec![entry(
            "taken",
            &format!(
                "{} labelled trials of {} domains",
                trials.len(),
                domains.len()
            ),
            12,
        )];
        lines.extend((balance.iter()).map(|b| entry("labelled", &b.to_string(), 12)));
        lines.push(entry("written", &self.output.display().to_string(), 12));
        output.line(&lines.join("\n"))
    }

    /// Returns the first trials of each class of every domain, or all.
    fn chosen(&self, model: &FittedModel, trials: Trials) -> Result<Trials, Failure> {
        let Some(wanted) = self.per_class.map(|n| n as usize) else {
            return Ok(trials);
        };
        let truth = model.truth(&trials)?;
        let mut at = Vec::new();
        for domain in trials.domains().present() {
            let own = trials.of_domain(domain);
            for (class, name) in model.classes().iter().enumerate() {
                let of_class: Vec<usize> =
                    own.iter().copied().filter(|&i| truth[i] == class).collect();
                let Some(first) = of_class.get(..wanted) else {
                    return Err(Failure::Misuse(format!(
                        "--per-class {wanted}: there are {} trials of {name} of domain \"{}\"; \
                         give further sources, or take fewer of each class",
                        of_class.len(),
                        trials.domains().name(domain)
                    )));
                };
                at.extend(first);
            }
        }
        at.sort_unstable();
        Ok(trials.select(&at)?)
    }
}
