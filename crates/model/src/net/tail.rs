//! From filters and covariances to class scores.
//!
//! ```text
//! features   z_i = upper(log max(W_iᵀ X_i W_i, ε))     of all views side by side
//! head       z·wᵀ + b                                  routed: (w + Σ_j α_ij δ_j)·z + b
//! ```

use super::PerView;
use super::batch_norm::Norm;
use super::bound::Points;
use super::config::Retraction;
use super::layout::{Initial, Layout};
use super::pool::{Mixture, Step};
use super::query::Linear;
use super::{NormPosition, StateUpdate};
use crate::parameters::Slot;
use crate::{Batch, ModelError, Result};
use stiefel_autodiff::{Axis, Covariances, Filters, Var};
use stiefel_linalg::Scalar;

/// The filters of a batch: one for everybody, or a mixture per sample that is not yet retracted.
#[derive(Clone, Copy)]
pub(super) enum Filter<'t, T: Scalar> {
    /// Orthonormal already.
    Ready(Var<'t, T>),
    /// To be retracted.
    Mixed(Mixture<'t, T>, Retraction),
}

impl<'t, T: Scalar> Filter<'t, T> {
    /// Returns the filters, and whether the tail is to take their orthonormal factor.
    pub(super) fn for_tail(&self) -> Result<(Filters<'t, T>, bool)> {
        Ok(match self {
            Self::Mixed(m, Retraction::Qr) => match m.step {
                Step::Weights(weights) => {
                    let (directions, base) = (m.tangents, m.anchor);
                    let mixed = Filters::Mixed {
                        weights,
                        directions,
                        base,
                    };
                    (mixed, true)
                }
                Step::Value(step) => (m.anchor.add(step)?.into(), true),
            },
            Self::Mixed(_, Retraction::Polar) | Self::Ready(_) => (self.point()?.into(), false),
        })
    }

    /// Returns the filters as points.
    pub(super) fn point(&self) -> Result<Var<'t, T>> {
        match self {
            Self::Ready(w) => Ok(*w),
            Self::Mixed(m, retraction) => m.retract(*retraction),
        }
    }

    /// Returns the matrices that enter batch normalisation.
    pub(super) fn entering(
        &self,
        p: &Points<'t, '_, T>,
        batch: &Batch<'_, T>,
        position: NormPosition,
    ) -> Result<Var<'t, T>> {
        let x = batch.selected(p.tape());
        match position {
            NormPosition::Before => Ok(x),
            NormPosition::After => Ok(self.point()?.congruence(x)?),
        }
    }
}

/// Rectification, logarithm and vector behind the filters of all views.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tail {
    pub(super) epsilon: f64,
    pub(super) norm: Option<Norm>,
}

impl Tail {
    /// Returns the features of every sample and, in training, the running statistics after it.
    pub(super) fn forward<'t, T: Scalar>(
        &self,
        p: &Points<'t, '_, T>,
        batch: &Batch<'_, T>,
        views: &[Filter<'t, T>],
    ) -> Result<(Var<'t, T>, Vec<StateUpdate<T>>)> {
        let (tape, epsilon) = (p.tape(), self.epsilon);
        if let (Some(norm), [filter]) = (&self.norm, views) {
            let position = norm.position();
            let entering = filter.entering(p, batch, position)?;
            let (y, state) = norm.forward(p, entering, batch)?;
            let z = match position {
                NormPosition::Before => {
                    let (filters, retract) = filter.for_tail()?;
                    tape.filtered_log_vectors(filters, Covariances::Value(y), retract, epsilon)?
                }
                NormPosition::After => y.reeig_log(epsilon)?.upper()?,
            };
            return Ok((z, state));
        }
        let one = |(view, filter): (usize, &Filter<'t, T>)| -> Result<Var<'t, T>> {
            let (filters, retract) = filter.for_tail()?;
            let x = batch.covariances(view);
            Ok(tape.filtered_log_vectors(filters, x, retract, epsilon)?)
        };
        let all: PerView<Var<'t, T>> = views.iter().enumerate().map(one).collect::<Result<_>>()?;
        let (first, rest) = all.split_first().ok_or(ModelError::Empty {
            op: "network",
            remedy: "give trials of at least one view",
        })?;
        let z = match rest {
            [] => *first,
            rest if p.is_training() => first.concat(rest)?,
            // Two at a time, which allocates nothing.
            rest => rest.iter().try_fold(*first, |z, view| z.concat(&[*view]))?,
        };
        Ok((z, Vec::new()))
    }
}

/// The linear head, with weights of every expert where it is routed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Head {
    shared: Linear,
    own: Option<Slot>,
}

impl Head {
    pub(super) fn new(
        layout: &mut Layout,
        (features, classes): (usize, usize),
        routed_experts: Option<usize>,
    ) -> Self {
        let shared = Linear::new(layout, ("head.w", "head.b"), (features, classes));
        let own = |experts| layout.free("head.own", (experts, classes, features), Initial::Zeros);
        Self {
            shared,
            own: routed_experts.map(own),
        }
    }

    /// `z·wᵀ + b`, and `Σ_j α_ij δ_j·z` where the head is routed.
    pub(super) fn forward<'t, T: Scalar>(
        &self,
        p: &Points<'t, '_, T>,
        z: Var<'t, T>,
        alpha: Option<Var<'t, T>>,
    ) -> Result<Var<'t, T>> {
        let (samples, _, width) = z.shape();
        let logits = self
            .shared
            .forward(p, z.reshape(1, samples, width)?, None)?;
        let (Some(own), Some(alpha)) = (self.own, alpha) else {
            return Ok(logits);
        };
        let own = p.at(own)?;
        let classes = own.shape().1;
        let added = z
            .reshape(samples, 1, width)?
            .matmul_nt(alpha.mix(own)?)?
            .reshape(1, samples, classes)?;
        Ok(logits.add(added)?)
    }

    /// `λ Σ_j ‖δ_j‖²`, where the head is routed.
    pub(super) fn ridge<'t, T: Scalar>(
        &self,
        p: &Points<'t, '_, T>,
        ridge: f64,
    ) -> Result<Option<Var<'t, T>>> {
        let Some(own) = self.own else {
            return Ok(None);
        };
        Ok(Some(p.at(own)?.square()?.sum(Axis::All)?.scale(ridge)?))
    }
}
