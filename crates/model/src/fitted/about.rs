//! What a model knows of itself beside its parameters.

use super::familiar::Distances;
use crate::metrics::Scores;
use crate::scaling::Recommendation;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use stiefel_data::{Preparation, Seen};

/// What the names of classes were before they became text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassType {
    /// Text.
    #[default]
    Text,
    /// Whole numbers.
    Integer,
    /// Numbers.
    Float,
    /// True and false.
    Boolean,
}

/// Origin and history of a model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct About {
    /// How its training trials were made.
    pub preparation: Preparation,
    /// Which trials these were.
    pub seen: Seen,
    /// What its classes were before they became text.
    pub class_type: ClassType,
    /// What the probability of each class is multiplied by, where classes do not count alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_weights: Option<Vec<f64>>,
    /// Scores on the validation trials, of a model that was not fitted on them.
    pub validation: Option<Scores>,
    /// The method it is an instance of, by the name it has in studies.
    pub method: Option<String>,
    /// How far its training trials lie from the mean of their domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distances: Option<Distances>,
    /// Why it has its sizes, where the scaling rule chose them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scaling: Option<Recommendation>,
    /// What the Python estimator was constructed with.
    pub estimator: Option<Value>,
}

impl About {
    pub(crate) fn new(preparation: Preparation) -> Self {
        Self {
            preparation,
            ..Self::default()
        }
    }
}
