//! Decisions for one domain, trial by trial.

use super::{FittedModel, OP};
use crate::decoder::Decision;
use crate::kind::{Engine, Start};
use crate::net::Routing;
use crate::precondition::Adaptation;
use crate::{AdaptEmbedding, AdaptPolicy, ModelError, Result};
use std::sync::Arc;
use stiefel_linalg::MatView;

/// A model at work on the trials of one domain. Under causal whitening every decision changes the
/// mean of the next.
#[derive(Debug)]
pub struct DecisionSession {
    name: String,
    engine: Box<dyn Engine>,
    note: Option<String>,
    weights: Option<ClassWeights>,
}

/// Weights of the classes, and room for what they make of probabilities.
#[derive(Debug)]
struct ClassWeights {
    each: Vec<f64>,
    weighed: Vec<f64>,
}

impl ClassWeights {
    /// Returns a decision whose probabilities are multiplied by the weights and add up to 1 again.
    fn apply<'a>(&'a mut self, decision: Decision<'a>) -> Decision<'a> {
        let parts = self.weighed.iter_mut().zip(decision.probabilities);
        for ((out, p), w) in parts.zip(&self.each) {
            *out = p * w;
        }
        let total: f64 = self.weighed.iter().sum();
        self.weighed.iter_mut().for_each(|p| *p /= total);
        let mut class = 0;
        for (i, p) in self.weighed.iter().enumerate() {
            if *p > self.weighed[class] {
                class = i;
            }
        }
        Decision {
            class,
            probabilities: &self.weighed,
            ..decision
        }
    }
}

impl DecisionSession {
    pub(super) fn new(
        model: &FittedModel,
        name: &str,
        adapt: Option<&AdaptPolicy>,
        seen: &[MatView<'_, f64>],
    ) -> Result<Self> {
        let known_domains = model.known_domains();
        let adapt = adapt.filter(|u| model.policy_applies(name, u, !seen.is_empty()));
        if let Some(embedding) = adapt.map(|u| u.embedding)
            && embedding != AdaptEmbedding::InputOnly
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
            adapt,
            seen,
            known_domains: &known_domains,
        };
        let engine = Arc::clone(&model.model).start(&start)?;
        Ok(Self {
            note: note(name, &*engine),
            name: name.to_owned(),
            engine,
            weights: (model.about.class_weights.as_ref()).map(|each| ClassWeights {
                weighed: vec![0.0; each.len()],
                each: each.clone(),
            }),
        })
    }

    /// Returns whose trials are decided.
    pub fn domain(&self) -> &str {
        &self.name
    }

    /// Decides a trial: its raw covariances, `n × n` each, one view after the other.
    pub fn decide(&mut self, covariances: &[f64]) -> Result<Decision<'_>> {
        self.decide_with(covariances, Routing::Learnt)
    }

    /// Decides a trial under other weights of the experts.
    pub(super) fn decide_with(
        &mut self,
        covariances: &[f64],
        weights: Routing<'_, f64>,
    ) -> Result<Decision<'_>> {
        let decision = self.engine.decide(covariances, weights)?;
        Ok(match &mut self.weights {
            Some(weights) => weights.apply(decision),
            None => decision,
        })
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
