//! Data on the command line: a source, and the part of it that is wanted.

use std::path::Path;

use clap::Args;
use stiefel::eeg::montage::Montage;
use stiefel::model::file::{AnyHeader, inspect_any};
use stiefel::study::{ChannelChoice, DataChoice, Dataset, load_watched};

use crate::bar::Bar;
use crate::failure::{Failure, Outcome};

/// The part of a dataset that is wanted.
#[derive(Debug, Clone, Args)]
pub(crate) struct Part {
    /// Subjects, counted from 1: 3, 1-5 or 1-3,7 [default: all]
    #[arg(long, value_name = "LIST")]
    pub(crate) subjects: Option<String>,
    /// Classes by name, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) classes: Option<Vec<String>>,
    /// Channels by name, separated by commas, or a montage: bnci2014001, bnci2015001, weibo2014, eegmmidb [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) channels: Option<Vec<String>>,
    /// Pass band in hertz, where covariances are made from signals [default: 8,32]
    #[arg(long, value_name = "LOW,HIGH", value_parser = pair)]
    pub(crate) band: Option<[f64; 2]>,
    /// Seconds from the cue, where covariances are made from signals [default: the dataset's]
    #[arg(long, value_name = "FROM,TO", value_parser = pair, allow_hyphen_values = true)]
    pub(crate) window: Option<[f64; 2]>,
}

impl Part {
    /// As the library takes it.
    pub(crate) fn choice(&self) -> DataChoice {
        DataChoice {
            channels: self.channels.as_deref().map(channels),
            classes: self.classes.clone(),
            subjects: self.subjects.clone(),
            band: self.band,
            window: self.window,
        }
    }
}

/// A montage where there is one of that name, else names.
pub(crate) fn channels(names: &[String]) -> ChannelChoice {
    match names {
        [one] if Montage::from_name(one).is_some() => ChannelChoice::Montage(one.clone()),
        names => ChannelChoice::Names(names.to_vec()),
    }
}

/// Two numbers with a comma between.
pub(crate) fn pair(text: &str) -> Result<[f64; 2], String> {
    let numbers: Option<Vec<f64>> = text
        .split(',')
        .map(|part| part.trim().parse().ok().filter(|x: &f64| x.is_finite()))
        .collect();
    match numbers.as_deref() {
        Some(&[low, high]) if low < high => Ok([low, high]),
        _ => Err("two numbers are wanted, the smaller first, as 8,32".into()),
    }
}

/// Loads a source, with a bar.
pub(crate) fn load(source: &str, choice: &DataChoice) -> Result<Dataset, Failure> {
    let kind = match inspect_any(source) {
        Ok(AnyHeader::Network(_)) => Some("a trained network"),
        Ok(AnyHeader::Pooled(_)) => Some("a model `recommended`"),
        Err(_) => None,
    };
    if let Some(kind) = kind {
        return Err(Failure::Misuse(format!(
            "{source} is {kind}, where data are wanted; give a .npz of covariances, a dataset of `stiefel data list`, or \
             synthetic:weibo2014"
        )));
    }
    let bar = Bar::new("loading", 0);
    Ok(load_watched(source, choice, &mut |step| bar.show(step))?)
}

/// Bounds the threads of everything that follows.
pub(crate) fn threads(count: Option<usize>) -> Outcome {
    let Some(count) = count else { return Ok(()) };
    if count == 0 {
        return Err(Failure::Misuse("--threads 0: at least one thread".into()));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(count);
    pool.build_global()
        .map_err(|e| Failure::Failed(format!("{count} threads could not be started: {e}")))
}

/// Refuses a file in a folder that is not there, before the work of making it.
pub(crate) fn check_folder(path: &Path) -> Outcome {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    match folder.filter(|p| !p.is_dir()) {
        None => Ok(()),
        Some(missing) => Err(Failure::Misuse(format!(
            "{}: there is no folder {}; make it first",
            path.display(),
            missing.display()
        ))),
    }
}
