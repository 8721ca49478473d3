//! `stiefel demo`: raw synthetic EEG to a routing report, in one go.

use std::io::Write;
use std::time::Instant;

use clap::Args;
use stiefel::eeg::montage::Montage;
use stiefel::eeg::synthetic::{Imagery, SyntheticConfig};
use stiefel::prelude::*;

use crate::failure::Outcome;
use crate::output::Output;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// How many people are simulated
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u16).range(1..=50))]
    subjects: u16,
    /// Trials of each class and person
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(5..=500))]
    trials: u16,
    /// The seed of the simulation, the split and the training
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        let (people, each) = (usize::from(self.subjects), usize::from(self.trials));
        let classes = [Imagery::RightHand, Imagery::Feet];
        let study = SyntheticConfig {
            seed: self.seed,
            ..SyntheticConfig::of(
                Montage::Bnci2014001,
                250.0,
                vec![1; people],
                1,
                each,
                &classes,
            )
        };
        let clock = Instant::now();
        say("simulating, filtering and cutting …");
        let trials = stiefel::synthetic_trials(&study)?;
        output.line(&format!(
            "synthetic motor imagery, right hand against feet: {people} people, {} channels, {} trials kept of {}\n",
            trials.channels_count(),
            trials.len(),
            2 * people * each,
        ))?;
        let (labels, domains) = (trials.classes().indices(), trials.domains().indices());
        let folds = cross_domain_folds(labels, domains, self.seed)?;
        let part = |indices: &[usize]| trials.select(indices);
        let (training, validation) = (part(&folds[0].train)?, part(&folds[0].validation)?);
        let test = part(&folds[0].test)?;

        let auto = ScalingRule::default().recommend(trials.channels_count(), people)?;
        output.line(&format!("what the scaling rule chooses\n{auto}"))?;
        let schedule = TrainConfig {
            seed: self.seed,
            ..TrainConfig::default()
        };
        let routed = ModelConfig::recommended(&auto, schedule);
        let filters = auto.filters.value;
        let plain = SpdNetConfig {
            filters,
            ..SpdNetConfig::default()
        };
        let baseline = ModelConfig {
            architecture: Architecture::Spdnet(plain),
            encoder: None,
            ..routed
        };
        for (name, config) in [
            ("baseline: one filter for everybody", baseline),
            ("DASP: a filter for every trial", routed),
        ] {
            say(&format!("training {name} …"));
            let model = Model::<f32>::fit(&training, &validation, &config, &mut Silent)?;
            let report = model.report(&training, &test)?;
            output.line(&format!("{name}\n{report}"))?;
        }
        output.line(&format!(
            "One fold, {} test trials, {:.1} s. A difference of a few points between the two is chance at this size; a model whose\n\
             accuracy stays the same under permuted routing does not use its routing.",
            test.len(),
            clock.elapsed().as_secs_f64()
        ))
    }
}

/// Tells what goes on, to whoever watches.
fn say(text: &str) {
    // A terminal that is gone is no reason to stop.
    let _ = writeln!(std::io::stderr(), "{text}");
}
