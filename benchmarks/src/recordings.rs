//! The EEGMMIDB covariances (`handsfeet_s001-s053_cov.npz`, 64 channels, both hands against feet)
//! as trials; domains are subjects.

use std::ops::RangeInclusive;
use std::path::Path;
use stiefel_data::Trials;
use stiefel_eeg::select::{ChannelChoice, Selection};

pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The trials of some subjects on 64, 22 or 13 channels: all of them, or the montage of BNCI2014001
/// or BNCI2015001.
pub(crate) fn load(
    folder: &Path,
    channels: usize,
    subjects: RangeInclusive<usize>,
) -> Result<Trials, Failure> {
    let montage = match channels {
        64 => None,
        22 => Some("bnci2014001"),
        13 => Some("bnci2015001"),
        _ => return Err(format!("{channels} channels: 64, 22 or 13").into()),
    };
    let choice = Selection {
        channels: montage.map(|name| ChannelChoice::One(name.into())),
        subjects: Some(format!("{}-{}", subjects.start(), subjects.end())),
        ..Selection::default()
    };
    let file = folder.join("handsfeet_s001-s053_cov.npz");
    Ok(stiefel_eeg::load(&file.to_string_lossy(), &choice)?)
}

/// The value after `name` on the command line.
pub(crate) fn option<'a>(arguments: &'a [String], name: &str) -> Result<Option<&'a str>, Failure> {
    match arguments.iter().position(|a| a == name) {
        None => Ok(None),
        Some(at) => match arguments.get(at + 1) {
            Some(value) => Ok(Some(value)),
            None => Err(format!("{name} needs a value").into()),
        },
    }
}

/// The mean of some numbers.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let all: Vec<f64> = values.collect();
    all.iter().sum::<f64>() / all.len() as f64
}
