//! What is compared: networks and peers, each under a name, with its whole configuration.

use crate::Result;
use crate::peers::Peer;
use serde::{Deserialize, Serialize};
use stiefel_model::net::{
    Anchor, BarrierKind, BatchNormConfig, DaspConfig, ExpertKind, HeadKind, InitialAnchor,
    InitialExperts, LossWeights, Orthogonality, RoutingRule, SpdNetConfig,
};
use stiefel_model::pooled::{HeadConfig, PooledConfig};
use stiefel_model::scaling::Recommendation;
use stiefel_model::train::TrainConfig;
use stiefel_model::{Architecture, DspConfig, ModelConfig, Preconditioning};

/// The default λ of the load-balance loss (B1).
pub const LAMBDA_BALANCE: f64 = 0.01;

/// The default λ of the entropy loss (B2).
pub const LAMBDA_ENTROPY: f64 = 0.1;

/// The default λ of the CSP loss.
pub const LAMBDA_CSP: f64 = 0.1;

/// The default ridge of a routed head trained on the tape.
pub const HEAD_RIDGE: f64 = 1e-3;

/// Methods that are run where they are asked for by name.
const ON_REQUEST: [&str; 10] = [
    "recommended-train-only",
    "polar",
    "barrier",
    "top-2",
    "csp",
    "routed-head",
    "near-anchor",
    "near-anchor+head",
    "dasp+bn",
    "pooled-head",
];

/// The weight of `mean_j ‖Δ_j‖²` and the noise of experts that start at a discriminative anchor.
const SHRINK: (f64, f64) = (0.01, 0.05);

/// Experts that start at the discriminative anchor and are drawn back to it.
fn near_anchor(c: &mut DaspConfig) {
    c.initial_anchor = InitialAnchor::Discriminative;
    c.initial_experts = InitialExperts::NearAnchor { noise: SHRINK.1 };
    c.losses.shrink = SHRINK.0;
}

/// The number type a network is trained in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// 32 bits.
    #[default]
    F32,
    /// 64 bits.
    F64,
}

/// What stands in for the embedding of a subject who was not in training (SPEC conditions of the LOSO study).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnseenRow {
    /// The untrained row, at its initial value.
    Initial,
    /// Zeros.
    Zero,
    /// The row of the training domain nearest in mean tangent vectors.
    Nearest,
    /// The row of the training domain nearest in the affine-invariant distance of Fréchet means.
    RiemannianNearest,
    /// Adapted on the unlabelled trials of the new domain to route them sharply.
    Transductive,
}

/// How a unit fits and decides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Method {
    /// A network of this library.
    Network {
        /// Pre-conditioning, encoder, architecture, training; the unit's seed replaces the training's.
        model: Box<ModelConfig>,
        /// Number type.
        precision: Precision,
        /// Whether one expert is trained from scratch beside it, as a control.
        retrained: bool,
        /// What stands in for an unseen domain's embedding.
        unseen: UnseenRow,
    },
    /// The discriminative filter with a head of partly pooled weights, in closed form.
    Pooled {
        /// Its whole configuration.
        config: Box<PooledConfig>,
    },
    /// A peer.
    Peer {
        /// Which.
        peer: Peer,
        /// The pre-conditioning it is given.
        preconditioning: Preconditioning,
    },
}

/// A method and what tables call it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Named {
    /// The name.
    pub name: String,
    /// The method.
    pub method: Method,
}

/// Everything the methods of a study share.
#[derive(Debug, Clone)]
pub struct Family {
    /// Sizes and regime.
    pub auto: Recommendation,
    /// The protocol of training.
    pub training: TrainConfig,
    /// Pre-conditioning.
    pub preconditioning: Preconditioning,
    /// How filters stay orthonormal.
    pub orthogonality: Orthogonality,
    /// Number type.
    pub precision: Precision,
    /// Whether routed methods get the retrained control.
    pub retrained: bool,
}

impl Family {
    fn network(
        &self,
        name: &str,
        architecture: Architecture,
        encoder: Option<DspConfig>,
        unseen: UnseenRow,
    ) -> Named {
        let routed = matches!(architecture, Architecture::Dasp(_));
        Named {
            name: name.into(),
            method: Method::Network {
                model: Box::new(ModelConfig {
                    preconditioning: self.preconditioning,
                    encoder,
                    architecture,
                    training: self.training,
                }),
                precision: self.precision,
                retrained: self.retrained && routed,
                unseen,
            },
        }
    }

    /// The single-filter network.
    pub fn baseline(&self) -> Named {
        let config = SpdNetConfig {
            filters: self.auto.filters.value,
            orthogonality: self.orthogonality,
            ..SpdNetConfig::default()
        };
        self.network(
            "baseline",
            Architecture::Spdnet(config),
            None,
            UnseenRow::Initial,
        )
    }

    /// The baseline with domain-specific batch normalisation.
    pub fn baseline_bn(&self) -> Named {
        let config = SpdNetConfig {
            filters: self.auto.filters.value,
            orthogonality: self.orthogonality,
            batch_norm: Some(BatchNormConfig::default()),
            ..SpdNetConfig::default()
        };
        let architecture = Architecture::Spdnet(config);
        self.network("spdnet+bn", architecture, None, UnseenRow::Initial)
    }

    /// The discriminative filter with partly pooled weights, or with the same weights for everybody.
    fn pooled(&self, name: &str, head: HeadConfig, refit: bool) -> Named {
        Named {
            name: name.into(),
            method: Method::Pooled {
                config: Box::new(PooledConfig {
                    preconditioning: self.preconditioning,
                    head,
                    refit,
                    ..PooledConfig::default()
                }),
            },
        }
    }

    /// The preset `recommended`.
    pub fn recommended(&self) -> Named {
        self.pooled(
            "recommended",
            HeadConfig::default(),
            PooledConfig::default().refit,
        )
    }

    /// DASP with one option changed.
    fn variant(&self, name: &str, change: impl FnOnce(&mut DaspConfig)) -> Named {
        let (mut config, encoder) = self.dasp_config();
        change(&mut config);
        self.network(
            name,
            Architecture::Dasp(config),
            encoder,
            UnseenRow::Initial,
        )
    }

    /// The extensions of the routed network.
    fn extension(&self, name: &str) -> Option<Named> {
        Some(match name {
            "polar" => self.variant(name, |c| c.experts_kind = ExpertKind::Polar),
            "barrier" => self.variant(name, |c| {
                c.experts_kind = ExpertKind::Barrier {
                    kind: BarrierKind::Bounded,
                };
            }),
            "top-2" => self.variant(name, |c| {
                c.routing = RoutingRule::TopP {
                    p: 2.min(c.experts),
                };
            }),
            "csp" => self.variant(name, |c| c.losses.csp = LAMBDA_CSP),
            "routed-head" => {
                self.variant(name, |c| c.head = HeadKind::Routed { ridge: HEAD_RIDGE })
            }
            "near-anchor" => self.variant(name, near_anchor),
            "near-anchor+head" => self.variant(name, |c| {
                near_anchor(c);
                c.head = HeadKind::Routed { ridge: HEAD_RIDGE };
            }),
            "dasp+bn" => self.variant(name, |c| c.batch_norm = Some(BatchNormConfig::default())),
            _ => return None,
        })
    }

    /// The naive reading: the first expert is the anchor; no encoder, no alignment, coupled keys (the ablation's Ref).
    fn naive_config(&self) -> DaspConfig {
        DaspConfig {
            filters: self.auto.filters.value,
            experts: self.auto.experts.value,
            embedding: self.auto.embedding.value,
            anchor: Anchor::First,
            decoupled_keys: false,
            losses: LossWeights::default(),
            orthogonality: self.orthogonality,
            ..DaspConfig::default()
        }
    }

    /// The naive network under a name.
    pub fn naive(&self, name: &str) -> Named {
        let config = Architecture::Dasp(self.naive_config());
        self.network(name, config, None, UnseenRow::Initial)
    }

    /// The routed network as the scaling rule or preset has it.
    fn dasp_config(&self) -> (DaspConfig, Option<DspConfig>) {
        let config = DaspConfig {
            anchor: Anchor::Dedicated,
            decoupled_keys: self.auto.decouple_keys.value,
            losses: LossWeights {
                alignment: self.auto.lambda_align.value,
                ..LossWeights::default()
            },
            ..self.naive_config()
        };
        let encoder = self.auto.dsp_rank.value.map(|rank| DspConfig {
            rank,
            ..DspConfig::default()
        });
        (config, encoder)
    }

    /// The routed network; for a dataset in which the rule turns routing off, one expert.
    pub fn dasp(&self) -> Named {
        let (config, encoder) = self.dasp_config();
        self.network(
            "dasp",
            Architecture::Dasp(config),
            encoder,
            UnseenRow::Initial,
        )
    }

    /// The seven rows of the ablation.
    pub fn ablation(&self, rank: usize, alignment: f64) -> Vec<Named> {
        let reference = self.naive_config();
        let with = |losses: LossWeights| DaspConfig {
            losses,
            ..reference
        };
        let none = LossWeights::default();
        let anchored = DaspConfig {
            anchor: Anchor::Dedicated,
            ..reference
        };
        let full = DaspConfig {
            decoupled_keys: true,
            losses: LossWeights { alignment, ..none },
            ..anchored
        };
        let encoder = Some(DspConfig {
            rank,
            ..DspConfig::default()
        });
        let balance = LossWeights {
            balance: LAMBDA_BALANCE,
            ..none
        };
        let entropy = LossWeights {
            entropy: LAMBDA_ENTROPY,
            ..none
        };
        [
            ("ref", reference, None),
            ("b1", with(balance), None),
            ("b2", with(entropy), None),
            ("b4", with(LossWeights { alignment, ..none }), None),
            ("b12", anchored, None),
            ("dsp", anchored, encoder),
            ("dasp", full, encoder),
        ]
        .into_iter()
        .map(|(name, config, encoder)| {
            let architecture = Architecture::Dasp(config);
            self.network(name, architecture, encoder, UnseenRow::Initial)
        })
        .collect()
    }

    /// The conditions of the leave-one-subject-out study.
    pub fn loso(&self) -> Vec<Named> {
        let (config, encoder) = self.dasp_config();
        let blind = DaspConfig {
            domain_embedding: false,
            ..config
        };
        let of = |name: &str, config, unseen| {
            self.network(name, Architecture::Dasp(config), encoder, unseen)
        };
        vec![
            self.baseline(),
            of("full", config, UnseenRow::Initial),
            of("input-only", blind, UnseenRow::Initial),
            of("zero", config, UnseenRow::Zero),
            of("nearest", config, UnseenRow::Nearest),
            of("riemannian-nearest", config, UnseenRow::RiemannianNearest),
            of("transductive", config, UnseenRow::Transductive),
            self.baseline_bn(),
            self.recommended(),
        ]
    }

    /// Encoder and alignment on and off.
    pub fn scaling(&self, rank: usize, alignment: f64) -> Vec<Named> {
        let (config, _) = self.dasp_config();
        let encoder = Some(DspConfig {
            rank,
            ..DspConfig::default()
        });
        let aligned = |on: bool| DaspConfig {
            decoupled_keys: on,
            losses: LossWeights {
                alignment: if on { alignment } else { 0.0 },
                ..LossWeights::default()
            },
            ..config
        };
        [
            ("plain", aligned(false), None),
            ("align", aligned(true), None),
            ("dsp", aligned(false), encoder),
            ("dsp+align", aligned(true), encoder),
        ]
        .into_iter()
        .map(|(name, config, encoder)| {
            self.network(
                name,
                Architecture::Dasp(config),
                encoder,
                UnseenRow::Initial,
            )
        })
        .collect()
    }

    /// A peer under its own name.
    pub fn peer(&self, peer: Peer) -> Named {
        Named {
            name: peer.name().into(),
            method: Method::Peer {
                peer,
                preconditioning: self.preconditioning,
            },
        }
    }

    /// A method of the main table by name.
    pub fn by_name(&self, name: &str) -> Result<Named> {
        Ok(match name {
            "baseline" => self.baseline(),
            "naive" => self.naive("naive"),
            "dasp" => self.dasp(),
            "spdnet+bn" => self.baseline_bn(),
            "recommended" => self.recommended(),
            "pooled-head" => self.pooled(name, HeadConfig::shared(), PooledConfig::default().refit),
            "recommended-train-only" => self.pooled(name, HeadConfig::default(), false),
            other => match (
                self.extension(other),
                Peer::ALL.into_iter().find(|p| p.name() == other),
            ) {
                (Some(found), _) => found,
                (None, Some(peer)) => self.peer(peer),
                (None, None) => {
                    let known = [Self::names(), ON_REQUEST.to_vec()].concat().join(", ");
                    return Err(crate::StudyError::setting(
                        format!("there is no method \"{other}\""),
                        format!("the methods are {known}"),
                    ));
                }
            },
        })
    }

    /// The methods of the main table; [`by_name`](Self::by_name) knows more.
    pub fn names() -> Vec<&'static str> {
        let peers = Peer::ALL.into_iter().map(Peer::name);
        ["baseline", "naive", "dasp", "spdnet+bn", "recommended"]
            .into_iter()
            .chain(peers)
            .collect()
    }
}
