//! From recordings to a dataset file.
//!
//! ```text
//! files, folders or a public dataset ─▶ pick ─▶ resample ─▶ band-pass ─▶ trials ─▶ covariances ─▶ rejection ─▶ dataset.npz + dataset.json
//! ```
//!
//! One recording is in memory at a time. The steps are [`Preparation`], what came of them is in the [`Sidecar`]; [`DomainFrom`] says whose
//! recording a file is.

mod inputs;
mod naming;
mod sidecar;
mod steps;

pub(crate) use inputs::is_catalogue;
pub use naming::DomainFrom;
pub use sidecar::{DomainRecord, FileRecord, Sidecar};
pub use steps::Preparation;

use crate::dataset::of_set;
use crate::{Dataset, Result, StudyError};
use inputs::{Input, Inputs, of_catalogue, of_files};
use std::path::Path;
use stiefel_eeg::catalogue::{Sha256, Signal};
use stiefel_eeg::covariance::{Pipeline, Prepared};
use stiefel_eeg::io::CovarianceSet;
use stiefel_eeg::montage::canonical;
use stiefel_eeg::signal::{Band, Window, resample};
use stiefel_eeg::{Channel, ChannelKind, EegError, Epochs, Event, Recording};

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

/// A dataset that was prepared.
#[derive(Debug, Clone)]
pub struct PreparedDataset {
    /// The covariances of the trials that were kept.
    pub covariances: CovarianceSet,
    /// How they were made.
    pub sidecar: Sidecar,
}

impl PreparedDataset {
    /// Writes `dataset.npz` and `dataset.json`.
    pub fn write(&mut self, path: &Path) -> Result<()> {
        self.sidecar.write(path, &self.covariances)
    }

    /// As a dataset of that name.
    pub fn into_dataset(self, name: &str) -> Result<Dataset> {
        of_set(name, &self.covariances, self.sidecar.provenance())
    }
}

/// Prepares files and folders, or one public dataset.
pub fn prepare(
    sources: &[String],
    steps: &Preparation,
    watch: &mut Watch<'_>,
) -> Result<PreparedDataset> {
    steps.check()?;
    let mut steps = steps.clone();
    let inputs = match sources {
        [name] if is_catalogue(name) => of_catalogue(name, &mut steps)?,
        _ => of_files(sources, &steps)?,
    };
    let Inputs {
        items,
        files,
        licence,
        citation,
    } = inputs;
    let mut items = items.peekable();
    if steps.window.is_none() {
        steps.window = Some(default_window(items.peek()));
    }
    let pipeline = pipeline(&steps);
    let mut work = Work {
        steps: &steps,
        notes: Vec::new(),
        channels: Vec::new(),
        rate: 0.0,
        used: 0,
    };
    let mut preparing = pipeline.start();
    let mut current = None;
    let mut done = 0;
    for input in items {
        let input = input?;
        if current.as_ref() != Some(&input.path) {
            done += usize::from(current.is_some());
            current = Some(input.path.clone());
        }
        let name = file_name(&input.path);
        watch(Step {
            done,
            total: files.len(),
            what: &name,
        });
        work.take(input, &mut preparing)?;
    }
    work.check_used(&files)?;
    let prepared = preparing.finish()?;
    let (channels, rate, notes) = (work.channels, work.rate, work.notes);
    let mut sidecar = Sidecar::new(sources, steps);
    sidecar.notes = notes;
    (sidecar.licence, sidecar.citation) = (licence, citation);
    sidecar.sampling_rate = rate;
    describe(&mut sidecar, &prepared, &files)?;
    let (data, _, trials) = prepared.covariances.into_parts();
    Ok(PreparedDataset {
        covariances: CovarianceSet::new(channels, Some(rate), data, trials)?,
        sidecar,
    })
}

/// What a pipeline found, and the files it was given.
fn describe(
    sidecar: &mut Sidecar,
    prepared: &Prepared,
    files: &[std::path::PathBuf],
) -> Result<()> {
    sidecar.samples = prepared.samples;
    sidecar.outside = prepared.outside.len();
    sidecar.not_selected = prepared.not_selected.clone();
    sidecar.domains = (prepared.rejection.domains.iter())
        .map(|d| DomainRecord {
            domain: d.domain.clone(),
            trials: d.trials,
            rejected: d.rejected,
        })
        .collect();
    for path in files {
        sidecar.files.push(FileRecord {
            name: file_name(path),
            sha256: Sha256::of_file(path)?.to_string(),
        });
    }
    Ok(())
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// 0.5–3.5 s after the cue, or the whole of trials.
fn default_window(first: Option<&Result<Input>>) -> [f64; 2] {
    match first {
        Some(Ok(Input {
            signal: Signal::Epochs(epochs),
            ..
        })) => [0.0, epochs.samples() as f64 / epochs.sampling_rate()],
        _ => [0.5, 3.5],
    }
}

fn pipeline(steps: &Preparation) -> Pipeline {
    let [from, to] = steps.window.unwrap_or([0.5, 3.5]);
    let classes: Vec<(&str, &str)> = (steps.classes.iter())
        .map(|(label, class)| (label.as_str(), class.as_str()))
        .collect();
    let [low, high] = steps.band;
    Pipeline {
        deviations: steps.reject.unwrap_or(f64::INFINITY),
        estimator: steps.estimator,
        ..Pipeline::new(Band::BandPass(low, high), Window::named(from, to, &classes))
    }
}

/// What is gathered from input to input.
struct Work<'a> {
    steps: &'a Preparation,
    notes: Vec<String>,
    channels: Vec<Channel>,
    rate: f64,
    used: usize,
}

impl Work<'_> {
    fn take(
        &mut self,
        input: Input,
        preparing: &mut stiefel_eeg::covariance::Preparing<'_>,
    ) -> Result<()> {
        let place = match &input.run {
            Some(run) => format!("{} (run {run})", file_name(&input.path)),
            None => file_name(&input.path),
        };
        let notes = input.notes.iter().map(|note| format!("{place}: {note}"));
        self.notes.extend(notes);
        let at = |e: EegError| match e {
            EegError::Invalid { what, remedy } => EegError::Invalid {
                what: format!("{}: {what}", input.path.display()),
                remedy,
            },
            other => other,
        };
        match input.signal {
            Signal::Recording(recording) => {
                if self.has_no_trial(recording.events(), &place)? {
                    return Ok(());
                }
                let recording = self.channels_of(&recording).map_err(at)?;
                let recording = self.resampled(recording).map_err(at)?;
                (self.channels, self.rate) =
                    (plain(recording.channels()), recording.sampling_rate());
                let run = input.run.as_deref();
                preparing.add(recording, &input.domain, run).map_err(at)?;
            }
            Signal::Epochs(epochs) => {
                let epochs = self.trials_of(&epochs).map_err(at)?;
                (self.channels, self.rate) = (plain(epochs.channels()), epochs.sampling_rate());
                preparing.add_epochs(&epochs).map_err(at)?;
            }
        }
        self.used += 1;
        Ok(())
    }

    /// Whether a recording has none of the events; it is then noted. Without classes nothing can be a trial.
    fn has_no_trial(&mut self, events: &[Event], place: &str) -> Result<bool> {
        let chosen = |e: &&Event| {
            self.steps
                .classes
                .iter()
                .any(|(label, _)| *label == e.label)
        };
        if events.iter().any(|e| chosen(&e)) {
            return Ok(false);
        }
        let labels = labels(events);
        if self.steps.classes.is_empty() {
            return Err(StudyError::setting(
                format!("it was not said which events of {place} are trials; it has {labels}"),
                "name labels and classes, as --classes T1=hands,T2=feet",
            ));
        }
        let note = format!("{place}: left out, none of the chosen events; it has {labels}");
        self.notes.push(note);
        Ok(true)
    }

    fn check_used(&self, files: &[std::path::PathBuf]) -> Result<()> {
        if self.used > 0 {
            return Ok(());
        }
        let first = self.notes.last().map_or("", String::as_str);
        let names = self.steps.class_names().join(", ");
        Err(StudyError::setting(
            format!(
                "none of the {} files has a trial of {names} ({first})",
                files.len()
            ),
            "select among the labels that occur, with --classes",
        ))
    }

    /// The wanted channels, or all EEG channels.
    fn channels_of(&self, recording: &Recording) -> stiefel_eeg::Result<Recording> {
        match self.names() {
            Some(names) => recording.pick(&names?),
            None => recording.pick_kind(ChannelKind::Eeg),
        }
    }

    fn names(&self) -> Option<stiefel_eeg::Result<Vec<String>>> {
        let choice = self.steps.channels.as_ref()?;
        Some(choice.names().map_err(|e| EegError::Invalid {
            what: e.to_string(),
            remedy: "choose other channels".into(),
        }))
    }

    fn trials_of(&self, epochs: &Epochs) -> stiefel_eeg::Result<Epochs> {
        let eeg = |c: &&Channel| c.kind == ChannelKind::Eeg;
        let names = match self.names() {
            Some(names) => names?,
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
        Epochs::new(channels, rate, samples, data, trials)
    }

    fn resampled(&self, recording: Recording) -> stiefel_eeg::Result<Recording> {
        match self.factors(recording.sampling_rate()) {
            Some((up, down)) => recording.resample(up, down),
            None => Ok(recording),
        }
    }

    /// `up/down` to the wanted rate; both rates to a thousandth of a hertz.
    fn factors(&self, rate: f64) -> Option<(usize, usize)> {
        let wanted = self.steps.resample?;
        let thousandths = |x: f64| (x * 1000.0).round() as usize;
        (wanted != rate).then(|| (thousandths(wanted), thousandths(rate)))
    }
}

/// `T0 ×15, T1 ×8`.
fn labels(events: &[Event]) -> String {
    let mut counts: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    for event in events {
        *counts.entry(&event.label).or_default() += 1;
    }
    if counts.is_empty() {
        return "no events".into();
    }
    let each: Vec<String> = counts.iter().map(|(l, c)| format!("{l} ×{c}")).collect();
    each.join(", ")
}

/// Channels in the usual spelling, unless two would then have the same name.
fn plain(channels: &[Channel]) -> Vec<Channel> {
    let names: Vec<String> = channels.iter().map(|c| canonical(&c.name)).collect();
    let mut sorted = names.clone();
    sorted.sort();
    sorted.dedup();
    if sorted.len() < names.len() {
        return channels.to_vec();
    }
    let renamed = channels.iter().zip(names);
    renamed
        .map(|(c, name)| Channel { name, ..c.clone() })
        .collect()
}
