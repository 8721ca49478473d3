//! From the name of a source to a dataset.

use super::bridge::{prepare_synthetic, trials_from_parts, trials_of};
use super::{DataChoice, Dataset, Provenance};
use crate::prepare::{Preparation, Sidecar, Watch, is_catalogue, prepare};
use crate::{Result, StudyError};
use std::path::Path;
use stiefel_eeg::io::{Content, CovarianceSet, read};
use stiefel_eeg::synthetic::SyntheticConfig;

/// Loads a source (see the [module](super)) and takes the part of it that is wanted.
///
/// ```
/// use stiefel_study::{DataChoice, load};
///
/// let choice = DataChoice { subjects: Some("1-2".into()), ..DataChoice::default() };
/// let data = load("synthetic:bnci2015001,subjects=3,trials=6", &choice)?;
/// assert_eq!(data.summary.subjects, ["S01", "S02"]);
/// # Ok::<(), stiefel_study::StudyError>(())
/// ```
pub fn load(source: &str, choice: &DataChoice) -> Result<Dataset> {
    load_watched(source, choice, &mut |_| {})
}

/// [`load`] for those who want to see how far it is.
pub fn load_watched(source: &str, choice: &DataChoice, watch: &mut Watch<'_>) -> Result<Dataset> {
    if let Some(what) = source.strip_prefix("synthetic:") {
        return synthetic(source, what, choice, watch)?.choose(choice);
    }
    if is_catalogue(source) {
        let steps = Preparation::of_choice(choice);
        return prepare(&[source.to_owned()], &steps, watch)?.into_dataset(source);
    }
    let path = Path::new(source);
    if path.is_dir() {
        return Err(StudyError::setting(
            format!("{source} is a folder"),
            "turn the recordings in it into covariances first: `stiefel prepare`",
        ));
    }
    if path.exists() {
        return file(path)?.choose(choice);
    }
    Err(StudyError::setting(
        format!("\"{source}\" is neither a file nor the name of a dataset"),
        "give a .npz of covariances, a dataset of `stiefel data list`, or synthetic:weibo2014",
    ))
}

/// Covariances of a file.
fn file(path: &Path) -> Result<Dataset> {
    let set = match read(path)? {
        Content::Covariances(set) => set,
        other => {
            return Err(StudyError::setting(
                format!("{} holds {}", path.display(), other.kind()),
                "turn recordings or epochs into covariances first: `stiefel prepare`",
            ));
        }
    };
    let name = path.file_stem().unwrap_or(path.as_os_str());
    let provenance = Sidecar::read(path)?.map_or_else(Provenance::default, |s| s.provenance());
    of_set(&name.to_string_lossy(), &set, provenance)
}

/// A set of covariances with its names.
pub(crate) fn of_set(name: &str, set: &CovarianceSet, provenance: Provenance) -> Result<Dataset> {
    let channels = set.channels().iter().map(|c| c.name.clone()).collect();
    let trials = trials_from_parts(set.data().to_vec(), channels, set.trials())?;
    Dataset::new(name, trials, provenance)
}

fn synthetic(
    source: &str,
    what: &str,
    choice: &DataChoice,
    watch: &mut Watch<'_>,
) -> Result<Dataset> {
    let mut parts = what.split(',');
    let geometry = parts.next().unwrap_or_default();
    let mut config = match geometry {
        "weibo2014" => SyntheticConfig::weibo2014(),
        "bnci2014001" => SyntheticConfig::bnci2014001(),
        "bnci2015001" => SyntheticConfig::bnci2015001(),
        other => {
            return Err(StudyError::setting(
                format!("there is no synthetic geometry \"{other}\""),
                "the geometries are weibo2014, bnci2014001 and bnci2015001",
            ));
        }
    };
    for part in parts {
        option(&mut config, part)?;
    }
    let [low, high] = choice.band.unwrap_or([8.0, 32.0]);
    let [from, to] = choice.window.unwrap_or([0.5, config.imagery]);
    // As the paper has it: a domain is a subject in BNCI2014001, a subject on one day in BNCI2015001.
    let by_session = geometry == "bnci2015001";
    let prepared = prepare_synthetic(&config, by_session, (low, high), (from, to), watch)?;
    let provenance = Provenance {
        rejected: prepared
            .rejection
            .domains
            .iter()
            .map(|d| (d.domain.clone(), d.rejected))
            .collect(),
        preparation: Some(format!(
            "simulated; {low}–{high} Hz, {from}–{to} s after the cue, sample covariance"
        )),
        licence: None,
        citation: None,
    };
    Dataset::new(source, trials_of(prepared.covariances)?, provenance)
}

/// `key=value` of a synthetic source.
fn option(config: &mut SyntheticConfig, part: &str) -> Result<()> {
    let bad = || {
        StudyError::setting(
            format!("\"{part}\" is no option of a synthetic dataset"),
            "the options are subjects=1…100, trials=2…1000 (per class and session), seed=N, anatomy=0…3",
        )
    };
    let (key, value) = part.split_once('=').ok_or_else(bad)?;
    let whole = |low: u64, high: u64| {
        let number = value.parse::<u64>().ok();
        number.filter(|x| (low..=high).contains(x)).ok_or_else(bad)
    };
    match key {
        "subjects" => {
            let count = whole(1, 100)? as usize;
            let cycle = config.sessions.clone();
            config.sessions = cycle.into_iter().cycle().take(count).collect();
        }
        "trials" => config.trials_per_class = whole(2, 1000)? as usize,
        "seed" => config.seed = whole(0, u64::MAX)?,
        "anatomy" => {
            let spread = value.parse::<f64>().ok();
            config.anatomy_spread = spread.filter(|x| (0.0..=3.0).contains(x)).ok_or_else(bad)?;
        }
        _ => return Err(bad()),
    }
    Ok(())
}
