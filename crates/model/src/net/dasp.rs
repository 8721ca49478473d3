//! The Domain-Adaptive Stiefel Pool: a filter for every sample, routed from a pool of experts (the
//! paper's §3).
//!
//! ```text
//! one view       W_i = R(W_base + Σ_j α_ij Δ_j),            z_i = upper(log max(W_iᵀ X_i W_i, ε))
//! several views  W_iv = R(W_base,v + Σ_j α_ij Δ_vj),         z_i = [upper(log max(W_ivᵀ X_iv W_iv, ε))]_v      a pool per view, one head
//! per view       α_iv = softmax(q_i E_vᵀ/√m) in place of α_i                                                   keys per view
//! ```
//!
//! Shapes: `n × k` filters, experts `V·K × n × k` and anchors `V × n × k` view by view, keys `1 × K
//! × m` or `1 × V·K × m`. The query `q_i` sees the broad view.

use super::batch_norm::{self, Norm};
use super::bound::{Bound, Points};
use super::config::{DaspConfig, HeadKind};
use super::layout::Layout;
use super::options::{ExpertKind, ViewRouting};
use super::pool::Pool;
use super::query::{Router, RouterConfig, Weighed};
use super::tail::{Filter, Head, Tail};
use super::{Derived, FilterSlots, Layers, Losses, Network, NormPosition, Outputs, PerView};
use super::{Routed, Routing, losses, start};
use crate::csp::CspTerm;
use crate::sizes::Sizes;
use crate::{Batch, Parameters, Prepared, Result};
use stiefel_autodiff::{Tape, Var};
use stiefel_linalg::Scalar;

/// The routed network.
#[derive(Debug, Clone, PartialEq)]
pub struct DaspNet {
    sizes: Sizes,
    config: DaspConfig,
    layout: Layout,
    /// How many of the parameters belong to the router and the pools.
    layer_parameters: usize,
    router: Router,
    pool: Pool,
    tail: Tail,
    head: Head,
}

impl DaspNet {
    /// An architecture, or what does not fit.
    pub fn new(sizes: Sizes, config: DaspConfig) -> Result<Self> {
        config.check(&sizes)?;
        let (views, n, k) = (sizes.views, sizes.channels, config.filters);
        let mut layout = Layout::default();
        let router = RouterConfig {
            widths: (sizes.encoded, config.embedding),
            domains: config.domain_embedding.then_some(sizes.domains),
            routings: config.view_routing.count(views),
            experts: config.experts,
            rule: config.routing,
            decoupled: config.decoupled_keys,
        };
        let router = Router::new(&mut layout, &router);
        let pool = Pool::new(&mut layout, (views, n), &config);
        let layer_parameters = layout.len();
        let features = views * k * (k + 1) / 2;
        let routed = (config.head != HeadKind::Shared).then_some(config.experts);
        let head = Head::new(&mut layout, (features, sizes.classes), routed);
        let norm = (config.batch_norm)
            .map(|norm| Norm::new(&mut layout, norm, norm.size(n, k), sizes.domains));
        Ok(Self {
            sizes,
            config,
            layer_parameters,
            router,
            pool,
            tail: Tail {
                epsilon: config.epsilon,
                norm,
            },
            head,
            layout,
        })
    }

    /// What the data fixed.
    pub fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// The options.
    pub fn config(&self) -> &DaspConfig {
        &self.config
    }

    /// Returns the router and the parameters of the routed layer by itself.
    pub(super) fn layer(&self) -> (&Router, &[super::layout::Spec]) {
        (&self.router, &self.layout.specs()[..self.layer_parameters])
    }

    /// Computes what the router and the pools need of the parameters alone.
    pub(super) fn derive_layer<T: Scalar>(&self, p: &Points<'_, '_, T>) -> Result<Derived> {
        let one = |view| self.pool.values(p, view);
        Ok(Derived {
            keys: self.router.keys(p)?,
            pools: (0..self.sizes.views).map(one).collect::<Result<_>>()?,
            ..Derived::default()
        })
    }

    /// Routing weights and filters of every sample from its query, for the views in order.
    pub(super) fn route<'t, T: Scalar>(
        &self,
        p: &Points<'t, '_, T>,
        query: Var<'t, T>,
        routing: Routing<'_, T>,
    ) -> Result<PerView<(Routed<'t, T>, Filter<'t, T>)>> {
        let experts = self.config.experts;
        let weigh = |(r, &keys)| {
            let keys = p.var(keys)?;
            self.router.weigh(query, keys, routing, r * experts)
        };
        let keys = p.derived().keys.iter().enumerate();
        let weighed: PerView<Weighed<'t, T>> = keys.map(weigh).collect::<Result<_>>()?;
        let one = |(view, values)| {
            let Weighed {
                query,
                keys,
                scores,
                soft,
                alpha,
            } = weighed[usize::min(view, weighed.len() - 1)];
            let pool = self.pool.forward(p, values, alpha)?;
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
        };
        p.derived().pools.iter().enumerate().map(one).collect()
    }

    fn routing_count(&self) -> usize {
        self.config.view_routing.count(self.sizes.views)
    }

    /// Adds the losses of the router and of the pools of the views, the broad one first.
    pub(super) fn add_losses<'t, T: Scalar>(
        &self,
        sum: Losses<'t, T>,
        views: &[Routed<'t, T>],
    ) -> Result<Losses<'t, T>> {
        let weights = self.config.losses;
        let sum = sum.add_routing(weights, &views[..self.routing_count()], views)?;
        match self.config.experts_kind {
            ExpertKind::Barrier { kind } => sum.add("barrier", weights.barrier, || {
                losses::barrier(kind, views[0].tangents)
            }),
            ExpertKind::Stiefel | ExpertKind::Polar => Ok(sum),
        }
    }
}

impl<T: Scalar> Layers<T> for DaspNet {
    fn derive(&self, p: &Points<'_, '_, T>) -> Result<Derived> {
        let norm = self.tail.norm.map(|norm| norm.values(p)).transpose()?;
        Ok(Derived {
            norm,
            ..self.derive_layer(p)?
        })
    }

    fn norm_input<'t>(
        &self,
        tape: &'t Tape<T>,
        parameters: &Bound,
        batch: &Batch<'_, T>,
        position: NormPosition,
    ) -> Result<Var<'t, T>> {
        let p = parameters.on(tape);
        let query = self.router.query(&p, batch)?;
        // Batch normalisation has one view.
        let (_, filter) = self.route(&p, query, Routing::Learnt)?[0];
        filter.entering(&p, batch, position)
    }

    fn norm(&self) -> Option<&Norm> {
        self.tail.norm.as_ref()
    }

    fn router(&self) -> Option<&Router> {
        Some(&self.router)
    }

    fn filter_slots(&self) -> FilterSlots {
        let (experts, scales, _) = self.pool.slots();
        FilterSlots::Pool(experts, scales)
    }
}

impl<T: Scalar> Network<T> for DaspNet {
    fn name(&self) -> &'static str {
        match self.config.batch_norm {
            Some(_) => "dasp+bn",
            None => "dasp",
        }
    }

    fn initial(&self, seed: u64) -> Parameters<T> {
        self.layout.initial(seed)
    }

    fn initial_for(&self, seed: u64, training: &Prepared<T>) -> Result<Parameters<T>> {
        let mut parameters = self.layout.initial(seed);
        start::fit_filters(&mut parameters, &self.pool, &self.config, seed, training)?;
        batch_norm::start_statistics(self, &mut parameters, training)?;
        Ok(parameters)
    }

    fn forward<'t>(
        &self,
        tape: &'t Tape<T>,
        parameters: &Bound,
        batch: &Batch<'_, T>,
        routing: Routing<'_, T>,
    ) -> Result<Outputs<'t, T>> {
        super::check_views(batch, self.sizes.views)?;
        let p = parameters.on(tape);
        let views = self.route(&p, self.router.query(&p, batch)?, routing)?;
        let filters: PerView<Filter<'t, T>> = views.iter().map(|(_, filter)| *filter).collect();
        let (z, state) = self.tail.forward(&p, batch, &filters)?;
        let mut all = views.into_iter().map(|(routed, _)| routed);
        let routed = all.next();
        let further = all.collect::<smallvec::SmallVec<[Routed<'t, T>; 7]>>();
        let alpha = routed.map(|r| r.alpha);
        let weights = match (alpha, self.config.view_routing) {
            (Some(first), ViewRouting::View) => {
                let mut own = further.iter().map(|r| r.alpha);
                Some(own.try_fold(first, |all, own| all.concat(&[own]))?)
            }
            (alpha, _) => alpha,
        };
        let logits = self.head.forward(&p, z, alpha)?;
        let mut penalties = Vec::new();
        if let (HeadKind::Routed { ridge }, true) = (self.config.head, p.is_training()) {
            let ridge = self.head.ridge(&p, ridge)?;
            penalties.extend(ridge.map(|ridge| ("head ridge", ridge)));
        }
        Ok(Outputs {
            logits,
            routed,
            further,
            weights,
            penalties,
            state,
        })
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

    fn expert_count(&self) -> usize {
        self.config.experts
    }

    fn routing_count(&self) -> usize {
        Self::routing_count(self)
    }
}
