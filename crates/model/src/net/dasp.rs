//! The Domain-Adaptive Stiefel Pool: a filter for every sample, routed from a pool of experts (the paper's §3).

use super::config::{Anchor, DaspConfig, HeadKind, Orthogonality, Sizes};
use super::layers::Filter;
use super::{Losses, Network, Outputs, Routed, Routing};
use super::{batch_norm, layers, start};
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
        let (scores, learnt) = layers::scores(query, seen)?;
        let alpha = layers::reroute(tape, learnt, routing);
        let mixture = layers::mix(c.anchor, c.retraction, p, alpha)?;
        let routed = Routed {
            query,
            keys,
            scores,
            alpha,
            tangents: mixture.tangents,
        };
        Ok((routed, Filter::Mixed(mixture, c.retraction)))
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
        lists.push(vec![stiefel("experts", c.experts)]);
        if c.anchor == Anchor::Dedicated {
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
        let losses = Losses::cross_entropy(outputs, labels)?.add_penalties(outputs)?;
        match &outputs.routed {
            Some(routed) => losses.add_routing(self.config.losses, routed),
            None => Ok(losses),
        }
    }

    fn experts(&self) -> usize {
        self.config.experts
    }
}
