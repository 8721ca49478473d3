//! The quality of a recording of which no trials are made.

use stiefel_data::{Quality, Recipe};

use super::pipeline::Preparing;
use crate::{Event, Recording, Result};

/// Seconds of the windows that a recording is looked at in, whatever its events are.
const SECONDS: f64 = 3.0;

/// Looks at a recording as a whole, in windows of three seconds, under a name for it.
pub fn quality_of(recording: &Recording, name: &str) -> Result<Quality> {
    let rate = recording.sampling_rate();
    let seconds = recording.samples() as f64 / rate;
    let windows = (seconds / SECONDS) as usize;
    let event = |i: usize| Event {
        sample: (i as f64 * SECONDS * rate) as usize,
        onset: i as f64 * SECONDS,
        duration: 0.0,
        label: "window".into(),
    };
    let recording = recording
        .clone()
        .with_events((0..windows).map(event).collect());
    let mut recipe = Recipe {
        reject: None,
        classes: vec![("window".into(), "window".into())],
        ..Recipe::default()
    };
    for view in &mut recipe.views {
        view.window = [0.0, SECONDS];
    }
    let mut preparing = Preparing::new(&recipe)?;
    preparing.add(recording, name, None)?;
    Ok(preparing.finish()?.quality)
}
