//! From routing weights to the filter of a sample, for every kind of expert.
//!
//! ```text
//! stiefel   W_i = R(W_base + Σ_j α_ij Δ_j),  Δ_j = P_{W_base}(W_j)    orthonormal columns
//! polar     W_i = Q_i P_i^{1/2},  Q_i as above,  P_i = exp(Σ_j α_ij log P_j),  P_j = L_j L_jᵀ
//!           L_j = strictly lower part of S_j + diag(exp(diag S_j))      S_j k × k, free; S = 0 is P = I
//! barrier   W_i = Σ_j α_ij W_j                                        W_j n × k, free
//! anchor    W_base   a point of its own, the first expert, or a one-step barycenter of the experts
//! ```
//!
//! Shapes: weights `1 × B × K`, experts `K × n × k`, scales `K × k × k`, filters `B × n × k`; of
//! several views, pools stand one after the other in one parameter. Source: the paper's "Full-Rank
//! Rectangular Extension".

use super::bound::Points;
use super::config::{Anchor, DaspConfig, Orthogonality, Retraction};
use super::layout::{Initial, Layout, Space, Spec};
use super::options::ExpertKind;
use super::tail::Filter;
use crate::Result;
use crate::parameters::Slot;
use stiefel_autodiff::{Axis, Mark, Var};
use stiefel_geometry::spd::{SpectralFn, spectral_map};
use stiefel_linalg::{MatBatch, Op, Scalar, product};

/// The experts of all views.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pool {
    experts: Slot,
    scales: Option<Slot>,
    anchor: Option<Slot>,
    views: usize,
    kind: ExpertKind,
    placed: Anchor,
    retraction: Retraction,
    /// Whether a loss needs orthonormal bases of the filters.
    wants_directions: bool,
}

/// What the filters of a view need of the parameters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PoolValues {
    experts: Mark,
    /// `W_base`, or what the anchor of each sample is found from.
    anchor: Mark,
    /// The experts as tangent vectors at it, or unconstrained experts themselves.
    tangents: Mark,
    /// `log P_j`.
    logs: Option<Mark>,
}

/// The filters of a batch, and what the losses need of them.
pub(super) struct Pooled<'t, T: Scalar> {
    /// `W_i`, or what it is retracted from.
    pub(super) filter: Filter<'t, T>,
    /// What is mixed: tangent vectors at the anchor, or unconstrained experts themselves.
    pub(super) tangents: Var<'t, T>,
    /// `W_i`, where it is a value of its own.
    pub(super) filters: Option<Var<'t, T>>,
    /// An orthonormal basis of the columns of `W_i`, where the CSP loss needs it.
    pub(super) directions: Option<Var<'t, T>>,
}

/// `W_base + Σ_j α_ij Δ_j` of every sample, not yet retracted.
#[derive(Clone, Copy)]
pub(super) struct Mixture<'t, T: Scalar> {
    /// The anchor, one or one per sample.
    pub(super) anchor: Var<'t, T>,
    /// `Δ_j`.
    pub(super) tangents: Var<'t, T>,
    pub(super) step: Step<'t, T>,
}

/// `Σ_j α_ij Δ_j`.
#[derive(Clone, Copy)]
pub(super) enum Step<'t, T: Scalar> {
    /// By its weights `α`.
    Weights(Var<'t, T>),
    /// As a value, `B × n × k`.
    Value(Var<'t, T>),
}

impl<'t, T: Scalar> Mixture<'t, T> {
    /// Returns the filters as points.
    pub(super) fn retract(&self, retraction: Retraction) -> Result<Var<'t, T>> {
        let step = match self.step {
            Step::Weights(alpha) => alpha.mix(self.tangents)?,
            Step::Value(step) => step,
        };
        retract(retraction, self.anchor, step)
    }
}

/// `qf(W + Δ)` or its polar counterpart, as an operation of its own.
fn retract<'t, T: Scalar>(
    retraction: Retraction,
    w: Var<'t, T>,
    delta: Var<'t, T>,
) -> Result<Var<'t, T>> {
    Ok(match retraction {
        Retraction::Qr => w.retract_qr(delta)?,
        Retraction::Polar => w.retract_polar(delta)?,
    })
}

/// Declares points with orthonormal columns.
pub(super) fn points(
    layout: &mut Layout,
    name: &'static str,
    shape: (usize, usize, usize),
    orthogonality: Orthogonality,
) -> Slot {
    layout.add(Spec {
        name,
        shape,
        initial: Initial::Orthonormal,
        space: match orthogonality {
            Orthogonality::Riemannian => Space::Stiefel,
            Orthogonality::Cayley => Space::Cayley,
        },
    })
}

impl Pool {
    pub(super) fn new(layout: &mut Layout, (views, n): (usize, usize), c: &DaspConfig) -> Self {
        let (count, k) = (c.experts, c.filters);
        let free = matches!(c.experts_kind, ExpertKind::Barrier { .. });
        let experts = if free {
            // Orthonormal columns: where the bounded barrier is at its minimum.
            layout.free("experts", (count, n, k), Initial::Orthonormal)
        } else {
            points(layout, "experts", (views * count, n, k), c.orthogonality)
        };
        let scales = (c.experts_kind == ExpertKind::Polar)
            .then(|| layout.free("scales", (count, k, k), Initial::Zeros));
        let anchor = (c.anchor == Anchor::Dedicated && !free)
            .then(|| points(layout, "anchor", (views, n, k), c.orthogonality));
        Self {
            experts,
            scales,
            anchor,
            views,
            kind: c.experts_kind,
            placed: c.anchor,
            retraction: c.retraction,
            wants_directions: c.losses.csp != 0.0,
        }
    }

    /// Returns the places of the experts, of their scales and of the anchor's own point.
    pub(crate) fn slots(&self) -> (Slot, Option<Slot>, Option<Slot>) {
        (self.experts, self.scales, self.anchor)
    }

    /// Computes what depends on the parameters of a view alone.
    pub(super) fn values<T: Scalar>(
        &self,
        p: &Points<'_, '_, T>,
        view: usize,
    ) -> Result<PoolValues> {
        let experts = p.of_view(self.experts, view, self.views)?;
        if matches!(self.kind, ExpertKind::Barrier { .. }) {
            let experts = experts.mark();
            return Ok(PoolValues {
                experts,
                anchor: experts,
                tangents: experts,
                logs: None,
            });
        }
        let first = || experts.gather(&[0]);
        let anchor = match (self.placed, self.anchor) {
            (_, Some(own)) => p.of_view(own, view, self.views)?,
            (Anchor::Barycenter, None) => {
                let from = first()?;
                let mean = from.project_tangent(experts)?.mean(Axis::Count)?;
                retract(self.retraction, from, mean)?
            }
            (_, None) => first()?,
        };
        let logs = match self.scales {
            None => None,
            Some(scales) => {
                let l = p.at(scales)?.lower_exp_diagonal()?;
                Some(l.matmul_nt(l)?.symmetrise()?.spd_log()?.mark())
            }
        };
        Ok(PoolValues {
            experts: experts.mark(),
            anchor: anchor.mark(),
            tangents: anchor.project_tangent(experts)?.mark(),
            logs,
        })
    }

    /// Returns the filter of every sample from its routing weights.
    pub(super) fn forward<'t, T: Scalar>(
        &self,
        p: &Points<'t, '_, T>,
        values: &PoolValues,
        alpha: Var<'t, T>,
    ) -> Result<Pooled<'t, T>> {
        let (tangents, filters) = match (self.kind, values.logs) {
            (ExpertKind::Barrier { .. }, _) => {
                let experts = p.var(values.experts)?;
                (experts, alpha.mix(experts)?)
            }
            (ExpertKind::Polar, Some(logs)) => {
                let mixture = self.mix(p, values, alpha)?;
                let root = alpha.mix(p.var(logs)?)?.scale(0.5)?.spd_exp()?;
                let filters = mixture.retract(self.retraction)?.matmul(root)?;
                (mixture.tangents, filters)
            }
            (ExpertKind::Stiefel | ExpertKind::Polar, _) => {
                let mixture = self.mix(p, values, alpha)?;
                if !self.wants_directions {
                    return Ok(Pooled {
                        tangents: mixture.tangents,
                        filter: Filter::Mixed(mixture, self.retraction),
                        filters: None,
                        directions: None,
                    });
                }
                (mixture.tangents, mixture.retract(self.retraction)?)
            }
        };
        let directions = match (self.wants_directions && p.is_training(), self.kind) {
            (false, _) => None,
            (true, ExpertKind::Stiefel) => Some(filters),
            (true, _) => Some(filters.orthonormal_factor()?),
        };
        Ok(Pooled {
            filter: Filter::Ready(filters),
            tangents,
            filters: Some(filters),
            directions,
        })
    }

    /// Mixes the experts for every sample. Where every sample has an anchor of its own,
    /// `Σ_j α_ij P_{B_i}(W_j) = P_{B_i}(Σ_j α_ij W_j)`, the projection being linear.
    fn mix<'t, T: Scalar>(
        &self,
        p: &Points<'t, '_, T>,
        values: &PoolValues,
        alpha: Var<'t, T>,
    ) -> Result<Mixture<'t, T>> {
        let (anchor, tangents) = (p.var(values.anchor)?, p.var(values.tangents)?);
        if self.placed != Anchor::RoutedBarycenter {
            return Ok(Mixture {
                anchor,
                tangents,
                step: Step::Weights(alpha),
            });
        }
        let experts = p.var(values.experts)?;
        let anchors = retract(self.retraction, anchor, alpha.mix(tangents)?)?;
        let step = anchors.project_tangent(alpha.mix(experts)?)?;
        // For the records of training, the experts as seen from the first sample's anchor.
        let tangents = if p.is_training() {
            let first = anchors.gather(&[0])?.detach();
            first.project_tangent(experts.detach())?
        } else {
            tangents
        };
        Ok(Mixture {
            anchor: anchors,
            tangents,
            step: Step::Value(step),
        })
    }
}

/// `log P_j` of the free coordinates of the scales, without a tape.
pub(crate) fn log_scales_of<T: Scalar>(raw: &MatBatch<T>) -> Result<MatBatch<T>> {
    let l = factors(raw);
    let mut p = product(l.view(), Op::N, l.view(), Op::T)?;
    stiefel_linalg::symmetrise(&mut p.view_mut())?;
    Ok(spectral_map(SpectralFn::Log, p.view())?.value)
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
