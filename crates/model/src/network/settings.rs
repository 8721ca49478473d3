//! Settings of the networks: defaults from the scaling rule, named variants, ranges.

use crate::kind::{DataSizes, Variant};
use crate::model::{Architecture, ModelConfig};
use crate::net::{
    ANCHOR_NOISE, Anchor, BarrierKind, BatchNormConfig, DaspConfig, ExpertKind, HEAD_RIDGE,
    HeadKind, InitialAnchor, InitialExperts, LossWeights, RoutingRule, SpdNetConfig, ViewRouting,
};
use crate::scaling::{Preset, Recommendation, ScalingRule};
use crate::train::TrainConfig;
use crate::{DspConfig, Model, Preconditioning, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::LazyLock;
use stiefel_data::settings::schema_of;
use stiefel_linalg::Scalar;

/// Weight of the load-balance loss (B1), where a name asks for it.
pub const LAMBDA_BALANCE: f64 = 0.01;

/// Weight of the entropy loss (B2), where a name asks for it.
pub const LAMBDA_ENTROPY: f64 = 0.1;

/// Weight of the CSP loss, where a name asks for it.
pub const LAMBDA_CSP: f64 = 0.1;

/// The weight of `mean_j ‖Δ_j‖²` of experts that start at a discriminative anchor.
const SHRINK: f64 = 0.01;

/// The number type of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// Single.
    #[default]
    F32,
    /// Double.
    F64,
}

impl Precision {
    /// Returns that of a number type.
    pub fn for_scalar<T: Scalar>() -> Self {
        if size_of::<T>() == size_of::<f32>() {
            Self::F32
        } else {
            Self::F64
        }
    }
}

/// Where the sizes of a network come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sizing {
    /// The scaling rule.
    #[default]
    Auto,
    /// The paper's Weibo2014 setting.
    Weibo2014,
    /// The paper's BNCI2014001 setting.
    Bnci2014001,
    /// The paper's BNCI2015001 setting.
    Bnci2015001,
}

impl Sizing {
    /// Returns sizes for data of so many channels and training domains, and why.
    pub fn recommendation(self, sizes: DataSizes) -> Result<Recommendation> {
        let preset = match self {
            Self::Auto => {
                return ScalingRule::default().recommend(sizes.channels, sizes.domains);
            }
            Self::Weibo2014 => Preset::Weibo2014,
            Self::Bnci2014001 => Preset::Bnci2014001,
            Self::Bnci2015001 => Preset::Bnci2015001,
        };
        Ok(preset.recommendation())
    }
}

/// Settings of a network.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkSettings {
    /// Where its sizes come from.
    pub sizes: Sizing,
    /// Its number type.
    pub precision: Precision,
    /// How covariances are whitened and scaled.
    pub preconditioning: Preconditioning,
    /// The encoder in front of the query; none gives the query the whole tangent vector.
    pub encoder: Option<DspConfig>,
    /// The network.
    pub architecture: Architecture,
    /// The protocol of training.
    pub training: TrainConfig,
    /// Whether the Fréchet means of the training domains are kept, which `riemannian-nearest`
    /// needs.
    pub frechet_means: bool,
}

impl Default for NetworkSettings {
    fn default() -> Self {
        Self::new(
            ModelConfig {
                preconditioning: Preconditioning::default(),
                encoder: None,
                architecture: Architecture::Dasp(DaspConfig::default()),
                training: TrainConfig::default(),
                frechet_means: false,
            },
            Precision::default(),
        )
    }
}

impl NetworkSettings {
    /// Returns the settings of a configuration.
    pub fn new(config: ModelConfig, precision: Precision) -> Self {
        Self {
            sizes: Sizing::Auto,
            precision,
            preconditioning: config.preconditioning,
            encoder: config.encoder,
            architecture: config.architecture,
            training: config.training,
            frechet_means: config.frechet_means,
        }
    }

    /// Returns those of a fitted network.
    pub(super) fn from_model<T: Scalar>(model: &Model<T>) -> Self {
        Self::new(model.config, Precision::for_scalar::<T>())
    }

    /// Returns what a fit needs to know of them.
    pub fn config(&self) -> ModelConfig {
        ModelConfig {
            preconditioning: self.preconditioning,
            encoder: self.encoder,
            architecture: self.architecture,
            training: self.training,
            frechet_means: self.frechet_means,
        }
    }

    /// Returns the defaults of the routed network, or of the one with a single filter.
    pub(super) fn sized(routed: bool, sizing: Sizing, auto: &Recommendation) -> Self {
        let (network, encoder) = DaspConfig::sized(auto);
        let (architecture, encoder) = if routed {
            (Architecture::Dasp(network), encoder)
        } else {
            let config = SpdNetConfig {
                filters: network.filters,
                ..SpdNetConfig::default()
            };
            (Architecture::Spdnet(config), None)
        };
        Self {
            sizes: sizing,
            architecture,
            encoder,
            ..Self::default()
        }
    }

    /// Changes the settings that a variant's name stands for.
    pub(super) fn vary(&mut self, variant: &str) {
        match &mut self.architecture {
            Architecture::Spdnet(c) if variant == "spdnet+bn" => {
                c.batch_norm = Some(BatchNormConfig::default());
            }
            Architecture::Spdnet(_) => {}
            Architecture::Dasp(c) => {
                if variant == "naive" {
                    self.encoder = None;
                }
                vary_dasp(c, variant);
            }
        }
    }
}

/// Returns the schema of the routed network, or of the one with a single filter.
pub(super) fn schema_of_network(routed: bool) -> &'static Value {
    static BOTH: LazyLock<[Value; 2]> = LazyLock::new(|| {
        ["spdnet", "dasp"].map(|network| {
            let mut schema = schema_of::<NetworkSettings>().clone();
            let place = &mut schema["properties"]["architecture"];
            let all = place["oneOf"].as_array().cloned().unwrap_or_default();
            let is_own = |one: &Value| one["properties"]["network"]["const"] == network;
            if let Some(mut own) = all.into_iter().find(is_own) {
                own["description"] = "The network.".into();
                *place = own;
            }
            schema
        })
    });
    &BOTH[usize::from(routed)]
}

fn vary_dasp(c: &mut DaspConfig, variant: &str) {
    let routed = HeadKind::Routed { ridge: HEAD_RIDGE };
    match variant {
        "naive" => {
            c.anchor = Anchor::First;
            c.decoupled_keys = false;
            c.losses = LossWeights::default();
        }
        "dasp-per-view" => c.view_routing = ViewRouting::View,
        "polar" => c.experts_kind = ExpertKind::Polar,
        "barrier" => {
            c.experts_kind = ExpertKind::Barrier {
                kind: BarrierKind::Bounded,
            };
        }
        "top-2" => {
            c.routing = RoutingRule::TopP {
                p: 2.min(c.experts),
            };
        }
        "csp" => c.losses.csp = LAMBDA_CSP,
        "routed-head" => c.head = routed,
        "near-anchor" => near_anchor(c),
        "near-anchor+head" => {
            near_anchor(c);
            c.head = routed;
        }
        "dasp+bn" => c.batch_norm = Some(BatchNormConfig::default()),
        _ => {}
    }
}

/// Starts the experts at the discriminative anchor and draws them back to it.
fn near_anchor(c: &mut DaspConfig) {
    c.initial_anchor = InitialAnchor::Discriminative;
    c.initial_experts = InitialExperts::NearAnchor {
        noise: ANCHOR_NOISE,
    };
    c.losses.shrink = SHRINK;
}

const fn variant(name: &'static str, about: &'static str) -> Variant {
    Variant {
        name,
        about,
        all_views: false,
    }
}

/// Variants of the routed network.
pub(super) const OF_DASP: [Variant; 11] = [
    variant(
        "naive",
        "routing as first described: first expert as anchor, no encoder, no alignment",
    ),
    Variant {
        all_views: true,
        ..variant(
            "dasp-views",
            "dasp with a pool of experts for every view of a trial, and one head",
        )
    },
    Variant {
        all_views: true,
        ..variant("dasp-per-view", "dasp-views with a routing for every view")
    },
    variant(
        "polar",
        "experts of full rank: orthonormal columns times an SPD scale",
    ),
    variant(
        "barrier",
        "experts of full rank: free matrices under a log-det barrier",
    ),
    variant("top-2", "dasp with the two best experts of every trial"),
    variant(
        "csp",
        "dasp with filters drawn to the CSP subspace of their domain",
    ),
    variant("routed-head", "dasp with a head of each expert's own"),
    variant(
        "near-anchor",
        "experts that start at the discriminative anchor and are drawn to it",
    ),
    variant(
        "near-anchor+head",
        "near-anchor with a head of each expert's own",
    ),
    variant("dasp+bn", "dasp with Riemannian batch normalisation"),
];

/// Variants of the network with a single filter.
pub(super) const OF_SPDNET: [Variant; 3] = [
    variant("baseline", "spdnet, by the name it has in tables"),
    variant(
        "spdnet+bn",
        "spdnet with Riemannian batch normalisation per domain",
    ),
    Variant {
        all_views: true,
        ..variant(
            "spdnet-views",
            "spdnet with a filter for every view of a trial, and one head",
        )
    },
];
