//! `stiefel diagnose`: the routing report of a model on data.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use stiefel::linalg::Scalar;
use stiefel::model::diagnostics::retrain_single;
use stiefel::model::{Decoder, Trials};
use stiefel::prelude::RoutingReport;

use crate::decoding::{AnyDecoder, each};
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::record::{Record, TrialPart, judged};
use crate::source::{self, Part};
use crate::table::entry;

#[derive(Debug, Args)]
#[command(after_help = "\
Δ_K1 is the model's balanced accuracy minus that of the same model with uniform routing. It does not show by itself that routing
helps, so the controls stand beside it: routing weights of other trials (permuted), the mean weights of the domain, the winner
alone, and with --retrain one expert trained from scratch. A model `recommended` routes by domain: Δ_K1 compares each domain's own
weights with their mean, permuted takes those of other trials' domains.

On the data the model was trained on, the trials held out from training are judged (or else those that chose the epoch or C), and
the training trials give the mean weights of each domain. On other data of the same people --training names the training data.")]
pub(crate) struct Arguments {
    /// The model file
    model: PathBuf,
    /// The data: a dataset file, a public data set, or synthetic:…
    source: String,
    #[command(flatten)]
    part: Part,
    /// Which trials, where the data are those of the training
    #[arg(long = "part", value_enum, value_name = "PART")]
    trials: Option<TrialPart>,
    /// The data that give the mean routing of each domain, where SOURCE is not what the network was trained on
    #[arg(long, value_name = "SOURCE")]
    training: Option<String>,
    /// Train the same layer with one expert from scratch, as a control
    #[arg(long)]
    retrain: bool,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The trials of a report.
struct Parts {
    training: Trials,
    validation: Option<Trials>,
    test: Trials,
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        source::threads(self.threads)?;
        let decoder = AnyDecoder::load(&self.model)?;
        self.check(&decoder)?;
        let data = decoder.load_data(&self.source, self.part.choice())?;
        let record = Record::of(&self.model, &data);
        let (at, which) = judged(record.as_ref(), self.trials, data.trials.len())?;
        let all = decoder.renumbered(&data.trials)?;
        let mut notes = vec![("judged", which)];
        let (training, validation) = match (&record, &self.training) {
            (_, Some(source)) => {
                let other = decoder.load_data(source, self.part.choice())?;
                (decoder.renumbered(&other.trials)?, None)
            }
            (Some(record), None) => (
                all.select(&record.split.train)?,
                Some(all.select(&record.split.validation)?),
            ),
            (None, None) => {
                if decoder.is_network() {
                    let note = "mean routing of each domain from the same trials; name the training data with --training";
                    notes.push(("note", note.into()));
                }
                (all.clone(), None)
            }
        };
        if self.retrain && validation.is_none() {
            return Err(Failure::Misuse(
                "--retrain needs the data the model was trained on, and the record beside the model".into(),
            ));
        }
        let parts = Parts {
            training,
            validation: validation.filter(|_| self.retrain),
            test: all.select(&at)?,
        };
        let report = each!(&decoder, d => report(d, &parts)?, m => m.report(&parts.test, 0)?);
        if self.json {
            return output.json(&json!({
                "model": self.model, "dataset": data.summary, "judged": notes[0].1, "report": report,
                "configuration": output.configuration(),
            }));
        }
        for (name, text) in &notes {
            output.line(&entry(name, text, 12))?;
        }
        output.line(&format!("\n{}", report.to_string().trim_end()))?;
        let verdict = if decoder.is_network() {
            verdict(&report)
        } else {
            verdict_by_domain(&report)
        };
        output.line(&format!("\n{verdict}"))
    }

    /// The preset has no experts to train or to average over trials.
    fn check(&self, decoder: &AnyDecoder) -> Outcome {
        let given = [
            ("--training", self.training.is_some()),
            ("--retrain", self.retrain),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((name, _)) if !decoder.is_network() => Err(Failure::Misuse(format!(
                "{name} is for networks; a model `recommended` routes by domain alone, and its control from scratch is one that is trained \
                 with --rho 0"
            ))),
            _ => Ok(()),
        }
    }
}

fn report<T: Scalar>(decoder: &Decoder<T>, parts: &Parts) -> Result<RoutingReport, Failure> {
    let model = decoder.model();
    let report = model.report(&parts.training, &parts.test)?;
    let Some(validation) = &parts.validation else {
        return Ok(report);
    };
    let ready = |trials: &Trials| model.frontend().prepare::<T>(trials);
    let config = model.config();
    let single = retrain_single(
        &config.architecture,
        *model.sizes(),
        &ready(&parts.training)?,
        &ready(validation)?,
        &ready(&parts.test)?,
        &config.training,
    )?;
    Ok(report.with_retrained(single))
}

/// What the figures say, in a sentence.
fn verdict(report: &RoutingReport) -> String {
    let (Some(gap), Some(controls)) = (report.proxy_gap.value(), &report.controls) else {
        return "The network does not route: there is nothing to diagnose but its scores.".into();
    };
    let own = report.scores.balanced_accuracy.value().unwrap_or(0.0);
    let permuted = own - controls.permuted;
    if gap <= 0.01 {
        return format!(
            "Routing is not what helps here: with uniform weights the model scores the same or better (Δ_K1 = {gap:+.3})."
        );
    }
    if permuted <= 0.01 {
        return format!(
            "The averaged filter is worse (Δ_K1 = {gap:+.3}), but any trial's weights do as well as its own ({permuted:+.3} against \
             permuted routing): it is not the routing of the trial that helps."
        );
    }
    if own - controls.domain_mean <= 0.01 {
        return format!(
            "Routing is used (Δ_K1 = {gap:+.3}, {permuted:+.3} against permuted routing), by the domain rather than by the trial: the \
             domain's mean weights do as well. One set of trials is no proof; see `stiefel study`."
        );
    }
    format!(
        "Routing is used, trial by trial (Δ_K1 = {gap:+.3}, {permuted:+.3} against permuted routing). One set of trials is no proof; see \
         `stiefel study`."
    )
}

/// The same for the preset, whose routing is the domain.
fn verdict_by_domain(report: &RoutingReport) -> String {
    let (Some(gap), Some(controls)) = (report.proxy_gap.value(), &report.controls) else {
        return "Everybody has the same weights: there is nothing to diagnose but the scores."
            .into();
    };
    let permuted = report.scores.balanced_accuracy.value().unwrap_or(0.0) - controls.permuted;
    if gap <= 0.01 {
        return format!(
            "A domain's own weights are not what helps here: with the mean of all the model scores the same or better (Δ_K1 = {gap:+.3})."
        );
    }
    if permuted <= 0.01 {
        return format!(
            "The mean of all weights is worse (Δ_K1 = {gap:+.3}), but those of other domains do as well as a domain's own ({permuted:+.3})."
        );
    }
    format!(
        "A domain's own weights are used (Δ_K1 = {gap:+.3}, {permuted:+.3} against those of other domains). One set of trials is no proof; \
         see `stiefel study`."
    )
}
