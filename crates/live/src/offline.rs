//! The trials of a recording decided as for a score, to be set beside what was decided live.

use std::collections::BTreeMap;

use stiefel_data::{Provenance, Recipe, Role, TrialId};
use stiefel_eeg::recipe::{LabelledRecording, Preparing};
use stiefel_model::{AdaptPolicy, FittedModel};

use crate::Result;
use crate::source::stride;

/// The decision on a trial of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OfflineDecision {
    /// The sample of its cue, as the recordings are played one after the other.
    pub sample: i64,
    /// The class that was decided.
    pub class: usize,
    /// The class that the cue stands for.
    pub truth: usize,
    /// What the model knows of the trial.
    pub seen: Role,
}

/// Decides every trial of recordings; none where no event stands for a class.
///
/// Prepared as the model's training trials were, filter and all; decided as trials of `domain`.
pub fn offline(
    model: &FittedModel,
    made: &Provenance,
    recordings: &[LabelledRecording],
    domain: &str,
    adapt: Option<&AdaptPolicy>,
) -> Result<Vec<OfflineDecision>> {
    let recipe = Recipe {
        rate: None,
        reject: None,
        ..made.recipe.clone()
    };
    let mut preparing = Preparing::new(&recipe)?;
    let (mut samples, mut offset) = (BTreeMap::<TrialId, i64>::new(), 0);
    for played in recordings {
        let before = samples.len();
        samples.extend(played.cues().map(|c| (c.trial, offset + c.sample as i64)));
        if samples.len() > before {
            preparing.add_labelled(played.clone(), domain)?;
        }
        offset += stride(played);
    }
    if samples.is_empty() {
        return Ok(Vec::new());
    }
    let trials = preparing.finish()?.trials;
    let trials = trials.with_preparation(made.clone().into());
    let decided = model.decide(&trials, adapt.filter(|_| !model.knows(domain)))?;
    let of_trial = |((i, id), class): ((usize, TrialId), usize)| {
        let name = trials.classes().label(i);
        Some(OfflineDecision {
            sample: *samples.get(&id)?,
            class,
            truth: model.classes().iter().position(|c| c == name)?,
            seen: model.about().seen.role(&id),
        })
    };
    let each = trials
        .identities()
        .unwrap_or_default()
        .into_iter()
        .enumerate();
    Ok(each.zip(decided.classes()).filter_map(of_trial).collect())
}
