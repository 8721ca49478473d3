//! The baseline: the single-stage SPDNet, one BiMap for everybody and the same tail (Huang & Van Gool 2017).

use super::config::{InitialAnchor, Orthogonality, Sizes, SpdNetConfig, check_tail};
use super::{Losses, Network, Outputs, Routing};
use super::{layers, start};
use crate::{Batch, Bound, Parameters, Prepared, Result};
use stiefel_autodiff::Tape;
use stiefel_linalg::Scalar;

/// `upper(log max(WᵀXW, ε))·wᵀ + b`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpdNet {
    sizes: Sizes,
    config: SpdNetConfig,
}

impl SpdNet {
    /// An architecture, or what does not fit.
    pub fn new(sizes: Sizes, config: SpdNetConfig) -> Result<Self> {
        check_tail(&sizes, config.filters, config.epsilon)?;
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
        "spdnet"
    }

    fn initial(&self, seed: u64) -> Parameters<T> {
        let k = self.config.filters;
        let cayley = self.config.orthogonality == Orthogonality::Cayley;
        let shape = (1, self.sizes.channels, k);
        layers::collect(vec![
            vec![layers::orthonormal(seed, "filter", shape, cayley)],
            layers::head_parameters(seed, self.sizes.classes, k * (k + 1) / 2),
        ])
    }

    fn initial_for(&self, seed: u64, training: &Prepared<T>) -> Result<Parameters<T>> {
        let mut parameters = self.initial(seed);
        if self.config.initial_anchor == InitialAnchor::Discriminative {
            let basis = start::discriminative(training)?;
            start::place(&mut parameters, "filter", &[basis])?;
        }
        Ok(parameters)
    }

    fn forward<'t>(
        &self,
        tape: &'t Tape<T>,
        p: &Bound<'t, T>,
        batch: &Batch<'_, T>,
        _: Routing<'_, T>,
    ) -> Result<Outputs<'t, T>> {
        let (filter, data) = (p.get("filter"), layers::shared(batch));
        let z = tape.filtered_log_vectors(filter, data, false, self.config.epsilon)?;
        Ok(Outputs {
            logits: layers::head(p, z)?,
            routed: None,
            penalties: Vec::new(),
        })
    }

    fn losses<'t>(&self, outputs: &Outputs<'t, T>, labels: &[usize]) -> Result<Losses<'t, T>> {
        Losses::cross_entropy(outputs, labels)
    }

    fn experts(&self) -> usize {
        1
    }
}
