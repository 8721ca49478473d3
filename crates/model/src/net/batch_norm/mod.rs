//! Domain-specific Riemannian batch normalisation (Brooks et al. 2019; Kobler et al. 2022).
//!
//! For matrices `X_i` (`m × m`, SPD) of domain `d`, whose running Fréchet mean is `R_d` and running
//! dispersion `v_d`:
//!
//! ```text
//! training    L_i = log(R_d^{-1/2} X_i R_d^{-1/2}),  M_d = R_d^{1/2} exp(γ·mean_{i∈d} L_i) R_d^{1/2}
//!                                                                       one Karcher step of length γ
//!             V_i = log(M_d^{-1/2} X_i M_d^{-1/2}),  u_d = (1−γ)·v_d + γ·mean_{i∈d} ‖V_i‖_F²
//!             then R_d ← M_d, v_d ← u_d
//! evaluation  M_d = R_d, u_d = v_d
//! both        Y_i = B^{1/2} exp(s·V_i/√(u_d + ε)) B^{1/2}
//! ```
//!
//! `γ` is the momentum; the scale `s > 0` (as its logarithm) and the SPD bias `B` (as its
//! logarithm, a symmetric matrix) are learnt and shared by all domains. As in Kobler et al. the
//! trials of a batch are normalised by the running statistics *after* the step, so that a domain
//! with one trial in a batch is not erased. Gradients flow through the step, the mean and the
//! dispersion; the statistics before the step are constants.
//!
//! The statistics are state, not parameters: no gradient, no optimiser, but they travel with the
//! parameters in checkpoints and model files. They start at the exact Fréchet mean and dispersion
//! of the training set under the first filter; domains without training trials get the mean over
//! domains.

mod config;
mod statistics;

pub use config::{BatchNormConfig, NormPosition};
pub use statistics::NormStatistics;
pub(crate) use statistics::norm_input;
pub(super) use statistics::start_statistics;

use super::layout::{Initial, Layout, Space, Spec};
use crate::net::bound::Points;
use crate::parameters::Slot;
use crate::parameters::StateUpdate;
use crate::prepared::PerSample;
use crate::{Batch, ModelError, Parameters, Result};
use stiefel_autodiff::{Mark, Var};
use stiefel_geometry::spd::{SpectralFn, spectral_map, upper_len};
use stiefel_linalg::{MatBatch, Scalar};

/// The layer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Norm {
    config: BatchNormConfig,
    mean: Slot,
    dispersion: Slot,
    scale: Slot,
    bias: Option<Slot>,
    size: usize,
}

/// What it needs of the parameters alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NormValues {
    /// `R_d^{-1/2}` and `s/√(v_d + ε)` of every domain, in evaluation.
    frozen: Option<(Mark, Mark)>,
    /// `B^{1/2}`.
    bias_root: Option<Mark>,
}

impl Norm {
    /// Declares the layer for matrices of size `m`; it starts at the identity.
    pub(super) fn new(
        layout: &mut Layout,
        config: BatchNormConfig,
        m: usize,
        domains: usize,
    ) -> Self {
        let mut state = |name, shape, initial| {
            let space = Space::State;
            layout.add(Spec {
                name,
                shape,
                initial,
                space,
            })
        };
        let mean = state("norm.mean", (domains, m, m), Initial::Identity);
        let dispersion = state("norm.dispersion", (domains, 1, 1), Initial::Ones);
        let scale = layout.free("norm.scale", (1, 1, 1), Initial::Zeros);
        let shape = (1, 1, upper_len(m));
        let bias = (config.bias).then(|| layout.free("norm.bias", shape, Initial::Zeros));
        Self {
            config,
            mean,
            dispersion,
            scale,
            bias,
            size: m,
        }
    }

    /// Returns the size of the matrices it sees.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Returns where the layer stands.
    pub(crate) fn position(&self) -> NormPosition {
        self.config.position
    }

    /// Computes what depends on the parameters alone.
    pub(super) fn values<T: Scalar>(&self, p: &Points<'_, '_, T>) -> Result<NormValues> {
        let bias_root = match self.bias {
            None => None,
            Some(bias) => Some(p.at(bias)?.from_upper()?.scale(0.5)?.spd_exp()?.mark()),
        };
        let frozen = if p.is_training() {
            None
        } else {
            let roots = spectral_map(SpectralFn::InvSqrt, p.at(self.mean)?.value())?.value;
            let powers = self.power(p, p.at(self.dispersion)?)?;
            Some((p.tape().constant(&roots).mark(), powers.mark()))
        };
        Ok(NormValues { frozen, bias_root })
    }

    /// `s/√(v + ε)`.
    fn power<'t, T: Scalar>(
        &self,
        p: &Points<'t, '_, T>,
        dispersion: Var<'t, T>,
    ) -> Result<Var<'t, T>> {
        let unit = dispersion.add_scalar(self.config.epsilon)?.sqrt()?;
        Ok(p.at(self.scale)?.exp()?.div(unit)?)
    }

    /// Normalises `x`, `B × m × m`; in training, with the new statistics.
    pub(super) fn forward<'t, T: Scalar>(
        &self,
        p: &Points<'t, '_, T>,
        x: Var<'t, T>,
        batch: &Batch<'_, T>,
    ) -> Result<(Var<'t, T>, Vec<StateUpdate<T>>)> {
        let values = p.derived().norm.ok_or_else(other_network)?;
        let (v, power, updates) = match (values.frozen, batch.new) {
            (None, _) => self.step(p, x, &batch.domains())?,
            (Some((roots, powers)), None) => {
                let domains = batch.domains();
                let z = p.var(roots)?.gather(&domains)?;
                (
                    logarithm(z, x)?,
                    p.var(powers)?.gather(&domains)?,
                    Vec::new(),
                )
            }
            (Some(_), Some(new)) => {
                let frame = new.norm.as_ref().ok_or_else(other_network)?;
                let z = p.tape().constant(&frame.inverse_root);
                let power = self.power(p, p.tape().scalar(frame.dispersion))?;
                (logarithm(z, x)?, power, Vec::new())
            }
        };
        let y = v.mul(power)?.spd_exp()?;
        let y = match values.bias_root {
            Some(root) => p.var(root)?.congruence(y)?,
            None => y,
        };
        Ok((y, updates))
    }

    /// The step of the statistics; returns `V_i`, its power and the new statistics.
    #[allow(clippy::type_complexity, reason = "the parts of a step")]
    fn step<'t, T: Scalar>(
        &self,
        p: &Points<'t, '_, T>,
        x: Var<'t, T>,
        domains: &[usize],
    ) -> Result<(Var<'t, T>, Var<'t, T>, Vec<StateUpdate<T>>)> {
        let (tape, momentum) = (p.tape(), self.config.momentum);
        let mut present = domains.to_vec();
        present.sort_unstable();
        present.dedup();
        // Every domain is in the list: it was made of them.
        let at: PerSample<usize> = (domains.iter())
            .map(|d| present.binary_search(d).unwrap_or(0))
            .collect();
        let old_mean = p.at(self.mean)?.value().to_owned().select(&present);
        let old_dispersion = p.at(self.dispersion)?.value().to_owned().select(&present);
        let inverse_root =
            tape.constant(&spectral_map(SpectralFn::InvSqrt, old_mean.view())?.value);
        let average = tape.constant(&averages(&at, present.len()));
        let root = tape.constant(&spectral_map(SpectralFn::Sqrt, old_mean.view())?.value);
        let seen = inverse_root.gather(&at)?.congruence(x)?;
        let step = average.mix(seen.spd_log()?)?.scale(momentum)?;
        let mean = root.congruence(step.symmetrise()?.spd_exp()?)?;
        let v = logarithm(mean.spd_inv_sqrt()?.gather(&at)?, x)?;
        let kept = tape.constant(&old_dispersion).scale(1.0 - momentum)?;
        let spread = average.mix(v.frobenius_squared()?)?;
        let dispersion = spread.scale(momentum)?.add(kept)?;
        let new = [(self.mean, mean), (self.dispersion, dispersion)];
        let updates = new.map(|(slot, value)| StateUpdate {
            slot,
            rows: present.clone(),
            values: value.value().to_owned(),
        });
        let unit = dispersion
            .add_scalar(self.config.epsilon)?
            .sqrt()?
            .gather(&at)?;
        let power = p.at(self.scale)?.exp()?.div(unit)?;
        Ok((v, power, updates.into()))
    }

    /// Returns the statistics of training domains, pooled for one that nobody has seen.
    pub(crate) fn pooled<T: Scalar>(
        &self,
        parameters: &Parameters<T>,
        known: &[usize],
    ) -> Result<NormStatistics> {
        let means = parameters.at(self.mean).ok_or_else(other_network)?;
        let dispersions = parameters.at(self.dispersion).ok_or_else(other_network)?;
        let one = |&d: &usize| NormStatistics {
            mean: means.value.single(d).cast(),
            dispersion: dispersions.value.matrix(d)[0].to_f64(),
        };
        NormStatistics::pooled(&known.iter().map(one).collect::<Vec<_>>())
    }
}

fn other_network() -> ModelError {
    ModelError::Impossible {
        op: "batch normalisation",
        why: "what is known of the domain, or bound, was made for another network".into(),
        remedy: "make it with this network",
    }
}

/// `log(Z_i X_i Z_i)`.
fn logarithm<'t, T: Scalar>(z: Var<'t, T>, x: Var<'t, T>) -> Result<Var<'t, T>> {
    Ok(z.congruence(x)?.spd_log()?)
}

/// `1 × U × B`: row `u` averages the samples of the `u`-th domain.
fn averages<T: Scalar>(at: &[usize], domains: usize) -> MatBatch<T> {
    let mut counts = vec![0_usize; domains];
    for &u in at {
        counts[u] += 1;
    }
    MatBatch::from_fn(1, domains, at.len(), |_, u, i| {
        if at[i] == u {
            T::from_f64(1.0 / counts[u] as f64)
        } else {
            T::ZERO
        }
    })
}
