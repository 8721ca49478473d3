//! Signals as they were recorded, before a recipe changes them, handed to the look for their
//! quality.

use stiefel_data::Recipe;
use stiefel_formats::electrode;

use crate::quality::{SignalLook, WindowOrigin};
use crate::{Channel, Epochs, Event, Recording};

/// Looks at the named channels around the events that become trials.
pub(super) fn look_at(
    look: &mut SignalLook,
    recipe: &Recipe,
    names: &[String],
    recording: &Recording,
    domain: &str,
    run: Option<&str>,
) {
    let Ok(at) = electrode::find(recording.channels(), names) else {
        // Refused, with what is there, by whoever picks them.
        return;
    };
    let rate = recording.sampling_rate();
    let samples = |seconds: f64| (seconds * rate).round_ties_even();
    let edge = |end: usize| recipe.views.iter().map(move |v| samples(v.window[end]));
    let from = edge(0).fold(f64::INFINITY, f64::min);
    let to = edge(1).fold(f64::NEG_INFINITY, f64::max);
    let (span, length) = ((to - from).max(0.0) as usize, recording.samples());
    let chosen = |e: &&Event| recipe.classes.iter().any(|(label, _)| *label == e.label);
    let starts = (recording.events().iter().filter(chosen)).map(|e| samples(e.onset) + from);
    let inside = starts.filter(|s| *s >= 0.0 && *s as usize + span <= length);
    let rows = |start: f64| -> Vec<&[f64]> {
        let row = |&c: &usize| &recording.channel(c)[start as usize..][..span];
        at.iter().map(row).collect()
    };
    let origin = WindowOrigin {
        domain,
        run,
        rate,
        samples: span,
    };
    look.add(origin, &picked(recording.channels(), &at), inside.map(rows));
}

/// Looks at the named channels of data that comes in trials, at each trial as a whole.
pub(super) fn look_at_epochs(look: &mut SignalLook, names: &[String], epochs: &Epochs) {
    let Ok(at) = electrode::find(epochs.channels(), names) else {
        return;
    };
    let (channels, samples) = (picked(epochs.channels(), &at), epochs.samples());
    for (i, info) in epochs.trials().iter().enumerate() {
        let trial = epochs.trial(i);
        let rows = at
            .iter()
            .map(|&c| &trial[c * samples..][..samples])
            .collect();
        let origin = WindowOrigin {
            domain: &info.domain,
            run: info.run.as_deref(),
            rate: epochs.sampling_rate(),
            samples,
        };
        look.add(origin, &channels, std::iter::once(rows));
    }
}

fn picked(channels: &[Channel], at: &[usize]) -> Vec<Channel> {
    at.iter().map(|&c| channels[c].clone()).collect()
}
