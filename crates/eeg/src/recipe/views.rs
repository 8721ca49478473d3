//! Lists of views by name, and views of trials that are at hand.

use stiefel_data::{Origin, Recipe, Trials, View};

use super::pipeline::Preparing;
use crate::{EegError, Epochs, Result};

/// Returns the views of CHOIR around a broad one: its band, 10–14 and 20–28 Hz in its window, and
/// all three in a window of two thirds its length that begins a twelfth earlier (0.25–2.25 s for
/// 0.5–3.5 s), but not before `earliest`.
pub fn choir_views(broad: View, earliest: f64) -> Vec<View> {
    let [from, to] = broad.window;
    let length = to - from;
    let begin = (from - length / 12.0).max(earliest);
    let early = [begin, begin + length * (2.0 / 3.0)];
    let [alpha, beta] = [[10.0, 14.0], [20.0, 28.0]];
    let view = |band, window| View { band, window };
    vec![
        broad,
        view(alpha, broad.window),
        view(beta, broad.window),
        view(alpha, early),
        view(beta, early),
        view(broad.band, early),
    ]
}

/// Reads a list of views: `broad` (the broad one alone), `choir` (its six around the broad one), or
/// bands and windows, the broad one first.
///
/// ```
/// use stiefel_data::View;
/// use stiefel_eeg::recipe::parse_views;
///
/// let broad: View = "8-32@0.5-3.5".parse()?;
/// assert_eq!(
///     parse_views("8-30@0.5-3.5,10-14@0.5-2.5", broad, 0.0)?.len(),
///     2
/// );
/// assert_eq!(
///     parse_views("choir", broad, 0.0)?[5].to_string(),
///     "8–32 Hz, 0.25–2.25 s"
/// );
/// assert!(parse_views("broadd", broad, 0.0).is_err());
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
pub fn parse_views(text: &str, broad: View, earliest: f64) -> Result<Vec<View>> {
    match text.trim() {
        "broad" => return Ok(vec![broad]),
        "choir" => return Ok(choir_views(broad, earliest)),
        _ => {}
    }
    let views: std::result::Result<Vec<View>, _> = text.split(',').map(str::parse).collect();
    views.map_err(|error| EegError::setting(error.to_string(), "or choose broad or choir"))
}

/// Computes the covariances of trials that are at hand; nothing is left out. Windows are in seconds
/// from an event that is at `-start` seconds of a trial.
///
/// Refuses a window that trials do not reach.
pub fn views_of(epochs: &Epochs, recipe: &Recipe, start: f64) -> Result<Trials> {
    recipe.check()?;
    let end = start + epochs.samples() as f64 / epochs.sampling_rate();
    // Half a sample is the rounding of times.
    let slack = 0.5 / epochs.sampling_rate();
    let outside = |v: &&View| v.window[0] < start - slack || v.window[1] > end + slack;
    if let Some(view) = recipe.views.iter().find(outside) {
        return Err(EegError::invalid(
            format!(
                "the view {view} reaches beyond the trials, which last from {start} to {end} s"
            ),
            "cut longer trials, or choose views within them",
        ));
    }
    let mut recipe = recipe.clone();
    recipe.reject = None;
    for view in &mut recipe.views {
        view.window = view.window.map(|seconds| seconds - start);
    }
    let mut preparing = Preparing::new(&recipe)?;
    preparing.add_epochs(epochs)?;
    let made = preparing.finish()?;
    let mut provenance = made.provenance;
    for view in &mut provenance.recipe.views {
        view.window = view.window.map(|seconds| seconds + start);
    }
    let origin = Origin {
        quality: made.quality,
        ..Origin::default()
    };
    let trials = made.trials.with_origin(origin);
    Ok(trials.with_preparation(provenance.into()))
}
