//! Domain-specific Riemannian batch normalisation (Brooks et al. 2019; Kobler et al. 2022).
//!
//! For matrices `X_i` (`m × m`, SPD) of domain `d`, whose running Fréchet mean is `R_d` and running dispersion `v_d`:
//!
//! ```text
//! training    L_i = log(R_d^{-1/2} X_i R_d^{-1/2}),  M_d = R_d^{1/2} exp(γ·mean_{i∈d} L_i) R_d^{1/2}      one Karcher step of length γ
//!             V_i = log(M_d^{-1/2} X_i M_d^{-1/2}),  u_d = (1−γ)·v_d + γ·mean_{i∈d} ‖V_i‖_F²
//!             then R_d ← M_d, v_d ← u_d
//! evaluation  M_d = R_d, u_d = v_d
//! both        Y_i = B^{1/2} exp(s·V_i/√(u_d + ε)) B^{1/2}
//! ```
//!
//! `γ` is the momentum; the scale `s > 0` (as its logarithm) and the SPD bias `B` (as its logarithm, a symmetric matrix) are learnt and
//! shared by all domains. As in Kobler et al. the trials of a batch are normalised by the running statistics *after* the step, so
//! that a domain with one trial in a batch is not erased. Gradients flow through the step, the mean and the dispersion; the statistics before
//! the step are constants.
//!
//! The statistics are state, not parameters: no gradient, no optimiser, but they travel with the parameters in checkpoints and
//! model files. They start at the exact Fréchet mean and dispersion of the training set under the first filter ([`refit_statistics`]); domains
//! without training trials get the mean over domains. [`refit_statistics`] also adapts a trained network to trials without labels.

mod config;
mod statistics;

pub use config::{BatchNormConfig, NormPosition};
pub(super) use statistics::start_statistics;
pub use statistics::{NormStatistics, refit_statistics};

use crate::parameters::StateUpdate;
use crate::{Bound, Parameter, Result};
use stiefel_autodiff::Var;
use stiefel_geometry::spd;
use stiefel_linalg::{MatBatch, Scalar};

/// Names of the state and the parameters.
pub(crate) const MEAN: &str = "norm.mean";
pub(crate) const DISPERSION: &str = "norm.dispersion";
pub(crate) const SCALE: &str = "norm.scale";
pub(crate) const BIAS: &str = "norm.bias";

/// The layer's parameters and state for matrices of size `m`, at the identity.
pub(super) fn parameters<T: Scalar>(
    config: &BatchNormConfig,
    m: usize,
    domains: usize,
) -> Vec<Parameter<T>> {
    let ones = MatBatch::from_fn(domains, 1, 1, |_, _, _| T::ONE);
    let mut list = vec![
        Parameter::state(MEAN, MatBatch::identity(domains, m)),
        Parameter::state(DISPERSION, ones),
        Parameter::euclidean(SCALE, MatBatch::zeros(1, 1, 1)),
    ];
    if config.bias {
        list.push(Parameter::euclidean(
            BIAS,
            MatBatch::zeros(1, 1, spd::upper_len(m)),
        ));
    }
    list
}

/// The layer on `x`, `B × m × m`, with a domain for each; in training, with the new statistics.
pub(super) fn normalise<'t, T: Scalar>(
    config: &BatchNormConfig,
    p: &Bound<'t, T>,
    x: Var<'t, T>,
    domains: &[usize],
) -> Result<(Var<'t, T>, Vec<StateUpdate<T>>)> {
    let tape = x.tape();
    let mut present = domains.to_vec();
    present.sort_unstable();
    present.dedup();
    // Every domain is in the list: it was made of them.
    let at: Vec<usize> = (domains.iter())
        .map(|d| present.binary_search(d).unwrap_or(0))
        .collect();
    let old_mean = p.get(MEAN).value().to_owned().select(&present);
    let old_dispersion = p.get(DISPERSION).value().to_owned().select(&present);
    let inverse_root = spd::inv_sqrt(old_mean.view())?;
    let mut updates = Vec::new();
    let (v, dispersion) = if p.is_training() {
        let average = tape.constant(&averages(&at, present.len()));
        let root = tape.constant(&spd::sqrt(old_mean.view())?);
        let seen = tape.constant(&inverse_root).gather(&at)?.congruence(x)?;
        let step = average.mix(seen.spd_log()?)?.scale(config.momentum)?;
        let mean = root.congruence(step.symmetrise()?.spd_exp()?)?;
        let v = logarithm(mean.spd_inv_sqrt()?, &at, x)?;
        let kept = tape
            .constant(&old_dispersion)
            .scale(1.0 - config.momentum)?;
        let spread = average.mix(v.frobenius_squared()?)?;
        let dispersion = spread.scale(config.momentum)?.add(kept)?;
        for (name, value) in [(MEAN, mean), (DISPERSION, dispersion)] {
            updates.push(StateUpdate {
                name,
                rows: present.clone(),
                values: value.value().to_owned(),
            });
        }
        (v, dispersion)
    } else {
        let v = logarithm(tape.constant(&inverse_root), &at, x)?;
        (v, tape.constant(&old_dispersion))
    };
    let unit = dispersion.add_scalar(config.epsilon)?.sqrt()?.gather(&at)?;
    let power = p.get(SCALE).exp()?.div(unit)?;
    let y = v.mul(power)?.spd_exp()?;
    let y = match p.find(BIAS) {
        Some(bias) => bias.from_upper()?.scale(0.5)?.spd_exp()?.congruence(y)?,
        None => y,
    };
    Ok((y, updates))
}

/// `log(Z_i X_i Z_i)` with the `Z` of each sample's domain.
fn logarithm<'t, T: Scalar>(z: Var<'t, T>, at: &[usize], x: Var<'t, T>) -> Result<Var<'t, T>> {
    Ok(z.gather(at)?.congruence(x)?.spd_log()?)
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
