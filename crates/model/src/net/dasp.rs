//! The Domain-Adaptive Stiefel Pool: a filter for every sample, routed from a pool of experts (the paper's §3).
//!
//! ```text
//! one view       W_i = R(W_base + Σ_j α_ij Δ_j),            z_i = upper(log max(W_iᵀ X_i W_i, ε))
//! several views  W_iv = R(W_base,v + Σ_j α_ij Δ_vj),         z_i = [upper(log max(W_ivᵀ X_iv W_iv, ε))]_v      a pool per view, one head
//! per view       α_iv = softmax(q_i E_vᵀ/√m) in place of α_i                                                   keys per view
//! ```
//!
//! Shapes: `n × k` filters, experts `V·K × n × k` and anchors `V × n × k` view by view, keys `1 × K × m` or `1 × V·K × m`. The query `q_i` sees the broad view.

use super::config::{Anchor, DaspConfig, HeadKind, Orthogonality};
use super::layers::Filter;
use super::options::{ExpertKind, ViewRouting};
use super::{Losses, Network, Outputs, Routed, Routing};
use super::{batch_norm, experts, layers, losses, sparse, start};
use crate::csp::CspTerm;
use crate::sizes::Sizes;
use crate::{Batch, Bound, Parameter, Parameters, Prepared, Result, random};
use stiefel_autodiff::{Axis, Tape, Var};
use stiefel_linalg::{MatBatch, Scalar};

/// The routed network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DaspNet {
    sizes: Sizes,
    config: DaspConfig,
}

impl DaspNet {
    /// An architecture, or what does not fit.
    pub fn new(sizes: Sizes, config: DaspConfig) -> Result<Self> {
        config.check(&sizes)?;
        Ok(Self { sizes, config })
    }

    /// What the data fixed.
    pub fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// The options.
    pub fn config(&self) -> &DaspConfig {
        &self.config
    }

    /// Query, routing weights and mixture of every sample, for the views in order.
    fn route<'t, T: Scalar>(
        &self,
        tape: &'t Tape<T>,
        p: &Bound<'t, T>,
        batch: &Batch<'_, T>,
        routing: Routing<'_, T>,
    ) -> Result<Vec<(Routed<'t, T>, Filter<'t, T>)>> {
        let views = self.sizes.views;
        layers::check_views(batch, views)?;
        let query = layers::query(tape, p, batch)?;
        let (routings, k) = (self.routings(), self.config.experts);
        let mut weighed = Vec::with_capacity(routings);
        for r in 0..routings {
            let own: Vec<usize> = (r * k..(r + 1) * k).collect();
            let keys = match routings {
                1 => p.get("keys"),
                _ => p.get("keys").gather_rows(&own)?,
            };
            let given;
            let routing = match routing {
                Routing::Given(all) if routings > 1 => {
                    given = MatBatch::from_fn(1, all.rows(), k, |_, i, j| all.get(0, i, own[j]));
                    Routing::Given(&given)
                }
                other => other,
            };
            weighed.push(self.weigh(tape, query, keys, routing)?);
        }
        let one = |v: usize| {
            let weights = weighed[v.min(routings - 1)];
            self.pool(&p.of_view(v, views)?, weights)
        };
        (0..views).map(one).collect()
    }

    /// Routing weights and mixture of every sample from its query, of one view.
    pub(super) fn route_query<'t, T: Scalar>(
        &self,
        tape: &'t Tape<T>,
        p: &Bound<'t, T>,
        query: Var<'t, T>,
        routing: Routing<'_, T>,
    ) -> Result<(Routed<'t, T>, Filter<'t, T>)> {
        self.pool(p, self.weigh(tape, query, p.get("keys"), routing)?)
    }

    fn routings(&self) -> usize {
        self.config.view_routing.count(self.sizes.views)
    }

    /// The routing weights of every sample from its query.
    fn weigh<'t, T: Scalar>(
        &self,
        tape: &'t Tape<T>,
        query: Var<'t, T>,
        keys: Var<'t, T>,
        routing: Routing<'_, T>,
    ) -> Result<Weighed<'t, T>> {
        let c = &self.config;
        let seen = if c.decoupled_keys {
            keys.detach()
        } else {
            keys
        };
        let (scores, soft) = layers::scores(query, seen)?;
        let learnt = sparse::weights(c.routing, scores, soft)?;
        Ok(Weighed {
            query,
            keys,
            scores,
            soft,
            alpha: layers::reroute(tape, learnt, routing),
        })
    }

    /// The filters of a view.
    fn pool<'t, T: Scalar>(
        &self,
        p: &Bound<'t, T>,
        weights: Weighed<'t, T>,
    ) -> Result<(Routed<'t, T>, Filter<'t, T>)> {
        let Weighed {
            query,
            keys,
            scores,
            soft,
            alpha,
        } = weights;
        let pool = experts::pool(p, alpha, &self.config)?;
        let routed = Routed {
            query,
            keys,
            scores,
            soft,
            alpha,
            tangents: pool.tangents,
            filters: pool.filters,
            directions: pool.directions,
        };
        Ok((routed, pool.filter))
    }

    /// Adds the losses of the router and of the pools of the views, the broad one first.
    pub(super) fn add_losses<'t, T: Scalar>(
        &self,
        sum: Losses<'t, T>,
        views: &[Routed<'t, T>],
    ) -> Result<Losses<'t, T>> {
        let weights = self.config.losses;
        let sum = sum.add_routing(weights, &views[..self.routings()], views)?;
        match self.config.experts_kind {
            ExpertKind::Barrier { kind } => sum.add("barrier", weights.barrier, || {
                losses::barrier(kind, views[0].tangents)
            }),
            ExpertKind::Stiefel | ExpertKind::Polar => Ok(sum),
        }
    }
}

/// Weights of the experts and where they come from.
#[derive(Clone, Copy)]
struct Weighed<'t, T: Scalar> {
    query: Var<'t, T>,
    keys: Var<'t, T>,
    scores: Var<'t, T>,
    soft: Var<'t, T>,
    alpha: Var<'t, T>,
}

impl<T: Scalar> Network<T> for DaspNet {
    fn name(&self) -> &'static str {
        match self.config.batch_norm {
            Some(_) => "dasp+bn",
            None => "dasp",
        }
    }

    fn initial(&self, seed: u64) -> Parameters<T> {
        let (s, c) = (&self.sizes, &self.config);
        let (k, m) = (c.filters, c.embedding);
        let cayley = c.orthogonality == Orthogonality::Cayley;
        let gaussian = |name, rows| {
            vec![Parameter::euclidean(
                name,
                random::gaussian(seed, name, (1, rows, m)),
            )]
        };
        let mut lists = Vec::new();
        let mut width = s.encoded;
        if c.domain_embedding {
            width += m;
            lists.push(gaussian("embedding", s.domains));
        }
        lists.push(layers::query_parameters(seed, width, m));
        lists.push(gaussian("keys", self.routings() * c.experts));
        let stiefel = |name, count| layers::orthonormal(seed, name, (count, s.channels, k), cayley);
        let free = matches!(c.experts_kind, ExpertKind::Barrier { .. });
        let mut pool = stiefel("experts", s.views * c.experts);
        if free {
            // Orthonormal columns: where the bounded barrier is at its minimum.
            pool = layers::orthonormal(seed, "experts", (c.experts, s.channels, k), false);
            pool.manifold = crate::Manifold::Euclidean;
        }
        lists.push(vec![pool]);
        if c.experts_kind == ExpertKind::Polar {
            let identity = MatBatch::zeros(c.experts, k, k);
            lists.push(vec![Parameter::euclidean("scales", identity)]);
        }
        if c.anchor == Anchor::Dedicated && !free {
            lists.push(vec![stiefel("anchor", s.views)]);
        }
        let features = s.views * k * (k + 1) / 2;
        lists.push(layers::head_parameters(seed, s.classes, features));
        if let HeadKind::Routed { .. } = c.head {
            let zeros = MatBatch::zeros(c.experts, s.classes, features);
            lists.push(vec![Parameter::euclidean("head.own", zeros)]);
        }
        if let Some(norm) = &c.batch_norm {
            let m = norm.size(s.channels, k);
            lists.push(batch_norm::parameters(norm, m, s.domains));
        }
        layers::collect(lists)
    }

    fn initial_for(&self, seed: u64, training: &Prepared<T>) -> Result<Parameters<T>> {
        let mut parameters = self.initial(seed);
        start::fit_filters(&mut parameters, &self.config, seed, training)?;
        batch_norm::start_statistics(self, &mut parameters, training)?;
        Ok(parameters)
    }

    fn forward<'t>(
        &self,
        tape: &'t Tape<T>,
        p: &Bound<'t, T>,
        batch: &Batch<'_, T>,
        routing: Routing<'_, T>,
    ) -> Result<Outputs<'t, T>> {
        let c = &self.config;
        let views = self.route(tape, p, batch, routing)?;
        let (z, state) = match &views[..] {
            [(_, filter)] => {
                layers::features(tape, p, batch, filter, c.batch_norm.as_ref(), c.epsilon)?
            }
            views => {
                let each = views.iter().enumerate();
                let all: Result<Vec<_>> = each
                    .map(|(v, (_, w))| layers::view_features(tape, batch, v, w, c.epsilon))
                    .collect();
                (layers::side_by_side(&all?)?, Vec::new())
            }
        };
        let mut further: Vec<Routed<'t, T>> = views.into_iter().map(|(routed, _)| routed).collect();
        let routed = further.remove(0);
        let own: Vec<Var<'t, T>> = further.iter().map(|r| r.alpha).collect();
        let weights = match c.view_routing {
            ViewRouting::Trial => routed.alpha,
            ViewRouting::View => routed.alpha.concat(&own)?,
        };
        let mut logits = layers::head(p, z)?;
        let mut penalties = Vec::new();
        if let HeadKind::Routed { ridge } = c.head {
            let own = p.get("head.own");
            logits = logits.add(layers::own_head(own, z, routed.alpha)?)?;
            penalties.push(("head ridge", own.square()?.sum(Axis::All)?.scale(ridge)?));
        }
        Ok(Outputs {
            logits,
            routed: Some(routed),
            further,
            weights: Some(weights),
            penalties,
            state,
        })
    }

    fn norm_input(
        &self,
        parameters: &Parameters<T>,
        data: &Prepared<T>,
    ) -> Result<Option<MatBatch<T>>> {
        let Some(norm) = &self.config.batch_norm else {
            return Ok(None);
        };
        layers::norm_input(parameters, data, norm, |tape, p, batch| {
            // Batch normalisation has one view.
            Ok(self.route(tape, p, batch, Routing::Learnt)?.remove(0).1)
        })
        .map(Some)
    }

    fn losses<'t>(&self, outputs: &Outputs<'t, T>, labels: &[usize]) -> Result<Losses<'t, T>> {
        let sum = Losses::cross_entropy(outputs, labels)?.add_penalties(outputs)?;
        let Some(routed) = &outputs.routed else {
            return Ok(sum);
        };
        let mut views = vec![*routed];
        views.extend_from_slice(&outputs.further);
        self.add_losses(sum, &views)
    }

    fn csp(&self) -> Option<CspTerm> {
        let weight = self.config.losses.csp;
        (weight != 0.0).then_some(CspTerm {
            weight,
            config: self.config.csp,
            sizes: self.sizes,
        })
    }

    fn experts(&self) -> usize {
        self.config.experts
    }

    fn routings(&self) -> usize {
        Self::routings(self)
    }
}
