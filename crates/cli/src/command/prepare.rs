//! `stiefel prepare`: recordings to a dataset file.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use stiefel::eeg::covariance::Estimator;
use stiefel::study::prepare::{DomainFrom, Preparation, PreparedDataset, prepare};

use crate::bar::Bar;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::source::{channels, check_folder, pair};
use crate::table::{columns, entry};

#[derive(Debug, Args)]
#[command(after_help = "\
Files: EDF, BDF, GDF, BrainVision (.vhdr), MATLAB (BNCI, Weibo 2014), .npz and .npy of trials. Folders are searched for
.edf, .bdf, .gdf, .vhdr and .mat. A public data set is named as `stiefel data list` does; weibo2014:paper, bnci2014001:paper
and bnci2015001:paper are what the paper used.

Whose recording a file is (--domain):
  auto    sub-03_ses-2_run-1.edf is domain sub-03-2 (session 2), run 1; other names as prefix
  prefix  letters, then digits: S001R04.edf is domain S001, run R04
  folder  the name of the folder; the run is the file
  file    every file is a domain

Besides dataset.npz a dataset.json is written: steps, rejected trials per domain, files with SHA-256.
`stiefel prepare --config dataset.json` does the same again.")]
pub(crate) struct Arguments {
    /// Files and folders of recordings, or one public data set
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<String>,
    /// The dataset file to write
    #[arg(long, short, value_name = "FILE.npz")]
    output: PathBuf,
    /// Events and the class each stands for, as T1=hands,T2=feet [default: the classes of a public data set]
    #[arg(long, value_name = "LABEL=CLASS", value_delimiter = ',')]
    classes: Vec<String>,
    /// Channels by name, separated by commas, or a montage: bnci2014001, bnci2015001, weibo2014, eegmmidb [default: all EEG]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    channels: Option<Vec<String>>,
    /// Subjects, counted from 1: 3, 1-5 or 1-3,7 [default: all]
    #[arg(long, value_name = "LIST")]
    subjects: Option<String>,
    /// What names the domain of a file: auto, prefix, folder, file
    #[arg(long, value_name = "RULE", default_value = "auto")]
    domain: DomainFrom,
    /// Pass band in hertz
    #[arg(long, value_name = "LOW,HIGH", default_value = "8,32", value_parser = pair)]
    band: [f64; 2],
    /// Seconds from the event; from the first sample of data in trials [default: the data set's; 0.5,3.5 for files]
    #[arg(long, value_name = "FROM,TO", value_parser = pair, allow_hyphen_values = true)]
    window: Option<[f64; 2]>,
    /// Covariance estimator: sample, ledoit-wolf, oas, schaefer-strimmer
    #[arg(long, value_name = "NAME", default_value = "sample")]
    estimator: Estimator,
    /// Leave out trials whose peak exceeds median + N·MAD of their domain; `off` keeps all
    #[arg(long, value_name = "N", default_value = "5")]
    reject: String,
    /// Take the complete part of files that were cut short
    #[arg(long)]
    partial: bool,
    /// Resample to this rate first
    #[arg(long, value_name = "HZ")]
    resample: Option<f64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        if self.output.extension().is_none_or(|e| e != "npz") {
            return Err(Failure::Misuse(format!(
                "{}: a dataset file ends in .npz",
                self.output.display()
            )));
        }
        check_folder(&self.output)?;
        let steps = self.steps()?;
        let mut prepared = {
            let bar = Bar::new("preparing", 0);
            prepare(&self.sources, &steps, &mut |step| bar.show(step))?
        };
        prepared.sidecar.configuration = Some(output.configuration().clone());
        prepared.write(&self.output)?;
        if self.json {
            let mut value = serde_json::to_value(&prepared.sidecar)?;
            value["output"] = json!(self.output);
            value["trials"] = json!(prepared.covariances.trials().len());
            return output.json(&value);
        }
        output.line(&summary(&prepared))?;
        output.line(&entry("written", &self.output.display().to_string(), 12))
    }

    fn steps(&self) -> Result<Preparation, Failure> {
        let reject = match self.reject.as_str() {
            "off" | "none" => None,
            text => Some(text.parse::<f64>().map_err(|_| {
                Failure::Misuse(format!("--reject {text}: give a number, as 5, or off"))
            })?),
        };
        Ok(Preparation {
            band: self.band,
            window: self.window,
            classes: Preparation::parse_classes(&self.classes)?,
            channels: self.channels.as_deref().map(channels),
            subjects: self.subjects.clone(),
            estimator: self.estimator,
            reject,
            resample: self.resample,
            domain: self.domain,
            partial: self.partial,
        })
    }
}

/// What was made of what.
fn summary(prepared: &PreparedDataset) -> String {
    let (set, side) = (&prepared.covariances, &prepared.sidecar);
    let mut classes: Vec<&str> = Vec::new();
    for trial in set.trials() {
        if !classes.contains(&trial.label.as_str()) {
            classes.push(&trial.label);
        }
    }
    let mut heading = vec!["DOMAIN".to_string(), "REJECTED".to_string()];
    heading.extend(classes.iter().map(|c| (*c).to_string()));
    let mut rows = vec![heading];
    for domain in &side.domains {
        let mut row = vec![
            domain.domain.clone(),
            format!("{} of {}", domain.rejected, domain.trials),
        ];
        for class in &classes {
            let mine =
                (set.trials().iter()).filter(|t| t.domain == domain.domain && t.label == *class);
            row.push(mine.count().to_string());
        }
        rows.push(row);
    }
    let mut lines = vec![
        columns(&rows),
        String::new(),
        entry(
            "trials",
            &format!(
                "{} of {} channels, {} samples at {} Hz each",
                set.trials().len(),
                set.dimension(),
                side.samples,
                side.sampling_rate
            ),
            12,
        ),
        entry("steps", &side.steps.to_string(), 12),
        entry("files", &side.files.len().to_string(), 12),
    ];
    if side.outside > 0 {
        let text = format!("{} events whose window leaves the recording", side.outside);
        lines.push(entry("left out", &text, 12));
    }
    if !side.not_selected.is_empty() {
        let each = side.not_selected.iter().map(|(l, c)| format!("{l} ×{c}"));
        let text = each.collect::<Vec<_>>().join(", ");
        lines.push(entry("not chosen", &text, 12));
    }
    lines.extend(side.notes.iter().map(|note| entry("note", note, 12)));
    lines.join("\n")
}
