//! The trials of a recording decided as for a score, to be set beside what was decided live.

use std::path::Path;

use stiefel_data::{Preparation, Steps, View};
use stiefel_eeg::covariance::Pipeline;
use stiefel_eeg::io::read;
use stiefel_eeg::signal::{Band, Window};
use stiefel_model::{FittedModel, ModelError, Unseen};

use crate::Result;

/// Every trial of a recording: the sample of its event, its class as decided, and its class. Empty where no event stands for a class.
///
/// Prepared as the model's training trials were, filter and all; decided as trials of `domain`.
pub fn offline(
    model: &FittedModel,
    steps: &Steps,
    path: &Path,
    domain: &str,
    unseen: Option<&Unseen>,
) -> Result<Vec<(i64, usize, usize)>> {
    let recordings = read(path)?.into_recordings()?;
    let classes: Vec<(&str, &str)> = steps
        .classes
        .iter()
        .map(|(l, c)| (l.as_str(), c.as_str()))
        .collect();
    let View {
        band: [low, high],
        window: [from, to],
    } = steps.broad();
    let pipeline = Pipeline {
        order: steps.order,
        phase: steps.phase,
        others: steps.views.iter().skip(1).copied().collect(),
        deviations: f64::INFINITY,
        estimator: steps.estimator,
        ..Pipeline::new(Band::BandPass(low, high), Window::named(from, to, &classes))
    };
    let mut preparing = pipeline.start();
    let (mut samples, mut offset) = (Vec::new(), 0);
    for recording in recordings {
        let rate = recording.sampling_rate();
        let picked = recording.pick(&steps.channels)?;
        let span = |e: &&stiefel_eeg::Event| {
            let known = classes.iter().any(|(label, _)| *label == e.label);
            let onset = (e.onset * rate).round_ties_even();
            known
                && steps.views.iter().all(|v| {
                    let start = onset + (v.window[0] * rate).round_ties_even();
                    start >= 0.0
                        && start + ((v.window[1] - v.window[0]) * rate).round_ties_even()
                            <= recording.samples() as f64
                })
        };
        let events = recording.events().iter().filter(span);
        samples.extend(events.map(|e| offset + (e.onset * rate).round_ties_even() as i64));
        let empty = !recording
            .events()
            .iter()
            .any(|e| classes.iter().any(|(l, _)| *l == e.label));
        offset += recording.samples() as i64 + (crate::source::BETWEEN * rate).round() as i64;
        if !empty {
            preparing.add(picked, domain, None)?;
        }
    }
    if samples.is_empty() {
        return Ok(Vec::new());
    }
    let trials = preparing
        .finish()?
        .trials
        .with_channels(steps.channels.clone())
        .map_err(ModelError::from)?;
    let trials = trials.with_preparation(Preparation::Made(Box::new(steps.clone())));
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
