//! Data on the command line: a source, and the part of it that is wanted.

use std::path::Path;

use clap::Args;
use stiefel::data::{Duplicates, Provenance, Trials};
use stiefel::eeg::load_as;
use stiefel::eeg::select::{ChannelChoice, Selection};
use stiefel::model::FittedModel;
use stiefel::model::file::kind_of;

use crate::bar::Bar;
use crate::failure::{Failure, Outcome};
use crate::voice::{note, say};

/// The part of a dataset that is wanted.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub(crate) struct Part {
    /// Subjects, counted from 1: 3, 1-5 or 1-3,7 [default: all]
    #[arg(long, value_name = "LIST")]
    pub(crate) subjects: Option<String>,
    /// Classes by name, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) classes: Option<Vec<String>>,
    /// Channels by name, separated by commas, or a montage: bnci2014001, bnci2015001, weibo2014,
    /// eegmmidb [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) channels: Option<Vec<String>>,
    /// What is done about recordings and trials that occur twice: refuse, or first (keep the
    /// first) [default: refuse]
    #[arg(long, value_name = "WHAT")]
    pub(crate) duplicates: Option<Duplicates>,
}

impl Part {
    /// As the library takes it.
    pub(crate) fn selection(&self) -> Selection {
        Selection {
            channels: self.channels.clone().map(ChannelChoice::from),
            classes: self.classes.clone(),
            subjects: self.subjects.clone(),
            duplicates: self.duplicates.unwrap_or_default(),
        }
    }
}

/// A pass band.
pub(crate) fn band(text: &str) -> Result<[f64; 2], String> {
    pair(text, "8,32")
}

/// A window in seconds.
pub(crate) fn window(text: &str) -> Result<[f64; 2], String> {
    pair(text, "0.5,3.5")
}

/// Two numbers with a comma between, the smaller first.
fn pair(text: &str, example: &str) -> Result<[f64; 2], String> {
    let numbers: Option<Vec<f64>> = text
        .split(',')
        .map(|part| part.trim().parse().ok().filter(|x: &f64| x.is_finite()))
        .collect();
    match numbers.as_deref() {
        Some(&[low, high]) if low < high => Ok([low, high]),
        _ => Err(format!(
            "give two numbers, the smaller first, for example {example}"
        )),
    }
}

/// Loads a source, with a bar, and says what is wrong with its signals.
pub(crate) fn load(source: &str, part: &Selection) -> Result<Trials, Failure> {
    let trials = load_to_show(source, part)?;
    tell(&trials);
    Ok(trials)
}

/// Loads a source, with a bar, for a command that shows its signals.
pub(crate) fn load_to_show(source: &str, part: &Selection) -> Result<Trials, Failure> {
    load_with(source, part, None, false)
}

/// Says what is wrong with the signals of trials.
fn tell(trials: &Trials) {
    for sentence in trials.origin().quality.sentences() {
        say(&format!("signal: {sentence}"));
    }
}

/// Loads a source as a model wants it: its channels in its order, signals prepared as its training
/// trials were. With `causal` signals are filtered forwards only, as a live stream is.
pub(crate) fn load_for(
    model: &FittedModel,
    source: &str,
    part: &Part,
    causal: bool,
) -> Result<Trials, Failure> {
    let mut part = part.selection();
    if part.channels.is_none()
        && let Some(names) = model.channels()
    {
        part.channels = Some(ChannelChoice::Names(names.to_vec()));
    }
    let own = model.preparation().known();
    if causal && own.is_none() {
        return Err(Failure::Misuse(
            "--causal filters signals, but the model does not say how to filter them; it was \
             trained on covariances of unknown origin"
                .into(),
        ));
    }
    let trials = load_with(source, &part, own, causal)?;
    tell(&trials);
    Ok(trials)
}

/// Loads a source, with a bar.
fn load_with(
    source: &str,
    part: &Selection,
    made: Option<&Provenance>,
    causal: bool,
) -> Result<Trials, Failure> {
    let bar = Bar::new("loading", 0);
    let found = load_as(source, part, made, causal, &mut |step| bar.show(step));
    drop(bar);
    let notes = found
        .as_ref()
        .map(|trials| trials.origin().notes.as_slice());
    for text in notes.unwrap_or_default() {
        note(text);
    }
    found.map_err(|error| match kind_of(source) {
        Some(kind) => Failure::Misuse(format!(
            "{source} is a model {kind}, but data are needed here; give a .npz of covariances, a \
             dataset of `stiefel data list`, or synthetic:weibo2014"
        )),
        None => error.into(),
    })
}

/// Bounds the threads of everything that follows.
pub(crate) fn threads(count: Option<usize>) -> Outcome {
    let Some(count) = count else { return Ok(()) };
    if count == 0 {
        return Err(Failure::Misuse("--threads 0: give at least 1".into()));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(count);
    pool.build_global()
        .map_err(|e| Failure::Failed(format!("{count} threads could not be started: {e}")))
}

/// Refuses an output before the work of making it: a folder that is not there, what is no regular
/// file, and a file that is there already, unless it may be overwritten.
pub(crate) fn check_output(path: &Path, overwrite: bool) -> Outcome {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    if let Some(missing) = folder.filter(|p| !p.is_dir()) {
        return Err(Failure::Misuse(format!(
            "{}: there is no folder {}; make it first",
            path.display(),
            missing.display()
        )));
    }
    let target = stiefel::data::writable(path)
        .map_err(|e| Failure::Misuse(format!("{}: {e}; choose another name", path.display())))?;
    if target.exists() && !overwrite {
        return Err(Failure::Misuse(format!(
            "{}: it exists already; choose another name, or give --overwrite",
            path.display()
        )));
    }
    Ok(())
}
