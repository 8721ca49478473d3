//! What is said of domains without training trials, and decisions on a set of trials.

mod decoder;

pub(crate) use decoder::{AnyDecoder, Handle, Whose, each};

use clap::{Args, ValueEnum};
use stiefel::model::decoder::UnseenEmbedding;
use stiefel::model::precondition::UnseenPolicy;
use stiefel::model::{TransductiveConfig, Trials};

use crate::bar::Bar;
use crate::failure::Failure;

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
    /// Refuses what this kind of model cannot do.
    pub(crate) fn check(&self, model: &AnyDecoder) -> Result<(), Failure> {
        match self.embedding {
            None | Some(EmbeddingChoice::InputOnly) => Ok(()),
            Some(_) if !model.is_network() => Err(Failure::Misuse(
                "a model `recommended` has no domain embedding for which something could stand in: leave --unseen-embedding out, or give \
                 input-only"
                    .into(),
            )),
            Some(_) => Ok(()),
        }
    }

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
        let rows = self.probabilities.chunks_exact(count);
        rows.map(decoder::first_best).collect()
    }
}

/// Decides every trial, in order within each domain.
pub(crate) fn decide_all(
    decoder: &mut AnyDecoder,
    trials: &Trials,
    unseen: &Unseen,
) -> Result<Decided, Failure> {
    unseen.check(decoder)?;
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
            let near = found.nearest().map(|d| &decoder.domains()[d]);
            let near = near.map_or(String::new(), |d| format!(", embedding of {d}"));
            said.push(format!("{name}: {}{near}", policies.0));
            handle = Some(found);
        }
        for i in at {
            let whose = match &mut handle {
                Some(handle) => Whose::Unseen(handle),
                None => Whose::Named(&name),
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
