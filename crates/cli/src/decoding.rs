//! A model file as a decoder, whatever its precision, and trials as it wants them.

use std::path::Path;

use clap::{Args, ValueEnum};
use stiefel::linalg::MatBatch;
use stiefel::model::decoder::{Decision, DomainHandle, UnseenEmbedding};
use stiefel::model::precondition::UnseenPolicy;
use stiefel::model::{
    Architecture, Decoder, Domain, Factor, Model, ModelConfig, ModelError, TransductiveConfig,
    Trials, inspect_file,
};
use stiefel::study::{ChannelChoice, DataChoice, Dataset};

use crate::bar::Bar;
use crate::failure::Failure;
use crate::source;

/// What whitens the trials of a domain without training trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WhiteningChoice {
    /// The mean of the training domains
    Pooled,
    /// The mean of all its unlabelled trials
    OwnMean,
    /// The mean of its trials so far
    Causal,
}

/// What stands in for the embedding of a domain without training trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EmbeddingChoice {
    /// Nothing: for models without a domain embedding
    InputOnly,
    /// Zeros
    Zero,
    /// That of the training domain nearest in the tangent space
    Nearest,
    /// That of the training domain nearest in the affine-invariant distance
    RiemannianNearest,
    /// Adapted to its unlabelled trials, so that they are routed sharply
    Transductive,
}

/// Policies for domains that the model was not trained on.
#[derive(Debug, Clone, Args)]
pub(crate) struct Unseen {
    /// What whitens a domain without training trials
    #[arg(long = "unseen-whitening", value_enum, value_name = "POLICY")]
    pub(crate) whitening: Option<WhiteningChoice>,
    /// What stands in for its embedding [default: input-only, for models without embedding]
    #[arg(long = "unseen-embedding", value_enum, value_name = "POLICY")]
    pub(crate) embedding: Option<EmbeddingChoice>,
    /// How many trials the pooled mean counts for in own-mean and causal whitening
    #[arg(long, value_name = "TRIALS", default_value_t = UnseenPolicy::DEFAULT_KAPPA)]
    pub(crate) kappa: f64,
}

impl Unseen {
    /// Both policies for this model, or what to say.
    pub(crate) fn policies(
        &self,
        model: &AnyDecoder,
        domain: &str,
    ) -> Result<(UnseenPolicy, UnseenEmbedding), Failure> {
        let embedded = model.has_embedding();
        let wanted = match (self.embedding, embedded) {
            (None, true) => None,
            (None, false) => Some(EmbeddingChoice::InputOnly),
            (given, _) => given,
        };
        let (Some(whitening), Some(embedding)) = (self.whitening, wanted) else {
            let also = if embedded {
                " and --unseen-embedding (zero, nearest, riemannian-nearest or transductive)"
            } else {
                ""
            };
            return Err(Failure::Misuse(format!(
                "domain \"{domain}\" had no training trials (the model knows {}); say how its trials are whitened, with \
                 --unseen-whitening (pooled, own-mean or causal){also}",
                model.known_domains().join(", ")
            )));
        };
        let kappa = self.kappa;
        let whitening = match whitening {
            WhiteningChoice::Pooled => UnseenPolicy::Pooled,
            WhiteningChoice::OwnMean => UnseenPolicy::OwnMean { kappa },
            WhiteningChoice::Causal => UnseenPolicy::Causal { kappa },
        };
        let embedding = match embedding {
            EmbeddingChoice::InputOnly => UnseenEmbedding::InputOnly,
            EmbeddingChoice::Zero => UnseenEmbedding::Zero,
            EmbeddingChoice::Nearest => UnseenEmbedding::NearestTangent,
            EmbeddingChoice::RiemannianNearest => UnseenEmbedding::NearestRiemannian,
            EmbeddingChoice::Transductive => {
                UnseenEmbedding::Transductive(TransductiveConfig::default())
            }
        };
        Ok((whitening, embedding))
    }
}

/// A decoder in the precision of its file.
pub(crate) enum AnyDecoder {
    Single(Box<Decoder<f32>>),
    Double(Box<Decoder<f64>>),
}

/// The same for either precision.
macro_rules! each {
    ($decoder:expr, $d:ident => $body:expr) => {
        match $decoder {
            AnyDecoder::Single($d) => $body,
            AnyDecoder::Double($d) => $body,
        }
    };
}
pub(crate) use each;

impl AnyDecoder {
    /// Reads a model file.
    pub(crate) fn load(path: &Path) -> Result<Self, Failure> {
        Ok(match inspect_file(path)?.precision.as_str() {
            "f64" => Self::Double(Box::new(Decoder::new(Model::load(path)?)?)),
            // Any other precision is refused there, by name.
            _ => Self::Single(Box::new(Decoder::new(Model::load(path)?)?)),
        })
    }

    pub(crate) fn classes(&self) -> &[String] {
        each!(self, d => d.model().classes())
    }

    pub(crate) fn channels(&self) -> Option<&[String]> {
        each!(self, d => d.model().channels())
    }

    pub(crate) fn channels_count(&self) -> usize {
        each!(self, d => d.model().sizes().channels)
    }

    fn domains(&self) -> &[String] {
        each!(self, d => d.model().domains())
    }

    pub(crate) fn config(&self) -> &ModelConfig {
        each!(self, d => d.model().config())
    }

    fn has_embedding(&self) -> bool {
        matches!(self.config().architecture, Architecture::Dasp(c) if c.domain_embedding)
    }

    /// Whether a domain had training trials.
    pub(crate) fn knows(&self, name: &str) -> bool {
        let at = self.domains().iter().position(|d| d == name);
        at.is_some_and(|d| each!(self, m => m.model().frontend().whitener.trials_of(d)) > 0)
    }

    fn known_domains(&self) -> Vec<&str> {
        let all = self.domains().iter().map(String::as_str);
        all.filter(|d| self.knows(d)).collect()
    }

    /// Decodes one raw covariance.
    pub(crate) fn decide(
        &mut self,
        covariance: &[f64],
        domain: Domain<'_>,
    ) -> Result<Decision<'_>, ModelError> {
        each!(self, d => d.decide(covariance, domain))
    }

    /// Prepares decisions for a domain without training trials.
    pub(crate) fn adapt(
        &self,
        trials: &MatBatch<f64>,
        policies: (UnseenPolicy, UnseenEmbedding),
    ) -> Result<DomainHandle, Failure> {
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
        Ok(each!(self, d => d.adapt_domain(seen.view(), whitening, embedding))?)
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

/// What a decoder says of a set of trials.
pub(crate) struct Decided {
    /// `N × C`.
    pub(crate) probabilities: Vec<f64>,
    /// `N × K`, where the network routes.
    pub(crate) routing: Option<Vec<f64>>,
    /// Domains without training trials, with what was done.
    pub(crate) unseen: Vec<String>,
}

impl Decided {
    /// The most probable class of each trial; the first of equals.
    pub(crate) fn classes(&self, count: usize) -> Vec<usize> {
        let best = |p: &[f64]| (1..count).fold(0, |best, c| if p[c] > p[best] { c } else { best });
        self.probabilities.chunks_exact(count).map(best).collect()
    }
}

/// Decides every trial, in order within each domain.
pub(crate) fn decide_all(
    decoder: &mut AnyDecoder,
    trials: &Trials,
    unseen: &Unseen,
) -> Result<Decided, Failure> {
    let count = decoder.classes().len();
    let mut probabilities = vec![0.0; trials.len() * count];
    let mut routing: Vec<Vec<f64>> = vec![Vec::new(); trials.len()];
    let (mut said, domains) = (Vec::new(), trials.domains());
    let bar = Bar::new("deciding", trials.len());
    for domain in domains.present() {
        let name = domains.name(domain).to_owned();
        let at: Vec<usize> = (0..trials.len())
            .filter(|&i| domains.indices()[i] == domain)
            .collect();
        let mut handle = None;
        if !decoder.knows(&name) {
            let policies = unseen.policies(decoder, &name)?;
            let found = decoder.adapt(&trials.covariances().select(&at), policies)?;
            let near = found.nearest().map(|n| &decoder.domains()[n.domain]);
            let near = near.map_or(String::new(), |d| format!(", embedding of {d}"));
            said.push(format!("{name}: {}{near}", policies.0));
            handle = Some(found);
        }
        for i in at {
            let whose = match &mut handle {
                Some(handle) => Domain::Unseen(handle),
                None => Domain::Named(&name),
            };
            let decision = decoder
                .decide(trials.covariances().matrix(i), whose)
                .map_err(|e| Failure::Failed(format!("trial {i} of {name}: {e}")))?;
            probabilities[i * count..][..count].copy_from_slice(decision.probabilities);
            routing[i] = decision.routing.unwrap_or_default().to_vec();
            bar.advance();
        }
    }
    let routed = routing.iter().any(|r| !r.is_empty());
    Ok(Decided {
        probabilities,
        routing: routed.then(|| routing.concat()),
        unseen: said,
    })
}
