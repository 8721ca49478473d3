//! `stiefel recommend`: the scaling rule, explained.

use clap::Args;
use stiefel::prelude::*;

use crate::failure::{Failure, Outcome};
use crate::output::Output;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Channels
    #[arg(long, required_unless_present = "preset")]
    channels: Option<usize>,
    /// Training domains: people, or people × sessions
    #[arg(long, required_unless_present = "preset")]
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
        let auto = if let Some(name) = &self.preset {
            name.parse::<Preset>().map_err(misuse)?.recommendation()
        } else {
            let (n, d) = (self.channels.unwrap_or(0), self.domains.unwrap_or(0));
            ScalingRule::default().recommend(n, d).map_err(misuse)?
        };
        if self.json {
            let value = serde_json::to_value(&auto);
            return output.json(&value.map_err(|e| Failure::Failed(e.to_string()))?);
        }
        output.line(auto.to_string().trim_end())
    }
}
