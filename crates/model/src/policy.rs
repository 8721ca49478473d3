//! What is done for a domain without training trials: one answer to two questions, in one place.
//!
//! What whitens its trials ([`Adaptation`]), and what stands in for its row of the embedding, where
//! a network has one ([`AdaptEmbedding`]).

use crate::adapt::TransductiveConfig;
use crate::precondition::Adaptation;
use crate::{ModelError, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How a domain without training trials is decoded.
///
/// ```
/// use stiefel_model::precondition::Adaptation;
/// use stiefel_model::{AdaptEmbedding, AdaptPolicy};
///
/// let adapt = AdaptPolicy {
///     whitening: Adaptation::OwnMean { kappa: 10.0 },
///     embedding: "nearest".parse()?,
/// };
/// assert_eq!(adapt.embedding, AdaptEmbedding::NearestTangent);
/// assert!(adapt.uses_target_data());
/// # Ok::<(), stiefel_model::ModelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AdaptPolicy {
    /// What whitens its trials.
    pub whitening: Adaptation,
    /// What stands in for its embedding.
    pub embedding: AdaptEmbedding,
}

impl AdaptPolicy {
    /// Whether its mean runs along with its trials.
    pub fn is_causal(&self) -> bool {
        matches!(self.whitening, Adaptation::Causal { .. })
    }

    /// Whether unlabelled trials of the domain are looked at.
    pub fn uses_target_data(&self) -> bool {
        self.whitening.uses_target_data() || self.embedding.uses_target_data()
    }
}

/// A whitening alone: nothing stands in for an embedding.
impl From<Adaptation> for AdaptPolicy {
    fn from(whitening: Adaptation) -> Self {
        Self {
            whitening,
            embedding: AdaptEmbedding::InputOnly,
        }
    }
}

/// What stands in for the embedding of a domain without training trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AdaptEmbedding {
    /// Nothing: the model has no embedding.
    InputOnly,
    /// Zeros.
    Zero,
    /// The untrained row of the domain, which was in the list of names and had no training trials.
    Initial,
    /// The row of the training domain nearest in `‖μ − μ_d‖₂`, mean tangent vectors of
    /// pre-conditioned trials.
    #[serde(rename = "nearest")]
    NearestTangent,
    /// The row of the training domain nearest in the affine-invariant distance of Fréchet means of
    /// pre-conditioned trials.
    #[serde(rename = "riemannian-nearest")]
    NearestRiemannian,
    /// A row found on the unlabelled trials by making their routing sharp; see
    /// [`adapt`](crate::adapt).
    Transductive(TransductiveConfig),
}

impl AdaptEmbedding {
    /// Whether unlabelled trials of the new domain are needed.
    pub fn uses_target_data(self) -> bool {
        matches!(
            self,
            Self::NearestTangent | Self::NearestRiemannian | Self::Transductive(_)
        )
    }

    /// Every one by name, transductive adaptation with its defaults.
    pub fn all() -> [Self; 6] {
        [
            Self::InputOnly,
            Self::Zero,
            Self::Initial,
            Self::NearestTangent,
            Self::NearestRiemannian,
            Self::Transductive(TransductiveConfig::default()),
        ]
    }

    /// Its name on command lines, in files and in Python.
    pub fn name(self) -> &'static str {
        match self {
            Self::InputOnly => "input-only",
            Self::Zero => "zero",
            Self::Initial => "initial",
            Self::NearestTangent => "nearest",
            Self::NearestRiemannian => "riemannian-nearest",
            Self::Transductive(_) => "transductive",
        }
    }
}

impl fmt::Display for AdaptEmbedding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for AdaptEmbedding {
    type Err = ModelError;

    fn from_str(name: &str) -> Result<Self> {
        let found = Self::all().into_iter().find(|e| e.name() == name);
        found.ok_or_else(|| ModelError::UnknownName {
            what: "stand-in for an embedding",
            found: name.to_owned(),
            known: Self::all().map(Self::name).join(", "),
        })
    }
}
