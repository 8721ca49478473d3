//! What is compared: networks and peers, each under a name, with its whole configuration.

use crate::Result;
use crate::peers::{FittedPeer, Peer};
use serde::{Deserialize, Serialize};
use stiefel_model::precondition::UnseenPolicy;
use stiefel_model::train::Observer;
use stiefel_model::{FitConfig, FittedModel, Preconditioning, Trials, Unseen};

/// A method with its whole configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Method {
    /// A network, or the preset.
    Model {
        /// How it is fitted.
        fit: FitConfig,
        /// Whether the same network with one expert is trained beside it, as a control.
        retrained: bool,
        /// What is done for domains without training trials.
        unseen: Unseen,
        /// Whether a network takes all views of a trial, and not the broad one alone. The preset `recommended` always does.
        #[serde(default)]
        all_views: bool,
    },
    /// A peer.
    Peer {
        /// Which.
        peer: Peer,
        /// Whitening.
        preconditioning: Preconditioning,
    },
}

/// A method, fitted.
#[derive(Debug)]
pub enum FittedMethod {
    /// A network, or the preset.
    Model(Box<FittedModel>, Unseen),
    /// A peer.
    Peer(Box<FittedPeer>),
}

impl Method {
    /// Whether it takes all views of a trial, and not the broad one alone.
    pub fn takes_views(&self) -> bool {
        match self {
            Self::Model { fit, all_views, .. } => {
                *all_views || matches!(fit, FitConfig::Views { .. })
            }
            Self::Peer { peer, .. } => peer.takes_views(),
        }
    }

    /// The trials with the views that the method takes: all of them, or the broad one.
    pub fn views_of(&self, trials: &Trials) -> Result<Trials> {
        Ok(if self.takes_views() {
            trials.clone()
        } else {
            trials.pick_views(&[0])?
        })
    }

    /// Fits on training trials; the validation trials choose the epoch, or the penalty. Whoever takes one view gets the broad one.
    pub fn fit(
        &self,
        training: &Trials,
        validation: &Trials,
        seed: u64,
        observer: &mut dyn Observer,
    ) -> Result<FittedMethod> {
        let (training, validation) = (&self.views_of(training)?, &self.views_of(validation)?);
        Ok(match self {
            Self::Model { fit, unseen, .. } => {
                let config = fit.clone().seeded(seed);
                let model = FittedModel::fit(training, validation, &config, observer)?;
                FittedMethod::Model(Box::new(model), *unseen)
            }
            Self::Peer {
                peer,
                preconditioning,
            } => FittedMethod::Peer(Box::new(peer.fit(training, validation, preconditioning)?)),
        })
    }

    /// What whitens a domain without training trials; nothing where the method does not whiten.
    pub fn unseen_whitening(&self) -> Option<UnseenPolicy> {
        match self {
            Self::Model { unseen, .. } => Some(unseen.whitening),
            Self::Peer {
                peer,
                preconditioning,
            } => preconditioning.unseen.filter(|_| peer.whitens()),
        }
    }
}

impl FittedMethod {
    /// Probabilities of the classes, `N × C` one after the other.
    pub fn probabilities(&self, trials: &Trials) -> Result<Vec<f64>> {
        Ok(match self {
            Self::Model(model, unseen) => {
                let broad;
                let trials = if model.views() == 1 {
                    broad = trials.pick_views(&[0])?;
                    &broad
                } else {
                    trials
                };
                let decided = model.decide(trials, Some(unseen))?;
                decided.probabilities.into_vec()
            }
            Self::Peer(peer) => peer.decide(trials)?.probabilities,
        })
    }
}

/// A method and what tables call it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Named {
    /// The name.
    pub name: String,
    /// The method.
    pub method: Method,
}
