//! The numerical rank of a covariance and the reasons it falls short.
//!
//! Eigenvalues `λ_i ≤ τ·λ_max` count as zero, `τ =` [`RANK_TOLERANCE`]. The causes are read off the
//! matrix: average reference where `1ᵀC1 ≈ 0`, flat channels where `C_ii ≈ 0`, copies where `C_ii +
//! C_jj ∓ 2C_ij ≈ 0`, too few samples where there are at most `n`; what is left unexplained is a
//! linear combination, as interpolated channels and removed independent components leave behind.

use std::fmt;
use stiefel_linalg::{MatRef, eigenvalues};

use crate::{EegError, Result};

pub use stiefel_data::tolerance::RANK_TOLERANCE;

/// Why directions are missing from a covariance.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RankLoss {
    /// There are not more samples than channels.
    FewSamples {
        /// Samples the covariance was estimated from.
        samples: usize,
    },
    /// The channels sum to zero at every sample.
    AverageReference,
    /// A channel that does not vary.
    FlatChannel(String),
    /// Two channels that carry the same signal up to its sign.
    Copies(String, String),
    /// Directions lost to something else: interpolated channels, removed independent components, a
    /// reference channel kept among the data.
    LinearCombination {
        /// How many.
        directions: usize,
    },
}

/// The numerical rank of a covariance.
///
/// ```
/// use stiefel_eeg::covariance::{Rank, RankLoss};
/// let names = ["C3", "Cz", "C4"].map(String::from);
/// let average_referenced = [2., -1., -1., -1., 2., -1., -1., -1., 2.];
/// let rank = Rank::of(&average_referenced, &names, 500)?;
/// assert_eq!(
///     (rank.rank, &rank.losses[..]),
///     (2, &[RankLoss::AverageReference][..])
/// );
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Rank {
    /// Rows of the matrix.
    pub n: usize,
    /// Eigenvalues that are not numerically zero.
    pub rank: usize,
    /// Largest over smallest eigenvalue, infinite where the smallest is not positive.
    pub condition: f64,
    /// What explains the difference between `n` and `rank`; empty where there is none.
    pub losses: Vec<RankLoss>,
}

impl Rank {
    /// The rank of one matrix (`n × n` for `n` channel names), estimated from `samples` samples.
    pub fn of(matrix: &[f64], channels: &[String], samples: usize) -> Result<Self> {
        let n = channels.len();
        if n == 0 || matrix.len() != n * n || matrix.iter().any(|c| !c.is_finite()) {
            return Err(EegError::Invalid {
                what: format!(
                    "the rank of {} values as a {n}×{n} matrix was asked for, or some are not \
                     finite",
                    matrix.len()
                ),
                remedy: "pass a finite square matrix with one channel name per row".into(),
            });
        }
        let values =
            eigenvalues(MatRef::new(n, n, matrix).view()).map_err(|error| EegError::Invalid {
                what: format!("the eigenvalues of a {n}×{n} covariance were not found: {error}"),
                remedy: "look for huge values in the trials".into(),
            })?;
        let (smallest, largest) = (values[0], values[n - 1]);
        let floor = RANK_TOLERANCE * largest.max(0.0);
        let rank = values.iter().filter(|&&v| v > floor).count();
        Ok(Self {
            n,
            rank,
            condition: if smallest > 0.0 {
                largest / smallest
            } else {
                f64::INFINITY
            },
            losses: explain(matrix, channels, samples, n - rank, floor),
        })
    }

    /// Whether the matrix has an inverse, numerically.
    pub fn is_full(&self) -> bool {
        self.rank == self.n
    }
}

fn explain(
    c: &[f64],
    channels: &[String],
    samples: usize,
    missing: usize,
    floor: f64,
) -> Vec<RankLoss> {
    let n = channels.len();
    let mut losses = Vec::new();
    if missing == 0 {
        return losses;
    }
    if samples <= n {
        return vec![RankLoss::FewSamples { samples }];
    }
    let flat = |i: usize| c[i * n + i] <= floor;
    losses.extend(
        (0..n)
            .filter(|&i| flat(i))
            .map(|i| RankLoss::FlatChannel(channels[i].clone())),
    );
    if n > 1 && c.iter().sum::<f64>() / n as f64 <= floor && losses.len() < n {
        losses.push(RankLoss::AverageReference);
    }
    for i in 0..n {
        // The first channel that i repeats; a third copy repeats the first as well.
        let copied = (0..i).find(|&j| {
            let difference = 0.5 * (c[i * n + i] + c[j * n + j]) - c[i * n + j].abs();
            !flat(i) && !flat(j) && difference <= floor
        });
        // Two channels with average reference are copies of each other by necessity.
        if let Some(j) = copied.filter(|_| losses.len() < missing) {
            losses.push(RankLoss::Copies(channels[j].clone(), channels[i].clone()));
        }
    }
    let directions = missing.saturating_sub(losses.len());
    if directions > 0 {
        losses.push(RankLoss::LinearCombination { directions });
    }
    losses
}

impl fmt::Display for RankLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FewSamples { samples } => write!(
                f,
                "{samples} samples cannot span the channels: use a shrinkage estimator \
                 (Ledoit–Wolf or OAS) or longer trials"
            ),
            Self::AverageReference => write!(
                f,
                "the channels are average-referenced and sum to zero: use a shrinkage estimator, \
                 drop one channel or reduce the rank by one"
            ),
            Self::FlatChannel(name) => write!(f, "channel {name} is flat: drop it"),
            Self::Copies(a, b) => write!(
                f,
                "channels {a} and {b} carry the same signal (bridged or duplicated): drop one of \
                 them"
            ),
            Self::LinearCombination { directions } => write!(
                f,
                "{directions} direction(s) are combinations of other channels; interpolated \
                 channels or removed independent components cause this: use a shrinkage estimator \
                 or reduce the rank by {directions}"
            ),
        }
    }
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "rank {} of {}, condition {:.1e}",
            self.rank, self.n, self.condition
        )?;
        for loss in &self.losses {
            write!(f, "; {loss}")?;
        }
        Ok(())
    }
}
