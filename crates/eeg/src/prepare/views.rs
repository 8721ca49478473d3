//! Bands and windows of CHOIR, and views of trials that are at hand.

use stiefel_data::{Trials, View};

use super::inputs::Input;
use super::{DEFAULT_WINDOW, PrepareOptions};
use crate::catalogue::Signal;
use crate::{Epochs, Result};

/// The further views of CHOIR: 10–14 and 20–28 Hz in the window of the broad view, and all three bands in a window of two thirds its
/// length that begins a twelfth earlier (0.25–2.25 s for 0.5–3.5 s), but not before `earliest`.
pub fn choir_views(broad: View, earliest: f64) -> Vec<View> {
    let [from, to] = broad.window;
    let length = to - from;
    let begin = (from - length / 12.0).max(earliest);
    let early = [begin, begin + length * (2.0 / 3.0)];
    let [alpha, beta] = [[10.0, 14.0], [20.0, 28.0]];
    let view = |band, window| View { band, window };
    vec![
        view(alpha, broad.window),
        view(beta, broad.window),
        view(alpha, early),
        view(beta, early),
        view(broad.band, early),
    ]
}

/// The further views of the options, once the window of the broad one is known; no window begins before `earliest`.
pub(super) fn settle(options: &mut PrepareOptions, window: [f64; 2], earliest: f64) {
    if options.choir_views {
        let broad = View {
            band: options.broad_band(),
            window,
        };
        options.others = choir_views(broad, earliest);
    }
}

/// Covariances of trials that are at hand, in the bands and windows of the options; nothing is left out. Windows are in seconds from an event that is at
/// `-start` seconds of a trial.
pub fn views_of(epochs: &Epochs, options: &PrepareOptions, start: f64) -> Result<Trials> {
    options.check()?;
    let whole = [
        start,
        start + epochs.samples() as f64 / epochs.sampling_rate(),
    ];
    let window = options.window.unwrap_or(whole);
    let mut options = options.clone();
    options.reject = None;
    settle(&mut options, window, start);
    let from_first = |[from, to]: [f64; 2]| [from - start, to - start];
    for view in &mut options.others {
        view.window = from_first(view.window);
    }
    let pipeline = super::pipeline(&options, from_first(window));
    let mut preparing = pipeline.start();
    preparing.add_epochs(epochs)?;
    Ok(preparing.finish()?.trials)
}

/// 0.5–3.5 s after the cue, or the whole of trials.
pub(super) fn default_window(first: Option<&Result<Input>>) -> [f64; 2] {
    match first {
        Some(Ok(Input {
            signal: Signal::Epochs(epochs),
            ..
        })) => [0.0, epochs.samples() as f64 / epochs.sampling_rate()],
        _ => DEFAULT_WINDOW,
    }
}
