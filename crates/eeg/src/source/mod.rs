//! Trials by the name of a source.
//!
//! A source is
//! * `synthetic:GEOMETRY` (`weibo2014`, `bnci2014001`, `bnci2015001`), with `,key=value` for `subjects`, `sessions` (of each), `trials` (per class
//!   and session), `seed`, `anatomy` (how much people differ), for instance `synthetic:weibo2014,subjects=4,trials=20`;
//! * the name of a public dataset (`stiefel data list`) whose files are here, with all its subjects and classes; `weibo2014:paper`,
//!   `bnci2014001:paper` and `bnci2015001:paper` are what the paper used: right hand against feet, Weibo's subjects 1–9;
//! * a dataset file (`.npz`);
//! * a recording or a folder of recordings, where it is known how to prepare them.
//!
//! A domain called `S03-2` is session 2 of subject `S03`; a run called `2/5` is run 5 of session 2.

mod simulated;

pub use simulated::simulate;

use std::path::Path;

use stiefel_data::{Origin, Steps, Trials, View};

use crate::io::{Content, Source, detect, npy, npz, read};
use crate::prepare::{
    PrepareOptions, Watch, is_catalogue, prepare, prepare_to_decide, source_name,
};
use crate::select::DataChoice;
use crate::{EegError, Result};

/// The part of a source that is wanted.
///
/// ```
/// use stiefel_eeg::select::DataChoice;
///
/// let choice = DataChoice { classes: Some(vec!["feet".into(), "tongue".into()]), ..DataChoice::default() };
/// let trials = stiefel_eeg::load("synthetic:bnci2014001,subjects=2,sessions=1,trials=6", &choice)?;
/// assert_eq!(trials.classes().names(), ["feet", "tongue"]);
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
pub fn load(source: &str, choice: &DataChoice) -> Result<Trials> {
    load_watched(source, choice, &mut |_| {})
}

/// The same, watched.
pub fn load_watched(source: &str, choice: &DataChoice, watch: &mut Watch<'_>) -> Result<Trials> {
    load_as(source, choice, None, watch)
}

/// The same; signals are prepared as the steps say, where there are any.
pub fn load_as(
    source: &str,
    choice: &DataChoice,
    steps: Option<&Steps>,
    watch: &mut Watch<'_>,
) -> Result<Trials> {
    if let Some(what) = source.strip_prefix("synthetic:") {
        let config = simulated::generator(what)?;
        let made = steps.map(Steps::broad);
        let view = View {
            band: (choice.band).unwrap_or(made.map_or([8.0, 32.0], |view| view.band)),
            window: (choice.window).unwrap_or(made.map_or([0.5, config.imagery], |v| v.window)),
        };
        return choice.of(&simulated::simulate_as(&config, source, view, watch)?);
    }
    let path = Path::new(source);
    let named = is_catalogue(source) || path.is_dir();
    if !named && !path.exists() {
        return Err(EegError::setting(
            format!("\"{source}\" is neither a file nor the name of a dataset"),
            "give a .npz of covariances, a dataset of `stiefel data list`, or synthetic:weibo2014",
        ));
    }
    if !named && let Some(trials) = covariances(path)? {
        return part_of_file(path, trials, choice);
    }
    let options = options_for(source, choice, steps)?;
    match steps {
        Some(_) => prepare_to_decide(source, &options, watch),
        None => Ok(prepare(&[source.to_owned()], &options, watch)?.0),
    }
}

/// How signals are prepared: as the steps say, or with the defaults of a public dataset; what contradicts the steps is refused there.
fn options_for(source: &str, choice: &DataChoice, steps: Option<&Steps>) -> Result<PrepareOptions> {
    let Some(steps) = steps else {
        if is_catalogue(source) {
            return Ok(PrepareOptions::of_choice(choice));
        }
        return Err(EegError::setting(
            format!("{source} holds signals, but nothing says how to make trials of them"),
            "turn recordings or epochs into covariances first: `stiefel prepare`",
        ));
    };
    let mut options = PrepareOptions::as_in(steps);
    options.subjects.clone_from(&choice.subjects);
    options.band = choice.band.or(options.band);
    options.window = choice.window.or(options.window);
    options.channels = choice.channels.clone().or(options.channels);
    if is_catalogue(source) {
        // Its recordings name their events by class.
        options.classes = steps
            .classes
            .iter()
            .map(|(_, class)| (class.clone(), class.clone()))
            .collect();
        options.classes.dedup();
    }
    if let Some(classes) = &choice.classes {
        options.classes.retain(|(_, class)| classes.contains(class));
    }
    Ok(options)
}

/// The trials of a file of covariances; none where it holds signals.
fn covariances(path: &Path) -> Result<Option<Trials>> {
    if ![npz::FORMAT, npy::FORMAT].contains(&detect(&mut Source::open(path)?)?) {
        return Ok(None);
    }
    match read(path)? {
        Content::Trials(trials) => Ok(Some(trials)),
        _ => Ok(None),
    }
}

/// The part of a file's trials that is wanted; they are called as the file is.
///
/// ```
/// use stiefel_eeg::{load, part_of_file, select::DataChoice};
///
/// let all = DataChoice::default();
/// let trials = load("synthetic:bnci2014001,subjects=1,sessions=1,trials=6", &all)?;
/// let named = part_of_file("mine.npz".as_ref(), trials, &all)?;
/// assert_eq!(named.origin().name, "mine");
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
pub fn part_of_file(path: &Path, trials: Trials, choice: &DataChoice) -> Result<Trials> {
    let origin = Origin {
        name: source_name(&path.to_string_lossy()),
        ..trials.origin().clone()
    };
    choice.of(&trials.with_origin(origin))
}
