//! Decisions for one domain, trial by trial.

use super::{FittedModel, Kind, OP};
use crate::decoder::{Decision, Decoder, Domain, DomainHandle, Weights};
use crate::pooled;
use crate::precondition::{UnseenPolicy, UnseenWhitening};
use crate::views::{Bench, Newcomer};
use crate::{ModelError, PooledModel, Result, Unseen, UnseenEmbedding, ViewsModel};
use std::sync::Arc;
use stiefel_linalg::MatView;

/// A model at work on the trials of one domain. Under causal whitening every decision changes the mean of the next.
#[derive(Debug)]
pub struct Session {
    name: String,
    machine: Machine,
    note: Option<String>,
}

#[derive(Debug)]
enum Machine {
    Single(Box<Decoder<f32>>, Whose<DomainHandle>),
    Double(Box<Decoder<f64>>, Whose<DomainHandle>),
    Preset(Arc<PooledModel>, Whose<UnseenWhitening>, Box<pooled::Bench>),
    Views(Arc<ViewsModel>, Whose<Newcomer>, Box<Bench>),
}

#[derive(Debug)]
enum Whose<H> {
    Known(usize),
    Unseen(Box<H>),
}

impl Session {
    pub(super) fn new(
        model: &FittedModel,
        name: &str,
        unseen: Option<&Unseen>,
        seen: &[MatView<'_, f64>],
    ) -> Result<Self> {
        let n = model.channels_count();
        let broad = match seen {
            [first, ..] => *first,
            [] => MatView::new(0, n, n, &[])?,
        };
        let known = model.domains().iter().position(|d| d == name);
        let known = known.filter(|_| model.knows(name));
        let policy = || {
            unseen.ok_or_else(|| ModelError::NewDomain {
                name: name.to_owned(),
                known: model.known_domains().join(", "),
            })
        };
        let machine = match &model.kind {
            Kind::Single(m) => {
                let decoder = Box::new(Decoder::new(Arc::clone(m))?);
                let whose = match known {
                    Some(domain) => Whose::Known(domain),
                    None => Whose::Unseen(Box::new(decoder.adapt_views(name, seen, policy()?)?)),
                };
                Machine::Single(decoder, whose)
            }
            Kind::Double(m) => {
                let decoder = Box::new(Decoder::new(Arc::clone(m))?);
                let whose = match known {
                    Some(domain) => Whose::Known(domain),
                    None => Whose::Unseen(Box::new(decoder.adapt_views(name, seen, policy()?)?)),
                };
                Machine::Double(decoder, whose)
            }
            Kind::Preset(preset) => {
                let whose = if let Some(domain) = known {
                    Whose::Known(domain)
                } else {
                    let unseen = policy()?;
                    check_no_embedding(unseen.embedding)?;
                    Whose::Unseen(Box::new(preset.adapt_domain(broad, unseen.whitening)?))
                };
                let bench = Box::new(pooled::Bench::new(preset));
                Machine::Preset(Arc::clone(preset), whose, bench)
            }
            Kind::Views(views) => {
                let whose = match (known, unseen) {
                    (Some(domain), None) => Whose::Known(domain),
                    (Some(domain), Some(unseen))
                        if !model.heeds(name, unseen, !seen.is_empty()) =>
                    {
                        Whose::Known(domain)
                    }
                    // The mean of a calibrated person is made of few trials: where a policy is given it goes on.
                    (known, _) => {
                        let unseen = policy()?;
                        check_no_embedding(unseen.embedding)?;
                        Whose::Unseen(Box::new(views.newcomer(known, seen, unseen.whitening)?))
                    }
                };
                Machine::Views(Arc::clone(views), whose, Box::new(Bench::new(views)))
            }
        };
        let mut session = Self {
            name: name.to_owned(),
            machine,
            note: None,
        };
        session.note = session.told(model);
        Ok(session)
    }

    /// Whose trials are decided.
    pub fn domain(&self) -> &str {
        &self.name
    }

    /// Decides a trial: its raw covariances, `n × n` each, one view after the other.
    pub fn decide(&mut self, covariances: &[f64]) -> Result<Decision<'_>> {
        self.decide_with(covariances, Weights::Learnt)
    }

    /// Whether what the session learns from unlabelled trials (a causal mean) stays as it is from now on. What learns nothing never changes.
    pub fn freeze(&mut self, frozen: bool) {
        match &mut self.machine {
            Machine::Single(_, Whose::Unseen(h)) | Machine::Double(_, Whose::Unseen(h)) => {
                h.freeze(frozen);
            }
            Machine::Preset(_, Whose::Unseen(h), _) => h.freeze(frozen),
            Machine::Views(_, Whose::Unseen(h), _) => h.freeze(frozen),
            _ => {}
        }
    }

    pub(super) fn decide_with(
        &mut self,
        covariance: &[f64],
        weights: Weights<'_>,
    ) -> Result<Decision<'_>> {
        let probabilities = match &mut self.machine {
            Machine::Single(decoder, whose) => {
                return decoder.decide_with(covariance, whose.domain(), weights);
            }
            Machine::Double(decoder, whose) => {
                return decoder.decide_with(covariance, whose.domain(), weights);
            }
            Machine::Preset(preset, whose, bench) => {
                match whose {
                    Whose::Known(domain) => bench.decide(preset, covariance, Some(*domain))?,
                    Whose::Unseen(whitening) => {
                        bench.decide_adapted(preset, covariance, whitening)?;
                    }
                }
                &bench.probabilities
            }
            Machine::Views(views, whose, bench) => {
                match whose {
                    Whose::Known(domain) => views.decide_into(*domain, covariance, bench)?,
                    Whose::Unseen(newcomer) => newcomer.decide_into(views, covariance, bench)?,
                }
                &bench.probabilities
            }
        };
        Ok(Decision {
            class: stiefel_linalg::argmax(probabilities),
            probabilities,
            routing: None,
        })
    }

    /// The query of the last decision, where a network routes.
    pub fn query(&self) -> Option<Vec<f64>> {
        match &self.machine {
            Machine::Single(decoder, _) => decoder.query(),
            Machine::Double(decoder, _) => decoder.query(),
            Machine::Preset(..) | Machine::Views(..) => None,
        }
    }

    /// What every view added to the last decision, of a preset with views: log-odds for the class that is decided, which add up to its own where there are two.
    pub fn contributions(&self) -> Option<&[f64]> {
        match &self.machine {
            Machine::Views(.., bench) => Some(&bench.contributions),
            _ => None,
        }
    }

    /// What is done for a domain without training trials, or known from a few labelled ones alone, in words.
    pub fn note(&self) -> Option<String> {
        self.note.clone()
    }

    /// How its trials are whitened, where it had no training trials.
    pub fn whitening(&self) -> Option<UnseenPolicy> {
        match &self.machine {
            Machine::Single(_, Whose::Unseen(h)) | Machine::Double(_, Whose::Unseen(h)) => {
                Some(h.whitening())
            }
            Machine::Preset(_, Whose::Unseen(h), _) => Some(h.policy()),
            Machine::Views(_, Whose::Unseen(h), _) => Some(h.policy()),
            _ => None,
        }
    }

    /// The training domain whose embedding it borrows, by number.
    pub fn nearest(&self) -> Option<usize> {
        self.handle()?.nearest().map(|n| n.domain)
    }

    fn handle(&self) -> Option<&DomainHandle> {
        match &self.machine {
            Machine::Single(_, Whose::Unseen(h)) | Machine::Double(_, Whose::Unseen(h)) => Some(h),
            _ => None,
        }
    }

    fn told(&self, model: &FittedModel) -> Option<String> {
        if let Machine::Views(views, Whose::Known(domain), _) = &self.machine
            && let Some(person) = views.person(*domain).filter(|p| p.is_calibrated())
        {
            // Better than nothing of their own, and worse than all there is.
            return Some(format!(
                "{}: whitened by the mean of its {} labelled trials alone; under own-mean or causal whitening its unlabelled trials join them",
                self.name,
                person.labels()
            ));
        }
        let mut parts = vec![format!("{}: whitened {}", self.name, self.whitening()?)];
        if let Some(near) = self.nearest() {
            parts.push(format!("embedding of {}", model.domains()[near]));
        }
        if let Some(adapted) = self.handle().and_then(DomainHandle::adapted) {
            parts.push(format!(
                "routing entropy from {:.3} to {:.3} by adaptation",
                adapted.entropy_before, adapted.entropy_after
            ));
        }
        match &self.machine {
            Machine::Views(_, Whose::Unseen(h), _) if h.labels() > 0 => parts.push(format!(
                "decided by the weights everybody shares and those of {} labelled trials",
                h.labels()
            )),
            Machine::Preset(..) | Machine::Views(..) => {
                parts.push("decided by the weights everybody shares".into());
            }
            _ => {}
        }
        Some(parts.join(", "))
    }
}

impl Whose<DomainHandle> {
    fn domain(&mut self) -> Domain<'_> {
        match self {
            Self::Known(domain) => Domain::Known(*domain),
            Self::Unseen(handle) => Domain::Unseen(handle),
        }
    }
}

/// The preset has no embedding.
fn check_no_embedding(embedding: UnseenEmbedding) -> Result<()> {
    if embedding == UnseenEmbedding::InputOnly {
        return Ok(());
    }
    Err(ModelError::Impossible {
        op: OP,
        why: format!("{embedding} stands in for an embedding, but a model `recommended` has none"),
        remedy: "choose input-only, or leave it out",
    })
}
