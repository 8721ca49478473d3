//! The methods of a study, sized and configured alike: by name, and the rows of each study.

use crate::Result;
use crate::method::{Method, Named};
use crate::peers::Peer;
use stiefel_model::net::{
    Anchor, BarrierKind, BatchNormConfig, DaspConfig, ExpertKind, HeadKind, InitialAnchor,
    InitialExperts, LossWeights, Orthogonality, RoutingRule, SpdNetConfig, ViewRouting,
};
use stiefel_model::pooled::{HeadConfig, PooledConfig};
use stiefel_model::precondition::UnseenPolicy;
use stiefel_model::scaling::Recommendation;
use stiefel_model::train::TrainConfig;
use stiefel_model::{
    Architecture, DspConfig, FitConfig, ModelConfig, Precision, Preconditioning,
    TransductiveConfig, Unseen, UnseenEmbedding,
};

/// The default λ of the load-balance loss (B1).
pub const LAMBDA_BALANCE: f64 = 0.01;

/// The default λ of the entropy loss (B2).
pub const LAMBDA_ENTROPY: f64 = 0.1;

/// The default λ of the CSP loss.
pub const LAMBDA_CSP: f64 = 0.1;

/// The default ridge of a routed head trained on the tape.
pub const HEAD_RIDGE: f64 = 1e-3;

/// Methods that are run where they are asked for by name.
const ON_REQUEST: [&str; 11] = [
    "recommended-1-train-only",
    "dasp-per-view",
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

/// Networks on all views of a trial, which studies run where there are several.
const OF_VIEWS: [&str; 2] = ["spdnet-views", "dasp-views"];

/// The weight of `mean_j ‖Δ_j‖²` and the noise of experts that start at a discriminative anchor.
const SHRINK: (f64, f64) = (0.01, 0.05);

/// Experts that start at the discriminative anchor and are drawn back to it.
fn near_anchor(c: &mut DaspConfig) {
    c.initial_anchor = InitialAnchor::Discriminative;
    c.initial_experts = InitialExperts::NearAnchor { noise: SHRINK.1 };
    c.losses.shrink = SHRINK.0;
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
        unseen: UnseenEmbedding,
    ) -> Named {
        let routed = matches!(architecture, Architecture::Dasp(_));
        let embedded = matches!(architecture, Architecture::Dasp(c) if c.domain_embedding);
        let model = ModelConfig {
            preconditioning: self.preconditioning,
            encoder,
            architecture,
            training: self.training,
        };
        let fit = FitConfig::Network {
            model: Box::new(model),
            precision: self.precision,
        };
        // What has no embedding needs nothing in its place.
        let unseen = if embedded {
            unseen
        } else {
            UnseenEmbedding::InputOnly
        };
        self.model(name, fit, self.retrained && routed, unseen)
    }

    fn model(
        &self,
        name: &str,
        fit: FitConfig,
        retrained: bool,
        embedding: UnseenEmbedding,
    ) -> Named {
        Named {
            name: name.into(),
            method: Method::Model {
                fit,
                retrained,
                unseen: Unseen {
                    whitening: self.preconditioning.unseen.unwrap_or(UnseenPolicy::Pooled),
                    embedding,
                },
                all_views: false,
            },
        }
    }

    /// A network on all views of a trial, under another name.
    fn of_views(name: &str, mut network: Named) -> Named {
        if let Method::Model { all_views, .. } = &mut network.method {
            *all_views = true;
        }
        Named {
            name: name.into(),
            ..network
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
            UnseenEmbedding::Initial,
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
        self.network("spdnet+bn", architecture, None, UnseenEmbedding::Initial)
    }

    /// The discriminative filter with partly pooled weights, or with the same weights for everybody.
    fn pooled(&self, name: &str, head: HeadConfig, refit: bool) -> Named {
        let config = PooledConfig {
            preconditioning: self.preconditioning,
            head,
            refit,
            ..PooledConfig::default()
        };
        let fit = FitConfig::Preset {
            config: Box::new(config),
        };
        self.model(name, fit, false, UnseenEmbedding::InputOnly)
    }

    /// The preset `recommended`, on all views of a trial.
    pub fn recommended(&self) -> Named {
        let fit = FitConfig::Views {
            config: Box::default(),
        };
        self.model("recommended", fit, false, UnseenEmbedding::InputOnly)
    }

    /// The preset `recommended-1`, on the broad view.
    pub fn recommended_1(&self) -> Named {
        self.pooled(
            "recommended-1",
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
            UnseenEmbedding::Initial,
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

    /// The paper's naive routing: around the first expert, without encoder and alignment.
    fn naive_config(&self) -> DaspConfig {
        DaspConfig {
            anchor: Anchor::First,
            decoupled_keys: false,
            losses: LossWeights::default(),
            ..self.dasp_config().0
        }
    }

    /// The naive network under a name.
    pub fn naive(&self, name: &str) -> Named {
        let config = Architecture::Dasp(self.naive_config());
        self.network(name, config, None, UnseenEmbedding::Initial)
    }

    /// The routed network as the scaling rule or preset has it.
    fn dasp_config(&self) -> (DaspConfig, Option<DspConfig>) {
        let (config, encoder) = DaspConfig::sized(&self.auto);
        let config = DaspConfig {
            orthogonality: self.orthogonality,
            ..config
        };
        (config, encoder)
    }

    /// The routed network; for a dataset in which the rule turns routing off, one expert.
    pub fn dasp(&self) -> Named {
        let (config, encoder) = self.dasp_config();
        self.network(
            "dasp",
            Architecture::Dasp(config),
            encoder,
            UnseenEmbedding::Initial,
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
            ("dasp-full", full, encoder),
        ]
        .into_iter()
        .map(|(name, config, encoder)| {
            let architecture = Architecture::Dasp(config);
            self.network(name, architecture, encoder, UnseenEmbedding::Initial)
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
            of("full", config, UnseenEmbedding::Initial),
            of("input-only", blind, UnseenEmbedding::Initial),
            of("zero", config, UnseenEmbedding::Zero),
            of("nearest", config, UnseenEmbedding::NearestTangent),
            of(
                "riemannian-nearest",
                config,
                UnseenEmbedding::NearestRiemannian,
            ),
            of(
                "transductive",
                config,
                UnseenEmbedding::Transductive(TransductiveConfig::default()),
            ),
            self.baseline_bn(),
            self.recommended_1(),
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
                UnseenEmbedding::Initial,
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
            "baseline" | "spdnet" => self.baseline(),
            "naive" => self.naive("naive"),
            "dasp" => self.dasp(),
            "spdnet+bn" => self.baseline_bn(),
            "recommended" => self.recommended(),
            "recommended-1" => self.recommended_1(),
            "spdnet-views" => Self::of_views(name, self.baseline()),
            "dasp-views" => Self::of_views(name, self.dasp()),
            "dasp-per-view" => {
                let own = |c: &mut DaspConfig| c.view_routing = ViewRouting::View;
                Self::of_views(name, self.variant(name, own))
            }
            "pooled-head" => self.pooled(name, HeadConfig::shared(), PooledConfig::default().refit),
            "recommended-1-train-only" => self.pooled(name, HeadConfig::default(), false),
            other => match (
                self.extension(other),
                Peer::ALL.into_iter().find(|p| p.name() == other),
            ) {
                (Some(found), _) => found,
                (None, Some(peer)) => self.peer(peer),
                (None, None) => {
                    let banks = Peer::ALL.into_iter().filter(|p| p.takes_views());
                    let banks: Vec<&str> = banks.map(Peer::name).collect();
                    let known = [Self::names(), OF_VIEWS.to_vec(), banks, ON_REQUEST.to_vec()]
                        .concat()
                        .join(", ");
                    return Err(crate::StudyError::setting(
                        format!("there is no method \"{other}\""),
                        format!("the methods are {known}"),
                    ));
                }
            },
        })
    }

    /// The peers that take all views of a trial.
    pub fn banks(&self) -> Vec<Named> {
        let banks = Peer::ALL.into_iter().filter(|p| p.takes_views());
        banks.map(|p| self.peer(p)).collect()
    }

    /// The networks that take all views of a trial.
    pub fn view_networks(&self) -> Result<Vec<Named>> {
        OF_VIEWS.into_iter().map(|m| self.by_name(m)).collect()
    }

    /// The methods that give a model file: networks and the preset, those on request too.
    pub fn models() -> Vec<&'static str> {
        let own = [
            "recommended",
            "recommended-1",
            "dasp",
            "naive",
            "baseline",
            "spdnet+bn",
        ];
        own.into_iter().chain(OF_VIEWS).chain(ON_REQUEST).collect()
    }

    /// The methods of the main table; [`by_name`](Self::by_name) knows more.
    pub fn names() -> Vec<&'static str> {
        let peers = Peer::ALL.into_iter().filter(|p| !p.takes_views());
        let peers = peers.map(Peer::name);
        let own = [
            "baseline",
            "naive",
            "dasp",
            "spdnet+bn",
            "recommended-1",
            "recommended",
        ];
        own.into_iter().chain(peers).collect()
    }
}
