//! Trials as a model takes them, and what it says of them.

use super::{DecisionSession, FittedModel, OP};
use crate::error::check_count;
use crate::net::Routing;
use crate::{AdaptPolicy, Decided, ModelError, Result};
use stiefel_data::{Preparation, Trials, channel_places};
use stiefel_linalg::{Mat, MatBatch, MatView};

impl FittedModel {
    /// Returns trials as the model takes them: its channels in its order, where both have names,
    /// and its views among those of the trials, where both say how they were made. Refuses
    /// other channels, other views, and matrices that were made another way.
    pub fn accept(&self, trials: &Trials) -> Result<Trials> {
        let trials = self.own_channels(self.own_views(trials)?)?;
        if let Some(c) = self.about.preparation.contradiction(trials.preparation()) {
            return Err(ModelError::Contradiction(c));
        }
        let (views, found) = (self.view_count(), trials.views());
        if views != found {
            let plural = |count: usize| if count == 1 { "view" } else { "views" };
            return Err(ModelError::Impossible {
                op: OP,
                why: format!(
                    "the trials have {found} {}, but the model takes {views}",
                    plural(found)
                ),
                remedy: "prepare the trials with the views the model was trained on",
            });
        }
        let (expected, found) = (self.channel_count(), trials.channels_count());
        if expected != found {
            return Err(ModelError::Channels {
                op: OP,
                expected,
                found,
            });
        }
        Ok(trials)
    }

    /// The model's channels in its order, where both have names.
    fn own_channels(&self, trials: Trials) -> Result<Trials> {
        let (Some(own), Some(names)) = (self.channels(), trials.channels()) else {
            return Ok(trials);
        };
        if own == names {
            return Ok(trials);
        }
        if let Err(name) = channel_places(names, own) {
            return Err(ModelError::Impossible {
                op: OP,
                why: format!(
                    "the model needs channel {name}; the trials have {}",
                    names.join(", ")
                ),
                remedy: "give the channels the model was trained on",
            });
        }
        Ok(trials.pick_named(own)?)
    }

    /// The views the model was trained on, where the trials have them and more.
    fn own_views(&self, trials: &Trials) -> Result<Trials> {
        let views = |of: &Preparation, count: usize| {
            let views = &of.recipe()?.views;
            (views.len() == count).then(|| views.clone())
        };
        let own = views(self.preparation(), self.view_count());
        let given = views(trials.preparation(), trials.views());
        let (Some(own), Some(given)) = (own, given) else {
            return Ok(trials.clone());
        };
        let place = |view| given.iter().position(|v| v == view);
        let at: Option<Vec<usize>> = own.iter().map(place).collect();
        match at {
            Some(at) => Ok(trials.pick_views(&at)?),
            // What differs is said by whoever compares the preparations.
            None => Ok(trials.clone()),
        }
    }

    /// Decides every trial, in order within each domain. Domains are known by name; those without
    /// training trials are decoded as `adapt` says.
    pub fn decide(&self, trials: &Trials, adapt: Option<&AdaptPolicy>) -> Result<Decided> {
        self.decide_with(&self.accept(trials)?, adapt, Routing::Learnt)
    }

    /// Decides under other weights of the experts, for controls; trials have been accepted.
    pub(super) fn decide_with(
        &self,
        trials: &Trials,
        adapt: Option<&AdaptPolicy>,
        routing: Routing<'_, f64>,
    ) -> Result<Decided> {
        let (count, classes) = (trials.len(), self.classes().len());
        let experts = self.expert_count().unwrap_or(0);
        let mut probabilities = MatBatch::zeros(1, count, classes);
        let mut alpha = MatBatch::zeros(1, count, experts);
        let (mut queries, mut notes) = (vec![Vec::new(); count], Vec::new());
        let mut trial = Vec::new();
        for domain in trials.domains().present() {
            let (name, at) = (trials.domains().name(domain), trials.of_domain(domain));
            let own = trials.select(&at)?;
            let views = own.matrices();
            let mut session = self.session_for(name, &views, adapt)?;
            notes.extend(session.note());
            for (place, &i) in at.iter().enumerate() {
                let own;
                let weights = match routing {
                    Routing::Given(all) => {
                        own = MatBatch::from_fn(1, 1, all.cols(), |_, _, j| all.get(0, i, j));
                        Routing::Given(&own)
                    }
                    other => other,
                };
                trial.clear();
                for x in &views {
                    trial.extend_from_slice(x.matrix(place));
                }
                let decision = session
                    .decide_with(&trial, weights)
                    .map_err(|error| error.at_trial(trials.place(i)))?;
                probabilities.matrix_mut(0)[i * classes..][..classes]
                    .copy_from_slice(decision.probabilities);
                let given = decision.routing.unwrap_or_default();
                alpha.matrix_mut(0)[i * experts..][..experts].copy_from_slice(given);
                queries[i] = session.query().unwrap_or_default();
            }
        }
        let width = queries.first().map_or(0, Vec::len);
        let queries = MatBatch::from(Mat::new(count, width, queries.concat()));
        Ok(Decided {
            probabilities,
            routing: (experts > 0).then_some(alpha),
            queries: (experts > 0).then_some(queries),
            notes,
        })
    }

    /// A domain whose trials are all at hand, one batch per view: own means and nearest domains
    /// look at all of them, a causal mean at none before it decides.
    pub fn session_for(
        &self,
        domain: &str,
        trials: &[MatView<'_, f64>],
        adapt: Option<&AdaptPolicy>,
    ) -> Result<DecisionSession> {
        let causal = adapt.is_some_and(AdaptPolicy::is_causal);
        if causal && adapt.is_some_and(|u| u.embedding.uses_target_data()) && !self.knows(domain) {
            return Err(ModelError::Impossible {
                op: OP,
                why: "a nearest or adapted embedding is found with all trials, but causal \
                      whitening knows only the trials so far"
                    .into(),
                remedy: "choose own-mean whitening, or the embedding zero",
            });
        }
        self.session(domain, adapt, if causal { &[] } else { trials })
    }

    /// Decisions for one domain, trial by trial, with whatever they change (a causal mean) kept
    /// from one to the next. `seen` are unlabelled trials of a domain without training trials
    /// that are known beforehand, one batch `count × n × n` per view; none at all is an empty list,
    /// and a training domain needs none.
    pub fn session(
        &self,
        domain: &str,
        adapt: Option<&AdaptPolicy>,
        seen: &[MatView<'_, f64>],
    ) -> Result<DecisionSession> {
        self.check_seen(seen)?;
        DecisionSession::new(self, domain, adapt, seen)
    }

    /// As many batches as views, of as many trials each, or none.
    fn check_seen(&self, seen: &[MatView<'_, f64>]) -> Result<()> {
        let Some(first) = seen.first() else {
            return Ok(());
        };
        let counts = [
            ("views", self.view_count(), seen.len()),
            (
                "unlabelled trials of every view",
                first.count(),
                seen.iter().map(MatView::count).min().unwrap_or(0),
            ),
        ];
        let mut counts = counts.into_iter();
        counts.try_for_each(|(what, expected, found)| check_count(OP, what, expected, found))
    }
}
