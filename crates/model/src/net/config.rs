//! Sizes and options of the networks, checked once, at the door.

use super::BatchNormConfig;
use super::options::{ExpertKind, RoutingRule, ViewRouting};
use crate::csp::CspConfig;
use crate::sizes::Sizes;
use crate::tolerance::REEIG_EPSILON;
use crate::{ModelError, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stiefel_data::settings;

/// The point whose tangent space the experts are mixed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Anchor {
    /// A point of its own, learnt.
    Dedicated,
    /// The first expert: the naive reading, in which that expert's tangent is zero.
    First,
    /// `qf(W_1 + mean_j P_{W_1}(W_j))`, recomputed each step.
    Barycenter,
    /// The same with the sample's routing weights in place of the mean.
    RoutedBarycenter,
}

/// How a tangent vector becomes a point again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Retraction {
    /// The orthonormal factor of `W + Δ`.
    Qr,
    /// The polar factor of `W + Δ`.
    Polar,
}

/// How filters stay orthonormal while they are learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Orthogonality {
    /// Steps along the manifold.
    Riemannian,
    /// Free coordinates through the Cayley transform.
    Cayley,
}

/// The classifier behind the features `z`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum HeadKind {
    /// `w·z + b`, the same for every sample.
    #[default]
    Shared,
    /// `(w_0 + Σ_j α_ij δ_j)·z + b`: every expert has weights of its own, which start at zero and
    /// are drawn towards it.
    Routed {
        /// The weight of `Σ_j ‖δ_j‖²` in the loss; with `N` training trials, `1/(2Nτ²)` is a prior
        /// variance of τ².
        #[serde(default = "head_ridge")]
        #[schemars(range(min = 0.0))]
        ridge: f64,
    },
}

/// Where the filter (the anchor, or the only filter there is) starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InitialAnchor {
    /// At a random point.
    #[default]
    Random,
    /// At the discriminative directions of the training trials
    /// ([`crate::anchor::discriminative_basis`]). Under an anchor without a point of its own,
    /// the first expert starts there.
    Discriminative,
}

/// Where the experts start.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum InitialExperts {
    /// At random points.
    #[default]
    Random,
    /// At the anchor (the first expert, where the anchor has no point of its own), moved along a
    /// random tangent vector.
    NearAnchor {
        /// The root mean square of the tangent vector's columns.
        #[serde(default = "anchor_noise")]
        #[schemars(range(min = 0.0))]
        noise: f64,
    },
}

/// Weights of the losses beside the cross-entropy; zero turns one off.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LossWeights {
    /// Winner's key towards the query.
    #[schemars(range(min = 0.0))]
    pub alignment: f64,
    /// Switch-Transformer load balance.
    #[schemars(range(min = 0.0))]
    pub balance: f64,
    /// Routing entropy.
    #[schemars(range(min = 0.0))]
    pub entropy: f64,
    /// The barrier of experts of the kind `barrier`: small beside the cross-entropy at orthonormal
    /// columns, and growing without bound as a column is lost.
    #[serde(default = "barrier_weight")]
    #[schemars(range(min = 0.0))]
    pub barrier: f64,
    /// Filters towards the CSP subspace of their domain.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub csp: f64,
    /// Experts towards the anchor: `mean_j ‖Δ_j‖_F²`.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub shrink: f64,
}

/// Ridge of a routed head, unless told otherwise.
pub(crate) const HEAD_RIDGE: f64 = 1e-3;

/// Noise of experts that start near the anchor, unless told otherwise.
pub(crate) const ANCHOR_NOISE: f64 = 0.05;

fn head_ridge() -> f64 {
    HEAD_RIDGE
}

fn anchor_noise() -> f64 {
    ANCHOR_NOISE
}

fn barrier_weight() -> f64 {
    LossWeights::default().barrier
}

impl Default for LossWeights {
    /// The cross-entropy alone, and the barrier where experts need one.
    fn default() -> Self {
        Self {
            alignment: 0.0,
            balance: 0.0,
            entropy: 0.0,
            barrier: 1e-3,
            csp: 0.0,
            shrink: 0.0,
        }
    }
}

/// The routed network.
///
/// ```
/// use stiefel_model::net::{DaspConfig, DaspNet, Network, Sizes};
///
/// let sizes = Sizes {
///     channels: 22,
///     classes: 2,
///     domains: 9,
///     encoded: 253,
///     views: 1,
/// };
/// let net = DaspNet::new(
///     sizes,
///     DaspConfig {
///         filters: 20,
///         experts: 8,
///         ..DaspConfig::default()
///     },
/// )?;
/// assert_eq!(<DaspNet as Network<f32>>::expert_count(&net), 8);
/// // A filter cannot keep more directions than there are channels.
/// assert!(
///     DaspNet::new(
///         sizes,
///         DaspConfig {
///             filters: 23,
///             ..DaspConfig::default()
///         }
///     )
///     .is_err()
/// );
/// # Ok::<(), stiefel_model::ModelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DaspConfig {
    /// Directions a filter keeps, `k`.
    #[schemars(range(min = 1))]
    pub filters: usize,
    /// Experts, `K`.
    #[schemars(range(min = 1))]
    pub experts: usize,
    /// Width of queries, keys and embeddings, `m`.
    #[schemars(range(min = 1))]
    pub embedding: usize,
    /// Where the experts are mixed.
    pub anchor: Anchor,
    /// How the mixture becomes a filter.
    pub retraction: Retraction,
    /// Whether the query sees the domain.
    pub domain_embedding: bool,
    /// Whether keys learn from the alignment loss alone.
    pub decoupled_keys: bool,
    /// Losses beside the cross-entropy.
    pub losses: LossWeights,
    /// ReEig threshold: eigenvalues are clamped from below to it.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub epsilon: f64,
    /// How filters stay orthonormal.
    pub orthogonality: Orthogonality,
    /// Which experts a sample is filtered with.
    #[serde(default)]
    pub routing: RoutingRule,
    /// What the experts are.
    #[serde(default)]
    pub experts_kind: ExpertKind,
    /// The targets of the CSP loss, where `losses.csp` is not zero.
    #[serde(default)]
    pub csp: CspConfig,
    /// The classifier.
    #[serde(default)]
    pub head: HeadKind,
    /// Where the anchor starts.
    #[serde(default)]
    pub initial_anchor: InitialAnchor,
    /// Where the experts start.
    #[serde(default)]
    pub initial_experts: InitialExperts,
    /// Batch normalisation inside the network.
    #[serde(default)]
    pub batch_norm: Option<BatchNormConfig>,
    /// Which views share the weights of their experts.
    #[serde(default)]
    pub view_routing: ViewRouting,
}

impl Default for DaspConfig {
    /// The paper's Weibo2014 setting; `filters` and `experts` follow the scaling rule in practice.
    fn default() -> Self {
        Self {
            filters: 30,
            experts: 8,
            embedding: 20,
            anchor: Anchor::Dedicated,
            retraction: Retraction::Qr,
            domain_embedding: true,
            decoupled_keys: true,
            losses: LossWeights {
                alignment: 0.05,
                ..LossWeights::default()
            },
            epsilon: REEIG_EPSILON,
            orthogonality: Orthogonality::Riemannian,
            routing: RoutingRule::Soft,
            experts_kind: ExpertKind::Stiefel,
            csp: CspConfig::default(),
            head: HeadKind::Shared,
            initial_anchor: InitialAnchor::Random,
            initial_experts: InitialExperts::Random,
            batch_norm: None,
            view_routing: ViewRouting::Trial,
        }
    }
}

/// The baseline: one filter for everybody.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpdNetConfig {
    /// Directions the filter keeps, `k`.
    #[schemars(range(min = 1))]
    pub filters: usize,
    /// ReEig threshold: eigenvalues are clamped from below to it.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub epsilon: f64,
    /// How the filter stays orthonormal.
    pub orthogonality: Orthogonality,
    /// Where the filter starts.
    #[serde(default)]
    pub initial_anchor: InitialAnchor,
    /// Batch normalisation inside the network; with it the baseline is called `spdnet+bn`.
    #[serde(default)]
    pub batch_norm: Option<BatchNormConfig>,
}

impl Default for SpdNetConfig {
    fn default() -> Self {
        Self {
            filters: 30,
            epsilon: REEIG_EPSILON,
            orthogonality: Orthogonality::Riemannian,
            initial_anchor: InitialAnchor::Random,
            batch_norm: None,
        }
    }
}

/// An error unless `good`.
pub(super) fn require(
    good: bool,
    name: &'static str,
    value: f64,
    expected: &'static str,
) -> Result<()> {
    if good {
        return Ok(());
    }
    Err(ModelError::Parameter {
        op: "network",
        name,
        value,
        expected,
    })
}

pub(super) fn positive(name: &'static str, value: usize) -> Result<()> {
    require(value >= 1, name, value as f64, "at least 1")
}

/// Checks what both networks need of sizes and filters.
pub(super) fn check_tail(sizes: &Sizes, filters: usize) -> Result<()> {
    positive("the number of channels", sizes.channels)?;
    require(
        sizes.classes >= 2,
        "the number of classes",
        sizes.classes as f64,
        "at least 2",
    )?;
    positive("the number of domains", sizes.domains)?;
    positive("the number of views", sizes.views)?;
    require(
        (1..=sizes.channels).contains(&filters),
        "k, the directions a filter keeps,",
        filters as f64,
        "from 1 to the number of channels",
    )
}

/// An error where an option that knows one view only is asked for with several.
pub(super) fn check_views(sizes: &Sizes, options: &[(&str, bool)]) -> Result<()> {
    match options.iter().find(|(_, used)| *used && sizes.views > 1) {
        None => Ok(()),
        Some((option, _)) => Err(ModelError::Impossible {
            op: "network",
            why: format!(
                "{option} takes trials of one view, but these have {}",
                sizes.views
            ),
            remedy: "leave the option out, or pick one view",
        }),
    }
}

impl DaspConfig {
    pub(super) fn check(&self, sizes: &Sizes) -> Result<()> {
        settings::check("dasp", self)?;
        check_views(
            sizes,
            &[
                ("batch normalisation", self.batch_norm.is_some()),
                ("the CSP loss", self.losses.csp != 0.0),
                (
                    "experts of full rank",
                    self.experts_kind != ExpertKind::Stiefel,
                ),
                (
                    "a discriminative start",
                    self.initial_anchor == InitialAnchor::Discriminative,
                ),
                (
                    "a start near the anchor",
                    self.initial_experts != InitialExperts::Random,
                ),
            ],
        )?;
        if self.view_routing == ViewRouting::View && sizes.views == 1 {
            return Err(ModelError::Impossible {
                op: "network",
                why: "one routing per view was asked for, but the trials have one view".into(),
                remedy: "leave the option out, or prepare trials with several views",
            });
        }
        check_tail(sizes, self.filters)?;
        self.routing.check(self.experts)?;
        positive("the width of the query's input", sizes.encoded)?;
        if self.losses.csp != 0.0 {
            check_csp(&self.csp, self.filters)?;
        }
        require(
            self.losses.shrink == 0.0 || self.anchor != Anchor::RoutedBarycenter,
            "the weight of the shrinkage loss",
            self.losses.shrink,
            "0 under a routed barycenter, where every sample has an anchor of its own",
        )?;
        if let HeadKind::Routed { ridge } = self.head {
            require(
                self.view_routing == ViewRouting::Trial,
                "the ridge of the routed head",
                ridge,
                "left out where every view has weights of its own: the head has one set",
            )?;
        }
        Ok(())
    }
}

fn check_csp(csp: &CspConfig, filters: usize) -> Result<()> {
    require(
        (1..=filters).contains(&csp.filters),
        "s, the CSP filters of a domain,",
        csp.filters as f64,
        "from 1 to the directions a filter keeps",
    )
}
