//! A model file as a decoder, whatever its kind and precision, and trials as it wants them.

use std::path::Path;

use stiefel::linalg::MatBatch;
use stiefel::model::decoder::{Decision, DomainHandle, UnseenEmbedding};
use stiefel::model::file::{AnyHeader, inspect_any};
use stiefel::model::pooled::HeadTrial;
use stiefel::model::precondition::{UnseenPolicy, UnseenWhitening};
use stiefel::model::{
    Architecture, Decoder, Domain, Factor, Model, ModelError, PooledModel, Trials, Whitener,
};
use stiefel::study::{ChannelChoice, DataChoice, Dataset};

use crate::failure::Failure;
use crate::source;

/// A network in the precision of its file, or the preset `recommended`.
pub(crate) enum AnyDecoder {
    Single(Box<Decoder<f32>>),
    Double(Box<Decoder<f64>>),
    Pooled {
        model: Box<PooledModel>,
        /// Of the last decision.
        probabilities: Vec<f64>,
    },
}

/// The same for a network of either precision, and its counterpart for the preset.
macro_rules! each {
    ($decoder:expr, $d:ident => $network:expr, $m:ident => $pooled:expr) => {
        match $decoder {
            AnyDecoder::Single($d) => $network,
            AnyDecoder::Double($d) => $network,
            AnyDecoder::Pooled { model: $m, .. } => $pooled,
        }
    };
}
pub(crate) use each;

/// A domain without training trials, ready for decisions of the decoder that made it.
pub(crate) enum Handle {
    Network(DomainHandle),
    Pooled(UnseenWhitening),
}

impl Handle {
    /// The training domain whose embedding is borrowed.
    pub(crate) fn nearest(&self) -> Option<usize> {
        match self {
            Self::Network(handle) => handle.nearest().map(|n| n.domain),
            Self::Pooled(_) => None,
        }
    }
}

/// Whose trial is decided.
pub(crate) enum Whose<'a> {
    /// A training domain's.
    Named(&'a str),
    /// Another's.
    Unseen(&'a mut Handle),
}

impl<'a> Whose<'a> {
    fn of_network(self) -> Result<Domain<'a>, ModelError> {
        match self {
            Self::Named(name) => Ok(Domain::Named(name)),
            Self::Unseen(Handle::Network(handle)) => Ok(Domain::Unseen(handle)),
            Self::Unseen(Handle::Pooled(_)) => Err(other_kind()),
        }
    }
}

/// A handle that another decoder has made.
fn other_kind() -> ModelError {
    ModelError::Impossible {
        op: "decoder",
        why: "the new domain was prepared for another kind of model".into(),
        remedy: "prepare it with the model that decides",
    }
}

impl AnyDecoder {
    /// Reads a model file.
    pub(crate) fn load(path: &Path) -> Result<Self, Failure> {
        Ok(match inspect_any(path)? {
            AnyHeader::Pooled(_) => Self::Pooled {
                model: Box::new(PooledModel::load(path)?),
                probabilities: Vec::new(),
            },
            AnyHeader::Network(header) if header.precision == "f64" => {
                Self::Double(Box::new(Decoder::new(Model::load(path)?)?))
            }
            // Any other precision is refused there, by name.
            AnyHeader::Network(_) => Self::Single(Box::new(Decoder::new(Model::load(path)?)?)),
        })
    }

    /// Whether it is a network, not the preset `recommended`.
    pub(crate) fn is_network(&self) -> bool {
        each!(self, _d => true, _m => false)
    }

    pub(crate) fn classes(&self) -> &[String] {
        each!(self, d => d.model().classes(), m => m.classes())
    }

    pub(crate) fn channels(&self) -> Option<&[String]> {
        each!(self, d => d.model().channels(), m => m.channels())
    }

    pub(crate) fn channels_count(&self) -> usize {
        self.whitener().channels_count()
    }

    pub(super) fn domains(&self) -> &[String] {
        each!(self, d => d.model().domains(), m => m.domains())
    }

    fn whitener(&self) -> &Whitener {
        each!(self, d => &d.model().frontend().whitener, m => m.whitener())
    }

    pub(super) fn has_embedding(&self) -> bool {
        let network = each!(self, d => &d.model().config().architecture, _m => return false);
        matches!(network, Architecture::Dasp(c) if c.domain_embedding)
    }

    /// Whether a domain had training trials.
    pub(crate) fn knows(&self, name: &str) -> bool {
        let at = self.domains().iter().position(|d| d == name);
        at.is_some_and(|d| self.whitener().trials_of(d) > 0)
    }

    pub(super) fn known_domains(&self) -> Vec<&str> {
        let all = self.domains().iter().map(String::as_str);
        all.filter(|d| self.knows(d)).collect()
    }

    /// Decodes one raw covariance.
    pub(crate) fn decide(
        &mut self,
        covariance: &[f64],
        whose: Whose<'_>,
    ) -> Result<Decision<'_>, ModelError> {
        let (model, probabilities) = match self {
            Self::Single(d) => return d.decide(covariance, whose.of_network()?),
            Self::Double(d) => return d.decide(covariance, whose.of_network()?),
            Self::Pooled {
                model,
                probabilities,
            } => (model, probabilities),
        };
        *probabilities = match whose {
            Whose::Named(name) => model.decide(covariance, HeadTrial::Named(name))?,
            Whose::Unseen(Handle::Pooled(handle)) => model.decide_adapted(covariance, handle)?,
            Whose::Unseen(Handle::Network(_)) => return Err(other_kind()),
        };
        Ok(Decision {
            class: first_best(probabilities),
            probabilities,
            routing: None,
        })
    }

    /// Prepares decisions for a domain without training trials.
    pub(crate) fn adapt(
        &self,
        trials: &MatBatch<f64>,
        policies: (UnseenPolicy, UnseenEmbedding),
    ) -> Result<Handle, Failure> {
        let (whitening, embedding) = policies;
        // A causal mean that has seen a trial before deciding it would not be causal.
        let causal = matches!(whitening, UnseenPolicy::Causal { .. });
        let none = MatBatch::zeros(0, trials.rows(), trials.cols());
        if causal && embedding.uses_target_data() {
            return Err(Failure::Misuse(
                "a nearest domain is found with all trials, causal whitening knows only those so far; take own-mean, or the embedding zero"
                    .into(),
            ));
        }
        let seen = if causal { &none } else { trials };
        Ok(each!(
            self,
            d => Handle::Network(d.adapt_domain(seen.view(), whitening, embedding)?),
            m => Handle::Pooled(m.adapt_domain(seen.view(), whitening)?)
        ))
    }

    /// Loads a source with the channels of the model, in its order.
    pub(crate) fn load_data(
        &self,
        source: &str,
        mut choice: DataChoice,
    ) -> Result<Dataset, Failure> {
        if choice.channels.is_none()
            && let Some(names) = self.channels()
        {
            choice.channels = Some(ChannelChoice::Names(names.to_vec()));
        }
        let data = source::load(source, &choice)?;
        let (found, wanted) = (data.trials.channels_count(), self.channels_count());
        if found != wanted {
            return Err(Failure::Failed(format!(
                "{source} has {found} channels, the model was trained on {wanted}; choose them with --channels"
            )));
        }
        Ok(data)
    }

    /// The class of each trial as the model numbers them.
    pub(crate) fn truth(&self, trials: &Trials) -> Result<Vec<usize>, Failure> {
        let names = trials.classes().names();
        let mut places = Vec::with_capacity(names.len());
        for name in names {
            let place = self.classes().iter().position(|c| c == name);
            places.push(place.ok_or_else(|| {
                Failure::Misuse(format!(
                    "the model has no class \"{name}\", it has {}; choose those with --classes",
                    self.classes().join(", ")
                ))
            })?);
        }
        let classes = trials.classes().indices().iter();
        Ok(classes.map(|&c| places[c]).collect())
    }

    /// The same trials with classes and domains numbered as in the model; all domains must be known.
    pub(crate) fn renumbered(&self, trials: &Trials) -> Result<Trials, Failure> {
        let truth = self.truth(trials)?;
        let domains = trials.domains();
        let mut at = Vec::with_capacity(domains.len());
        for &d in domains.indices() {
            let name = domains.name(d);
            let place = self.domains().iter().position(|known| known == name);
            let place = place.filter(|_| self.knows(name)).ok_or_else(|| {
                Failure::Misuse(format!(
                    "domain \"{name}\" had no training trials; routing is diagnosed on domains the model knows ({}), choose them \
                     with --subjects",
                    self.known_domains().join(", ")
                ))
            })?;
            at.push(place);
        }
        let classes = Factor::new("class", self.classes().to_vec(), truth)?;
        let domains = Factor::new("domain", self.domains().to_vec(), at)?;
        Ok(Trials::new(trials.covariances().clone(), classes, domains)?)
    }
}

/// The most probable class; the first of equals.
pub(super) fn first_best(p: &[f64]) -> usize {
    (1..p.len()).fold(0, |best, c| if p[c] > p[best] { c } else { best })
}
