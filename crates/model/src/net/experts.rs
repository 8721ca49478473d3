//! From routing weights to features, for every kind of expert.
//!
//! ```text
//! stiefel   W_i = R(W_base + Σ_j α_ij Δ_j)                           orthonormal columns
//! polar     W_i = Q_i P_i^{1/2},  Q_i as above,  P_i = exp(Σ_j α_ij log P_j),  P_j = L_j L_jᵀ
//!           L_j = strictly lower part of S_j + diag(exp(diag S_j))     S_j k × k, free; S = 0 is P = I
//! barrier   W_i = Σ_j α_ij W_j                                       W_j n × k, free
//! features  z_i = upper(log max(W_iᵀ X_i W_i, ε))
//! ```
//!
//! Shapes: weights `1 × B × K`, experts `K × n × k`, scales `K × k × k`, filters `B × n × k`, features `B × 1 × k(k+1)/2`. Source: the
//! paper's "Full-Rank Rectangular Extension".

use super::config::DaspConfig;
use super::layers::{self, Filter};
use super::options::ExpertKind;
use crate::{Bound, Result};
use stiefel_autodiff::Var;
use stiefel_geometry::spd;
use stiefel_linalg::{MatBatch, Op, Scalar, product};

/// The filters of a batch, and what the losses need of them.
pub(super) struct Pool<'t, T: Scalar> {
    /// `W_i`, or what it is retracted from.
    pub(super) filter: Filter<'t, T>,
    /// What is mixed: tangent vectors at the anchor, or unconstrained experts themselves.
    pub(super) tangents: Var<'t, T>,
    /// `W_i`, where it is a value of its own.
    pub(super) filters: Option<Var<'t, T>>,
    /// An orthonormal basis of the columns of `W_i`, where the CSP loss needs it.
    pub(super) directions: Option<Var<'t, T>>,
}

/// The filter of every sample from its routing weights.
pub(super) fn pool<'t, T: Scalar>(
    p: &Bound<'t, T>,
    alpha: Var<'t, T>,
    c: &DaspConfig,
) -> Result<Pool<'t, T>> {
    let wants_directions = c.losses.csp != 0.0;
    let (tangents, filters) = match c.experts_kind {
        ExpertKind::Barrier { .. } => {
            let experts = p.get("experts");
            (experts, alpha.mix(experts)?)
        }
        ExpertKind::Polar => {
            let mixture = layers::mix(c.anchor, c.retraction, p, alpha)?;
            let log = alpha.mix(log_scales(p.get("scales"))?)?;
            let root = log.scale(0.5)?.spd_exp()?;
            let filters = mixture.retract(c.retraction)?.matmul(root)?;
            (mixture.tangents, filters)
        }
        ExpertKind::Stiefel => {
            let mixture = layers::mix(c.anchor, c.retraction, p, alpha)?;
            if !wants_directions {
                return Ok(Pool {
                    tangents: mixture.tangents,
                    filter: Filter::Mixed(mixture, c.retraction),
                    filters: None,
                    directions: None,
                });
            }
            (mixture.tangents, mixture.retract(c.retraction)?)
        }
    };
    let directions = match (wants_directions, c.experts_kind) {
        (false, _) => None,
        (true, ExpertKind::Stiefel) => Some(filters),
        (true, _) => Some(filters.orthonormal_factor()?),
    };
    Ok(Pool {
        filter: Filter::Ready(filters),
        tangents,
        filters: Some(filters),
        directions,
    })
}

/// `log P_j` of the free coordinates of the scales.
fn log_scales<T: Scalar>(raw: Var<'_, T>) -> Result<Var<'_, T>> {
    let l = raw.lower_exp_diagonal()?;
    Ok(l.matmul_nt(l)?.symmetrise()?.spd_log()?)
}

/// The same without a tape.
pub(crate) fn log_scales_of<T: Scalar>(raw: &MatBatch<T>) -> Result<MatBatch<T>> {
    let l = factors(raw);
    let mut p = product(l.view(), Op::N, l.view(), Op::T)?;
    stiefel_linalg::symmetrise(&mut p.view_mut())?;
    Ok(spd::log(p.view())?)
}

/// `L_j`, lower triangular with a positive diagonal: `P_j = L_j L_jᵀ`.
pub(crate) fn factors<T: Scalar>(raw: &MatBatch<T>) -> MatBatch<T> {
    let (count, k, _) = raw.shape();
    MatBatch::from_fn(count, k, k, |j, r, c| match r.cmp(&c) {
        std::cmp::Ordering::Less => T::ZERO,
        std::cmp::Ordering::Equal => Scalar::exp(raw.get(j, r, c)),
        std::cmp::Ordering::Greater => raw.get(j, r, c),
    })
}
