//! The Domain-Adaptive Stiefel Pool: a filter for every sample, routed from a pool of experts (the paper's §3).

use super::config::{Anchor, DaspConfig, Orthogonality, Sizes};
use super::options::ExpertKind;
use super::{Losses, Network, Outputs, Routed, Routing, experts, layers, losses, sparse};
use crate::csp::CspTerm;
use crate::{Batch, Bound, Parameter, Parameters, Result, random};
use stiefel_autodiff::Tape;
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
}

impl<T: Scalar> Network<T> for DaspNet {
    fn name(&self) -> &'static str {
        "dasp"
    }

    fn initial(&self, seed: u64) -> Parameters<T> {
        let (s, c) = (&self.sizes, &self.config);
        let (k, m) = (c.filters, c.width);
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
        lists.push(layers::head_parameters(seed, s.classes, k * (k + 1) / 2));
        layers::collect(lists)
    }

    fn forward<'t>(
        &self,
        tape: &'t Tape<T>,
        p: &Bound<'t, T>,
        batch: &Batch<'_, T>,
        routing: Routing<'_, T>,
    ) -> Result<Outputs<'t, T>> {
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
        let filtered = experts::filter(tape, p, batch, alpha, c)?;
        let routed = Routed {
            query,
            keys,
            scores,
            soft,
            alpha,
            tangents: filtered.tangents,
            filters: filtered.filters,
            directions: filtered.directions,
        };
        Ok(Outputs {
            logits: layers::head(p, filtered.features)?,
            routed: Some(routed),
        })
    }

    fn losses<'t>(&self, outputs: &Outputs<'t, T>, labels: &[usize]) -> Result<Losses<'t, T>> {
        let (sum, weights) = (Losses::cross_entropy(outputs, labels)?, self.config.losses);
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
