//! The Domain-Adaptive Stiefel Pool: a filter for every sample, routed from a pool of experts (the paper's §3).

use super::config::{Anchor, DaspConfig, HeadKind, Orthogonality};
use super::layers::Filter;
use super::options::ExpertKind;
use super::{Losses, Network, Outputs, Routed, Routing};
use super::{batch_norm, experts, layers, losses, sparse, start};
use crate::csp::CspTerm;
use crate::sizes::Sizes;
use crate::{Batch, Bound, Parameter, Parameters, Prepared, Result, random};
use stiefel_autodiff::{Axis, Tape};
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

    /// Query, routing weights and mixture of every sample.
    fn route<'t, T: Scalar>(
        &self,
        tape: &'t Tape<T>,
        p: &Bound<'t, T>,
        batch: &Batch<'_, T>,
        routing: Routing<'_, T>,
    ) -> Result<(Routed<'t, T>, Filter<'t, T>)> {
        let c = &self.config;
        let query = layers::query(tape, p, batch)?;
        let keys = p.get("keys");
        let seen = if c.decoupled_keys {
            keys.detach()
        } else {
            keys
        };
        let (scores, soft) = layers::scores(query, seen)?;
        let learnt = sparse::weights(c.routing, scores, soft)?;
        let alpha = layers::reroute(tape, learnt, routing);
        let pool = experts::pool(p, alpha, c)?;
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
        lists.push(gaussian("keys", c.experts));
        let stiefel = |name, count| layers::orthonormal(seed, name, (count, s.channels, k), cayley);
        let free = matches!(c.experts_kind, ExpertKind::Barrier { .. });
        let mut pool = stiefel("experts", c.experts);
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
            lists.push(vec![stiefel("anchor", 1)]);
        }
        let features = k * (k + 1) / 2;
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
        let (routed, filter) = self.route(tape, p, batch, routing)?;
        let norm = c.batch_norm.as_ref();
        let (z, state) = layers::features(tape, p, batch, &filter, norm, c.epsilon)?;
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
            Ok(self.route(tape, p, batch, Routing::Learnt)?.1)
        })
        .map(Some)
    }

    fn losses<'t>(&self, outputs: &Outputs<'t, T>, labels: &[usize]) -> Result<Losses<'t, T>> {
        let (sum, weights) = (
            Losses::cross_entropy(outputs, labels)?.add_penalties(outputs)?,
            self.config.losses,
        );
        let Some(routed) = &outputs.routed else {
            return Ok(sum);
        };
        let sum = sum.add_routing(weights, routed)?;
        match self.config.experts_kind {
            ExpertKind::Barrier { kind } => sum.add("barrier", weights.barrier, || {
                losses::barrier(kind, routed.tangents)
            }),
            ExpertKind::Stiefel | ExpertKind::Polar => Ok(sum),
        }
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
}
