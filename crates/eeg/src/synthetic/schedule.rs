//! The order of trials in a run and what imagery does to the rhythms of each area.
//!
//! During imagery the amplitude of a rhythm is multiplied by `exp(depth · g(t) · m[class][area] ·
//! κ)`: `g` rises from 0 at 0.3 s after the cue to 1 at 1 s and falls over half a second after the
//! end; `κ` varies from trial to trial and is 0 in trials without imagery. `m` is negative where
//! the area desynchronises (Pfurtscheller & Lopes da Silva, Clin. Neurophysiol. 110 (1999)) and
//! slightly positive where its neighbour does (Pfurtscheller et al., NeuroImage 31 (2006)).

use super::config::{Imagery, SyntheticConfig};
use super::random::{Purpose, Stream};
use super::subject::AREAS;

/// One trial of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Trial {
    /// Onset of the cue in samples.
    pub(super) sample: usize,
    pub(super) class: Imagery,
    /// How strongly the subject imagines.
    pub(super) effort: f64,
}

/// Seconds of rest before the first and after the last trial.
const REST: f64 = 2.0;

/// The trials of a run and its length in samples.
pub(super) fn schedule(
    config: &SyntheticConfig,
    subject: usize,
    session: usize,
    run: usize,
) -> (Vec<Trial>, usize) {
    let mut stream = Stream::new(
        config.seed,
        Purpose::Schedule,
        subject + 1,
        session + 1,
        run + 1,
    );
    let share = config.trials_per_class / config.runs
        + usize::from(run < config.trials_per_class % config.runs);
    let mut classes: Vec<Imagery> = config
        .classes
        .iter()
        .flat_map(|&c| std::iter::repeat_n(c, share))
        .collect();
    stream.shuffle(&mut classes);
    let mut now = REST;
    let trials = classes
        .into_iter()
        .map(|class| {
            let sample = (now * config.sampling_rate).round() as usize;
            let engaged = stream.uniform() < config.engagement;
            let effort = if engaged {
                (0.4 * stream.normal()).exp()
            } else {
                0.0
            };
            now += config.imagery + config.pause * (0.9 + 0.2 * stream.uniform());
            Trial {
                sample,
                class,
                effort,
            }
        })
        .collect();
    (
        trials,
        ((now + REST) * config.sampling_rate).ceil() as usize,
    )
}

/// `m[class][area]`: left hand area, right hand area, feet, left and right tongue areas.
pub(super) fn modulation(class: Imagery) -> [f64; AREAS] {
    match class {
        Imagery::LeftHand => [-0.4, -1.0, 0.2, 0.0, 0.0],
        Imagery::RightHand => [-1.0, -0.4, 0.2, 0.0, 0.0],
        Imagery::Feet => [0.2, 0.2, -0.9, 0.0, 0.0],
        Imagery::Tongue => [0.1, 0.1, 0.1, -0.8, -0.8],
    }
}

/// `g(t)`, `t` in seconds from the cue.
pub(super) fn envelope(t: f64, imagery: f64) -> f64 {
    let smooth = |x: f64| {
        let x = x.clamp(0.0, 1.0);
        x * x * (3.0 - 2.0 * x)
    };
    smooth((t - 0.3) / 0.7) * (1.0 - smooth((t - imagery) / 0.5))
}
