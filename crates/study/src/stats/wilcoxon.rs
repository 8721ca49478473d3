//! Wilcoxon's signed-rank test, two-sided: with `r_s` the mid-rank of `|d_s|` among the non-zero
//! differences, `W⁺ = Σ_{d_s>0} r_s`.
//!
//! Zeros are dropped (Wilcoxon's own rule). Under the null hypothesis every sign is a fair coin, so
//! that `W⁺ = Σ r_s B_s`:
//! * its distribution is summed up exactly, rank by rank, for up to 50 pairs without ties and
//!   zeros, and up to 13 with them;
//! * otherwise it is taken as normal with mean `n(n+1)/4` and variance `n(n+1)(2n+1)/24 − Σ(t³ −
//!   t)/48` (`t` the sizes of groups of ties), without continuity correction.
//!
//! These are the rules of SciPy 1.17's `wilcoxon(d)`, and the same numbers.

use super::{StatsError, check_finite, largest, too_few};
use stiefel_model::Measure;
use stiefel_model::tolerance::EQUAL_SCORES;

/// Pairs up to which the distribution is exact.
const EXACT: usize = 50;
/// The same where there are ties or zeros.
const EXACT_WITH_TIES: usize = 13;

/// The two-sided p-value of paired differences, one per subject.
///
/// Undefined for fewer than two subjects and where no difference is other than zero.
///
/// ```
/// use stiefel_study::stats::wilcoxon;
///
/// // Nine subjects, all better: 2/2⁹.
/// let d = [0.01, 0.03, 0.02, 0.05, 0.08, 0.04, 0.07, 0.06, 0.11];
/// assert_eq!(wilcoxon(&d)?.value(), Some(2.0 / 512.0));
/// assert!(wilcoxon(&[0.0; 9])?.reason().is_some());
/// # Ok::<(), stiefel_study::stats::StatsError>(())
/// ```
pub fn wilcoxon(differences: &[f64]) -> Result<Measure, StatsError> {
    check_finite("difference", differences)?;
    let pairs = differences.len();
    if let Some(reason) = too_few(pairs) {
        return Ok(Measure::undefined(reason));
    }
    let ranks = SignedRanks::new(differences);
    let left = ranks.doubled.len();
    if left == 0 {
        return Ok(Measure::undefined("all differences are zero"));
    }
    let plain = ranks.ties.is_empty() && left == pairs;
    let exact = pairs <= if plain { EXACT } else { EXACT_WITH_TIES };
    let p = if exact { ranks.exact() } else { ranks.normal() };
    Ok(Measure::Value(p.min(1.0)))
}

/// Mid-ranks of the non-zero differences.
struct SignedRanks {
    /// Twice the mid-rank of each, a whole number.
    doubled: Vec<usize>,
    /// Twice the sum of the ranks of positive differences.
    doubled_plus: usize,
    /// Sizes of groups of equal absolute differences, where above one.
    ties: Vec<usize>,
}

impl SignedRanks {
    fn new(differences: &[f64]) -> Self {
        let close = EQUAL_SCORES * largest(differences);
        let mut sorted: Vec<f64> = differences
            .iter()
            .copied()
            .filter(|d| d.abs() > close)
            .collect();
        sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
        let mut ranks = Self {
            doubled: Vec::with_capacity(sorted.len()),
            doubled_plus: 0,
            ties: Vec::new(),
        };
        let mut from = 0;
        while from < sorted.len() {
            let first = sorted[from].abs();
            let size = sorted[from..]
                .iter()
                .take_while(|d| d.abs() - first <= close)
                .count();
            // Ranks from + 1 … from + size, their mean twice.
            let doubled = 2 * from + size + 1;
            for d in &sorted[from..from + size] {
                ranks.doubled.push(doubled);
                ranks.doubled_plus += if *d > 0.0 { doubled } else { 0 };
            }
            if size > 1 {
                ranks.ties.push(size);
            }
            from += size;
        }
        ranks
    }

    /// Twice the smaller tail of the exact distribution.
    fn exact(&self) -> f64 {
        let total: usize = self.doubled.iter().sum();
        // probability[w] of a doubled sum w, one fair coin per rank.
        let mut probability = vec![0.0; total + 1];
        probability[0] = 1.0;
        let mut reached = 0;
        for &rank in &self.doubled {
            reached += rank;
            for w in (0..=reached).rev() {
                let with = if w >= rank {
                    probability[w - rank]
                } else {
                    0.0
                };
                probability[w] = 0.5 * (probability[w] + with);
            }
        }
        // The distribution is symmetric: the smaller tail is the one below the smaller sum.
        let smaller = self.doubled_plus.min(total - self.doubled_plus);
        2.0 * probability[..=smaller].iter().sum::<f64>()
    }

    /// Both tails of the normal approximation.
    fn normal(&self) -> f64 {
        let n = self.doubled.len() as f64;
        let cubes: f64 = self
            .ties
            .iter()
            .map(|&t| (t as f64).powi(3) - t as f64)
            .sum();
        let variance = (n * (n + 1.0) * (2.0 * n + 1.0) - cubes / 2.0) / 24.0;
        let z = (self.doubled_plus as f64 / 2.0 - n * (n + 1.0) / 4.0) / variance.sqrt();
        libm::erfc(z.abs() / std::f64::consts::SQRT_2)
    }
}
