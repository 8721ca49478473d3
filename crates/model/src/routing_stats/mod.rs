//! What the router does: entropy, domain alignment, and the diversity of the experts.
//!
//! For weights `α` (`N × K`, rows on the simplex) and domains `d_i`:
//! * entropy `H̄ = mean_i H(α_i)/log K` in `[0, 1]`; sharp below 0.70;
//! * domain alignment `r_d = Σ_d n_d‖ᾱ_d − ᾱ‖²/Σ_i‖α_i − ᾱ‖²` in `[0, 1]`, the share of the
//!   weights' variance that the domains explain; structured above 0.10. The paper's
//!   `Var_d(ᾱ_d)/Var_i(α_i)` counts every domain alike above and every trial alike below, and
//!   exceeds 1 where domains differ in size; it is kept beside, to be compared with the paper's
//!   figures;
//! * expert diversity: see [`expert_diversity`];
//! * smallest singular values of full-rank experts: see [`filter_rank`];
//!
//! Source: the paper's "Routing Diagnostics". What does not exist is undefined with a reason, never
//! NaN.

mod diversity;
mod rank;

pub use diversity::{ExpertDiversity, expert_diversity, largest_mean_angle, random_mean_angle};
pub use rank::{FilterRank, filter_rank};

use crate::error::check_count;
use crate::tolerance;
use crate::{Measure, ModelError, Result};
use serde::{Deserialize, Serialize};
use stiefel_linalg::{MatView, Scalar};

const OP: &str = "routing statistics";

/// Entropy and domain alignment of a set of trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoutingStats {
    /// `H̄`.
    pub entropy: Measure,
    /// `r_d`, domains weighted by their trials.
    pub domain_alignment: Measure,
    /// The paper's `r_d`, domains unweighted.
    pub domain_alignment_paper: Measure,
    /// Mean weight of each expert.
    pub mean_weights: Vec<f64>,
}

impl RoutingStats {}

/// The statistics of weights, as one `N × K` matrix or `N` rows of `1 × K`, and one domain per
/// sample. A row may hold several routings of the same size side by side, one per view: it then
/// sums to their number, and `H̄` is their mean.
///
/// ```
/// use stiefel_linalg::MatBatch;
/// use stiefel_model::routing_stats::routing_stats;
///
/// // Each domain has its own expert: sharp, and wholly explained by the domain.
/// let alpha = MatBatch::from_vec(1, 4, 2, vec![1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0])?;
/// let stats = routing_stats(alpha.view(), &[0, 1, 0, 1])?;
/// assert_eq!(
///     (stats.entropy.value(), stats.domain_alignment.value()),
///     (Some(0.0), Some(1.0))
/// );
/// # Ok::<(), stiefel_model::ModelError>(())
/// ```
pub fn routing_stats<T: Scalar>(alpha: MatView<'_, T>, domains: &[usize]) -> Result<RoutingStats> {
    let k = alpha.cols();
    let count = alpha.count() * alpha.rows();
    check_count(OP, "domains", count, domains.len())?;
    if count == 0 || k == 0 {
        return Err(ModelError::Empty {
            op: OP,
            remedy: "pass the routing weights of at least one trial and one expert",
        });
    }
    let alpha: Vec<f64> = alpha.data().iter().map(|a| a.to_f64()).collect();
    let first: f64 = alpha.iter().take(k).sum();
    let routings = routings(first, k);
    for (row, weights) in alpha.chunks_exact(k / routings).enumerate() {
        check_simplex(row / routings, weights)?;
    }
    let [domain_alignment, domain_alignment_paper] = alignments(&alpha, k, domains);
    Ok(RoutingStats {
        entropy: entropy(&alpha, k / routings),
        domain_alignment,
        domain_alignment_paper,
        mean_weights: mean_rows(&alpha, k, |_| true),
    })
}

/// How many routings stand in a row of `k` weights that sums to this; one where the sum makes no
/// sense, which is said of the weights then.
fn routings(sum: f64, k: usize) -> usize {
    let near = sum.round();
    let whole = (sum - near).abs() <= tolerance::SIMPLEX_SUM * near && near >= 1.0;
    let count = if whole && near <= k as f64 {
        near as usize
    } else {
        1
    };
    if k.is_multiple_of(count) { count } else { 1 }
}

/// Weights that are not negative and sum to one.
fn check_simplex(trial: usize, row: &[f64]) -> Result<()> {
    let bad = row.iter().find(|a| !(a.is_finite() && **a >= 0.0));
    let sum: f64 = row.iter().sum();
    let (what, value) = match bad {
        Some(&a) => ("a weight", a),
        None if (sum - 1.0).abs() <= tolerance::SIMPLEX_SUM => return Ok(()),
        None => ("the sum of the weights", sum),
    };
    Err(ModelError::Impossible {
        op: OP,
        why: format!("{what} of trial {trial} is {value}"),
        remedy: "pass the output of a softmax: weights of zero or more that sum to one",
    })
}

fn entropy(alpha: &[f64], k: usize) -> Measure {
    if k == 1 {
        return Measure::undefined("one expert: there is nothing to choose");
    }
    let count = (alpha.len() / k) as f64;
    let terms = alpha.iter().filter(|a| **a > 0.0).map(|a| -a * a.ln());
    let mean = terms.sum::<f64>() / count / (k as f64).ln();
    // Rounding must not leave the range, and a sum of −1·log 1 is −0.
    Measure::Value(mean.clamp(0.0, 1.0) + 0.0)
}

/// `r_d` with domains weighted by their trials, and with all domains alike.
fn alignments(alpha: &[f64], k: usize, domains: &[usize]) -> [Measure; 2] {
    let undefined = |why: &str| [Measure::undefined(why), Measure::undefined(why)];
    let total = variance(alpha, k);
    if total.sqrt() <= tolerance::CONSTANT_ROUTING {
        return undefined("the weights are the same for every trial");
    }
    let mut present = domains.to_vec();
    present.sort_unstable();
    present.dedup();
    if present.len() == 1 {
        return undefined("one domain: there is nothing to align with");
    }
    let means: Vec<f64> = (present.iter())
        .flat_map(|&d| mean_rows(alpha, k, |i| domains[i] == d))
        .collect();
    let of_trials: Vec<f64> = (domains.iter())
        .filter_map(|d| present.binary_search(d).ok())
        .flat_map(|at| means[at * k..][..k].iter().copied())
        .collect();
    // Rounding must not leave the range.
    let weighted = (variance(&of_trials, k) / total).min(1.0);
    [weighted, variance(&means, k) / total].map(Measure::Value)
}

/// The mean of the rows that `of` picks.
fn mean_rows(rows: &[f64], k: usize, of: impl Fn(usize) -> bool) -> Vec<f64> {
    let mut sum = vec![0.0; k];
    let mut count = 0.0;
    for (i, row) in rows.chunks_exact(k).enumerate() {
        if of(i) {
            count += 1.0;
            sum.iter_mut().zip(row).for_each(|(s, x)| *s += x);
        }
    }
    sum.iter().map(|s| s / count).collect()
}

/// The population variance of rows of length `k`, summed over the components.
fn variance(rows: &[f64], k: usize) -> f64 {
    let mean = mean_rows(rows, k, |_| true);
    let squares = rows
        .chunks_exact(k)
        .flat_map(|row| row.iter().zip(&mean))
        .map(|(x, m)| (x - m) * (x - m));
    squares.sum::<f64>() / (rows.len() / k) as f64
}
