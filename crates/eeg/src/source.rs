//! Trials by the name of a source.
//!
//! A source is
//! * `synthetic:GEOMETRY` (`weibo2014`, `bnci2014001`, `bnci2015001`), with `,key=value` for
//!   `subjects`, `sessions` (of each), `trials` (per class and session), `seed`, `anatomy` (how
//!   much people differ), for instance `synthetic:weibo2014,subjects=4,trials=20`;
//! * the name of a public dataset (`stiefel data list`) whose files are here, with all its subjects
//!   and classes; `weibo2014:paper`, `bnci2014001:paper` and `bnci2015001:paper` are what the paper
//!   used: right hand against feet, Weibo's subjects 1–9;
//! * a dataset file (`.npz`);
//! * a recording or a folder of recordings, where it is known how to prepare them.
//!
//! A domain called `S03-2` is session 2 of subject `S03`; a run called `2/5` is run 5 of session 2.

use std::path::Path;

use stiefel_data::{Input, Origin, Phase, Provenance, Recipe, Trials};

use crate::quality;
use crate::recipe::{Inputs, Opened, Watch, is_catalogue, open_file, run, source_name};
use crate::select::{Selection, without_repeats};
use crate::{EegError, Result};

/// Loads the part of a source that is wanted.
///
/// ```
/// use stiefel_eeg::select::Selection;
///
/// let part = Selection {
///     classes: Some(vec!["feet".into(), "tongue".into()]),
///     ..Selection::default()
/// };
/// let trials = stiefel_eeg::load(
///     "synthetic:bnci2014001,subjects=2,sessions=1,trials=6",
///     &part,
/// )?;
/// assert_eq!(trials.classes().names(), ["feet", "tongue"]);
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
pub fn load(source: &str, part: &Selection) -> Result<Trials> {
    load_as(source, part, None, false, &mut |_| {})
}

/// Loads the part of a source that is wanted; signals are prepared as `made` says, where it is
/// given, and with the defaults of public data sets otherwise. With `causal` they are filtered
/// forwards only, as a live signal is; a model knows them as it would without. Each file is read
/// once.
pub fn load_as(
    source: &str,
    part: &Selection,
    made: Option<&Provenance>,
    causal: bool,
    watch: &mut Watch<'_>,
) -> Result<Trials> {
    let path = Path::new(source);
    let synthetic = source.starts_with("synthetic:");
    let named = synthetic || is_catalogue(source);
    if !named && !path.exists() {
        return Err(EegError::setting(
            format!("\"{source}\" is neither a file nor the name of a dataset"),
            "give a .npz of covariances, a dataset of `stiefel data list`, or synthetic:weibo2014",
        ));
    }
    let mut recipe = recipe_for(made, named);
    if synthetic {
        // A simulated study is a set of trials, as a dataset file is.
        recipe.reject = made.map_or(recipe.reject, |made| made.recipe.reject);
    } else {
        recipe.channels = part
            .channels
            .as_ref()
            .map_or(recipe.channels, |c| Some(c.names()));
        if let Some(classes) = &part.classes {
            recipe.classes.retain(|(_, class)| classes.contains(class));
            if recipe.classes.is_empty() {
                recipe.classes = classes.iter().map(|c| (c.clone(), c.clone())).collect();
            }
        }
    }
    let input = Input {
        subjects: part.subjects.clone().filter(|_| !synthetic),
        duplicates: part.duplicates,
        ..made.map(|made| made.input.reading()).unwrap_or_default()
    };
    let single = !named && !path.is_dir();
    let mut inputs = if single {
        match open_file(path, &input, &recipe)? {
            Opened::Trials(_) if causal => {
                return Err(EegError::setting(
                    format!("{source} already holds covariances, which cannot be filtered again"),
                    "give the recordings, or decide without the causal filter",
                ));
            }
            Opened::Trials(trials) => {
                let trials = part_of_file(path, *trials, part)?;
                quality::check(&trials.origin().quality)?;
                return Ok(trials);
            }
            Opened::Signals(inputs) => *inputs,
        }
    } else {
        Inputs::open(&[source.to_owned()], &input, &recipe)?
    };
    if made.is_none() && !named {
        return Err(EegError::setting(
            format!("{source} holds signals, but nothing says how to make trials of them"),
            "turn recordings or epochs into covariances first: `stiefel prepare`",
        ));
    }
    if made.is_some() {
        inputs = inputs.with_any_labels();
    } else {
        recipe.views = inputs.views(None, None, "broad")?;
    }
    let own = recipe.phase;
    if causal {
        recipe.phase = Phase::Causal;
    }
    let mut trials = run(&recipe, inputs, watch)?.0;
    if let Some(found) = trials.preparation().known().filter(|_| causal) {
        // Asked for by name: the one step in which these differ from the model's.
        let mut as_asked = found.clone();
        as_asked.recipe.phase = own;
        trials = trials.with_preparation(as_asked.into());
    }
    if synthetic {
        return part.of(&trials);
    }
    Ok(trials)
}

/// Returns a recipe whose matrices compare with those of `made`. No trial is left out: whoever
/// decides decides all.
fn recipe_for(made: Option<&Provenance>, named: bool) -> Recipe {
    let Some(made) = made else {
        return Recipe::default();
    };
    let mut recipe = Recipe {
        reject: None,
        rate: Some(made.rate()),
        ..made.recipe.clone()
    };
    if named {
        // Recordings of public and simulated data sets name their events by class.
        let classes = recipe.classes.iter().map(|(_, class)| class.clone());
        recipe.classes = classes.map(|class| (class.clone(), class)).collect();
        recipe.classes.dedup();
    }
    recipe
}

/// Returns the part of a file's trials that is wanted; they are called as the file is. Trials that
/// occur twice are refused, or the first is kept. Where their signals are not known, their
/// covariances are looked at.
///
/// ```
/// use stiefel_eeg::{load, part_of_file, select::Selection};
///
/// let all = Selection::default();
/// let trials = load("synthetic:bnci2014001,subjects=1,sessions=1,trials=6", &all)?;
/// let named = part_of_file("mine.npz".as_ref(), trials, &all)?;
/// assert_eq!(named.origin().name, "mine");
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
pub fn part_of_file(path: &Path, trials: Trials, part: &Selection) -> Result<Trials> {
    let origin = Origin {
        name: source_name(&path.to_string_lossy()),
        ..trials.origin().clone()
    };
    let trials = without_repeats(trials.with_origin(origin), part.duplicates);
    let trials = part.of(&trials.map_err(|error| error.in_file(path))?)?;
    if !trials.origin().quality.is_empty() {
        return Ok(trials);
    }
    let origin = Origin {
        quality: quality::of_trials(&trials)?,
        ..trials.origin().clone()
    };
    Ok(trials.with_origin(origin))
}
