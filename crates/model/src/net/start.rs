//! Where filters start when the training set has a say: at discriminative directions, experts near
//! the anchor.
//!
//! ```text
//! anchor    W_base = top-k eigenvectors of mean_d S_d²            (see `anchor`)
//! experts   W_j = qf(W_base + Δ_j)                                Δ_j a random tangent vector, columns of root mean square length `noise`
//! ```
//!
//! Filters in Cayley coordinates start there too: the fixed orthogonal `B` gets the point as its
//! first `k` columns.

use super::config::{DaspConfig, InitialAnchor, InitialExperts};
use super::pool::Pool;
use crate::anchor::{discriminative_basis, first_columns};
use crate::parameters::Slot;
use crate::{Manifold, Parameters, Prepared, Result, random};
use stiefel_geometry::stiefel;
use stiefel_linalg::{MatBatch, Scalar};

/// All directions of a training set, most discriminative first, `n × n`.
pub(super) fn discriminative<T: Scalar>(training: &Prepared<T>) -> Result<MatBatch<f64>> {
    let x: MatBatch<f64> = training.covariances().cast();
    discriminative_basis(x.view(), training.labels(), training.domains())
}

/// Puts the first columns of orthogonal bases (`n × n`, one per matrix) in the place of a filter's
/// points.
pub(super) fn place<T: Scalar>(
    parameters: &mut Parameters<T>,
    slot: Slot,
    bases: &[MatBatch<f64>],
) {
    if let Some(parameter) = parameters.at_mut(slot) {
        for (i, basis) in bases.iter().enumerate() {
            if let Manifold::Cayley { base } = &mut parameter.manifold {
                base.matrix_mut(i).copy_from_slice(basis.cast().data());
                parameter.value.matrix_mut(i).fill(T::ZERO);
            } else {
                let point = first_columns(basis, parameter.value.cols());
                let value = parameter.value.matrix_mut(i);
                value.copy_from_slice(point.cast().data());
            }
        }
    }
}

/// Moves the first values of a routed network to where its options say.
pub(super) fn fit_filters<T: Scalar>(
    parameters: &mut Parameters<T>,
    pool: &Pool,
    config: &DaspConfig,
    seed: u64,
    training: &Prepared<T>,
) -> Result<()> {
    let (experts, _, anchor) = pool.slots();
    let anchor = anchor.unwrap_or(experts);
    if config.initial_anchor == InitialAnchor::Discriminative {
        place(parameters, anchor, &[discriminative(training)?]);
    }
    let InitialExperts::NearAnchor { noise } = config.initial_experts else {
        return Ok(());
    };
    let Some(point) = parameters.at(anchor) else {
        return Ok(());
    };
    let base: MatBatch<f64> = point.point()?.single(0).cast();
    let near = (0..config.experts)
        .map(|j| complete(&nearby(&base, noise, seed, j)?, seed, j))
        .collect::<Result<Vec<_>>>()?;
    place(parameters, experts, &near);
    Ok(())
}

/// A point at a random tangent vector of columns of root mean square length `noise` from `w`.
fn nearby(w: &MatBatch<f64>, noise: f64, seed: u64, j: usize) -> Result<MatBatch<f64>> {
    let (_, n, k) = w.shape();
    let mut rng = random::stream(seed, "experts near the anchor", j as u64);
    let gaussian = MatBatch::from_fn(1, n, k, |_, _, _| random::normal(&mut rng));
    let mut tangent = stiefel::project(w.view(), gaussian.view())?;
    let square: f64 = tangent.data().iter().map(|v| v * v).sum();
    if square == 0.0 {
        return Ok(w.clone());
    }
    let scale = noise * (k as f64 / square).sqrt();
    tangent.data_mut().iter_mut().for_each(|v| *v *= scale);
    Ok(stiefel::retract_qr(w.view(), tangent.view())?.q)
}

/// An orthogonal matrix whose first columns are `w`.
fn complete(w: &MatBatch<f64>, seed: u64, j: usize) -> Result<MatBatch<f64>> {
    let (_, n, k) = w.shape();
    let mut rng = random::stream(seed, "basis around an expert", j as u64);
    let tall = MatBatch::from_fn(1, n, n, |_, r, c| {
        if c < k {
            w.get(0, r, c)
        } else {
            random::normal(&mut rng)
        }
    });
    Ok(stiefel::orthonormal_factor(tall.view())?.q)
}
