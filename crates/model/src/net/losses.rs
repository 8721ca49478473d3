//! Losses as functions of tape values. A new one is one function more.
//!
//! ```text
//! L_align   = λ·mean_i[1 − cos(sg(q_i), E_{j*})]      j* = argmax_j α_ij; only the winner's key moves
//! L_balance = λ·K·Σ_j f_j p_j                         f_j: share of samples won by j (no gradient), p_j: mean weight
//! L_entropy = λ·mean_i H(α_i)/log K
//! ```

use super::{LossWeights, Outputs, Routed};
use crate::Result;
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

    /// The same losses with the cross-entropy `Σ w_i ℓ_i/Σ w_i`; a batch whose weights are all zero has nothing to say and
    /// counts nothing.
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
    pub(super) fn add(
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

    /// Adds the routing terms.
    pub(super) fn add_routing(self, weights: LossWeights, r: &Routed<'t, T>) -> Result<Self> {
        self.add("alignment", weights.alignment, || alignment(r))?
            .add("balance", weights.balance, || balance(r))?
            .add("entropy", weights.entropy, || entropy(r))
    }
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

/// `mean_i H(α_i)/log K`; zero for one expert.
pub fn entropy<'t, T: Scalar>(r: &Routed<'t, T>) -> Result<Var<'t, T>> {
    let (_, samples, experts) = r.alpha.shape();
    let log_alpha = r.scores.log_softmax()?;
    let unit = (experts as f64).ln() * samples as f64;
    let scale = if experts > 1 { -1.0 / unit } else { 0.0 };
    Ok(r.alpha.mul(log_alpha)?.sum(Axis::All)?.scale(scale)?)
}
