//! The trials of a recording decided as for a score, to be set beside what was decided live.

use std::path::Path;

use stiefel_data::{Provenance, Recipe};
use stiefel_eeg::io::read;
use stiefel_eeg::recipe::Preparing;
use stiefel_model::{FittedModel, Unseen};

use crate::Result;

/// Decides every trial of a recording: the sample of its event, its class as decided, and its class.
/// Empty where no event stands for a class.
///
/// Prepared as the model's training trials were, filter and all; decided as trials of `domain`.
pub fn offline(
    model: &FittedModel,
    made: &Provenance,
    path: &Path,
    domain: &str,
    unseen: Option<&Unseen>,
) -> Result<Vec<(i64, usize, usize)>> {
    let recipe = Recipe {
        rate: None,
        reject: None,
        ..made.recipe.clone()
    };
    let known = |label: &str| recipe.classes.iter().any(|(l, _)| l == label);
    let mut preparing = Preparing::new(&recipe)?;
    let (mut samples, mut offset) = (Vec::new(), 0);
    for recording in read(path)?.into_recordings()? {
        let rate = recording.sampling_rate();
        let onset = |seconds: f64| (seconds * rate).round_ties_even();
        let fits = |e: &&stiefel_eeg::Event| {
            recipe.views.iter().all(|v| {
                let start = onset(e.onset) + onset(v.window[0]);
                let length = onset(v.window[1] - v.window[0]);
                start >= 0.0 && start + length <= recording.samples() as f64
            })
        };
        let cues = recording.events().iter().filter(|e| known(&e.label));
        let empty = cues.clone().next().is_none();
        samples.extend(cues.filter(fits).map(|e| offset + onset(e.onset) as i64));
        offset += recording.samples() as i64 + onset(crate::source::BETWEEN) as i64;
        if !empty {
            preparing.add(recording, domain, None)?;
        }
    }
    if samples.is_empty() {
        return Ok(Vec::new());
    }
    let trials = preparing
        .finish()?
        .trials
        .with_preparation(made.clone().into());
    let decided = model.decide(&trials, unseen.filter(|_| !model.knows(domain)))?;
    let truth = |i: usize| {
        let name = trials.classes().name(trials.classes().indices()[i]);
        model.classes().iter().position(|c| c == name)
    };
    let all = samples.into_iter().zip(decided.classes()).enumerate();
    Ok(all
        .filter_map(|(i, (sample, class))| Some((sample, class, truth(i)?)))
        .collect())
}
