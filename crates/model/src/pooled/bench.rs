//! One raw trial after the other, in buffers that are used again: nothing is allocated after the first.
//!
//! ```text
//! X ─▶ whitened ─▶ Wᵀ X W ─▶ z = upper(log ·) ─▶ (w_0 + δ_d)·(z − z̄) + b ─▶ P
//! ```

use super::PooledModel;
use crate::Result;
use crate::decoder::kernel::{Spectrum, multiply};
use crate::precondition::{UnseenWhitening, WhitenScratch, check_single};
use stiefel_geometry::spd::{SpectralFn, upper_len};
use stiefel_linalg::{MatViewMut, Op, symmetrise};

/// Buffers, and what was decided last.
#[derive(Debug, Clone)]
pub(crate) struct Bench {
    whitened: Vec<f64>,
    scratch: WhitenScratch,
    /// `X W`, `n × k`, and `Wᵀ X W`, `k × k`.
    half: Vec<f64>,
    inside: Vec<f64>,
    spectrum: Spectrum<f64>,
    z: Vec<f64>,
    scores: Vec<f64>,
    pub(crate) probabilities: Vec<f64>,
}

impl Bench {
    pub(crate) fn new(model: &PooledModel) -> Self {
        let (_, n, k) = model.anchor.shape();
        Self {
            whitened: vec![0.0; n * n],
            scratch: WhitenScratch::default(),
            half: vec![0.0; n * k],
            inside: vec![0.0; k * k],
            spectrum: Spectrum::new(k),
            z: vec![0.0; upper_len(k)],
            scores: vec![0.0; model.head.intercept.len()],
            probabilities: vec![0.0; model.classes.len()],
        }
    }

    /// Decides a raw covariance of a domain with training trials, or by the pooled mean and the shared weights where none is given.
    pub(crate) fn decide(
        &mut self,
        model: &PooledModel,
        covariance: &[f64],
        domain: Option<usize>,
    ) -> Result<()> {
        let (out, scratch) = (&mut self.whitened[..], &mut self.scratch);
        match domain {
            Some(d) => model.whitener.transform_into(d, covariance, out, scratch)?,
            None => model
                .whitener
                .transform_pooled_into(covariance, out, scratch)?,
        }
        self.finish(model, domain)
    }

    /// Decides a raw covariance of a domain without training trials, by the shared weights; a causal whitener learns from it.
    pub(crate) fn decide_adapted(
        &mut self,
        model: &PooledModel,
        covariance: &[f64],
        domain: &mut UnseenWhitening,
    ) -> Result<()> {
        let (out, scratch) = (&mut self.whitened[..], &mut self.scratch);
        domain.transform_into(&model.whitener, covariance, out, scratch)?;
        self.finish(model, None)
    }

    /// Decides a covariance that is pre-conditioned already.
    pub(super) fn decide_whitened(
        &mut self,
        model: &PooledModel,
        whitened: &[f64],
        domain: Option<usize>,
    ) -> Result<()> {
        check_single(model.whitener.channels_count(), whitened, 0)?;
        self.whitened.copy_from_slice(whitened);
        self.finish(model, domain)
    }

    /// From the whitened covariance on.
    fn finish(&mut self, model: &PooledModel, domain: Option<usize>) -> Result<()> {
        let (_, n, k) = model.anchor.shape();
        let w = model.anchor.data();
        multiply(
            (&mut self.half, (n, k)),
            false,
            (&self.whitened, (n, n), Op::N),
            (w, (n, k), Op::N),
        )?;
        multiply(
            (&mut self.inside, (k, k)),
            false,
            (w, (n, k), Op::T),
            (&self.half, (n, k), Op::N),
        )?;
        symmetrise(&mut MatViewMut::new(1, k, k, &mut self.inside)?)?;
        self.spectrum
            .vector(SpectralFn::Log, &self.inside, &mut self.z)?;
        (model.head).probabilities_into(
            &mut self.z,
            domain,
            &mut self.scores,
            &mut self.probabilities,
        )
    }
}
