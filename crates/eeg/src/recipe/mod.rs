//! From recordings to trials, by one recipe.
//!
//! ```text
//! files, folders or a public dataset ─▶ Recipe (channels ─▶ reference ─▶ rate ─▶ band-pass ─▶ cut ─▶ covariances ─▶ rejection) ─▶ Trials + Record
//! ```
//!
//! One recording is in memory at a time, and each file is read once: what is hashed is what was
//! decoded. The [`Recipe`] says everything that changes numbers, the [`Input`] how files are read;
//! both travel with the trials as their [`Provenance`]. What came of each file is the [`Record`],
//! for people. The same recipe runs on a live signal: [`stream`].
//!
//! A label that never occurs, and a label that means two things in the runs at hand, are errors
//! with the counts.

mod examine;
mod folders;
mod inputs;
mod looking;
mod meaning;
mod met;
mod naming;
mod notes;
mod pattern;
mod pipeline;
mod record;
mod simulated;
#[cfg(feature = "live")]
pub mod stream;
mod views;

pub use crate::ledger::FileRecord;
pub use examine::quality_of;
pub use inputs::{Inputs, read_options};
pub(crate) use inputs::{Opened, is_catalogue, open_file};
pub use meaning::{Cue, LabelledRecording, labelled_recordings, sample_at};
pub use pattern::{FileName, NamePattern};
pub use pipeline::{PipelineOutput, Preparing, fingerprint};
pub use record::{DomainRecord, Record};
pub use simulated::simulate;
pub use stiefel_data::{DomainFrom, Input, Provenance, Recipe, Reference};
pub use views::{choir_views, parse_views, views_of};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use stiefel_data::{Duplicates, Origin, Preparation, Trials};

use crate::catalogue::Signal;
use crate::io::{listed, name_text, path_text};
use crate::quality;
use crate::{EegError, Result};
use inputs::Item;
use meaning::{check_meanings, counted};
use met::Met;
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

/// Prepares files and folders, one public dataset, or simulated people.
pub fn prepare(
    sources: &[String],
    input: &Input,
    recipe: &Recipe,
    watch: &mut Watch<'_>,
) -> Result<(Trials, Record)> {
    run(recipe, Inputs::open(sources, input, recipe)?, watch)
}

/// Runs a recipe on signals, one after the other.
pub fn run(recipe: &Recipe, inputs: Inputs, watch: &mut Watch<'_>) -> Result<(Trials, Record)> {
    let recipe = Recipe {
        classes: inputs.classes.clone(),
        ..recipe.clone()
    };
    let Inputs {
        sources,
        input,
        items,
        files,
        ledger,
        unreadable,
        licence,
        citation,
        all_labels,
        ..
    } = inputs;
    let skips = input.skip_unreadable;
    let stops = || !skips && !unreadable.borrow().is_empty();
    let mut preparing = Preparing::new(&recipe)?;
    let mut work = Work::new(&recipe, input.duplicates);
    let mut current = None;
    let (mut done, mut read) = (0, Vec::new());
    for item in items {
        // The others are read only to find all that cannot be.
        if stops() && item.is_ok() {
            continue;
        }
        let item = match item {
            Err(_) if stops() => break,
            item => item?,
        };
        if current.as_ref() != Some(&item.path) {
            done += usize::from(current.is_some());
            current = Some(item.path.clone());
            read.push(item.path.clone());
        }
        let name = file_name(&item.path);
        watch(Step {
            done,
            total: files.len(),
            what: &name,
        });
        work.take(item, &mut preparing)?;
    }
    let unreadable = unreadable.take();
    if !unreadable.is_empty() && (!skips || work.used == 0) {
        return Err(cannot_read(unreadable, files.len()));
    }
    work.check_used(&files)?;
    let made = preparing.finish()?;
    if all_labels {
        work.check_labels(&made)?;
    }
    quality::check(&made.quality)?;
    check_meanings(&made.provenance.labels)?;
    let provenance = Provenance {
        input,
        ..made.provenance.clone()
    };
    let mut record = Record::new(&sources, provenance.clone());
    record.notes = work.notes.sentences();
    if provenance.recipe.estimator != recipe.estimator {
        let n = provenance.channels().len();
        let why = if recipe.reference == Reference::AsRecorded {
            format!("a window without more samples than the {n} channels")
        } else {
            format!("the reference {}", recipe.reference)
        };
        record.notes.push(format!(
            "{why} leaves directions of the channels without signal; covariances are estimated by \
             {} in the place of {}",
            provenance.recipe.estimator, recipe.estimator
        ));
    }
    record.notes.extend(unreadable.iter().map(|(path, error)| {
        let reason = error.reason(path);
        format!(
            "{}: left out, because it cannot be read: {reason}",
            path_text(path)
        )
    }));
    describe(&mut record, &made);
    record.quality = made.quality.clone();
    record.files = ledger.files(&read);
    let name = match &sources[..] {
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
        notes: record.notes.clone(),
        licence,
        citation,
        quality: made.quality,
    };
    let trials = (made.trials)
        .with_preparation(Preparation::from(provenance))
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

/// Names a source: a dataset by its name, files without folder and ending.
pub(crate) fn source_name(source: &str) -> String {
    if is_catalogue(source) || source.starts_with("synthetic:") {
        return source.to_owned();
    }
    let path = Path::new(source);
    name_text(path.file_stem().unwrap_or(path.as_os_str()))
}

/// Counts what a recipe found.
fn describe(record: &mut Record, made: &PipelineOutput) {
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
}

fn file_name(path: &Path) -> String {
    name_text(path.file_name().unwrap_or(path.as_os_str()))
}

/// What is gathered from input to input.
struct Work<'a> {
    recipe: &'a Recipe,
    notes: Notes,
    /// The names of the runs, each once.
    runs: Vec<String>,
    used: usize,
    met: Met,
}

impl<'a> Work<'a> {
    fn new(recipe: &'a Recipe, duplicates: Duplicates) -> Self {
        Self {
            recipe,
            met: Met::new(duplicates),
            notes: Notes::default(),
            runs: Vec::new(),
            used: 0,
        }
    }

    fn take(&mut self, item: Item, preparing: &mut Preparing) -> Result<()> {
        let place = match &item.run {
            Some(run) => format!("{} (run {run})", file_name(&item.path)),
            None => file_name(&item.path),
        };
        for note in &item.notes {
            self.notes.add(&item.path, &place, note);
        }
        let known = |run: &&String| !self.runs.contains(run);
        let new = item.run.iter().find(known).cloned();
        self.runs.extend(new);
        let at = |error: EegError| error.in_file(&item.path);
        let recorded = match item.signal {
            Signal::Recording(recording) => {
                let classes = &self.recipe.classes;
                let run = item.run.as_deref();
                let mut labelled = LabelledRecording::new(&item.path, recording, run, classes);
                if self.has_no_trial(&labelled, &item.path, &place)? {
                    return Ok(());
                }
                let known = &labelled.fingerprint;
                if let Some(twice) = self.met.recording(known, &item.path, run).map_err(at)? {
                    let note = format!("left out, because {twice}");
                    self.notes.add(&item.path, &place, &note);
                    return Ok(());
                }
                let recording = labelled.recording;
                let (recording, twice) = self.met.events(recording, classes).map_err(at)?;
                if let Some(twice) = twice {
                    self.notes
                        .add(&item.path, &place, &format!("{twice}; the first is kept"));
                }
                let home = item.home.as_deref();
                (self.met.person(&item.domain, home, &item.path)).map_err(at)?;
                let rate = recording.sampling_rate();
                labelled.recording = recording;
                let added = preparing.add_labelled(labelled, &item.domain);
                added.map_err(at)?;
                rate
            }
            Signal::Epochs(epochs) => {
                let classes = &self.recipe.classes;
                let (epochs, twice) = (self.met.epochs(epochs, classes, &item.path)).map_err(at)?;
                if let Some(note) = twice {
                    self.notes.add(&item.path, &place, &note);
                }
                if epochs.trials().is_empty() {
                    return Ok(());
                }
                for domain in epochs.trials().iter().map(|t| &t.domain) {
                    let home = item.home.as_deref();
                    (self.met.person(domain, home, &item.path)).map_err(at)?;
                }
                preparing.add_epochs(&epochs).map_err(at)?;
                epochs.sampling_rate()
            }
        };
        if let Some(rate) = self.recipe.rate.filter(|rate| *rate != recorded) {
            let note = format!("resampled from {recorded} to {rate} Hz");
            self.notes.add(&item.path, &place, &note);
        }
        self.used += 1;
        Ok(())
    }

    /// Whether a recording has none of the events; it is then noted. Without classes nothing can be
    /// a trial.
    fn has_no_trial(
        &mut self,
        recording: &LabelledRecording,
        path: &Path,
        place: &str,
    ) -> Result<bool> {
        let Some(has) = recording.without_cue() else {
            return Ok(false);
        };
        if self.recipe.classes.is_empty() {
            return Err(EegError::setting(
                format!("you did not say which events are trials; {place} has the events {has}"),
                "name labels and classes, for example T1=hands,T2=feet",
            ));
        }
        let note = format!("left out, because it has none of the chosen events; it has {has}");
        self.notes.add(path, place, &note);
        Ok(true)
    }

    fn check_used(&self, files: &[PathBuf]) -> Result<()> {
        if self.used > 0 {
            return Ok(());
        }
        let first = self.notes.last();
        let names = self.recipe.class_names().join(", ");
        Err(EegError::setting(
            format!(
                "none of the {} files has a trial of {names} ({first})",
                files.len()
            ),
            "select among the labels that occur",
        ))
    }

    /// Every label that was asked for occurs.
    fn check_labels(&self, made: &PipelineOutput) -> Result<()> {
        let never = |(label, _): &&(String, String)| !made.selected.contains_key(label);
        let Some((label, class)) = self.recipe.classes.iter().find(never) else {
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
            "leave the label out, or name one that occurs",
        ))
    }
}
