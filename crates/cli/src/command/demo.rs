//! `stiefel demo`: raw synthetic EEG to a table and a report, in one go.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use stiefel::prelude::*;
use stiefel::study::{Store, Study, StudyConfig, table};

use super::study::{finish, planned};
use crate::failure::Outcome;
use crate::output::Output;
use crate::voice::say;

/// What the demonstration compares.
const METHODS: [&str; 6] = ["baseline", "naive", "dasp", "choir", "ts+lr", "mdm"];

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// How many people are simulated
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=50))]
    subjects: u16,
    /// Trials of each class and person
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u16).range(12..=500))]
    trials: u16,
    /// The seed of the simulation, the split and the training
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Where results go [default: stiefel-results/demo]
    #[arg(long, short, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Replace what another study left in the folder
    #[arg(long)]
    overwrite: bool,
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        let clock = Instant::now();
        // Half of the trials of BNCI2014-001's two sessions, simulated: 22 channels, right hand
        // against feet.
        let source = format!(
            "synthetic:bnci2014001,subjects={},trials={},seed={}",
            self.subjects,
            self.trials.div_ceil(2),
            self.seed
        );
        let mut config = StudyConfig::new(Study::Main, source);
        config.choice.classes = Some(vec!["right_hand".into(), "feet".into()]);
        config.methods = METHODS.map(Into::into).to_vec();
        config.seeds = vec![self.seed];
        say("simulating, filtering, cutting and estimating covariances …");
        let plan = planned(config)?;
        let data = &plan.summary;
        output.line(&format!(
            "simulated motor imagery, right hand against feet: {} people, {} channels, {} trials\n",
            data.subjects.len(),
            data.channels.len(),
            data.trials
        ))?;
        let auto = ScalingRule::default().recommend(data.channels.len(), data.domains.len())?;
        output.line(&format!("what the scaling rule chooses\n{auto}\n"))?;
        say("five folds of each method …");
        // Demonstrations may replace each other, but nothing else.
        let own = self.output.is_none();
        let folder = self.output.unwrap_or_else(|| "stiefel-results/demo".into());
        let overwrite = own || self.overwrite;
        let store = Store::claim(&folder, &plan, output.configuration(), overwrite)?;
        let summary = finish(&plan, &store, None)?;
        output.line(&table::text(&summary))?;
        output.line(&format!(
            "report: {} ({:.1} s)",
            folder.join("report.html").display(),
            clock.elapsed().as_secs_f64()
        ))
    }
}
