//! What everyone else uses, on the same folds: a network that does not beat these has not earned its training.
//!
//! | name | what it sees | what it does |
//! |---|---|---|
//! | `ts+lr` | the network's own pre-conditioning | `upper(log X)` at the identity, one L2 [logistic regression](logistic) for all domains |
//! | `ts+lr-per-domain` | the same | one for each domain, on its own trials |
//! | `mdm` | covariances, diagonally loaded, nothing else | class of the nearest Fréchet mean, `argmin_c δ(X, M_c)` (Barachant et al. 2012) |
//! | `recentred-ts+lr` | each domain moved to its Riemannian mean, `M_d^{-1/2} X M_d^{-1/2}` (Zanini et al. 2018) | as `ts+lr` |
//! | `recentred-mdm` | the same | as `mdm` |
//! | `fb-ts+lr`, `fb-ts+lr-per-domain`, `fb-recentred-ts+lr` | every view of a trial, pre-conditioned or recentred on its own | as without `fb-`, on the tangent vectors of all views one after the other |
//!
//! All means are of **training** trials. The inverse penalty `C` of a logistic regression is the one of [`C_GRID`] with the best
//! balanced accuracy on validation, the smaller one where several are best. Probabilities of `mdm` are `softmax(−δ²)`, as pyRiemann's.
//! Domains without training trials are whitened under the policy of the pre-conditioning, and decided by the pooled regression. A peer is
//! [fitted](Peer::fit) once and decides any trials afterwards, whose domains it finds by name.
//! Predictions are those of scikit-learn 1.9 and pyRiemann 0.12.

mod error;
mod fitted;
mod front;
pub mod logistic;
mod mdm;
mod tangent_lr;

pub use error::PeerError;
pub use fitted::{FittedPeer, PeerOutcome};
pub use tangent_lr::C_GRID;

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A classical method; see the [module](self). Written down by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Peer {
    /// Tangent space and one logistic regression for all domains.
    #[serde(rename = "ts+lr")]
    TangentLrPooled,
    /// Tangent space and one logistic regression per domain.
    #[serde(rename = "ts+lr-per-domain")]
    TangentLrPerDomain,
    /// Minimum distance to mean.
    #[serde(rename = "mdm")]
    Mdm,
    /// Riemannian recentring, then tangent space and one logistic regression.
    #[serde(rename = "recentred-ts+lr")]
    RecentredLr,
    /// Riemannian recentring, then minimum distance to mean.
    #[serde(rename = "recentred-mdm")]
    RecentredMdm,
    /// Tangent spaces of all views and one logistic regression for all domains.
    #[serde(rename = "fb-ts+lr")]
    BankLrPooled,
    /// Tangent spaces of all views and one logistic regression per domain.
    #[serde(rename = "fb-ts+lr-per-domain")]
    BankLrPerDomain,
    /// Every view recentred, then tangent spaces and one logistic regression.
    #[serde(rename = "fb-recentred-ts+lr")]
    BankRecentredLr,
}

impl Peer {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 8] = [
        Self::TangentLrPooled,
        Self::TangentLrPerDomain,
        Self::Mdm,
        Self::RecentredLr,
        Self::RecentredMdm,
        Self::BankLrPooled,
        Self::BankLrPerDomain,
        Self::BankRecentredLr,
    ];

    /// What tables and configurations call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::TangentLrPooled => "ts+lr",
            Self::TangentLrPerDomain => "ts+lr-per-domain",
            Self::Mdm => "mdm",
            Self::RecentredLr => "recentred-ts+lr",
            Self::RecentredMdm => "recentred-mdm",
            Self::BankLrPooled => "fb-ts+lr",
            Self::BankLrPerDomain => "fb-ts+lr-per-domain",
            Self::BankRecentredLr => "fb-recentred-ts+lr",
        }
    }

    /// Whether it takes all views of a trial, or the broad one alone.
    pub fn takes_views(self) -> bool {
        matches!(
            self,
            Self::BankLrPooled | Self::BankLrPerDomain | Self::BankRecentredLr
        )
    }

    /// Whether it whitens each domain; `mdm` takes covariances as they are.
    pub fn whitens(self) -> bool {
        self != Self::Mdm
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Peer {
    type Err = PeerError;

    fn from_str(name: &str) -> Result<Self, PeerError> {
        let named = Self::ALL.into_iter().find(|p| p.name() == name);
        named.ok_or_else(|| PeerError::UnknownPeer {
            found: name.to_owned(),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }
}
