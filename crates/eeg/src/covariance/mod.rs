//! From trials to covariance matrices: `X_i` of `n × T` to `C_i` of `n × n`, in µV².
//!
//! The estimators and their formulas are at [`Estimator`]; [`Rank`] says whether the matrices have an
//! inverse and, where they have none, why.

mod estimator;
mod gram;
mod pipeline;
mod rank;

pub use estimator::Estimator;
pub(crate) use estimator::{Scratch, estimate, oas, unbiased};
pub(crate) use gram::{Layout, gram_lower, mirror};
pub use pipeline::{Pipeline, Prepared, Preparing};
pub use rank::{RANK_TOLERANCE, Rank, RankLoss};

use std::cell::Cell;

use crate::signal::{Plan, peak};
use crate::{Channel, EegError, Epochs, Recording, Result, TrialInfo};

/// One symmetric matrix per trial, `trials × n × n`, contiguous.
///
/// ```
/// # use stiefel_eeg::{Channel, ChannelKind, Epochs, TrialInfo};
/// use stiefel_eeg::covariance::{Covariances, Estimator};
/// # let channels = ["C3", "C4"].map(|name| Channel { name: name.into(), kind: ChannelKind::Eeg, unit: "µV".into() });
/// # let info = TrialInfo { label: "feet".into(), domain: "S1".into(), run: None };
/// let epochs = Epochs::new(channels.to_vec(), 250.0, 3, vec![1., 2., 3., 2., 0., 1.], vec![info])?;
/// let covariances = Covariances::estimate(&epochs, Estimator::Sample)?;
/// assert_eq!(covariances.matrix(0), [1.0, -0.5, -0.5, 1.0]);
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Covariances {
    n: usize,
    data: Vec<f64>,
    channels: Vec<String>,
    trials: Vec<TrialInfo>,
}

impl Covariances {
    /// Estimates the covariance of every trial.
    ///
    /// Refuses trials of fewer than two samples and values that are not finite.
    pub fn estimate(epochs: &Epochs, estimator: Estimator) -> Result<Self> {
        let t = epochs.samples();
        let rows = |trial| epochs.trial(trial).chunks_exact(t.max(1));
        Self::reduce(
            epochs.channels(),
            t,
            epochs.trials().to_vec(),
            rows,
            estimator,
        )
    }

    /// The covariance and the peak of every trial of `plan`, straight from the recording: no trial is copied out.
    pub(crate) fn of_plan(
        recording: &Recording,
        plan: &Plan,
        estimator: Estimator,
    ) -> Result<(Self, Vec<f64>)> {
        let peaks = vec![Cell::new(0.0_f64); plan.starts.len()];
        // The peak is taken while the row is in the cache.
        let rows = |trial: usize| {
            let highest = &peaks[trial];
            let rows = recording.rows(plan.starts[trial], plan.length);
            rows.inspect(|row| highest.set(highest.get().max(peak(row))))
        };
        let trials = plan.trials.clone();
        let part = Self::reduce(recording.channels(), plan.length, trials, rows, estimator)?;
        Ok((part, peaks.into_iter().map(Cell::into_inner).collect()))
    }

    /// `rows(trial)` gives the `t` samples of each channel.
    fn reduce<'a, R: Iterator<Item = &'a [f64]>>(
        channels: &[Channel],
        t: usize,
        trials: Vec<TrialInfo>,
        rows: impl Fn(usize) -> R,
        estimator: Estimator,
    ) -> Result<Self> {
        let n = channels.len();
        if n == 0 || t < 2 {
            return Err(EegError::Invalid {
                what: format!("a covariance cannot be estimated from {n} channels and {t} samples per trial"),
                remedy: "keep at least one channel and two samples; several times more samples than channels".into(),
            });
        }
        let mut data = vec![0.0; trials.len() * n * n];
        let mut scratch = Scratch::default();
        for (trial, out) in data.chunks_exact_mut(n * n).enumerate() {
            estimate(estimator, rows(trial), t, &mut scratch, out);
            // A value that is not finite anywhere reaches some variance.
            if (0..n).any(|i| !out[i * n + i].is_finite()) {
                return Err(not_finite(channels, trial, &trials[trial], rows(trial)));
            }
        }
        Ok(Self {
            n,
            data,
            channels: channels.iter().map(|c| c.name.clone()).collect(),
            trials,
        })
    }

    /// Builds the set from matrices computed elsewhere, checking that the sizes agree.
    pub fn new(data: Vec<f64>, channels: Vec<String>, trials: Vec<TrialInfo>) -> Result<Self> {
        let n = channels.len();
        if data.len() != trials.len() * n * n {
            return Err(EegError::Invalid {
                what: format!("{} trials of {n}×{n} matrices need {} values, got {}", trials.len(), trials.len() * n * n, data.len()),
                remedy: "pass the matrices one after the other, with one name per row and one record per trial".into(),
            });
        }
        Ok(Self {
            n,
            data,
            channels,
            trials,
        })
    }

    /// Rows of each matrix.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Number of matrices.
    pub fn len(&self) -> usize {
        self.trials.len()
    }

    /// Whether there are no matrices.
    pub fn is_empty(&self) -> bool {
        self.trials.is_empty()
    }

    /// One matrix, row-major (or column-major: it is symmetric).
    ///
    /// # Panics
    /// If `trial >= self.len()`.
    pub fn matrix(&self, trial: usize) -> &[f64] {
        &self.data[trial * self.n * self.n..(trial + 1) * self.n * self.n]
    }

    /// All matrices.
    pub fn data(&self) -> &[f64] {
        &self.data
    }

    /// The names of the channels, in the order of the rows.
    pub fn channels(&self) -> &[String] {
        &self.channels
    }

    /// What is known of each trial.
    pub fn trials(&self) -> &[TrialInfo] {
        &self.trials
    }

    /// The numerical rank of the mean matrix and what lowers it; `samples` is the length of a trial.
    pub fn rank(&self, samples: usize) -> Result<Rank> {
        let mut mean = vec![0.0; self.n * self.n];
        for matrix in self.data.chunks_exact((self.n * self.n).max(1)) {
            for (m, c) in mean.iter_mut().zip(matrix) {
                *m += c / self.len() as f64;
            }
        }
        Rank::of(&mean, &self.channels, samples.saturating_mul(self.len()))
    }

    /// The parts, to be moved elsewhere without a copy: matrices, channel names, trials.
    pub fn into_parts(self) -> (Vec<f64>, Vec<String>, Vec<TrialInfo>) {
        (self.data, self.channels, self.trials)
    }
}

/// Names the first value that is not finite, or else the largest.
fn not_finite<'a>(
    channels: &[Channel],
    trial: usize,
    info: &TrialInfo,
    rows: impl Iterator<Item = &'a [f64]>,
) -> EegError {
    let mut worst = (0, 0, 0.0_f64);
    for (channel, row) in rows.enumerate() {
        for (sample, &x) in row.iter().enumerate() {
            if worst.2.is_finite() && (!x.is_finite() || x.abs() > worst.2.abs()) {
                worst = (channel, sample, x);
            }
        }
    }
    let (channel, sample, x) = worst;
    EegError::Invalid {
        what: format!(
            "trial {trial} of domain {:?}, channel {}: sample {sample} is {x:e}{}",
            info.domain,
            channels[channel].name,
            if x.is_finite() {
                ", whose square overflows"
            } else {
                ""
            }
        ),
        remedy: "drop the trial or the channel, or repair it before estimating".into(),
    }
}
