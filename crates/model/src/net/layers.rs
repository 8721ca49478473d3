//! Layers: small pieces of forward computation.
//!
//! ```text
//! query     q = MLP([x̃; Emb(d)])                 one hidden layer of 2m, exact GELU
//! routing   α = softmax(q Eᵀ/√m)
//! anchor    W_base                              given, first expert, or a one-step barycenter
//! pool      Δ_j = W_j − W_base sym(W_baseᵀ W_j),  A_i = W_base + Σ_j α_ij Δ_j
//! tail      upper(log max(W_iᵀ X_i W_i, ε)), W_i = qf(A_i)      one after the other for every view
//! head      z·wᵀ + b                            routed: (w + Σ_j α_ij δ_j)·z + b
//! ```

use super::batch_norm;
use super::{Anchor, BatchNormConfig, NormPosition, Retraction, Routing, StateUpdate};
use crate::{Batch, Bound, ModelError, Parameter, Parameters, Prepared, Result, random};
use std::sync::Arc;
use stiefel_autodiff::{Covariances, Filters, Tape, Var};
use stiefel_linalg::{MatBatch, Scalar};

/// `MLP([x̃; Emb(d)])`, one row per sample; without embedding, `MLP(x̃)`.
pub(super) fn query<'t, T: Scalar>(
    tape: &'t Tape<T>,
    p: &Bound<'t, T>,
    batch: &Batch<'_, T>,
) -> Result<Var<'t, T>> {
    let rows = tape.constant(&batch.encoded());
    let embedded = p.find("embedding");
    let embedded = embedded.map(|e| e.gather_rows(&batch.domains()));
    query_of(p, rows, embedded.transpose()?)
}

/// The MLP of the query on rows `x̃`, or `[x̃; Emb(d)]`.
pub(super) fn query_of<'t, T: Scalar>(
    p: &Bound<'t, T>,
    rows: Var<'t, T>,
    embedded: Option<Var<'t, T>>,
) -> Result<Var<'t, T>> {
    let hidden = rows
        .linear(embedded.as_slice(), p.get("query.w1"), p.get("query.b1"))?
        .gelu()?;
    Ok(hidden.linear(&[], p.get("query.w2"), p.get("query.b2"))?)
}

/// The query's parameters for an input of `width` and an output of `m`.
pub(super) fn query_parameters<T: Scalar>(seed: u64, width: usize, m: usize) -> Vec<Parameter<T>> {
    let linear = |name, rows, cols, fan_in| {
        Parameter::euclidean(name, random::linear(seed, name, (rows, cols), fan_in))
    };
    vec![
        linear("query.w1", 2 * m, width, width),
        linear("query.b1", 1, 2 * m, width),
        linear("query.w2", m, 2 * m, 2 * m),
        linear("query.b2", 1, m, 2 * m),
    ]
}

/// The linear head on `width` features.
pub(super) fn head_parameters<T: Scalar>(
    seed: u64,
    classes: usize,
    width: usize,
) -> Vec<Parameter<T>> {
    let linear = |name, rows, cols| {
        Parameter::euclidean(name, random::linear(seed, name, (rows, cols), width))
    };
    vec![
        linear("head.w", classes, width),
        linear("head.b", 1, classes),
    ]
}

/// `z·wᵀ + b`.
pub(super) fn head<'t, T: Scalar>(p: &Bound<'t, T>, z: Var<'t, T>) -> Result<Var<'t, T>> {
    let (samples, _, width) = z.shape();
    let rows = z.reshape(1, samples, width)?;
    Ok(rows.linear(&[], p.get("head.w"), p.get("head.b"))?)
}

/// `Σ_j α_ij δ_j·z_i`: what a routed head adds; `own` is `K × C × p`.
pub(super) fn own_head<'t, T: Scalar>(
    own: Var<'t, T>,
    z: Var<'t, T>,
    alpha: Var<'t, T>,
) -> Result<Var<'t, T>> {
    let (samples, _, width) = z.shape();
    let classes = own.shape().1;
    let scores = z
        .reshape(samples, 1, width)?
        .matmul_nt(alpha.mix(own)?)?
        .reshape(1, samples, classes)?;
    Ok(scores)
}

/// `softmax(q Eᵀ/√m)` before and after the softmax.
pub(super) fn scores<'t, T: Scalar>(
    query: Var<'t, T>,
    keys: Var<'t, T>,
) -> Result<(Var<'t, T>, Var<'t, T>)> {
    let scale = 1.0 / (keys.shape().2 as f64).sqrt();
    let scores = query.matmul_nt(keys)?.scale(scale)?;
    Ok((scores, scores.softmax()?))
}

/// The scores of all keys for rows `[x̃; Emb(d)]` of the query's input, `1 × B × K`.
pub(crate) fn query_scores<'t, T: Scalar>(
    p: &Bound<'t, T>,
    rows: Var<'t, T>,
    embedded: Var<'t, T>,
) -> Result<Var<'t, T>> {
    let query = query_of(p, rows, Some(embedded))?;
    Ok(scores(query, p.get("keys"))?.0)
}

/// The weights a pass uses in place of the learnt ones.
pub(super) fn reroute<'t, T: Scalar>(
    tape: &'t Tape<T>,
    learnt: Var<'t, T>,
    routing: Routing<'_, T>,
) -> Var<'t, T> {
    let (_, samples, experts) = learnt.shape();
    match routing {
        Routing::Learnt => learnt,
        Routing::Given(weights) => tape.constant(weights),
        Routing::Uniform => {
            let share = T::ONE / T::from_f64(experts as f64);
            tape.constant(&MatBatch::from_fn(1, samples, experts, |_, _, _| share))
        }
        Routing::HardTop1 => {
            let winners = learnt.argmax();
            tape.constant(&MatBatch::from_fn(1, samples, experts, |_, i, j| {
                if winners[i] == j { T::ONE } else { T::ZERO }
            }))
        }
    }
}

/// `qf(W + Δ)` or its polar counterpart, as an operation of its own.
pub(super) fn retract<'t, T: Scalar>(
    retraction: Retraction,
    w: Var<'t, T>,
    delta: Var<'t, T>,
) -> Result<Var<'t, T>> {
    Ok(match retraction {
        Retraction::Qr => w.retract_qr(delta)?,
        Retraction::Polar => w.retract_polar(delta)?,
    })
}

/// A sample's mixture in the tangent space of its anchor: `W_base + Σ_j α_ij Δ_j`, not yet retracted.
pub(super) struct Mixture<'t, T: Scalar> {
    /// The anchor, one or one per sample.
    pub(super) anchor: Var<'t, T>,
    /// `Δ_j`.
    pub(super) tangents: Var<'t, T>,
    step: Step<'t, T>,
}

/// `Σ_j α_ij Δ_j`.
#[derive(Clone, Copy)]
enum Step<'t, T: Scalar> {
    /// By its weights `α`.
    Weights(Var<'t, T>),
    /// As a value, `B × n × k`.
    Value(Var<'t, T>),
}

impl<'t, T: Scalar> Mixture<'t, T> {
    /// The filters as points.
    pub(super) fn retract(&self, retraction: Retraction) -> Result<Var<'t, T>> {
        let step = match self.step {
            Step::Weights(alpha) => alpha.mix(self.tangents)?,
            Step::Value(step) => step,
        };
        retract(retraction, self.anchor, step)
    }
}

/// Mixes the experts for every sample.
pub(super) fn mix<'t, T: Scalar>(
    anchor: Anchor,
    retraction: Retraction,
    p: &Bound<'t, T>,
    alpha: Var<'t, T>,
) -> Result<Mixture<'t, T>> {
    let experts = p.get("experts");
    let first = || experts.gather(&[0]);
    let shared = match anchor {
        Anchor::Dedicated => p.get("anchor"),
        Anchor::First => first()?,
        Anchor::Barycenter => {
            let from = first()?;
            let mean = from
                .project_tangent(experts)?
                .mean(stiefel_autodiff::Axis::Count)?;
            retract(retraction, from, mean)?
        }
        Anchor::RoutedBarycenter => {
            let from = first()?;
            let step = alpha.mix(from.project_tangent(experts)?)?;
            return mix_per_sample(retract(retraction, from, step)?, experts, alpha);
        }
    };
    let tangents = shared.project_tangent(experts)?;
    Ok(Mixture {
        anchor: shared,
        tangents,
        step: Step::Weights(alpha),
    })
}

/// The mixture where every sample has an anchor of its own: `Σ_j α_ij P_{B_i}(W_j) = P_{B_i}(Σ_j α_ij W_j)`, the projection
/// being linear.
fn mix_per_sample<'t, T: Scalar>(
    anchors: Var<'t, T>,
    experts: Var<'t, T>,
    alpha: Var<'t, T>,
) -> Result<Mixture<'t, T>> {
    let step = anchors.project_tangent(alpha.mix(experts)?)?;
    // For the records, the experts as seen from the first sample's anchor.
    let tangents = anchors
        .gather(&[0])?
        .detach()
        .project_tangent(experts.detach())?;
    Ok(Mixture {
        anchor: anchors,
        tangents,
        step: Step::Value(step),
    })
}

/// The filters of a batch: one for everybody, or a mixture per sample that is not yet retracted.
pub(super) enum Filter<'t, T: Scalar> {
    /// Orthonormal already.
    Ready(Var<'t, T>),
    /// To be retracted.
    Mixed(Mixture<'t, T>, Retraction),
}

impl<'t, T: Scalar> Filter<'t, T> {
    /// The filters and whether the tail is to take their orthonormal factor.
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

    /// The filters as points.
    pub(super) fn point(&self) -> Result<Var<'t, T>> {
        match self {
            Self::Ready(w) => Ok(*w),
            Self::Mixed(m, retraction) => m.retract(*retraction),
        }
    }
}

/// The features of every sample under its filter, with batch normalisation where there is one, and the statistics after it.
pub(super) fn features<'t, T: Scalar>(
    tape: &'t Tape<T>,
    p: &Bound<'t, T>,
    batch: &Batch<'_, T>,
    filter: &Filter<'t, T>,
    norm: Option<&BatchNormConfig>,
    epsilon: f64,
) -> Result<(Var<'t, T>, Vec<StateUpdate<T>>)> {
    let Some(norm) = norm else {
        let (filters, retract) = filter.for_tail()?;
        let z = tape.filtered_log_vectors(filters, shared(batch, 0), retract, epsilon)?;
        return Ok((z, Vec::new()));
    };
    let entering = entering(tape, batch, filter, norm.position)?;
    let (y, state) = batch_norm::normalise(norm, p, entering, &batch.domains())?;
    let z = match norm.position {
        NormPosition::Before => {
            let (filters, retract) = filter.for_tail()?;
            tape.filtered_log_vectors(filters, Covariances::Value(y), retract, epsilon)?
        }
        NormPosition::After => y.reeig_log(epsilon)?.upper()?,
    };
    Ok((z, state))
}

/// The features of a view under its filters, without batch normalisation.
pub(super) fn view_features<'t, T: Scalar>(
    tape: &'t Tape<T>,
    batch: &Batch<'_, T>,
    view: usize,
    filter: &Filter<'t, T>,
    epsilon: f64,
) -> Result<Var<'t, T>> {
    let (filters, retract) = filter.for_tail()?;
    Ok(tape.filtered_log_vectors(filters, shared(batch, view), retract, epsilon)?)
}

/// The features of all views side by side, `B × 1 × V·k(k+1)/2`.
pub(super) fn side_by_side<'t, T: Scalar>(views: &[Var<'t, T>]) -> Result<Var<'t, T>> {
    match views {
        [first, rest @ ..] => Ok(first.concat(rest)?),
        [] => Err(ModelError::Empty {
            op: "network",
            remedy: "give trials of at least one view",
        }),
    }
}

/// An error unless a batch has the views of the network.
pub(super) fn check_views<T: Scalar>(batch: &Batch<'_, T>, expected: usize) -> Result<()> {
    let found = batch.data.views();
    if found == expected {
        return Ok(());
    }
    Err(ModelError::Count {
        op: "network",
        what: "views of a trial",
        expected,
        found,
    })
}

/// The matrices that enter batch normalisation.
fn entering<'t, T: Scalar>(
    tape: &'t Tape<T>,
    batch: &Batch<'_, T>,
    filter: &Filter<'t, T>,
    position: NormPosition,
) -> Result<Var<'t, T>> {
    let x = tape.constant(&batch.data.covariances().select(&batch.indices));
    match position {
        NormPosition::Before => Ok(x),
        NormPosition::After => Ok(filter.point()?.congruence(x)?),
    }
}

/// [`Network::norm_input`](super::Network::norm_input) of a network whose filters `filter` gives.
pub(super) fn norm_input<T: Scalar>(
    parameters: &Parameters<T>,
    data: &Prepared<T>,
    norm: &BatchNormConfig,
    filter: impl for<'t> Fn(&'t Tape<T>, &Bound<'t, T>, &Batch<'_, T>) -> Result<Filter<'t, T>>,
) -> Result<MatBatch<T>> {
    let mut values = Vec::new();
    let mut m = 0;
    let all: Vec<usize> = (0..data.len()).collect();
    for indices in all.chunks(64) {
        let tape = Tape::new();
        let bound = parameters.bind_frozen(&tape)?;
        let batch = data.batch(indices.to_vec());
        let part = entering(
            &tape,
            &batch,
            &filter(&tape, &bound, &batch)?,
            norm.position,
        )?;
        m = part.shape().1;
        values.extend_from_slice(part.value().data());
    }
    Ok(MatBatch::from_vec(data.len(), m, m, values)?)
}

/// The covariances of a view of a batch, not copied.
fn shared<'t, T: Scalar>(batch: &Batch<'_, T>, view: usize) -> Covariances<'t, T> {
    Covariances::Shared(Arc::clone(batch.data.view(view)), batch.indices.clone())
}

/// Stiefel parameters under either way of staying orthonormal.
pub(super) fn orthonormal<T: Scalar>(
    seed: u64,
    name: &'static str,
    (count, n, k): (usize, usize, usize),
    cayley: bool,
) -> Parameter<T> {
    if !cayley {
        return Parameter::stiefel(name, random::points(seed, name, count, n, k).cast());
    }
    let base = random::points(seed, name, count, n, n).cast();
    Parameter {
        name,
        value: MatBatch::zeros(count, n, k),
        manifold: crate::Manifold::Cayley { base },
    }
}

/// Joins lists of parameters.
pub(super) fn collect<T: Scalar>(lists: Vec<Vec<Parameter<T>>>) -> Parameters<T> {
    Parameters::new(lists.into_iter().flatten().collect())
}
