//! Top-p routing: the p best experts of every sample, the others exactly zero.
//!
//! ```text
//! S_i       = the p largest scores of sample i             first among equals
//! α^m_ij    = exp(z_ij)/Σ_{l ∈ S_i} exp(z_il) for j ∈ S_i,  0 elsewhere
//! α         = α^soft + sg(α^m − α^soft)                     value of the mask, gradient of the softmax
//! ```
//!
//! Shapes: scores and weights `1 × B × K`. The straight-through estimator (Bengio, Léonard &
//! Courville 2013) lets an expert outside the mask win its way in: its gradient is that of the soft
//! weight. `p = K` is the softmax itself, to the bit.

use super::RoutingRule;
use crate::Result;
use crate::prepared::PerSample;
use stiefel_autodiff::Var;
use stiefel_linalg::Scalar;

/// The weights of a rule, from scores and their softmax.
pub(super) fn weights<'t, T: Scalar>(
    rule: RoutingRule,
    scores: Var<'t, T>,
    soft: Var<'t, T>,
) -> Result<Var<'t, T>> {
    let experts = scores.shape().2;
    let Some(p) = rule.kept(experts) else {
        return Ok(soft);
    };
    let masked = scores.tape().constant_with(scores.shape(), |masked| {
        masked.copy_from_slice(scores.value().data());
        for row in masked.chunks_exact_mut(experts) {
            masked_softmax(row, p);
        }
    });
    Ok(soft.straight_through(masked)?)
}

/// Turns the scores of one sample into weights of its `p` best experts, in place.
fn masked_softmax<T: Scalar>(row: &mut [T], p: usize) {
    let mut order: PerSample<usize> = (0..row.len()).collect();
    // By score, then by number: a total order, so that equal scores give the same mask on every
    // machine. Adding zero makes the two zeros one.
    let score = |j: usize| row[j].to_f64() + 0.0;
    order.sort_unstable_by(|&a, &b| score(b).total_cmp(&score(a)).then(a.cmp(&b)));
    let p = p.clamp(1, row.len());
    let top = row[order[0]];
    for &j in &order[p..] {
        row[j] = T::ZERO;
    }
    // In the order of the experts, as the softmax sums.
    order[..p].sort_unstable();
    let mut sum = T::ZERO;
    for &j in &order[..p] {
        row[j] = Scalar::exp(row[j] - top);
        sum += row[j];
    }
    for &j in &order[..p] {
        row[j] /= sum;
    }
}

#[cfg(test)]
mod tests {
    use super::masked_softmax;
    use proptest::prelude::*;

    /// The definition, with `f64::exp` and no tricks.
    fn naive(row: &[f64], p: usize) -> Vec<f64> {
        let mut best: Vec<usize> = (0..row.len()).collect();
        best.sort_by(|&a, &b| row[b].total_cmp(&row[a]).then(a.cmp(&b)));
        let kept = &best[..p];
        let sum: f64 = kept.iter().map(|&j| row[j].exp()).sum();
        (0..row.len())
            .map(|j| {
                if kept.contains(&j) {
                    row[j].exp() / sum
                } else {
                    0.0
                }
            })
            .collect()
    }

    proptest! {
        #[test]
        fn is_the_softmax_of_the_best(row in prop::collection::vec(-5.0..5.0_f64, 1..9), p in 1..9_usize) {
            let p = p.min(row.len());
            let mut fast = row.clone();
            masked_softmax(&mut fast, p);
            for (a, b) in fast.iter().zip(naive(&row, p)) {
                prop_assert!((a - b).abs() <= 1e-14, "{fast:?}");
            }
            prop_assert_eq!(fast.iter().filter(|a| **a > 0.0).count(), p);
        }
    }

    #[test]
    fn equal_scores_keep_the_first_and_huge_ones_stay_finite() {
        let mut row = [1e300, 1e300, -1e300, 1e300];
        masked_softmax(&mut row, 2);
        assert_eq!(row, [0.5, 0.5, 0.0, 0.0]);
        let mut row = [f64::NAN, 1.0];
        masked_softmax(&mut row, 1);
        assert_eq!(row.iter().filter(|a| **a == 0.0).count(), 1);
    }
}
