//! The filter of a trial from its routing weights, for every kind of expert.
//!
//! ```text
//! stiefel   W = R(W_base + Σ_j α_j Δ_j)
//! polar     W = Q exp(½ Σ_j α_j log P_j),  Q as above
//! barrier   W = Σ_j α_j W_j
//! ```
//!
//! `W`, `Q` and `W_j` are `n × k`, `P_j` is `k × k`. The logarithms are computed once.

use super::filter::{Mixer, add_mixture, point};
use super::kernel::{Spectrum, multiply};
use crate::net::experts::log_scales_of;
use crate::net::{DaspConfig, ExpertKind};
use crate::{Parameters, Result};
use stiefel_geometry::spd::SpectralFn;
use stiefel_linalg::{MatBatch, Op, Scalar};

/// The experts of a frozen network.
#[derive(Debug)]
pub(super) enum Experts<T> {
    /// Orthonormal columns.
    Stiefel(Box<Mixer<T>>),
    /// Orthonormal columns and a scale.
    Polar(Box<Polar<T>>),
    /// Unconstrained, `K × n × k`, and whether most weights are zero.
    Free(MatBatch<T>, bool),
}

/// Orthonormal columns and the scales' logarithms, with the buffers of one trial.
#[derive(Debug)]
pub(super) struct Polar<T> {
    mixer: Mixer<T>,
    /// `log P_j`, `K × k × k`.
    logs: MatBatch<T>,
    sparse: bool,
    q: Vec<T>,
    sum: Vec<T>,
    spectrum: Spectrum<T>,
}

impl<T: Scalar> Experts<T> {
    pub(super) fn new(parameters: &Parameters<T>, config: &DaspConfig) -> Result<Self> {
        let sparse = config.routing.kept(config.experts).is_some();
        Ok(match config.experts_kind {
            ExpertKind::Stiefel => Self::Stiefel(Box::new(Mixer::new(parameters, config)?)),
            ExpertKind::Barrier { .. } => Self::Free(point(parameters, "experts")?, sparse),
            ExpertKind::Polar => {
                let (_, n, k) = point(parameters, "experts")?.shape();
                Self::Polar(Box::new(Polar {
                    mixer: Mixer::new(parameters, config)?,
                    logs: log_scales_of(&point(parameters, "scales")?)?,
                    sparse,
                    q: vec![T::ZERO; n * k],
                    sum: vec![T::ZERO; k * k],
                    spectrum: Spectrum::new(k),
                }))
            }
        })
    }

    /// The filter of routing weights `alpha`, `n × k`.
    pub(super) fn filter_into(&mut self, alpha: &[T], w: &mut [T]) -> Result<()> {
        match self {
            Self::Stiefel(mixer) => mixer.filter_into(alpha, w),
            Self::Polar(polar) => polar.filter_into(alpha, w),
            Self::Free(experts, sparse) => {
                w.fill(T::ZERO);
                add_mixture(*sparse, w, alpha, experts)
            }
        }
    }
}

impl<T: Scalar> Polar<T> {
    fn filter_into(&mut self, alpha: &[T], w: &mut [T]) -> Result<()> {
        self.mixer.filter_into(alpha, &mut self.q)?;
        self.sum.fill(T::ZERO);
        add_mixture(self.sparse, &mut self.sum, alpha, &self.logs)?;
        let half = T::from_f64(0.5);
        self.sum.iter_mut().for_each(|x| *x *= half);
        let k = self.logs.rows();
        let tall = (w.len() / k, k);
        let root = self.spectrum.map(SpectralFn::Exp, &self.sum)?;
        multiply(
            (w, tall),
            false,
            (&self.q, tall, Op::N),
            (root, (k, k), Op::N),
        )
    }
}
