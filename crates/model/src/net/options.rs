//! Options of the routed network beyond the paper's published layer.

use super::config::{positive, require};
use crate::Result;
use serde::{Deserialize, Serialize};

/// Which experts a sample is filtered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum RoutingRule {
    /// All of them, weighted by the softmax.
    #[default]
    Soft,
    /// The `p` with the largest scores, weighted by the softmax over these alone; learnt straight through. `p = K` equals
    /// [`Soft`](Self::Soft) to the bit, `p = 1` costs one expert's work per decision.
    TopP {
        /// How many experts are kept, from 1 to `K`.
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
        positive("p of top-p routing", p)?;
        require(
            p <= experts,
            "p of top-p routing",
            p as f64,
            "at most the number of experts",
        )
    }
}
