//! The choices of pre-conditioning: plain values, checked when they are used to fit.

use super::OP;
use crate::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use stiefel_data::settings;

/// Diagonal loading, which makes rank-deficient covariances positive definite.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tikhonov {
    /// `X` as it is.
    None,
    /// `X + ε·(tr X/n)·I`: the same for volts and microvolts.
    Relative(
        /// The share of the mean variance that is added.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        f64,
    ),
    /// `X + ε·I`, as the paper writes.
    Absolute(
        /// The variance that is added.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        f64,
    ),
}

/// The mean a domain is whitened by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reference {
    /// `(1/N) Σ X_i`.
    Euclidean,
    /// The Fréchet mean of the affine-invariant metric.
    Riemannian,
    /// `exp((1/N) Σ log X_i)`.
    LogEuclidean,
}

/// Which square root of `M⁻¹` whitens, if any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Whitening {
    /// `Z = M^{-1/2}`: channels stay where they are.
    Symmetric,
    /// `Z = Λ^{-1/2} Uᵀ`, eigenvalues of `M = U Λ Uᵀ` descending, the largest entry of each row
    /// positive: channels become principal components.
    Pca,
    /// `Z = I`: no whitening, for networks with batch normalisation of their own.
    None,
}

/// The scale given to whitened matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scaling {
    /// Each matrix by its own `tr(Y)/‖Y‖_F²`.
    PerTrial,
    /// One `β_d = Σ tr(Y)/Σ‖Y‖_F²` over the whitened training trials of the domain.
    PerDomain,
    /// None.
    None,
}

/// How the mean of a domain without training trials is found, which whitens its trials.
///
/// Reports print it: the last two use unlabelled data of the domain that is judged.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "policy")]
pub enum Adaptation {
    /// The pooled mean of the training domains.
    Pooled,
    /// The mean of all the given trials, shrunk towards the pooled mean: `(κ·M_pooled + Σ X)/(κ +
    /// t)`.
    OwnMean {
        /// How many trials the pooled mean counts for; 10 is usual.
        #[serde(default = "kappa")]
        #[schemars(range(min = 0.0))]
        kappa: f64,
    },
    /// That mean of the trials seen so far, the current one included: for online use.
    Causal {
        /// How many trials the pooled mean counts for; 10 is usual.
        #[serde(default = "kappa")]
        #[schemars(range(min = 0.0))]
        kappa: f64,
    },
}

/// How covariances are pre-conditioned; see the [module](super).
///
/// ```
/// use stiefel_model::precondition::{Preconditioning, Tikhonov};
///
/// // The paper, as written:
/// let paper = Preconditioning {
///     tikhonov: Tikhonov::Absolute(1e-8),
///     ..Preconditioning::default()
/// };
/// assert_ne!(paper, Preconditioning::default());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Preconditioning {
    /// Diagonal loading.
    pub tikhonov: Tikhonov,
    /// The mean that whitens.
    pub reference: Reference,
    /// The square root that whitens.
    pub whitening: Whitening,
    /// The scale of whitened matrices.
    pub scaling: Scaling,
    /// What to do with domains without training trials; none by default, so that it is a decision.
    pub unseen: Option<Adaptation>,
}

impl Default for Preconditioning {
    fn default() -> Self {
        Self {
            tikhonov: Tikhonov::Relative(1e-8),
            reference: Reference::Euclidean,
            whitening: Whitening::Symmetric,
            scaling: Scaling::PerTrial,
            unseen: None,
        }
    }
}

fn kappa() -> f64 {
    Adaptation::DEFAULT_KAPPA
}

impl Preconditioning {
    /// Checks every number against its range.
    pub(crate) fn check(&self) -> Result<()> {
        Ok(settings::check(OP, self)?)
    }
}

impl Adaptation {
    /// How many trials the pooled mean counts for by default.
    pub const DEFAULT_KAPPA: f64 = 10.0;

    /// Whether unlabelled trials of the new domain are used.
    pub fn uses_target_data(&self) -> bool {
        !matches!(self, Self::Pooled)
    }

    pub(crate) fn check(self) -> Result<()> {
        Ok(settings::check(OP, &self)?)
    }
}

impl fmt::Display for Adaptation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pooled => {
                f.write_str("pooled: mean of the training domains, no data of the new domain")
            }
            Self::OwnMean { kappa } => write!(
                f,
                "own-mean (κ = {kappa}): uses all unlabelled trials of the new domain"
            ),
            Self::Causal { kappa } => write!(
                f,
                "causal (κ = {kappa}): uses the unlabelled trials of the new domain up to and \
                 including the current one"
            ),
        }
    }
}
