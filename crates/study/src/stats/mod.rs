//! Statistics of a table: descriptions over folds and seeds, tests over **subjects**.
//!
//! Folds share training trials and seeds share everything, so neither is a sample of anything:
//! their spread is described ([`mean_std`]) and never tested. Subjects are independent. With `d_s`
//! the difference of two methods' scores on subject `s` (scores averaged over folds and seeds
//! first), `S` subjects:
//!
//! | | what is asked | value |
//! |---|---|---|
//! | [`wilcoxon()`] | is `d` symmetric about 0? | two-sided p of the signed-rank sum (Wilcoxon 1945) |
//! | [`sign_flip()`] | the same, by the mean | share of the `2^S` choices of signs with `|mean(±d)| ≥ |mean(d)|` |
//! | [`effect_size`] | how large, in units of its spread? | `d_z = mean(d)/sd(d)`, sd with `S − 1` (Cohen 1988) |
//! | [`holm()`] | … after looking at `m` comparisons | step-down `max_{j≤i} min(1, (m − j) p_(j))`, `j` from 0 (Holm 1979) |
//!
//! [`compare`] gives the first three at once, [`mean_interval`] says how far the mean difference is
//! known and [`trial_interval`] the same of one person, [`attainable`] the smallest p that so many
//! subjects can reach after Holm, and [`above_chance`] tests methods against chance. A value that
//! does not exist (one subject, no difference anywhere) is a
//! [`Measure::Undefined`](stiefel_model::Measure) with its reason; input that is not a number is an
//! error. Differences that differ by less than `1e-12` of the largest are ties: they are what
//! averaging in another order makes of equal scores.

mod describe;
mod error;
mod holm;
mod interval;
mod paired;
mod sign_flip;
mod wilcoxon;

pub use describe::{MeanStd, effect_size, mean_std};
pub use error::StatsError;
pub use holm::{above_chance, holm};
pub use interval::{CONFIDENCE, mean_interval, student, trial_interval};
pub use paired::{Paired, compare};
pub use sign_flip::{EXACT_SIGN_FLIPS, RANDOM_SIGN_FLIPS, attainable, sign_flip, sign_flip_above};
pub use wilcoxon::wilcoxon;

/// The reason why one pair (or none) tests nothing.
fn too_few(count: usize) -> Option<String> {
    (count < 2).then(|| format!("at least two subjects are needed, {count} given"))
}

/// All finite, or which one is not.
fn check_finite(what: &'static str, values: &[f64]) -> Result<(), StatsError> {
    match values.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(index) => Err(StatsError::NotFinite {
            what,
            index,
            value: values[index],
        }),
    }
}

/// The largest absolute value; 0 for none.
fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |a, v| v.abs().max(a))
}

/// Seed of the sign-flip test: the same table every time.
pub(crate) const TEST_SEED: u64 = 0;
