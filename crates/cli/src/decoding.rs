//! What is said of domains without training trials.

use clap::{Args, ValueEnum};
use stiefel::data::settings;
use stiefel::model::precondition::Adaptation;
use stiefel::model::{AdaptEmbedding, AdaptPolicy, FittedModel};

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

/// Policies for domains that the model was not trained on.
#[derive(Debug, Clone, Args)]
pub(crate) struct AdaptArguments {
    /// What whitens a domain without training trials
    #[arg(long = "adapt", value_enum, value_name = "POLICY")]
    whitening: Option<WhiteningChoice>,
    /// What stands in for its embedding: input-only, zero, nearest, riemannian-nearest,
    /// transductive [default: input-only, for models without embedding]
    #[arg(long = "embedding", value_name = "POLICY", requires = "whitening")]
    embedding: Option<AdaptEmbedding>,
    /// How many trials the pooled mean counts for in own-mean and causal whitening [default: 10]
    #[arg(long, value_name = "TRIALS", requires = "whitening")]
    kappa: Option<f64>,
}

impl AdaptArguments {
    /// Both policies for this model, or none where none was given.
    pub(crate) fn policies(&self, model: &FittedModel) -> Result<Option<AdaptPolicy>, Failure> {
        let Some(whitening) = self.whitening else {
            return Ok(None);
        };
        let embedding = match (self.embedding, model.has_embedding()) {
            (Some(embedding), _) => embedding,
            (None, false) => AdaptEmbedding::InputOnly,
            (None, true) => {
                return Err(Failure::Misuse(
                    "the model has a domain embedding; say what stands in for it, with \
                     --embedding (zero, nearest, riemannian-nearest or transductive)"
                        .into(),
                ));
            }
        };
        let kappa = self.kappa.unwrap_or(Adaptation::DEFAULT_KAPPA);
        if self.kappa.is_some() && whitening == WhiteningChoice::Pooled {
            return Err(Failure::Misuse(
                "--kappa is for own-mean and causal whitening; the pooled mean uses no trial of \
                 the new domain"
                    .into(),
            ));
        }
        let whitening = match whitening {
            WhiteningChoice::Pooled => Adaptation::Pooled,
            WhiteningChoice::OwnMean => Adaptation::OwnMean { kappa },
            WhiteningChoice::Causal => Adaptation::Causal { kappa },
        };
        settings::check("adapt", &whitening).map_err(|error| {
            let sentence = error.sentence();
            Failure::Misuse(format!("--kappa {kappa}: {sentence}"))
        })?;
        Ok(Some(AdaptPolicy {
            whitening,
            embedding,
        }))
    }
}
