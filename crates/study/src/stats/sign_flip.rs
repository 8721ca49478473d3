//! The sign-flip permutation test of a mean difference, two-sided: where two methods are equally good, `d_s` and `−d_s` are equally
//! likely, so the observed mean is one of `2^S` equally likely ones (Fisher 1935).
//!
//! `p = #{σ ∈ {±1}^S : |Σ σ_s d_s| ≥ |Σ d_s|}/2^S` by enumeration for up to [`EXACT_SIGN_FLIPS`] subjects; beyond, with `m =`
//! [`RANDOM_SIGN_FLIPS`] random choices of signs of which `b` reach the observed value, `p = (b + 1)/(m + 1)`, which is never zero and
//! never too small on average (Phipson & Smyth 2010).

use super::{StatsError, check_finite, too_few};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use stiefel_linalg::tolerance::EQUAL_SCORES;
use stiefel_model::Measure;

/// Subjects up to which all choices of signs are enumerated.
pub const EXACT_SIGN_FLIPS: usize = 16;

/// Random choices of signs beyond.
pub const RANDOM_SIGN_FLIPS: usize = 20_000;

/// The two-sided p-value of paired differences, one per subject. The seed matters beyond [`EXACT_SIGN_FLIPS`] subjects only.
///
/// Undefined for fewer than two subjects and where all differences are zero.
///
/// ```
/// use stiefel_study::stats::sign_flip;
///
/// // All better: only "all plus" and "all minus" of the 2⁵ choices reach the mean.
/// assert_eq!(sign_flip(&[0.01, 0.03, 0.02, 0.05, 0.08], 0)?.value(), Some(2.0 / 32.0));
/// # Ok::<(), stiefel_study::stats::StatsError>(())
/// ```
pub fn sign_flip(differences: &[f64], seed: u64) -> Result<Measure, StatsError> {
    check_finite("difference", differences)?;
    if let Some(reason) = too_few(differences.len()) {
        return Ok(Measure::undefined(reason));
    }
    // Sums of equal terms in another order are equal but for rounding, and count as reaching the observed one.
    let total: f64 = differences.iter().map(|d| d.abs()).sum();
    if total == 0.0 {
        return Ok(Measure::undefined("all differences are zero"));
    }
    let threshold = differences.iter().sum::<f64>().abs() - EQUAL_SCORES * total;
    let p = if differences.len() <= EXACT_SIGN_FLIPS {
        enumerated(differences, threshold)
    } else {
        random(differences, threshold, seed)
    };
    Ok(Measure::Value(p))
}

fn enumerated(d: &[f64], threshold: f64) -> f64 {
    // A choice and its opposite have the same absolute sum: the first sign may stay.
    let choices = 1_u64 << (d.len() - 1);
    let reached = (0..choices)
        .filter(|&signs| flipped_sum(d, &[signs << 1]).abs() >= threshold)
        .count();
    reached as f64 / choices as f64
}

fn random(d: &[f64], threshold: f64, seed: u64) -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut signs = vec![0; d.len().div_ceil(64)];
    let mut reached = 0_usize;
    for _ in 0..RANDOM_SIGN_FLIPS {
        for word in &mut signs {
            *word = rng.next_u64();
        }
        reached += usize::from(flipped_sum(d, &signs).abs() >= threshold);
    }
    (reached + 1) as f64 / (RANDOM_SIGN_FLIPS + 1) as f64
}

/// `Σ σ_s d_s`, a set bit being a minus.
fn flipped_sum(d: &[f64], signs: &[u64]) -> f64 {
    d.chunks(64)
        .zip(signs)
        .flat_map(|(d, word)| d.iter().enumerate().map(move |(s, d)| (word >> s & 1, d)))
        .map(|(minus, d)| if minus == 1 { -d } else { *d })
        .sum()
}
