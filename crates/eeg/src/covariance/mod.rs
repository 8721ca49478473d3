//! From trials to covariance matrices: `X_i` of `n × T` to `C_i` of `n × n`, in µV².
//!
//! The estimators and their formulas stand at the function that computes them ([`covariances`]);
//! [`Rank`] says whether the matrices have an inverse and, where they have none, why.

mod estimator;
mod rank;

pub(crate) use estimator::{Scratch, estimate, mirror, oas, unbiased};
pub use rank::{RANK_TOLERANCE, Rank, RankLoss};
pub use stiefel_data::Estimator;

use std::path::Path;

use stiefel_data::{Factor, Trials};
use stiefel_linalg::MatBatch;

use crate::{Channel, EegError, Epochs, Result, TrialInfo};
use stiefel_formats::memory;

/// Estimates the covariance of every trial `X` (`n × T`, `x_t` its columns, `x̄` their mean). With
/// `C = Σ(x_t − x̄)(x_t − x̄)ᵀ / T` and `μ = tr C / n`:
///
/// * **sample**: `T/(T−1) · C`;
/// * **Ledoit–Wolf**: `(1−ρ)·C + ρ·μ·I`, with scikit-learn's `ρ` (J. Multivar. Anal. 88, 2004);
/// * **OAS**: the same form, with scikit-learn's `ρ` (Chen, Wiesel, Eldar, Hero, IEEE TSP 58,
///   2010);
/// * **Schäfer–Strimmer**: off-diagonal entries of the sample covariance times `1−γ`, with
///   pyRiemann's `γ` (Stat. Appl. Genet. Mol. Biol. 4, 2005).
///
/// Refuses trials of fewer than two samples and values that are not finite.
///
/// ```
/// # use stiefel_eeg::{Channel, ChannelKind, Epochs, TrialInfo};
/// use stiefel_eeg::covariance::{Estimator, covariances};
/// # let channels = ["C3", "C4"].map(|name| Channel { name: name.into(), kind: ChannelKind::Eeg, unit: "µV".into() });
/// # let info = TrialInfo { label: "feet".into(), domain: "S1".into(), run: None };
/// let epochs = Epochs::new(channels.to_vec(), 250.0, 3, vec![1., 2., 3., 2., 0., 1.], vec![info])?;
/// let trials = covariances(&epochs, Estimator::Sample)?;
/// assert_eq!(trials.covariances().matrix(0), [1.0, -0.5, -0.5, 1.0]);
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
pub fn covariances(epochs: &Epochs, estimator: Estimator) -> Result<Trials> {
    let t = epochs.samples();
    let rows = |trial| epochs.trial(trial).chunks_exact(t.max(1));
    let matrices = reduce(epochs.channels(), t, epochs.trials(), rows, estimator)?;
    trials_of(matrices, &names(epochs.channels()), epochs.trials())
}

pub(crate) fn names(channels: &[Channel]) -> Vec<String> {
    channels.iter().map(|c| c.name.clone()).collect()
}

/// Matrices one after the other with what is known of each, as trials.
pub(crate) fn trials_of(
    matrices: Vec<f64>,
    channels: &[String],
    info: &[TrialInfo],
) -> Result<Trials> {
    let n = channels.len();
    let x =
        MatBatch::from_vec(info.len(), n, n, matrices).map_err(stiefel_data::DataError::from)?;
    let labels = |f: fn(&TrialInfo) -> &str| Factor::from_labels(info.iter().map(f));
    let mut trials = Trials::new(x, labels(|t| &t.label), labels(|t| &t.domain))?;
    if info.iter().all(|t| t.run.is_some()) && !info.is_empty() {
        trials = trials.with_runs(labels(|t| t.run.as_deref().unwrap_or_default()))?;
    }
    Ok(trials.with_channels(channels.to_vec())?)
}

/// The matrices of trials of `t` samples, one after the other.
pub(crate) fn reduce<'a, R: Iterator<Item = &'a [f64]>>(
    channels: &[Channel],
    t: usize,
    trials: &[TrialInfo],
    rows: impl Fn(usize) -> R,
    estimator: Estimator,
) -> Result<Vec<f64>> {
    let n = channels.len();
    if n == 0 || t < 2 {
        return Err(EegError::invalid(
            format!("a covariance cannot be estimated from {n} channels and {t} samples per trial"),
            "keep at least one channel and two samples; several times more samples than channels \
             are better",
        ));
    }
    // Many channels make more of a file than it holds: n² numbers of n · t.
    let what = Path::new("the covariances");
    let mut data = memory::zeros(trials.len(), n * n, what)?;
    let mut scratch = Scratch::default();
    for (trial, out) in data.chunks_exact_mut(n * n).enumerate() {
        estimate(estimator, rows(trial), t, &mut scratch, out)
            .map_err(stiefel_data::DataError::from)?;
        // A value that is not finite anywhere reaches some variance.
        if (0..n).any(|i| !out[i * n + i].is_finite()) {
            return Err(not_finite(channels, trial, &trials[trial], rows(trial)));
        }
    }
    Ok(data)
}

impl Rank {
    /// The rank of the mean covariance of trials of so many samples each.
    pub fn of_mean(trials: &Trials, samples: usize) -> Result<Self> {
        let (x, n) = (trials.covariances(), trials.channels_count());
        let mut mean = vec![0.0; n * n];
        for matrix in x.data().chunks_exact(n * n) {
            for (m, c) in mean.iter_mut().zip(matrix) {
                *m += c / trials.len() as f64;
            }
        }
        Self::of(
            &mean,
            &trials.channel_names(),
            samples.saturating_mul(trials.len()),
        )
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
