//! From covariances of recordings to trials of a model.

use stiefel_eeg::covariance::{Covariances, Pipeline};
use stiefel_eeg::signal::{Band, Window};
use stiefel_eeg::synthetic::{Synthetic, SyntheticConfig};
use stiefel_eeg::{EegError, TrialInfo};
use stiefel_linalg::MatBatch;
use stiefel_model::{Factor, ModelError, Trials};

/// What can go wrong on the way: on the side of the recordings, or on the side of the model.
#[derive(Debug, thiserror::Error)]
pub enum BridgeError {
    /// Reading, filtering, cutting or estimating.
    #[error(transparent)]
    Eeg(#[from] EegError),
    /// Checking trials.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// Covariances with their labels, domains, runs and channel names as the trials of a model.
pub fn trials_of(covariances: Covariances) -> Result<Trials, BridgeError> {
    let (data, channels, info) = covariances.into_parts();
    let n = channels.len();
    let x = MatBatch::from_vec(info.len(), n, n, data).map_err(ModelError::from)?;
    let labels = |f: fn(&TrialInfo) -> &str| Factor::from_labels(info.iter().map(f));
    let trials = Trials::new(x, labels(|t| &t.label), labels(|t| &t.domain))?;
    let trials = if info.iter().all(|t| t.run.is_some()) && !info.is_empty() {
        trials.with_runs(labels(|t| t.run.as_deref().unwrap_or_default()))?
    } else {
        trials
    };
    Ok(trials.with_channels(channels)?)
}

/// A synthetic study from raw signal to trials: band-pass 8–32 Hz, the imagery from half a second after the cue on, sample
/// covariance. A domain is a subject, or a subject-session pair where some subject has several sessions.
pub fn synthetic_trials(config: &SyntheticConfig) -> Result<Trials, BridgeError> {
    let labels: Vec<&str> = config.classes.iter().map(|class| class.label()).collect();
    let window = Window::new(0.5, config.imagery, &labels);
    let pipeline = Pipeline::new(Band::BandPass(8.0, 32.0), window);
    let several = config.sessions.iter().any(|&s| s > 1);
    let mut prepared = pipeline.start();
    for item in Synthetic::new(config.clone())?.recordings() {
        let item = item?;
        let subject = format!("S{:02}", item.subject + 1);
        let domain = if several {
            format!("{subject}-{}", item.session + 1)
        } else {
            subject
        };
        let run = format!("{}-{}", item.session + 1, item.run + 1);
        prepared.add(item.recording, &domain, Some(&run))?;
    }
    trials_of(prepared.finish()?.covariances)
}
