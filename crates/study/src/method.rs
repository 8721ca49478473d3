//! What is compared: a model of any kind under a name, with its whole configuration.

use crate::Result;
use serde::{Deserialize, Serialize};
use stiefel_model::precondition::Adaptation;
use stiefel_model::train::Observer;
use stiefel_model::{AdaptPolicy, FittedModel, ModelSpec, Trials};

/// A method with its whole configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// How its model is fitted.
    pub spec: ModelSpec,
    /// Whether the same network with one expert is trained beside it, as a control.
    pub retrained: bool,
    /// What is done for domains without training trials.
    pub unseen: AdaptPolicy,
}

impl Method {
    /// Returns the trials with the views that the method takes: all of them, or the broad one.
    pub fn views_of(&self, trials: &Trials) -> Result<Trials> {
        Ok(if self.spec.takes_views() {
            trials.clone()
        } else {
            trials.pick_views(&[0])?
        })
    }

    /// Fits on training trials; the validation trials choose the epoch, or the penalty. What takes
    /// one view gets the broad one.
    pub fn fit(
        &self,
        training: &Trials,
        validation: &Trials,
        seed: u64,
        observer: &mut dyn Observer,
    ) -> Result<FittedModel> {
        let (training, validation) = (&self.views_of(training)?, &self.views_of(validation)?);
        let spec = self.spec.clone().seeded(seed)?;
        Ok(FittedModel::fit(training, validation, &spec, observer)?)
    }

    /// Returns what whitens a domain without training trials; nothing where the method does not
    /// whiten.
    pub fn unseen_whitening(&self) -> Option<Adaptation> {
        let adapts = self.spec.kind().adapts();
        adapts.then_some(self.unseen.whitening)
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
