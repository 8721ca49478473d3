//! The baseline: the single-stage SPDNet, one BiMap for everybody and the same tail (Huang & Van Gool 2017).
//!
//! ```text
//! z = [upper(log max(W_vᵀ X_v W_v, ε))]_v,   scores = z·wᵀ + b          one filter n × k per view, one head over all of them
//! ```

use super::config::{InitialAnchor, Orthogonality, SpdNetConfig, check_tail, check_views};
use super::layers::Filter;
use super::{Losses, Network, Outputs, Routing};
use super::{batch_norm, layers, start};
use crate::sizes::Sizes;
use crate::{Batch, Bound, Parameters, Prepared, Result};
use stiefel_autodiff::Tape;
use stiefel_linalg::{MatBatch, Scalar};

/// `upper(log max(WᵀXW, ε))·wᵀ + b`; with several views, one filter for each and their features side by side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpdNet {
    sizes: Sizes,
    config: SpdNetConfig,
}

impl SpdNet {
    /// An architecture, or what does not fit.
    pub fn new(sizes: Sizes, config: SpdNetConfig) -> Result<Self> {
        check_tail(&sizes, config.filters, config.epsilon)?;
        if let Some(norm) = config.batch_norm {
            norm.check()?;
        }
        check_views(
            &sizes,
            &[
                ("batch normalisation", config.batch_norm.is_some()),
                (
                    "a discriminative start",
                    config.initial_anchor == InitialAnchor::Discriminative,
                ),
            ],
        )?;
        Ok(Self { sizes, config })
    }

    /// What the data fixed.
    pub fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// The options.
    pub fn config(&self) -> &SpdNetConfig {
        &self.config
    }
}

impl<T: Scalar> Network<T> for SpdNet {
    fn name(&self) -> &'static str {
        match self.config.batch_norm {
            Some(_) => "spdnet+bn",
            None => "spdnet",
        }
    }

    fn initial(&self, seed: u64) -> Parameters<T> {
        let k = self.config.filters;
        let cayley = self.config.orthogonality == Orthogonality::Cayley;
        let views = self.sizes.views;
        let shape = (views, self.sizes.channels, k);
        let mut lists = vec![
            vec![layers::orthonormal(seed, "filter", shape, cayley)],
            layers::head_parameters(seed, self.sizes.classes, views * k * (k + 1) / 2),
        ];
        if let Some(norm) = &self.config.batch_norm {
            let m = norm.size(self.sizes.channels, k);
            lists.push(batch_norm::parameters(norm, m, self.sizes.domains));
        }
        layers::collect(lists)
    }

    fn initial_for(&self, seed: u64, training: &Prepared<T>) -> Result<Parameters<T>> {
        let mut parameters = self.initial(seed);
        if self.config.initial_anchor == InitialAnchor::Discriminative {
            let basis = start::discriminative(training)?;
            start::place(&mut parameters, "filter", &[basis]);
        }
        batch_norm::start_statistics(self, &mut parameters, training)?;
        Ok(parameters)
    }

    fn forward<'t>(
        &self,
        tape: &'t Tape<T>,
        p: &Bound<'t, T>,
        batch: &Batch<'_, T>,
        _: Routing<'_, T>,
    ) -> Result<Outputs<'t, T>> {
        let (c, views) = (&self.config, self.sizes.views);
        layers::check_views(batch, views)?;
        let (z, state) = if views == 1 {
            let filter = Filter::Ready(p.get("filter"));
            layers::features(tape, p, batch, &filter, c.batch_norm.as_ref(), c.epsilon)?
        } else {
            let one = |v: usize| {
                let filter = Filter::Ready(p.of_view(v, views)?.get("filter"));
                layers::view_features(tape, batch, v, &filter, c.epsilon)
            };
            let all: Result<Vec<_>> = (0..views).map(one).collect();
            (layers::side_by_side(&all?)?, Vec::new())
        };
        Ok(Outputs {
            state,
            logits: layers::head(p, z)?,
            routed: None,
            further: Vec::new(),
            weights: None,
            penalties: Vec::new(),
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
        layers::norm_input(parameters, data, norm, |_, p, _| {
            Ok(Filter::Ready(p.get("filter")))
        })
        .map(Some)
    }

    fn losses<'t>(&self, outputs: &Outputs<'t, T>, labels: &[usize]) -> Result<Losses<'t, T>> {
        Losses::cross_entropy(outputs, labels)
    }

    fn experts(&self) -> usize {
        1
    }
}
