//! The EEGMMIDB covariances (`handsfeet_s001-s053_cov.npz`, 64 channels, both hands against feet) as trials; domains are subjects.

use std::ops::RangeInclusive;
use std::path::Path;
use stiefel_eeg::TrialInfo;
use stiefel_eeg::io::{Content, read};
use stiefel_linalg::MatBatch;
use stiefel_model::{Factor, Trials};

pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The montage of BNCI2014001.
const CHANNELS_22: &str =
    "Fz FC3 FC1 FCz FC2 FC4 C5 C3 C1 Cz C2 C4 C6 CP3 CP1 CPz CP2 CP4 P1 Pz P2 POz";

/// The montage of BNCI2015001.
const CHANNELS_13: &str = "FC3 FCz FC4 C5 C3 C1 Cz C2 C4 C6 CP3 CPz CP4";

/// The trials of some subjects on 64, 22 or 13 channels.
pub(crate) fn load(
    folder: &Path,
    channels: usize,
    subjects: RangeInclusive<usize>,
) -> Result<Trials, Failure> {
    let Content::Covariances(set) = read(folder.join("handsfeet_s001-s053_cov.npz"))? else {
        return Err("not covariances".into());
    };
    let names: Vec<&str> = set.channels().iter().map(|c| c.name.as_str()).collect();
    let wanted: Vec<&str> = match channels {
        64 => names.clone(),
        22 => CHANNELS_22.split(' ').collect(),
        13 => CHANNELS_13.split(' ').collect(),
        _ => return Err(format!("{channels} channels: 64, 22 or 13").into()),
    };
    let rows = wanted
        .iter()
        .map(|w| names.iter().position(|n| n == w))
        .map(|at| at.ok_or("a channel is missing"))
        .collect::<Result<Vec<_>, _>>()?;
    let mut kept = Vec::new();
    for (i, trial) in set.trials().iter().enumerate() {
        if subjects.contains(&trial.domain.parse()?) {
            kept.push(i);
        }
    }
    let n = set.dimension();
    let x = MatBatch::from_fn(kept.len(), rows.len(), rows.len(), |i, r, c| {
        set.matrix(kept[i])[rows[r] * n + rows[c]]
    });
    let label =
        |f: fn(&TrialInfo) -> &str| Factor::from_labels(kept.iter().map(|&i| f(&set.trials()[i])));
    let trials = Trials::new(x, label(|t| &t.label), label(|t| &t.domain))?;
    Ok(trials.with_channels(wanted.iter().map(|&w| w.to_owned()).collect())?)
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
