//! The sign-flip permutation test of a mean difference, two-sided: where two methods are equally
//! good, `d_s` and `−d_s` are equally likely, so the observed mean is one of `2^S` equally likely
//! ones (Fisher 1935).
//!
//! `p = #{σ ∈ {±1}^S : |Σ σ_s d_s| ≥ |Σ d_s|}/2^S` by enumeration for up to [`EXACT_SIGN_FLIPS`]
//! subjects; beyond, with `m =` [`RANDOM_SIGN_FLIPS`] random choices of signs of which `b` reach
//! the observed value, `p = (b + 1)/(m + 1)`, which is never zero and never too small on average
//! (Phipson & Smyth 2010).

use super::{StatsError, check_finite, too_few};
use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};
use stiefel_model::Measure;
use stiefel_model::tolerance::EQUAL_SCORES;

/// Subjects up to which all choices of signs are enumerated.
pub const EXACT_SIGN_FLIPS: usize = 16;

/// Random choices of signs beyond.
pub const RANDOM_SIGN_FLIPS: usize = 20_000;

/// The two-sided p-value of paired differences, one per subject. The seed matters beyond
/// [`EXACT_SIGN_FLIPS`] subjects only.
///
/// Undefined for fewer than two subjects and where all differences are zero.
///
/// ```
/// use stiefel_study::stats::sign_flip;
///
/// // All better: only "all plus" and "all minus" of the 2⁵ choices reach the mean.
/// assert_eq!(
///     sign_flip(&[0.01, 0.03, 0.02, 0.05, 0.08], 0)?.value(),
///     Some(2.0 / 32.0)
/// );
/// # Ok::<(), stiefel_study::stats::StatsError>(())
/// ```
pub fn sign_flip(differences: &[f64], seed: u64) -> Result<Measure, StatsError> {
    tested(differences, seed, f64::abs)
}

/// The one-sided p-value of "the mean is above zero": the share of choices of signs with `mean(±d)
/// ≥ mean(d)`.
///
/// ```
/// use stiefel_study::stats::sign_flip_above;
///
/// // All better: only "all plus" of the 2⁵ choices reaches the mean.
/// assert_eq!(
///     sign_flip_above(&[0.01, 0.03, 0.02, 0.05, 0.08], 0)?.value(),
///     Some(1.0 / 32.0)
/// );
/// # Ok::<(), stiefel_study::stats::StatsError>(())
/// ```
pub fn sign_flip_above(differences: &[f64], seed: u64) -> Result<Measure, StatsError> {
    tested(differences, seed, |sum| sum)
}

/// The smallest p-value after Holm's correction that so many subjects and comparisons can reach,
/// with tests of one side or two.
///
/// ```
/// use stiefel_study::stats::attainable;
///
/// assert_eq!(attainable(6, 11, 2), 11.0 * 2.0 / 64.0);
/// assert_eq!(attainable(1, 1, 2), 1.0);
/// ```
pub fn attainable(subjects: usize, comparisons: usize, sides: u32) -> f64 {
    let smallest = if subjects <= EXACT_SIGN_FLIPS {
        f64::from(sides) * 0.5_f64.powi(subjects as i32)
    } else {
        1.0 / (RANDOM_SIGN_FLIPS + 1) as f64
    };
    (comparisons as f64 * smallest).min(1.0)
}

/// The share of choices of signs that reach the observed sum, by what `side` makes of it.
fn tested(d: &[f64], seed: u64, side: fn(f64) -> f64) -> Result<Measure, StatsError> {
    check_finite("difference", d)?;
    if let Some(reason) = too_few(d.len()) {
        return Ok(Measure::undefined(reason));
    }
    let total: f64 = d.iter().map(|d| d.abs()).sum();
    if total == 0.0 {
        return Ok(Measure::undefined("all differences are zero"));
    }
    // Sums of equal terms in another order are equal but for rounding, and count as reaching the
    // observed one.
    let threshold = side(d.iter().sum()) - EQUAL_SCORES * total;
    let reaches = |signs: &[u64]| side(flipped_sum(d, signs)) >= threshold;
    if d.len() <= EXACT_SIGN_FLIPS {
        let choices = 1_u64 << d.len();
        let reached = (0..choices).filter(|&signs| reaches(&[signs])).count();
        return Ok(Measure::Value(reached as f64 / choices as f64));
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut signs = vec![0; d.len().div_ceil(64)];
    let mut reached = 0_usize;
    for _ in 0..RANDOM_SIGN_FLIPS {
        signs.fill_with(|| rng.next_u64());
        reached += usize::from(reaches(&signs));
    }
    let p = (reached + 1) as f64 / (RANDOM_SIGN_FLIPS + 1) as f64;
    Ok(Measure::Value(p))
}

/// `Σ σ_s d_s`, a set bit being a minus.
fn flipped_sum(d: &[f64], signs: &[u64]) -> f64 {
    d.chunks(64)
        .zip(signs)
        .flat_map(|(d, word)| d.iter().enumerate().map(move |(s, d)| (word >> s & 1, d)))
        .map(|(minus, d)| if minus == 1 { -d } else { *d })
        .sum()
}
