//! Options of the routed network beyond the paper's published layer.

use super::config::require;
use crate::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which experts a sample is filtered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum RoutingRule {
    /// All of them, weighted by the softmax.
    #[default]
    Soft,
    /// The `p` with the largest scores, weighted by the softmax over these alone; learnt straight
    /// through. `p = K` equals soft routing to the bit, `p = 1` costs one expert's work
    /// per decision.
    TopP {
        /// How many experts are kept, from 1 to `K`.
        #[schemars(range(min = 1))]
        p: usize,
    },
}

impl RoutingRule {
    /// How many of `experts` are kept, where some are not.
    pub(crate) fn kept(self, experts: usize) -> Option<usize> {
        match self {
            Self::Soft => None,
            Self::TopP { p } => (p < experts).then_some(p),
        }
    }

    pub(super) fn check(self, experts: usize) -> Result<()> {
        let Self::TopP { p } = self else {
            return Ok(());
        };
        require(
            p <= experts,
            "p of top-p routing",
            p as f64,
            "at most the number of experts",
        )
    }
}

/// Which views share the weights of their experts, where a trial has several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ViewRouting {
    /// All: a trial has one set of weights.
    #[default]
    Trial,
    /// None: every view has keys of its own, and with them weights of its own. The query is the
    /// trial's, of the broad view.
    View,
}

impl ViewRouting {
    /// How many sets of weights a trial of so many views has.
    pub(crate) fn count(self, views: usize) -> usize {
        match self {
            Self::Trial => 1,
            Self::View => views,
        }
    }
}

/// What the experts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ExpertKind {
    /// Orthonormal columns, mixed in the tangent space of the anchor.
    #[default]
    Stiefel,
    /// `W_j = Q_j P_j^{1/2}`: orthonormal columns and an SPD scale of each expert's own, which can
    /// follow differences in amplitude.
    Polar,
    /// Any `n × k` matrix, mixed as it is; a barrier in the loss keeps the rank full. Anchor,
    /// retraction and the way filters stay orthonormal do not matter then.
    Barrier {
        /// Which barrier.
        #[serde(default)]
        kind: BarrierKind,
    },
}

/// The barrier that keeps unconstrained experts of full rank; its weight is `losses.barrier`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BarrierKind {
    /// `−Σ_j log det(W_jᵀW_j)`, as the paper writes it: falls without bound as an expert grows.
    Paper,
    /// `Σ_j [tr(W_jᵀW_j) − k − log det(W_jᵀW_j)]`: zero at orthonormal columns, positive elsewhere.
    #[default]
    Bounded,
}
