//! Scores that say what they are scores of.
//!
//! A trial that a model was trained on, or that chose when to stop, tells nothing of how well it
//! decides new ones. Trials are known by their identity, whatever file they come in: each set is
//! divided into what is new to the model and what is not, and scored apart.

use super::{Familiarity, FittedModel};
use crate::kind::Decided;
use crate::metrics::{Decisions, DomainScores, Scores};
use crate::{AdaptPolicy, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use stiefel_data::Trials;
use stiefel_linalg::argmax;

/// Scores of one part of the judged trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgedPart {
    /// Over all of them.
    pub scores: Scores,
    /// By domain.
    pub domains: Vec<DomainScores>,
}

/// A model on labelled trials.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Trials that are new to the model: what a score means.
    pub new: Option<JudgedPart>,
    /// Trials that chose its epoch or its penalty: too good.
    pub stopped: Option<JudgedPart>,
    /// Trials it was trained on: no score.
    pub trained: Option<JudgedPart>,
    /// Whether the model remembers its trials; a model that was put together elsewhere may not,
    /// and everything is then called new.
    pub remembers: bool,
    /// The decisions, of all trials.
    pub decided: Decided,
    /// How far each trial is from those of training; none where nothing can be said.
    pub familiarity: Vec<Option<Familiarity>>,
}

impl Judged {
    /// Returns the places of the trials that are unfamiliar.
    pub fn unfamiliar(&self) -> Vec<usize> {
        let all = self.familiarity.iter().enumerate();
        let unfamiliar = all.filter(|(_, f)| f.is_some_and(|f| f.unfamiliar));
        unfamiliar.map(|(place, _)| place).collect()
    }
}

impl FittedModel {
    /// Returns the class of each trial as the model numbers them.
    pub fn truth(&self, trials: &Trials) -> Result<Vec<usize>> {
        self.names().class_of_each(trials)
    }

    /// Places of trials by what the model knows of them: trained on, stopped on, new.
    pub fn divide(&self, trials: &Trials) -> Result<[Vec<usize>; 3]> {
        Ok(self.about.seen.divide(&self.accept(trials)?))
    }

    /// Decides labelled trials and scores those it has seen apart from the others.
    pub fn judge(&self, trials: &Trials, adapt: Option<&AdaptPolicy>) -> Result<Judged> {
        let trials = self.accept(trials)?;
        let truth = self.truth(&trials)?;
        let decided = self.decide_with(&trials, adapt, crate::net::Routing::Learnt)?;
        let [trained, stopped, new] = self.about.seen.divide(&trials);
        let part = |at: &[usize]| self.part(&trials, &truth, &decided, at);
        Ok(Judged {
            new: part(&new)?,
            stopped: part(&stopped)?,
            trained: part(&trained)?,
            remembers: !self.about.seen.is_empty(),
            familiarity: self.familiarity(&trials)?,
            decided,
        })
    }

    fn part(
        &self,
        trials: &Trials,
        truth: &[usize],
        decided: &Decided,
        at: &[usize],
    ) -> Result<Option<JudgedPart>> {
        if at.is_empty() {
            return Ok(None);
        }
        let classes = self.classes().len();
        let row = |i: usize| &decided.probabilities.data()[i * classes..][..classes];
        let truth: Vec<usize> = at.iter().map(|&i| truth[i]).collect();
        let best: Vec<usize> = at.iter().map(|&i| argmax(row(i))).collect();
        let values: Option<Vec<f64>> =
            (classes == 2).then(|| at.iter().map(|&i| row(i)[1]).collect());
        let decisions = Decisions {
            truth: &truth,
            decided: &best,
            values: values.as_deref(),
            classes,
        };
        Ok(Some(JudgedPart {
            scores: decisions.scores()?,
            domains: decisions.per_domain(trials.select(at)?.domains())?,
        }))
    }
}

impl fmt::Display for Judged {
    /// How many trials the model knew, in a sentence.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |part: &Option<JudgedPart>| part.as_ref().map_or(0, |p| p.scores.trials);
        let (new, stopped, trained) =
            (count(&self.new), count(&self.stopped), count(&self.trained));
        let trials = if new == 1 { "trial" } else { "trials" };
        if !self.remembers {
            return write!(
                f,
                "{new} {trials}; the model file does not say which trials it was trained on, so \
                 these trials may be among them"
            );
        }
        let are = if new == 1 { "is" } else { "are" };
        write!(f, "{new} {trials} that {are} new to the model")?;
        if stopped > 0 {
            write!(f, ", {stopped} that chose its epoch or its penalty")?;
        }
        if trained > 0 {
            write!(f, ", {trained} that it was trained on")?;
        }
        Ok(())
    }
}
