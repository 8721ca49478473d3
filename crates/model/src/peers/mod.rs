//! What everyone else uses: a network that does not beat these has not earned its training.
//!
//! | name | what it sees | what it does |
//! |---|---|---|
//! | `ts+lr` | a network's own pre-conditioning | `upper(log X)` at the identity, one L2 [logistic regression](logistic) for all domains |
//! | `ts+lr-per-domain` | as `ts+lr` | one for each domain, on its own trials |
//! | `mdm` | covariances, diagonally loaded, nothing else | class of the nearest Fréchet mean, `argmin_c δ(X, M_c)` (Barachant et al. 2012) |
//! | `recentred-ts+lr` | each domain moved to its Riemannian mean, `M_d^{-1/2} X M_d^{-1/2}` (Zanini et al. 2018) | as `ts+lr` |
//! | `recentred-mdm` | as `recentred-ts+lr` | as `mdm` |
//! | `fb-ts+lr`, `fb-ts+lr-per-domain`, `fb-recentred-ts+lr` | every view of a trial, pre-conditioned or recentred on its own | as without `fb-`, on the tangent vectors of all views one after the other |
//!
//! All means are of **training** trials. The inverse penalty `C` of a logistic regression is the
//! one of [`C_GRID`] with the best balanced accuracy on validation, the smaller one where several
//! are best. Probabilities of `mdm` are `softmax(−δ²)`, as pyRiemann's. A few labelled trials of a
//! person move the regressions ([`LogisticModel::updated`](logistic::LogisticModel::updated)).
//! Predictions are those of scikit-learn 1.9 and pyRiemann 0.12.
//!
//! ```
//! use stiefel_linalg::MatBatch;
//! use stiefel_model::train::Silent;
//! use stiefel_model::{Factor, FittedModel, ModelSpec, Trials, kind::DataSizes};
//!
//! // Class "hand" is weak on the first channel, class "feet" on the second.
//! let level =
//!     |i: usize, r: usize| 1.0 + (i % 5) as f64 / 9.0 + f64::from(u8::from(i % 2 == r));
//! let x = MatBatch::from_fn(24, 2, 2, |i, r, c| if r == c { level(i, r) } else { 0.2 });
//! let classes = Factor::from_labels((0..24).map(|i| ["hand", "feet"][i % 2]));
//! let domains = Factor::from_labels((0..24).map(|i| ["s1", "s2"][i / 12]));
//! let trials = Trials::new(x, classes, domains)?;
//! let part = |k: usize| (0..24).filter(|i| i / 2 % 3 == k).collect::<Vec<_>>();
//! let [training, validation, test] = [0, 1, 2].map(|k| trials.select(&part(k)));
//!
//! let spec = ModelSpec::named(
//!     "mdm",
//!     &().into(),
//!     DataSizes {
//!         channels: 2,
//!         domains: 2,
//!     },
//! )?;
//! let fitted = FittedModel::fit(&training?, &validation?, &spec, &mut Silent)?;
//! let test = test?;
//! assert_eq!(
//!     fitted.decide(&test, None)?.classes(),
//!     test.classes().indices()
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod engine;
mod fit;
pub mod logistic;
mod mdm;
mod model;
mod tangent_lr;

pub use model::Peer;
pub use tangent_lr::C_GRID;

use crate::file::{Archive, Found};
use crate::kind::{DataSizes, Fit, Kind, Model, Names, settings};
use crate::precondition::{Reference, Scaling, Whitening};
use crate::train::Flow;
use crate::{ModelError, Preconditioning, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use stiefel_data::settings::schema_of;

/// One of the peers: what it sees, and the rule that decides.
#[derive(Debug, Clone, Copy)]
pub struct PeerKind {
    name: &'static str,
    about: &'static str,
    front: Front,
    rule: Rule,
    /// Whether it takes all views of a trial.
    bank: bool,
}

/// What trials pass before the rule sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Front {
    /// Diagonal loading alone.
    Loaded,
    /// The pre-conditioning of the settings.
    Whitened,
    /// Each domain moved to its Riemannian mean.
    Recentred,
}

/// The rule that decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// One regression for all domains.
    Pooled,
    /// One regression for each domain.
    PerDomain,
    /// The nearest mean of a class.
    Nearest,
}

const fn peer(name: &'static str, about: &'static str, front: Front, rule: Rule) -> PeerKind {
    PeerKind {
        name,
        about,
        front,
        rule,
        bank: false,
    }
}

const fn bank(peer: PeerKind) -> PeerKind {
    PeerKind { bank: true, ..peer }
}

/// All peers, in the order of tables.
pub(crate) static PEERS: [PeerKind; 8] = [
    peer(
        "ts+lr",
        "tangent space and one logistic regression for all domains",
        Front::Whitened,
        Rule::Pooled,
    ),
    peer(
        "ts+lr-per-domain",
        "tangent space and one logistic regression per domain",
        Front::Whitened,
        Rule::PerDomain,
    ),
    peer(
        "mdm",
        "minimum distance to the Riemannian mean of a class",
        Front::Loaded,
        Rule::Nearest,
    ),
    peer(
        "recentred-ts+lr",
        "Riemannian recentring, tangent space and one logistic regression",
        Front::Recentred,
        Rule::Pooled,
    ),
    peer(
        "recentred-mdm",
        "Riemannian recentring, then minimum distance to mean",
        Front::Recentred,
        Rule::Nearest,
    ),
    bank(peer(
        "fb-ts+lr",
        "tangent spaces of all views and one logistic regression for all domains",
        Front::Whitened,
        Rule::Pooled,
    )),
    bank(peer(
        "fb-ts+lr-per-domain",
        "tangent spaces of all views and one logistic regression per domain",
        Front::Whitened,
        Rule::PerDomain,
    )),
    bank(peer(
        "fb-recentred-ts+lr",
        "every view recentred, then tangent spaces and one logistic regression",
        Front::Recentred,
        Rule::Pooled,
    )),
];

/// Settings of a peer.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct PeerSettings {
    /// How covariances are whitened and scaled; what recentres takes the loading alone from it.
    preconditioning: Preconditioning,
}

impl PeerKind {
    fn settings(&self, settings: &Value) -> Result<PeerSettings> {
        settings::parse(self.name, settings)
    }

    /// Returns what whitens each view. What takes covariances as they are has it too: it tells
    /// which trials are familiar.
    fn preconditioning(&self, settings: &PeerSettings) -> Preconditioning {
        match self.front {
            Front::Recentred => Preconditioning {
                reference: Reference::Riemannian,
                whitening: Whitening::Symmetric,
                scaling: Scaling::None,
                ..settings.preconditioning
            },
            Front::Whitened | Front::Loaded => settings.preconditioning,
        }
    }
}

impl Kind for PeerKind {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn defaults(&self, _: Option<&str>, _: &Value, _: DataSizes) -> Result<Value> {
        settings::tree(&PeerSettings::default())
    }

    fn schema(&self) -> &'static Value {
        schema_of::<PeerSettings>()
    }

    fn takes_views(&self) -> bool {
        self.bank
    }

    fn is_peer(&self) -> bool {
        true
    }

    fn adapts(&self) -> bool {
        self.front != Front::Loaded
    }

    fn calibrates(&self, class_count: usize) -> bool {
        self.rule != Rule::Nearest && class_count == 2
    }

    fn fit(&'static self, settings: &Value, fit: Fit<'_>) -> Result<Arc<dyn Model>> {
        fit.refuse_start()?;
        let mut asked = || match fit.observer.step(0) {
            Flow::Continue => Ok(()),
            Flow::Stop => Err(ModelError::Cancelled { op: self.name }),
        };
        let parts = (fit.training, fit.validation);
        let peer = Peer::fit(self, self.settings(settings)?, parts, &mut asked)?;
        Ok(Arc::new(peer))
    }

    fn read(&'static self, names: Names, file: &mut Archive) -> Found<Arc<dyn Model>> {
        Ok(Arc::new(Peer::read(self, names, file)?))
    }
}
