//! Markers: which are cues, which window each has, and which trial a moment lies in.

use crate::window::Within;
use stiefel_data::{Role, TrialId};
use stiefel_eeg::recipe::stream::Timing;

/// A cue whose window is not over yet.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cue {
    pub(crate) sample: i64,
    pub(crate) class: Option<usize>,
    /// The trial, where it is known, and what the model knows of it.
    pub(crate) trial: Option<TrialId>,
    pub(crate) seen: Role,
    end: i64,
    label: usize,
}

/// A marker of any kind: what begins there, and whether a window has ended in it yet.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    sample: i64,
    class: Option<usize>,
    seen: Role,
    entered: bool,
}

/// The markers of a stream.
#[derive(Debug, Clone)]
pub(crate) struct Cues {
    /// Labels, each with the class it stands for; those that are cues without a class have none.
    known: Vec<(String, Option<usize>)>,
    /// Cues by the end of their window.
    waiting: Vec<Cue>,
    stretches: Vec<Stretch>,
}

impl Cues {
    /// Starts with the labels of events and the class each stands for, the model's classes, whether
    /// their names are labels too, and further labels that are cues.
    pub(crate) fn new(
        classes: &[(String, String)],
        names: &[String],
        named: bool,
        others: &[String],
    ) -> Self {
        let class = |name: &String| names.iter().position(|n| n == name);
        let mapped = classes
            .iter()
            .map(|(label, name)| (label.clone(), class(name)));
        let plain = names.iter().filter(|_| named);
        let plain = plain.map(|name| (name.clone(), class(name)));
        let others = others.iter().map(|label| (label.clone(), None));
        let mut known: Vec<(String, Option<usize>)> = Vec::new();
        for (label, class) in mapped.chain(plain).chain(others) {
            if !known.iter().any(|(l, _)| *l == label) {
                known.push((label, class));
            }
        }
        Self {
            known,
            waiting: Vec::with_capacity(16),
            stretches: Vec::with_capacity(16),
        }
    }

    /// Takes a marker in.
    pub(crate) fn mark(
        &mut self,
        sample: i64,
        label: &str,
        (trial, seen): (Option<TrialId>, Role),
        timing: &Timing,
    ) {
        let known = self.known.iter().position(|(l, _)| l == label);
        let class = known.and_then(|at| self.known[at].1);
        let place = self.stretches.partition_point(|s| s.sample <= sample);
        let stretch = Stretch {
            sample,
            class,
            seen,
            entered: false,
        };
        self.stretches.insert(place, stretch);
        if let Some(label) = known {
            let end = sample + timing.last;
            let place = self.waiting.partition_point(|c| c.end <= end);
            let cue = Cue {
                sample,
                class,
                trial,
                seen,
                end,
                label,
            };
            self.waiting.insert(place, cue);
        }
    }

    /// Where the next window of a cue ends.
    pub(crate) fn next_end(&self) -> i64 {
        self.waiting.first().map_or(i64::MAX, |c| c.end)
    }

    /// The first cue whose window ends by now.
    pub(crate) fn take(&mut self, now: i64) -> Option<Cue> {
        (self.next_end() <= now).then(|| self.waiting.remove(0))
    }

    /// The text of a cue.
    pub(crate) fn label(&self, cue: &Cue) -> &str {
        &self.known[cue.label].0
    }

    /// The labelled trial that a window ends in, and whether a stretch begins that no window has
    /// ended in before. What lies further back is forgotten.
    pub(crate) fn within(&mut self, end: i64, rate: f64) -> (Option<Within>, bool) {
        let after = self.stretches.partition_point(|s| s.sample < end);
        let Some(at) = after.checked_sub(1) else {
            return (None, false);
        };
        self.stretches.drain(..at);
        let stretch = &mut self.stretches[0];
        let new = !std::mem::replace(&mut stretch.entered, true);
        let seconds = (end - stretch.sample) as f64 / rate;
        let seen = stretch.seen;
        let within = stretch.class.map(|class| Within {
            class,
            seconds,
            seen,
        });
        (within, new)
    }
}
