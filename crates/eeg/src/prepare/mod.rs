//! From recordings to trials.
//!
//! ```text
//! files, folders or a public dataset ─▶ pick ─▶ resample ─▶ band-pass ─▶ cut ─▶ covariances ─▶ rejection ─▶ Trials + Record
//! ```
//!
//! One recording is in memory at a time. What is asked for is [`PrepareOptions`]; what was done travels with the trials as their
//! [`Preparation`]; what came of each file is the [`Record`], for people. [`DomainFrom`] says whose recording a file is.
//!
//! A label that never occurs, and a label that means two things in the runs at hand, are errors with the counts.

mod folders;
mod inputs;
mod meaning;
mod naming;
mod notes;
mod options;
mod pattern;
mod record;
mod views;

pub(crate) use inputs::is_catalogue;
pub use naming::DomainFrom;
pub use options::{DEFAULT_WINDOW, PrepareOptions};
pub use pattern::{FileName, NamePattern};
pub use record::{DomainRecord, FileRecord, Record};
pub use views::{choir_views, views_of};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use stiefel_data::{Origin, Preparation, Steps, Trials, View};

use crate::catalogue::{Sha256, Signal};
use crate::covariance::{Made, Pipeline, Preparing, names};
use crate::io::{listed, name_text, path_text};
use crate::montage::canonical;
use crate::signal::{self, Band, Window, resample};
use crate::{Channel, ChannelKind, EegError, Epochs, Event, Recording, Result};
use inputs::{Input, Inputs, of_catalogue, of_files};
use meaning::{Meanings, by_run, counted, labels};
use notes::Notes;

/// How far a long piece of work is.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// Parts done.
    pub done: usize,
    /// Parts there are.
    pub total: usize,
    /// The part that comes now.
    pub what: &'a str,
}

/// Somebody who watches.
pub type Watch<'a> = dyn FnMut(Step<'_>) + 'a;

/// Prepares files and folders, or one public dataset. Every label that is asked for must occur.
pub fn prepare(
    sources: &[String],
    options: &PrepareOptions,
    watch: &mut Watch<'_>,
) -> Result<(Trials, Record)> {
    prepare_labels(sources, options, !options.classes.is_empty(), watch)
}

/// Prepares what a model is to decide: not all of its classes need occur.
pub(crate) fn prepare_to_decide(
    source: &str,
    options: &PrepareOptions,
    watch: &mut Watch<'_>,
) -> Result<Trials> {
    Ok(prepare_labels(&[source.to_owned()], options, false, watch)?.0)
}

fn prepare_labels(
    sources: &[String],
    options: &PrepareOptions,
    all_occur: bool,
    watch: &mut Watch<'_>,
) -> Result<(Trials, Record)> {
    options.check()?;
    let mut options = options.clone();
    let inputs = match sources {
        [name] if is_catalogue(name) => of_catalogue(name, &mut options)?,
        _ => of_files(sources, &options)?,
    };
    let Inputs {
        items,
        files,
        unreadable,
        licence,
        citation,
    } = inputs;
    let skips = options.skip_unreadable;
    let stops = || !skips && !unreadable.borrow().is_empty();
    let mut items = items.peekable();
    let window = options
        .window
        .unwrap_or_else(|| views::default_window(items.peek()));
    let trialwise =
        matches!(items.peek(), Some(Ok(input)) if matches!(input.signal, Signal::Epochs(_)));
    views::settle(
        &mut options,
        window,
        if trialwise { 0.0 } else { f64::NEG_INFINITY },
    );
    let pipeline = pipeline(&options, window);
    let mut work = Work::new(&options);
    let mut preparing = pipeline.start();
    let mut current = None;
    let (mut done, mut read) = (0, Vec::new());
    for input in items {
        // The others are read only to find all that cannot be.
        if stops() && input.is_ok() {
            continue;
        }
        let input = match input {
            Err(_) if stops() => break,
            input => input?,
        };
        if current.as_ref() != Some(&input.path) {
            done += usize::from(current.is_some());
            current = Some(input.path.clone());
            read.push(input.path.clone());
        }
        let name = file_name(&input.path);
        watch(Step {
            done,
            total: files.len(),
            what: &name,
        });
        work.take(input, &mut preparing)?;
    }
    let unreadable = unreadable.take();
    if !unreadable.is_empty() && (!skips || work.used == 0) {
        return Err(cannot_read(unreadable, files.len()));
    }
    work.check_used(&files)?;
    let made = preparing.finish()?;
    if all_occur {
        work.check_labels(&made)?;
    }
    work.meanings.check()?;
    let steps = work.steps(window, &pipeline);
    let mut record = Record::new(sources, steps.clone());
    record.notes = work.notes.sentences();
    let skipped = unreadable.iter().map(|(path, error)| {
        let reason = error.reason(path);
        format!(
            "{}: left out, because it cannot be read: {reason}",
            path_text(path)
        )
    });
    record.notes.extend(skipped);
    describe(&mut record, &made, &read)?;
    let name = match sources {
        [one] => source_name(one),
        several => format!(
            "{} and {} more",
            source_name(&several[0]),
            several.len() - 1
        ),
    };
    let origin = Origin {
        name,
        rejected: (record.domains.iter())
            .map(|d| (d.domain.clone(), d.rejected))
            .collect(),
        licence,
        citation,
    };
    let trials = (made.trials.with_channels(work.channels)?)
        .with_preparation(Preparation::Made(Box::new(steps)))
        .with_origin(origin);
    Ok((trials, record))
}

/// One error for files that cannot be read.
fn cannot_read(mut files: Vec<(PathBuf, EegError)>, total: usize) -> EegError {
    match files.pop() {
        Some((_, error)) if total == 1 => error,
        last => {
            files.extend(last);
            EegError::Unreadable { files, total }
        }
    }
}

/// What a source is called: a dataset by its name, files without folder and ending.
pub(crate) fn source_name(source: &str) -> String {
    if is_catalogue(source) || source.starts_with("synthetic:") {
        return source.to_owned();
    }
    let path = Path::new(source);
    let stem = path.file_stem().unwrap_or(path.as_os_str());
    stem.to_string_lossy().into_owned()
}

/// What a pipeline found, and the files it was given.
fn describe(record: &mut Record, made: &Made, files: &[PathBuf]) -> Result<()> {
    record.samples = made.samples;
    record.outside = made.outside.len();
    record.not_selected = made.not_selected.clone();
    record.domains = (made.rejection.domains.iter())
        .map(|d| DomainRecord {
            domain: d.domain.clone(),
            trials: d.trials,
            rejected: d.rejected,
        })
        .collect();
    for path in files {
        record.files.push(FileRecord {
            name: file_name(path),
            sha256: Sha256::of_file(path)?.to_string(),
        });
    }
    Ok(())
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name_text(name)
}

fn pipeline(options: &PrepareOptions, [from, to]: [f64; 2]) -> Pipeline {
    let classes: Vec<(&str, &str)> = (options.classes.iter())
        .map(|(label, class)| (label.as_str(), class.as_str()))
        .collect();
    let [low, high] = options.broad_band();
    Pipeline {
        order: options.order,
        phase: options.phase,
        others: options.others.clone(),
        deviations: options.reject.unwrap_or(f64::INFINITY),
        estimator: options.estimator,
        ..Pipeline::new(Band::BandPass(low, high), Window::named(from, to, &classes))
    }
}

/// What is gathered from input to input.
struct Work<'a> {
    options: &'a PrepareOptions,
    notes: Notes,
    /// The names of the runs, each once.
    runs: Vec<String>,
    channels: Vec<String>,
    unit: String,
    recorded_rate: f64,
    rate: f64,
    trialwise: bool,
    used: usize,
    meanings: Meanings,
}

impl<'a> Work<'a> {
    fn new(options: &'a PrepareOptions) -> Self {
        Self {
            options,
            notes: Notes::default(),
            runs: Vec::new(),
            channels: Vec::new(),
            unit: String::new(),
            recorded_rate: 0.0,
            rate: 0.0,
            trialwise: false,
            used: 0,
            meanings: Meanings::default(),
        }
    }

    fn take(&mut self, input: Input, preparing: &mut Preparing<'_>) -> Result<()> {
        let place = match &input.run {
            Some(run) => format!("{} (run {run})", file_name(&input.path)),
            None => file_name(&input.path),
        };
        for note in &input.notes {
            self.notes.add(&input.path, &place, note);
        }
        let known = |run: &&String| !self.runs.contains(run);
        let new = input.run.iter().find(known).cloned();
        self.runs.extend(new);
        let at = |e: EegError| e.in_file(&input.path);
        match input.signal {
            Signal::Recording(recording) => {
                let recording = by_run(recording, input.run.as_deref(), &self.options.classes);
                if self.has_no_trial(recording.events(), &input.path, &place)? {
                    return Ok(());
                }
                let classes = &self.options.classes;
                let run = input.run.as_deref();
                self.meanings.hear(&input.path, run, &recording, classes);
                let recorded = recording.sampling_rate();
                let recording = self.channels_of(&recording).map_err(at)?;
                let recording = self.resampled(recording).map_err(at)?;
                let rates = (recorded, recording.sampling_rate());
                self.learn(recording.channels(), rates).map_err(at)?;
                preparing.add(recording, &input.domain, run).map_err(at)?;
            }
            Signal::Epochs(epochs) => {
                let recorded = epochs.sampling_rate();
                let epochs = self.trials_of(&epochs).map_err(at)?;
                let rates = (recorded, epochs.sampling_rate());
                self.learn(epochs.channels(), rates).map_err(at)?;
                self.trialwise = true;
                preparing.add_epochs(&epochs).map_err(at)?;
            }
        }
        self.used += 1;
        Ok(())
    }

    /// Channels, unit and rates: those of the first signal, which the others must share.
    fn learn(&mut self, channels: &[Channel], (recorded, rate): (f64, f64)) -> Result<()> {
        if self.used == 0 {
            (self.recorded_rate, self.rate) = (recorded, rate);
            self.channels = plain(channels);
            self.unit.clone_from(&channels[0].unit);
        }
        match channels.iter().find(|c| c.unit != self.unit) {
            None => Ok(()),
            Some(other) => Err(EegError::invalid(
                format!(
                    "channel {} is in \"{}\", others are in \"{}\"",
                    other.name, other.unit, self.unit
                ),
                "choose channels of one unit, with --channels",
            )),
        }
    }

    /// What was done, for whoever does it again.
    fn steps(&self, window: [f64; 2], pipeline: &Pipeline) -> Steps {
        let broad = View {
            band: self.options.broad_band(),
            window,
        };
        Steps {
            views: std::iter::once(broad)
                .chain(pipeline.others.iter().copied())
                .collect(),
            order: pipeline.order,
            phase: pipeline.phase,
            recorded_rate: self.recorded_rate,
            rate: self.rate,
            reference: "as recorded".into(),
            channels: self.channels.clone(),
            estimator: pipeline.estimator,
            rejection: self.options.reject,
            unit: self.unit.clone(),
            classes: self.options.classes.clone(),
            trialwise: self.trialwise,
        }
    }

    /// Whether a recording has none of the events; it is then noted. Without classes nothing can be a trial.
    fn has_no_trial(&mut self, events: &[Event], path: &Path, place: &str) -> Result<bool> {
        let chosen = |e: &&Event| {
            let mut classes = self.options.classes.iter();
            classes.any(|(label, _)| *label == e.label)
        };
        if events.iter().any(|e| chosen(&e)) {
            return Ok(false);
        }
        let labels = labels(events);
        if self.options.classes.is_empty() {
            return Err(EegError::setting(
                format!("you did not say which events are trials; {place} has the events {labels}"),
                "name labels and classes, for example --classes T1=hands,T2=feet",
            ));
        }
        let note = format!("left out, because it has none of the chosen events; it has {labels}");
        self.notes.add(path, place, &note);
        Ok(true)
    }

    fn check_used(&self, files: &[PathBuf]) -> Result<()> {
        if self.used > 0 {
            return Ok(());
        }
        let first = self.notes.last();
        let names = self.options.class_names().join(", ");
        Err(EegError::setting(
            format!(
                "none of the {} files has a trial of {names} ({first})",
                files.len()
            ),
            "select among the labels that occur, with --classes",
        ))
    }

    /// Every label that was asked for occurs.
    fn check_labels(&self, made: &Made) -> Result<()> {
        let never = |(label, _): &&(String, String)| !made.selected.contains_key(label);
        let Some((label, class)) = self.options.classes.iter().find(never) else {
            return Ok(());
        };
        let mut all: BTreeMap<&str, usize> = BTreeMap::new();
        for (label, count) in made.selected.iter().chain(&made.not_selected) {
            *all.entry(label).or_default() += count;
        }
        let named = if label == class {
            format!("the label {label}")
        } else {
            format!("the label {label}, which stands for {class},")
        };
        // A label of certain runs may be there in others.
        let runs = match label.split_once(':') {
            Some(_) if !self.runs.is_empty() => format!(" in runs {}", listed(&self.runs)),
            _ => String::new(),
        };
        Err(EegError::setting(
            format!(
                "{named} never occurs; the recordings have {}{runs}",
                counted(&all)
            ),
            "leave the label out, or name one that occurs, with --classes",
        ))
    }

    /// The wanted channels, or all EEG channels.
    fn channels_of(&self, recording: &Recording) -> Result<Recording> {
        match &self.options.channels {
            Some(choice) => Ok(recording.pick(&choice.names())?),
            None => Ok(recording.pick_kind(ChannelKind::Eeg)?),
        }
    }

    fn trials_of(&self, epochs: &Epochs) -> Result<Epochs> {
        let eeg = |c: &&Channel| c.kind == ChannelKind::Eeg;
        let names = match &self.options.channels {
            Some(choice) => choice.names(),
            None => (epochs.channels().iter().filter(eeg))
                .map(|c| c.name.clone())
                .collect(),
        };
        let picked = epochs.pick(&names)?;
        let Some((up, down)) = self.factors(picked.sampling_rate()) else {
            return Ok(picked);
        };
        let (data, samples) = resample(picked.data(), picked.samples(), up, down)?;
        let rate = picked.sampling_rate() * up as f64 / down as f64;
        let (channels, trials) = (picked.channels().to_vec(), picked.trials().to_vec());
        Ok(Epochs::new(channels, rate, samples, data, trials)?)
    }

    fn resampled(&self, recording: Recording) -> Result<Recording> {
        match self.factors(recording.sampling_rate()) {
            Some((up, down)) => signal::resample_recording(&recording, up, down),
            None => Ok(recording),
        }
    }

    /// `up/down` to the wanted rate; both rates to a thousandth of a hertz.
    fn factors(&self, rate: f64) -> Option<(usize, usize)> {
        let wanted = self.options.resample?;
        let thousandths = |x: f64| (x * 1000.0).round() as usize;
        (wanted != rate).then(|| (thousandths(wanted), thousandths(rate)))
    }
}

/// Names of channels in the usual spelling, unless two would then have the same name.
fn plain(channels: &[Channel]) -> Vec<String> {
    let usual: Vec<String> = channels.iter().map(|c| canonical(&c.name)).collect();
    let mut sorted = usual.clone();
    sorted.sort();
    sorted.dedup();
    if sorted.len() < usual.len() {
        return names(channels);
    }
    usual
}
