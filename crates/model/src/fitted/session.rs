//! Decisions for one domain, trial by trial.

use super::{FittedModel, OP};
use crate::decoder::Decision;
use crate::kind::{Engine, Start};
use crate::net::Routing;
use crate::precondition::Adaptation;
use crate::{ModelError, Result, Unseen, UnseenEmbedding};
use std::sync::Arc;
use stiefel_linalg::MatView;

/// A model at work on the trials of one domain. Under causal whitening every decision changes the
/// mean of the next.
#[derive(Debug)]
pub struct Session {
    name: String,
    engine: Box<dyn Engine>,
    note: Option<String>,
}

impl Session {
    pub(super) fn new(
        model: &FittedModel,
        name: &str,
        unseen: Option<&Unseen>,
        seen: &[MatView<'_, f64>],
    ) -> Result<Self> {
        let known_domains = model.known_domains();
        let unseen = unseen.filter(|u| model.policy_applies(name, u, !seen.is_empty()));
        if let Some(embedding) = unseen.map(|u| u.embedding)
            && embedding != UnseenEmbedding::InputOnly
            && !model.has_embedding()
        {
            return Err(ModelError::Impossible {
                op: OP,
                why: format!("{embedding} stands in for an embedding, but the model has none"),
                remedy: "choose input-only, or leave it out",
            });
        }
        let start = Start {
            name,
            known: model.known(name),
            unseen,
            seen,
            known_domains: &known_domains,
        };
        let engine = Arc::clone(&model.model).start(&start)?;
        Ok(Self {
            note: note(name, &*engine),
            name: name.to_owned(),
            engine,
        })
    }

    /// Returns whose trials are decided.
    pub fn domain(&self) -> &str {
        &self.name
    }

    /// Decides a trial: its raw covariances, `n × n` each, one view after the other.
    pub fn decide(&mut self, covariances: &[f64]) -> Result<Decision<'_>> {
        self.engine.decide(covariances, Routing::Learnt)
    }

    /// Decides a trial under other weights of the experts.
    pub(super) fn decide_with(
        &mut self,
        covariances: &[f64],
        weights: Routing<'_, f64>,
    ) -> Result<Decision<'_>> {
        self.engine.decide(covariances, weights)
    }

    /// Stops, or continues, learning from unlabelled trials (a causal mean). What learns nothing
    /// never changes.
    pub fn freeze(&mut self, frozen: bool) {
        self.engine.freeze(frozen);
    }

    /// Returns the query of the last decision, where a network routes.
    pub fn query(&self) -> Option<Vec<f64>> {
        self.engine.query()
    }

    /// Returns what every view added to the last decision, where the model tells: log-odds for the
    /// class that is decided, which add up to its own where there are two classes.
    pub fn contributions(&self) -> Option<&[f64]> {
        self.engine.contributions()
    }

    /// Says what is done for a domain without training trials, or known from a few labelled ones.
    pub fn note(&self) -> Option<String> {
        self.note.clone()
    }

    /// Returns how its trials are whitened, where it had no training trials.
    pub fn whitening(&self) -> Option<Adaptation> {
        self.engine.adaptation()
    }
}

fn note(name: &str, engine: &dyn Engine) -> Option<String> {
    let mut parts = Vec::new();
    parts.extend(
        engine
            .adaptation()
            .map(|policy| format!("whitened {policy}")),
    );
    parts.extend(engine.remarks());
    (!parts.is_empty()).then(|| format!("{name}: {}", parts.join(", ")))
}
