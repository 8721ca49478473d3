//! The options of batch normalisation, checked once, at the door.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the layer stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NormPosition {
    /// In front of the filter, on `n × n` matrices: takes the place of whitening outside the
    /// network.
    Before,
    /// Behind the filter, on `k × k` matrices.
    After,
}

/// Domain-specific Riemannian batch normalisation; see the [module](crate::net::batch_norm).
///
/// ```
/// use stiefel_model::net::{BatchNormConfig, Network, Sizes, SpdNet, SpdNetConfig};
///
/// let sizes = Sizes {
///     channels: 22,
///     classes: 2,
///     domains: 9,
///     encoded: 253,
///     views: 1,
/// };
/// let config = SpdNetConfig {
///     batch_norm: Some(BatchNormConfig::default()),
///     ..SpdNetConfig::default()
/// };
/// let net = SpdNet::new(
///     sizes,
///     SpdNetConfig {
///         filters: 20,
///         ..config
///     },
/// )?;
/// assert_eq!(Network::<f32>::name(&net), "spdnet+bn");
/// # Ok::<(), stiefel_model::ModelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BatchNormConfig {
    /// Where the layer stands.
    pub position: NormPosition,
    /// γ: how far a batch moves the running statistics.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub momentum: f64,
    /// ε, added to the dispersion.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub epsilon: f64,
    /// Whether an SPD bias is learnt.
    pub bias: bool,
}

impl Default for BatchNormConfig {
    fn default() -> Self {
        Self {
            position: NormPosition::After,
            momentum: 0.1,
            epsilon: 1e-5,
            bias: true,
        }
    }
}

impl BatchNormConfig {
    /// The size of the matrices it sees.
    pub(crate) fn size(&self, channels: usize, filters: usize) -> usize {
        match self.position {
            NormPosition::Before => channels,
            NormPosition::After => filters,
        }
    }
}
