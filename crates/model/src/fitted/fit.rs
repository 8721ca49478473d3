//! From trials to a model.

use super::{About, Distances, FittedModel, OP};
use crate::error::check_count;
use crate::kind::{Fit, ModelSpec};
use crate::metrics::{Scores, score};
use crate::train::Observer;
use crate::{ModelError, Result};
use stiefel_data::{Seen, Trials};

impl FittedModel {
    /// Fits on training trials; validation trials choose the epoch of a network or a penalty, and
    /// give the model a score. An observer that stops a network gets the best epoch so far;
    /// stopping what has no epochs is [`ModelError::Cancelled`].
    pub fn fit(
        training: &Trials,
        validation: &Trials,
        spec: &ModelSpec,
        observer: &mut dyn Observer,
    ) -> Result<Self> {
        Self::fit_from(training, validation, spec, None, observer)
    }

    /// Fits from the network and the encoder of a model that was fitted before, whose channels,
    /// classes, domains and options of the network are the same.
    pub fn fit_from(
        training: &Trials,
        validation: &Trials,
        spec: &ModelSpec,
        start: Option<&Self>,
        observer: &mut dyn Observer,
    ) -> Result<Self> {
        let fitted = Self::fit_parts(training, validation, spec, start, observer);
        fitted.map_err(|error| error.in_trials([training, validation]))
    }

    fn fit_parts(
        training: &Trials,
        validation: &Trials,
        spec: &ModelSpec,
        start: Option<&Self>,
        observer: &mut dyn Observer,
    ) -> Result<Self> {
        let (expected, found) = (training.views(), validation.views());
        check_count(OP, "views of the validation trials", expected, found)?;
        if let Some(c) = (training.preparation()).contradiction(validation.preparation()) {
            return Err(ModelError::Contradiction(c));
        }
        let (kind, settings) = (spec.kind(), spec.settings());
        let fit = Fit {
            training,
            validation,
            start: start.map(Self::model),
            observer: &mut *observer,
        };
        let mut fitted = Self {
            model: kind.fit(settings, fit)?,
            about: About::new(training.preparation().clone()),
        };
        fitted.about.seen = Seen::of(training, validation);
        fitted.about.scaling.clone_from(&spec.scaling);
        if fitted.about.seen.stopped_count() > 0 {
            // Judged before a second fit has seen the trials that judge.
            fitted.about.validation = fitted.validated(validation)?;
            if kind.refits(settings) {
                let about = fitted.about.clone();
                // What the first fit holds is not needed while the second one needs memory.
                drop(fitted);
                fitted = Self::refitted(training, validation, spec, about, observer)?;
            }
        }
        fitted.about.distances = Distances::from_training(&fitted, training);
        Ok(fitted)
    }

    fn refitted(
        training: &Trials,
        validation: &Trials,
        spec: &ModelSpec,
        mut about: About,
        observer: &mut dyn Observer,
    ) -> Result<Self> {
        let both = training.joined(validation)?;
        let fit = Fit {
            training: &both,
            validation: &both,
            start: None,
            observer,
        };
        about.seen.learn_stopped();
        Ok(Self {
            model: spec.kind().fit(spec.settings(), fit)?,
            about,
        })
    }

    /// Scores the validation trials of domains that had training trials.
    fn validated(&self, validation: &Trials) -> Result<Option<Scores>> {
        let known = |&i: &usize| self.knows(validation.domains().label(i));
        let at: Vec<usize> = (0..validation.len()).filter(known).collect();
        if at.is_empty() {
            return Ok(None);
        }
        let judged = validation.select(&at)?;
        let p = self.decide(&judged, None)?.probabilities;
        Ok(Some(score(&self.truth(&judged)?, p.data(), p.cols())?))
    }
}
