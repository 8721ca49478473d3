//! Losses as functions of tape values. A new one is one function more.
//!
//! ```text
//! L_align   = λ·mean_i[1 − cos(sg(q_i), E_{j*})]      j* = argmax_j α_ij; only the winner's key moves
//! L_balance = λ·K·Σ_j f_j p_j                         f_j: share of samples won by j (no gradient), p_j: mean weight
//! L_entropy = λ·mean_i H(α_i)/log K
//! L_barrier = −λ·Σ_j log det(W_jᵀW_j)                 bounded: + λ·Σ_j [tr(W_jᵀW_j) − k]
//! L_shrink  = λ·mean_j ‖Δ_j‖_F²                       experts as tangent vectors at the anchor
//! ```

use super::{BarrierKind, LossWeights, Outputs, Routed};
use crate::{ModelError, Result};
use stiefel_autodiff::{Axis, Var};
use stiefel_linalg::{MatBatch, Scalar};

/// The terms of the loss, each already weighted.
#[derive(Debug, Clone)]
pub struct Losses<'t, T: Scalar> {
    /// Their sum.
    pub total: Var<'t, T>,
    /// Each by name, the cross-entropy first.
    pub terms: Vec<(&'static str, Var<'t, T>)>,
}

impl<'t, T: Scalar> Losses<'t, T> {
    /// Starts from the cross-entropy.
    pub(super) fn cross_entropy(outputs: &Outputs<'t, T>, labels: &[usize]) -> Result<Self> {
        let ce = outputs.logits.cross_entropy(labels, None)?;
        Ok(Self {
            total: ce,
            terms: vec![("cross-entropy", ce)],
        })
    }

    /// The same losses with the cross-entropy `Σ w_i ℓ_i/Σ w_i`; a batch whose weights are all zero
    /// has nothing to say and counts nothing.
    pub(crate) fn with_sample_weights(
        mut self,
        outputs: &Outputs<'t, T>,
        labels: &[usize],
        weights: &[T],
    ) -> Result<Self> {
        let Some((name, first)) = self.terms.first().copied() else {
            return Ok(self);
        };
        let weighted = if weights.iter().all(|&w| w == T::ZERO) {
            first.scale(0.0)?
        } else {
            outputs.logits.cross_entropy(labels, Some(weights))?
        };
        self.terms[0] = (name, weighted);
        self.total = weighted;
        for (_, term) in &self.terms[1..] {
            self.total = self.total.add(*term)?;
        }
        Ok(self)
    }

    /// Adds a weighted term, unless its weight is zero.
    pub(crate) fn add(
        mut self,
        name: &'static str,
        weight: f64,
        term: impl FnOnce() -> Result<Var<'t, T>>,
    ) -> Result<Self> {
        if weight != 0.0 {
            let term = term()?.scale(weight)?;
            self.total = self.total.add(term)?;
            self.terms.push((name, term));
        }
        Ok(self)
    }

    /// Adds the routing terms: of every routing, and of the experts of every view; their means
    /// where there are several.
    pub(super) fn add_routing(
        self,
        weights: LossWeights,
        routings: &[Routed<'t, T>],
        views: &[Routed<'t, T>],
    ) -> Result<Self> {
        self.add("alignment", weights.alignment, || mean(routings, alignment))?
            .add("balance", weights.balance, || mean(routings, balance))?
            .add("entropy", weights.entropy, || mean(routings, entropy))?
            .add("shrink", weights.shrink, || mean(views, shrink))
    }

    /// Adds the penalties of a forward pass, which are weighted already.
    pub(super) fn add_penalties(mut self, outputs: &Outputs<'t, T>) -> Result<Self> {
        for &(name, term) in &outputs.penalties {
            self.total = self.total.add(term)?;
            self.terms.push((name, term));
        }
        Ok(self)
    }
}

/// The mean of a term; of one, the term itself.
fn mean<'t, T: Scalar>(
    all: &[Routed<'t, T>],
    term: impl Fn(&Routed<'t, T>) -> Result<Var<'t, T>>,
) -> Result<Var<'t, T>> {
    let (first, rest) = all.split_first().ok_or(ModelError::Empty {
        op: "routing loss",
        remedy: "give at least one routing",
    })?;
    let mut sum = term(first)?;
    for routed in rest {
        sum = sum.add(term(routed)?)?;
    }
    if rest.is_empty() {
        return Ok(sum);
    }
    Ok(sum.scale(1.0 / all.len() as f64)?)
}

/// `mean_i[1 − cos(sg(q_i), E_{j*})]`.
pub fn alignment<'t, T: Scalar>(r: &Routed<'t, T>) -> Result<Var<'t, T>> {
    let winners = r.keys.gather_rows(&r.alpha.argmax())?;
    let cosine = r.query.detach().cosine(winners)?.mean(Axis::All)?;
    Ok(cosine.neg()?.add_scalar(1.0)?)
}

/// `K·Σ_j f_j p_j`.
pub fn balance<'t, T: Scalar>(r: &Routed<'t, T>) -> Result<Var<'t, T>> {
    let (_, samples, experts) = r.alpha.shape();
    let mut shares = vec![T::ZERO; experts];
    for winner in r.alpha.argmax() {
        shares[winner] += T::ONE / T::from_f64(samples as f64);
    }
    let shares = MatBatch::from_fn(1, 1, experts, |_, _, j| shares[j]);
    let load = r
        .alpha
        .mean(Axis::Rows)?
        .mul(r.alpha.tape().constant(&shares))?;
    Ok(load.sum(Axis::All)?.scale(experts as f64)?)
}

/// `mean_i H(α_i)/log K`; zero for one expert. Of the softmax itself where routing is sparse:
/// behind a mask of one expert the entropy is zero whatever the router does.
pub fn entropy<'t, T: Scalar>(r: &Routed<'t, T>) -> Result<Var<'t, T>> {
    let (_, samples, experts) = r.soft.shape();
    let log_alpha = r.scores.log_softmax()?;
    let unit = (experts as f64).ln() * samples as f64;
    let scale = if experts > 1 { -1.0 / unit } else { 0.0 };
    Ok(r.soft.mul(log_alpha)?.sum(Axis::All)?.scale(scale)?)
}

/// `−Σ_j log det(W_jᵀW_j)` of experts `K × n × k`, bounded or not; an error of the tape where an
/// expert has lost its rank.
pub fn barrier<T: Scalar>(kind: BarrierKind, experts: Var<'_, T>) -> Result<Var<'_, T>> {
    let log_det = experts.matmul_tn(experts)?.symmetrise()?.log_det()?;
    let open = log_det.sum(Axis::All)?.neg()?;
    let (count, _, k) = experts.shape();
    Ok(match kind {
        BarrierKind::Paper => open,
        BarrierKind::Bounded => {
            let size = experts.frobenius_squared()?.sum(Axis::All)?;
            open.add(size)?.add_scalar(-((count * k) as f64))?
        }
    })
}

/// `mean_j ‖Δ_j‖_F²`.
pub fn shrink<'t, T: Scalar>(r: &Routed<'t, T>) -> Result<Var<'t, T>> {
    Ok(r.tangents.frobenius_squared()?.mean(Axis::All)?)
}
