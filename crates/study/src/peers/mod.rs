//! What everyone else uses, on the same folds: a network that does not beat these has not earned its training.
//!
//! | name | what it sees | what it does |
//! |---|---|---|
//! | `ts+lr` | the network's own pre-conditioning | `upper(log X)` at the identity, one L2 [logistic regression](logistic) for all domains |
//! | `ts+lr-per-domain` | the same | one for each domain, on its own trials |
//! | `mdm` | covariances, diagonally loaded, nothing else | class of the nearest Fréchet mean, `argmin_c δ(X, M_c)` (Barachant et al. 2012) |
//! | `recentred-ts+lr` | each domain moved to its Riemannian mean, `M_d^{-1/2} X M_d^{-1/2}` (Zanini et al. 2018) | as `ts+lr` |
//! | `recentred-mdm` | the same | as `mdm` |
//!
//! All means are of **training** trials. The inverse penalty `C` of a logistic regression is the one of [`C_GRID`] with the best
//! balanced accuracy on validation, the smaller one where several are best. Probabilities of `mdm` are `softmax(−δ²)`, as pyRiemann's.
//! Domains without training trials are whitened under the policy of the pre-conditioning, and decided by the pooled regression.
//! Predictions are those of scikit-learn 1.9 and pyRiemann 0.12.

mod error;
pub mod logistic;
mod mdm;
mod parts;
mod tangent_lr;

pub use error::PeerError;
pub use tangent_lr::C_GRID;

use parts::Parts;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use stiefel_model::precondition::{Reference, Scaling, Whitening};
use stiefel_model::{Preconditioning, Trials};

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
}

impl Peer {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 5] = [
        Self::TangentLrPooled,
        Self::TangentLrPerDomain,
        Self::Mdm,
        Self::RecentredLr,
        Self::RecentredMdm,
    ];

    /// What tables and configurations call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::TangentLrPooled => "ts+lr",
            Self::TangentLrPerDomain => "ts+lr-per-domain",
            Self::Mdm => "mdm",
            Self::RecentredLr => "recentred-ts+lr",
            Self::RecentredMdm => "recentred-mdm",
        }
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

/// What a peer decides on the test trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PeerOutcome {
    /// Class probabilities, one row of `C` per test trial; 0 for a class without training trials.
    pub probabilities: Vec<f64>,
    /// The class decided for each.
    pub decided: Vec<usize>,
    /// Choices made on validation and anything a reader should know, one sentence each.
    pub notes: Vec<String>,
}

/// Fits a peer on training trials, chooses on validation trials where there is something to choose, and decides the test trials.
///
/// The three parts are selections from one set. Peers that recentre use the loading and the policy for unseen domains of
/// `preconditioning`, and their own reference and scale.
///
/// ```
/// use stiefel_linalg::MatBatch;
/// use stiefel_model::{Factor, Preconditioning, Trials};
/// use stiefel_study::peers::{Peer, run_peer};
///
/// // Class "hand" is weak on the first channel, class "feet" on the second.
/// let level = |i: usize, r: usize| 1.0 + (i % 5) as f64 / 9.0 + f64::from(u8::from(i % 2 == r));
/// let x = MatBatch::from_fn(24, 2, 2, |i, r, c| if r == c { level(i, r) } else { 0.2 });
/// let classes = Factor::from_labels((0..24).map(|i| ["hand", "feet"][i % 2]));
/// let domains = Factor::from_labels((0..24).map(|i| ["s1", "s2"][i / 12]));
/// let trials = Trials::new(x, classes, domains)?;
/// let part = |k: usize| (0..24).filter(|i| i / 2 % 3 == k).collect::<Vec<_>>();
/// let [training, validation, test] = [0, 1, 2].map(|k| trials.select(&part(k)));
///
/// let test = test?;
/// let found = run_peer(&Peer::Mdm, &training?, &validation?, &test, &Preconditioning::default())?;
/// assert_eq!(found.decided, test.classes().indices());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run_peer(
    peer: &Peer,
    training: &Trials,
    validation: &Trials,
    test: &Trials,
    preconditioning: &Preconditioning,
) -> Result<PeerOutcome, PeerError> {
    let parts = Parts::check(*peer, training, validation, test)?;
    let recentring = Preconditioning {
        reference: Reference::Riemannian,
        whitening: Whitening::Symmetric,
        scaling: Scaling::None,
        ..*preconditioning
    };
    match peer {
        Peer::TangentLrPooled => tangent_lr::pooled(&parts.whitened(preconditioning)?),
        Peer::TangentLrPerDomain => tangent_lr::per_domain(&parts.whitened(preconditioning)?),
        Peer::Mdm => mdm::decide(&parts.loaded(preconditioning.tikhonov)?),
        Peer::RecentredLr => tangent_lr::pooled(&parts.whitened(&recentring)?),
        Peer::RecentredMdm => mdm::decide(&parts.whitened(&recentring)?),
    }
}
