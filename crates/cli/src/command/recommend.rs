//! `stiefel recommend`: what to train on given data, and the scaling rule explained.

use clap::Args;
use serde_json::json;
use stiefel::prelude::*;

use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::source::{Part, load};
use crate::table::entry;

/// The advice, wherever there are trials of several people.
const ADVICE: &str = "choir: features of all views of a trial, and a head that is partly shared by everybody and partly each domain's own. On real EEG, routing the head \
                      by person helps; routing filters as the paper does gave no gain there";

#[derive(Debug, Args)]
#[command(after_help = "\
With data, it prints the model to train on them, and the command that trains it. With --channels and --domains, or with --preset, it prints the sizes
that the scaling rule gives a routed network (`stiefel train --model dasp`), each with its reason.")]
pub(crate) struct Arguments {
    /// The data: a dataset file, a public data set, or synthetic:…
    #[arg(conflicts_with_all = ["channels", "domains", "preset"])]
    source: Option<String>,
    /// Channels
    #[arg(long, requires = "domains")]
    channels: Option<usize>,
    /// Training domains: people, or people × sessions
    #[arg(long, requires = "channels")]
    domains: Option<usize>,
    /// What the paper used: weibo2014, bnci2015001 or bnci2014001
    #[arg(long, conflicts_with_all = ["channels", "domains"])]
    preset: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        let misuse = |error: stiefel::model::ModelError| Failure::Misuse(error.to_string());
        let rule = |n, d| ScalingRule::default().recommend(n, d).map_err(misuse);
        let auto = match (&self.source, &self.preset, self.channels.zip(self.domains)) {
            (Some(source), ..) => return self.advise(source, output),
            (None, Some(name), _) => name.parse::<Preset>().map_err(misuse)?.recommendation(),
            (None, None, Some((n, d))) => rule(n, d)?,
            (None, None, None) => {
                return Err(Failure::Misuse(
                    "give data, or --channels and --domains, or --preset".into(),
                ));
            }
        };
        if self.json {
            let value = serde_json::to_value(&auto);
            return output.json(&value.map_err(|e| Failure::Failed(e.to_string()))?);
        }
        output.line(auto.to_string().trim_end())
    }

    /// The model for data at hand.
    fn advise(&self, source: &str, output: &mut Output) -> Outcome {
        let trials = load(source, &Part::default().selection())?;
        let (n, d) = (trials.channels_count(), trials.domains().names().len());
        let auto = ScalingRule::default().recommend(n, d)?;
        let command = format!("stiefel train {source} -o model.stiefel");
        if self.json {
            return output.json(&json!({
                "model": "choir", "command": command, "trials": trials.len(), "channels": n, "domains": d, "networks": auto,
            }));
        }
        let data = format!(
            "{} trials of {n} channels, {d} domains, classes {}",
            trials.len(),
            trials.classes().names().join(", ")
        );
        output.line(&entry("data", &data, 12))?;
        output.line(&entry("model", ADVICE, 12))?;
        output.line(&entry("command", &command, 12))?;
        output.line(&format!(
            "\nsizes of a routed network (--model dasp)\n{}",
            auto.to_string().trim_end()
        ))
    }
}
