//! `stiefel prepare`: recordings to a dataset file.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use stiefel::data::{Duplicates, Estimator, Phase, Trials, class_rules};
use stiefel::eeg::recipe::{DomainFrom, Input, Inputs, Recipe, Record, Reference, run};
use stiefel::eeg::select::ChannelChoice;

use crate::bar::Bar;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::reading::Reading;
use crate::source::{band, check_output, window};
use crate::table::{columns, entry};

#[derive(Debug, Args)]
#[command(after_help = "\
Files: EDF, BDF, GDF, BrainVision (.vhdr), FIF (raw and epochs), EEGLAB (.set), XDF, MATLAB 5 and \
                        7.3 (BNCI, Weibo 2014, FieldTrip; any other
layout with --mat), BCI2000 (.dat), CSV and TSV, .npz and .npy of trials; packed with gzip or not. \
                        Folders are searched for all of them; for CSV, TSV and
text only where nothing else is found. `stiefel data list` has the names of the public data sets; \
                        weibo2014:paper, bnci2014001:paper and
bnci2015001:paper are what the paper used.

Events come from the file and from its marker channels (--markers). Where files have BIDS names, \
                        the events.tsv beside them takes the place of these
events. `stiefel inspect FILE` shows what is there and how it was read.

Whose recording a file is (--domain):
  auto    sub-03_ses-2_run-1.edf is domain sub-03-2 (session 2), run 1; other names as prefix
  prefix  letters, then digits: S001R04.edf is domain S001, run R04
  person  as auto; equal names in several folders are one person
  session as auto, with the folder as session: day1/S001R04.edf is domain S001-day1
  folder  the name of the folder; the run is the file
  file    every file is a domain
Equal names in several folders may be of several people: they are refused, unless they are BIDS \
                        names or --domain is person.

Where every file is one trial, its name tells the class: --pattern '{subject}_{class}_{trial}.csv'.

A label that never occurs is an error. So is a label that means two things in the chosen runs (T1 \
                        of EEGMMIDB: the left fist in runs 4, 8, 12, both fists in
6, 10, 14): choose runs with --runs, or say what the label means in each run: --classes \
                        'R0[48]:T1=left,R06:T1=both'.

The dataset file says how it was made, and every model trained on it keeps this. A dataset.json \
                        for people is written beside dataset.npz: steps,
rejected trials per domain, files with SHA-256. `stiefel prepare --config dataset.json` repeats \
                        the preparation.")]
pub(crate) struct Arguments {
    /// Files and folders of recordings, or one public data set
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<String>,
    /// The dataset file to write
    #[arg(long, short, value_name = "FILE.npz")]
    output: PathBuf,
    /// Replace the dataset file if it exists
    #[arg(long)]
    overwrite: bool,
    /// Events and the class each stands for, for example T1=hands,T2=feet; R?4:T1=left is for
    /// those runs only [default: the classes of a public data set]
    #[arg(long, value_name = "LABEL=CLASS", value_delimiter = ',')]
    classes: Vec<String>,
    /// What voltages are measured against: as-recorded, average (of the channels), or electrodes
    /// joined by +, for example M1+M2
    #[arg(long, value_name = "REFERENCE", default_value = "as-recorded")]
    reference: Reference,
    /// Channels by name, separated by commas, or a montage: bnci2014001, bnci2015001, weibo2014,
    /// eegmmidb [default: all EEG]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    channels: Option<Vec<String>>,
    /// Subjects, counted from 1: 3, 1-5 or 1-3,7 [default: all]
    #[arg(long, value_name = "LIST")]
    subjects: Option<String>,
    /// Runs by name or number, separated by commas: R06,R10 or 6,10 [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    runs: Option<Vec<String>>,
    /// What names the domain of a file: auto, prefix, person, session, folder, file
    #[arg(long, value_name = "RULE", default_value = "auto")]
    domain: DomainFrom,
    /// Pass band in hertz [default: the data set's, or 8,32]
    #[arg(long, value_name = "LOW,HIGH", value_parser = band)]
    band: Option<[f64; 2]>,
    /// Seconds from the event, or from the first sample where the data are trials [default: the
    /// data set's; 0.5,3.5 for files]
    #[arg(long, value_name = "FROM,TO", value_parser = window, allow_hyphen_values = true)]
    window: Option<[f64; 2]>,
    /// Covariances of a trial: broad (--band and --window alone), choir (six bands and windows
    /// around them), or a list of bands and windows, the broad one first, for example
    /// 8-32@0.5-3.5,10-14@0.5-3.5 [default: broad]
    #[arg(
        long,
        value_name = "VIEWS",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    views: Option<Vec<String>>,
    /// Resample to so many samples per second first [default: as recorded]
    #[arg(long, value_name = "HZ")]
    rate: Option<f64>,
    /// Order of the Butterworth filter
    #[arg(long, value_name = "N", default_value_t = 4)]
    order: usize,
    /// Which way the filter runs: zero (both ways) or causal (forwards only, as a live stream is
    /// filtered)
    #[arg(long, value_name = "PHASE", default_value = "zero")]
    phase: Phase,
    /// Covariance estimator: sample, ledoit-wolf, oas, schaefer-strimmer
    #[arg(long, value_name = "NAME", default_value = "sample")]
    estimator: Estimator,
    /// Leave out trials whose peak exceeds median + N·MAD of their domain; `off` keeps all
    #[arg(long, value_name = "N", default_value = "5")]
    reject: String,
    /// The task of recordings with BIDS names, for example motorimagery [default: all]
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// What the parts of file names mean, for example '{subject}_{class}_{trial}.csv'
    #[arg(long, value_name = "PATTERN")]
    pattern: Option<String>,
    /// What is done about recordings and trials that occur twice, under whichever names: refuse,
    /// or keep the first
    #[arg(long, value_name = "WHAT", default_value = "refuse")]
    duplicates: Duplicates,
    #[command(flatten)]
    reading: Reading,
    /// Leave out files that cannot be read, with a note on each
    #[arg(long)]
    skip_unreadable: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        if self.output.extension().is_none_or(|e| e != "npz") {
            return Err(Failure::Misuse(format!(
                "{}: the name of a dataset file must end in .npz",
                self.output.display()
            )));
        }
        check_output(&self.output, self.overwrite)?;
        let (mut recipe, input) = (self.recipe()?, self.input());
        let (trials, mut record) = {
            let bar = Bar::new("preparing", 0);
            let mut inputs = Inputs::open(&self.sources, &input, &recipe)?;
            let views = self.views.as_ref().map_or("broad".into(), |v| v.join(","));
            if views.contains('@') && (self.band.is_some() || self.window.is_some()) {
                return Err(Failure::Misuse(format!(
                    "--views {views} gives every band and window; leave out --band and --window"
                )));
            }
            recipe.views = inputs.views(self.band, self.window, &views)?;
            run(&recipe, inputs, &mut |step| bar.show(step))?
        };
        record.configuration = Some(output.configuration().clone());
        record.write(&self.output, &trials)?;
        if self.json {
            let mut value = serde_json::to_value(&record)?;
            value["output"] = json!(self.output);
            value["trials"] = json!(trials.len());
            return output.json(&value);
        }
        output.line(&summary(&trials, &record))?;
        output.line(&entry("written", &self.output.display().to_string(), 12))
    }

    fn recipe(&self) -> Result<Recipe, Failure> {
        let reject = match self.reject.as_str() {
            "off" | "none" => None,
            text => Some(text.parse::<f64>().map_err(|_| {
                Failure::Misuse(format!(
                    "--reject {text}: give a number, for example 5, or off"
                ))
            })?),
        };
        Ok(Recipe {
            reference: self.reference.clone(),
            rate: self.rate,
            channels: self
                .channels
                .clone()
                .map(|c| ChannelChoice::from(c).names()),
            order: self.order,
            phase: self.phase,
            estimator: self.estimator,
            reject,
            classes: class_rules(&self.classes)?,
            ..Recipe::default()
        })
    }

    fn input(&self) -> Input {
        Input {
            subjects: self.subjects.clone(),
            runs: self.runs.clone(),
            domain: self.domain,
            task: self.task.clone(),
            pattern: self.pattern.clone(),
            skip_unreadable: self.skip_unreadable,
            duplicates: self.duplicates,
            ..self.reading.input()
        }
    }
}

/// What was made of what.
fn summary(trials: &Trials, record: &Record) -> String {
    let (classes, domains) = (trials.classes(), trials.domains());
    let mut heading = vec!["DOMAIN".to_string(), "REJECTED".to_string()];
    heading.extend(classes.names().iter().cloned());
    let mut rows = vec![heading];
    for domain in &record.domains {
        let mut row = vec![
            domain.domain.clone(),
            format!("{} of {}", domain.rejected, domain.trials),
        ];
        for class in classes.names() {
            let mine = (0..trials.len())
                .filter(|&i| domains.label(i) == domain.domain && classes.label(i) == class);
            row.push(mine.count().to_string());
        }
        rows.push(row);
    }
    let each = format!(
        "{} of {} channels, {} samples at {} Hz each",
        trials.len(),
        trials.channels_count(),
        record.samples,
        record.preparation.rate()
    );
    let mut lines = vec![
        columns(&rows),
        String::new(),
        entry("trials", &each, 12),
        entry("steps", &record.preparation.to_string(), 12),
        entry("files", &record.files.len().to_string(), 12),
    ];
    if record.outside > 0 {
        let text = format!(
            "{} events whose window reaches beyond the recording",
            record.outside
        );
        lines.push(entry("left out", &text, 12));
    }
    if !record.not_selected.is_empty() {
        let each = record.not_selected.iter().map(|(l, c)| format!("{l} ×{c}"));
        let text = each.collect::<Vec<_>>().join(", ");
        lines.push(entry("not chosen", &text, 12));
    }
    lines.extend(record.notes.iter().map(|note| entry("note", note, 12)));
    let found = record.quality.sentences();
    lines.extend(found.iter().map(|finding| entry("signal", finding, 12)));
    lines.join("\n")
}
